"""Type checks of programs that use the library: `accepted.py`, `refused.py`, the examples and the README."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pages.blocks import Block, blocks
from tests.typing.checkers import CHECKERS, ROOT, Finding, marks, without_key

ACCEPTED, REFUSED = (Path(__file__).with_name(f"{name}.py") for name in ("accepted", "refused"))
ELSEWHERE = ("ResourceTransformArgs", "import research", "from research", "# research.py", "pytest", "platform_jobs")
"""Text in programs that need other files, and in one that Pulumi's own types of transforms reject."""


def programs() -> list[Block]:
    """Return the programs of the pages that use the package."""
    return [
        block
        for block in blocks()
        if block.language == "python" and "from pulumi_volcano_jobs" in block.text
        if not any(text in block.text for text in ELSEWHERE)
    ]


@pytest.fixture(scope="module", params=CHECKERS)
def findings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Finding]:
    """Provide the errors of a checker for both files, for the examples and for the programs of the pages."""
    folder = tmp_path_factory.mktemp("pages")
    pages = []
    for block in programs():
        name = re.sub(r"\W+", "_", str(block))
        pages.append(folder / f"{name}.py")
        pages[-1].write_text(block.text, "utf-8")
    # `make check` runs mypy for the examples.
    examples = ["examples"] if request.param == "pyright" else []
    return list(CHECKERS[request.param]([str(ACCEPTED), str(REFUSED), *examples, *map(str, pages)]))


def of_refused(findings: list[Finding]) -> list[Finding]:
    """Return the errors in the file with mistakes."""
    return [finding for finding in findings if ROOT / finding.file == REFUSED]


def test_type_checkers_accept_correct_programs(findings: list[Finding]) -> None:
    """Only the file with mistakes has errors."""
    assert [finding for finding in findings if ROOT / finding.file != REFUSED] == []


def test_type_checkers_report_exactly_the_marked_lines(findings: list[Finding]) -> None:
    """Each marked line has an error."""
    lines = REFUSED.read_text("utf-8").splitlines()

    found = {finding.line for finding in of_refused(findings)}

    assert {number: lines[number - 1] for number in found} == {number: lines[number - 1] for number in marks(REFUSED)}


def test_type_checkers_name_the_wrong_key_at_any_depth(findings: list[Finding]) -> None:
    """A user sees which key to correct."""
    assert without_key(REFUSED, of_refused(findings)) == {}


@pytest.mark.parametrize("findings", ["mypy"], indirect=True)
def test_the_page_of_arguments_shows_messages_of_mypy(findings: list[Finding]) -> None:
    """docs/arguments.md has three of the mistakes."""
    shown = re.findall(r"^error: (.*)$", (ROOT / "docs" / "arguments.md").read_text("utf-8"), re.MULTILINE)

    assert len(shown) == 3
    assert set(shown) <= {finding.message for finding in of_refused(findings)}
