"""docs/testing.md: the project of the page passes its own tests and strict type checks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import MYPY_CACHE
from tests.readme import ROOT

TEXT = (ROOT / "docs" / "testing.md").read_text("utf-8")
FILES = dict(re.findall(r"^```python\n# (\S+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE))
TESTS = sum(len(re.findall(r"^def test_", text, re.MULTILINE)) for text in FILES.values())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write the project of the page."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def run_module(folder: Path, *command: str) -> str:
    """Run a module in the project, and require success."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_block_is_a_file_of_the_project() -> None:
    """The page has no other code block."""
    assert TEXT.count("```python") == len(FILES)
    assert list(FILES) == ["research.py", "__main__.py", "test_program.py", "test_research.py", "test_with_mocks.py"]


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one by one", "in parallel"])
def test_the_tests_of_the_page_pass(project: Path, options: tuple[str, ...]) -> None:
    """They run with warnings as errors."""
    if options:
        pytest.importorskip("xdist")
    # Pulumi's own mocks leave the event loops of their threads open.
    warnings = ("-W", "error", "-W", "ignore::ResourceWarning")
    said = run_module(project, "pytest", "-q", *warnings, "-p", "no:cacheprovider", *options)

    assert f"{TESTS} passed" in said


def test_strict_type_checks_of_the_page_pass(project: Path) -> None:
    """Users' tests need no casts and no exceptions. The decorator of Pulumi's own mocks has no types."""
    pytest.importorskip("mypy")
    said = run_module(project, "mypy", "--strict", "--allow-untyped-decorators", "--config-file=", MYPY_CACHE, ".")

    assert said.startswith("Success: no issues found in 5 source files")
