"""What the scripts of `make` say where they cannot go on: one line, and no traceback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def fails(*arguments: str, **environment: str) -> str:
    """Run Python on a script, which must fail; give what it says last."""
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
def test_what_is_run_first_on_a_new_machine_says_that_go_is_missing(script: str, tool: str, tmp_path: Path) -> None:
    """And where it is to be had."""
    said = fails(f"tools/{script}.py", PATH="", XDG_CACHE_HOME=str(tmp_path))

    assert re.sub(r"\d[.\d]+\d", "N", said) == (
        f"tools/{script}.py: building {tool} vN needs Go N or newer, and no go is on PATH. Install it from"
        f" https://go.dev/dl/, or put your own {tool} on PATH."
    )


def test_a_framework_that_there_is_not_is_told() -> None:
    """Before anything is installed."""
    assert fails("tools/workloads.py", "opnssh") == (
        "tools/workloads.py: there is no framework 'opnssh'; there are player, network_policy, openssh, openmpi,"
        " pytorch, ray, tensorflow"
    )


def test_a_benchmark_that_there_is_not_is_told() -> None:
    """With those that there are."""
    assert fails("-m", "benchmarks", "memory") == "there is no part 'memory'; there are rendering, program, start"
