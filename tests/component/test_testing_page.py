"""docs/testing.md: the project of the page passes its own tests and strict type checks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.readme import ROOT

TEXT = (ROOT / "docs" / "testing.md").read_text("utf-8")
FILES = dict(re.findall(r"^```python\n# (\S+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE))
WITH_MOCKS = "test_with_mocks.py"
# Pulumi's own mocks leave the event loops of their threads open.
MODES = {
    "our helpers": [f"--ignore={WITH_MOCKS}"],
    "Pulumi's own mocks": [WITH_MOCKS, "-W", "ignore::ResourceWarning"],
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
    # The plugins of our own tests take as long as the tests of the page.
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
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
@pytest.mark.parametrize("options", [(), ("-p", "xdist.plugin", "-n", "2")], ids=["one by one", "in parallel"])
def test_the_tests_of_the_page_pass(project: Path, mode: str, options: tuple[str, ...]) -> None:
    """They run with warnings as errors."""
    if options:
        pytest.importorskip("xdist")
    said = run_module(project, "pytest", "-q", "-W", "error", *MODES[mode], "-p", "no:cacheprovider", *options)

    assert f"{number_of_tests(mode)} passed" in said


def test_strict_type_checks_of_the_page_pass(project: Path) -> None:
    """Users' tests need no casts and no exceptions."""
    pytest.importorskip("mypy")
    # The decorator of Pulumi's own mocks has no types. As an option it would invalidate the cache.
    (project / WITH_MOCKS).write_text(f"# mypy: allow-untyped-decorators\n{FILES[WITH_MOCKS]}", "utf-8")
    said = run_module(project, "mypy", "--strict", "--config-file=", *FILES)

    assert said.startswith(f"Success: no issues found in {len(FILES)} source files")
