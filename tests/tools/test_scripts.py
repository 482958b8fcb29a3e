"""Errors of the scripts of `make`: one line without a traceback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def fails(*arguments: str, **environment: str) -> str:
    """Run a Python script, check that it fails, and return its last line."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(("script", "tool"), [("demo", "pulumi"), ("cluster", "etcd")])
def test_a_missing_go_is_reported_with_its_download_page(script: str, tool: str, tmp_path: Path) -> None:
    """New users run these scripts first."""
    said = fails(f"tools/{script}.py", PATH="", XDG_CACHE_HOME=str(tmp_path))

    assert re.sub(r"\d[.\d]+\d", "N", said) == (
        f"tools/{script}.py: building {tool} vN requires Go N or newer, but go is not on PATH. Install Go from"
        f" https://go.dev/dl/, or put {tool} on PATH."
    )


def test_an_unknown_framework_is_rejected() -> None:
    """Nothing is installed."""
    assert fails("tools/workloads.py", "opnssh") == (
        "tools/workloads.py: unsupported framework 'opnssh': supported frameworks: player, network_policy, openssh,"
        " openmpi, pytorch, ray, tensorflow"
    )


def test_an_unknown_benchmark_is_rejected() -> None:
    """The message lists the benchmarks."""
    assert (
        fails("-m", "benchmarks", "memory") == "unsupported part 'memory': supported parts: rendering, program, start"
    )
