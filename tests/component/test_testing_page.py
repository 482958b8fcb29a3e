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
WITH_MOCKS = "test_with_mocks.py"
# Pulumi's own mocks leave the event loops of their threads open, and the decorator of their tests has no types.
MODES = {
    "our helpers": ([f"--ignore={WITH_MOCKS}"], []),
    "Pulumi's own mocks": ([WITH_MOCKS, "-W", "ignore::ResourceWarning"], ["--allow-untyped-decorators"]),
}


def number_of_tests(mode: str) -> int:
    """Return the number of tests of the page, with or without Pulumi's own mocks."""
    texts = (text for name, text in FILES.items() if (name == WITH_MOCKS) == (mode == "Pulumi's own mocks"))
    return sum(len(re.findall(r"^def test_", text, re.MULTILINE)) for text in texts)


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
    assert list(FILES) == ["research.py", "__main__.py", "test_program.py", "test_research.py", WITH_MOCKS]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one by one", "in parallel"])
def test_the_tests_of_the_page_pass(project: Path, mode: str, options: tuple[str, ...]) -> None:
    """They run with warnings as errors."""
    if options:
        pytest.importorskip("xdist")
    selection, _ = MODES[mode]
    said = run_module(project, "pytest", "-q", "-W", "error", *selection, "-p", "no:cacheprovider", *options)

    assert f"{number_of_tests(mode)} passed" in said


@pytest.mark.parametrize("mode", MODES)
def test_strict_type_checks_of_the_page_pass(project: Path, mode: str) -> None:
    """Users' tests need no casts and no exceptions."""
    pytest.importorskip("mypy")
    _, flags = MODES[mode]
    files = [name for name in FILES if flags or name != WITH_MOCKS]
    said = run_module(project, "mypy", "--strict", *flags, "--config-file=", MYPY_CACHE, *files)

    assert said.startswith(f"Success: no issues found in {len(files)} source files")
