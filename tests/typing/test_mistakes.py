"""The programs of `mistakes.py`: the snapshots are a table of the messages of mypy, of pyright and of `up`."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pulumi
import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.testing import failed
from tests.typing import mistakes
from tests.typing.checkers import CHECKERS, MARK, ROOT, Finding, marks, without_key

FILE = Path(mistakes.__file__)
LINES = FILE.read_text("utf-8").splitlines()
# Other functions of the module return values.
PROGRAMS = [
    item
    for item in ast.parse("\n".join(LINES)).body
    if isinstance(item, ast.FunctionDef) and isinstance(item.returns, ast.Constant)
]
NONE = "-"
"""The message of a checker that accepts a program."""


@pytest.fixture(scope="module")
def findings() -> Mapping[str, list[Finding]]:
    """Provide the errors of both checkers."""
    return {name: list(check([str(FILE)])) for name, check in CHECKERS.items()}


def error_of(program: ast.FunctionDef) -> Exception:
    """Run a program, and return its error."""
    function: Callable[[], None] = getattr(mistakes, program.name)
    return failed(function).error


def test_the_table_has_forty_mistakes() -> None:
    """Each has a name that describes it."""
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) == 40


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_each_mistake_is_reported(
    program: ast.FunctionDef, findings: Mapping[str, list[Finding]], snapshot: SnapshotAssertion
) -> None:
    """`up` reports it without a traceback, even if the type checkers accept it."""
    error = error_of(program)
    assert isinstance(error, pulumi.RunError)

    start, end = program.body[0].lineno, program.end_lineno or 0
    messages = {
        name: "\n".join(item.message for item in found if start <= item.line <= end) or NONE
        for name, found in findings.items()
    }
    text = textwrap.dedent("\n".join(MARK.sub("", line) for line in LINES[start - 1 : end]))
    assert {"code": text, **messages, "up": str(error)} == snapshot


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_reports_exactly_the_marked_lines(checker: str, findings: Mapping[str, list[Finding]]) -> None:
    """It names the wrong key."""
    assert {finding.line for finding in findings[checker]} == marks(FILE).keys()
    assert without_key(FILE, findings[checker]) == {}


def test_the_page_of_arguments_has_the_numbers() -> None:
    """docs/arguments.md refers to the table."""
    page = (ROOT / "docs" / "arguments.md").read_text("utf-8")

    assert re.findall(r"both type checkers report (\d+)", page) == [str(len(marks(FILE)))]
