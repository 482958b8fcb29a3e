"""Type checks of programs that use the library: `accepted.py`, `refused.py`, the examples and the README."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.pages.blocks import Block, blocks
from tests.programs import MYPY_CACHE

ROOT = Path(__file__).parents[2]
ACCEPTED, REFUSED = (Path(__file__).with_name(f"{name}.py") for name in ("accepted", "refused"))
MARK = re.compile(r"  # refused(?:: (?P<key>\w+))?$")
ELSEWHERE = ("ResourceTransformArgs", "import research", "from research", "# research.py", "pytest", "platform_jobs")
"""Text in programs that need other files, and in one that Pulumi's own types of transforms reject."""
FAULT = 1
"""Exit status of both checkers if there are errors."""

Findings = Mapping[str, Mapping[int, list[str]]]
"""Messages of a checker, by relative path and line."""


def programs() -> list[Block]:
    """Return the programs of the pages that use the package."""
    return [
        block
        for block in blocks()
        if block.language == "python" and "from pulumi_volcano_jobs" in block.text
        if not any(text in block.text for text in ELSEWHERE)
    ]


def mypy(pages: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Run mypy in strict mode, without the configuration of this repository."""
    options = ["--strict", "--config-file=", MYPY_CACHE, "--no-error-summary"]
    for line in run("mypy", *options, str(ACCEPTED), str(REFUSED), *pages).splitlines():
        found = re.fullmatch(r"(?P<file>.+?):(?P<line>\d+): error: (?P<message>.*)", line)
        if found:
            yield found["file"], int(found["line"]), found["message"]


def pyright(pages: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Run pyright; the files set its strictness."""
    options = ["--outputjson", f"--pythonpath={sys.executable}"]
    said = json.loads(run("pyright", *options, str(ACCEPTED), str(REFUSED), "examples", *pages))
    for item in said["generalDiagnostics"]:
        start = item["range"]["start"]
        yield item["file"], start["line"] + 1, item["message"] + _key_before(item["file"], start)


def _key_before(file: str, start: Mapping[str, int]) -> str:
    """Return the key or argument of the value at a position, which pyright underlines instead of naming its key."""
    before = Path(file).read_text("utf-8").splitlines()[start["line"]][: start["character"]]
    found = re.search(r"""(\w+)(?:": |=)$""", before)
    return f' (value of "{found[1]}")' if found else ""


def run(checker: str, *arguments: str) -> str:
    """Run a checker in the root, and return its output."""
    command = [sys.executable, "-m", checker, *arguments]
    environment = os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == FAULT, done.stderr or done.stdout
    return done.stdout


@pytest.fixture(scope="module", params=[mypy, pyright], ids=["mypy", "pyright"])
def findings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """Provide the errors of a checker for both files and for the programs of the pages."""
    checker: Callable[[Sequence[str]], Iterator[tuple[str, int, str]]] = request.param
    folder = tmp_path_factory.mktemp("pages")
    pages = []
    for block in programs():
        name = re.sub(r"\W+", "_", str(block))
        pages.append(folder / f"{name}.py")
        pages[-1].write_text(block.text, "utf-8")
    found: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for file, line, message in checker([str(page) for page in pages]):
        found[os.path.relpath(ROOT / file, ROOT)][line].append(message)
    return found


def test_type_checkers_accept_correct_programs(findings: Findings) -> None:
    """Only the file with mistakes has errors."""
    unexpected = {file: lines for file, lines in findings.items() if file != os.path.relpath(REFUSED, ROOT)}

    assert unexpected == {}


def test_type_checkers_report_exactly_the_marked_lines(findings: Findings) -> None:
    """Each marked line has an error."""
    lines = REFUSED.read_text("utf-8").splitlines()
    marked = {f"{number}: {line}" for number, line in enumerate(lines, 1) if MARK.search(line)}

    found = {f"{number}: {lines[number - 1]}" for number in findings[os.path.relpath(REFUSED, ROOT)]}

    assert found == marked


@pytest.mark.parametrize("findings", [mypy], ids=["mypy"], indirect=True)
def test_the_page_of_arguments_shows_messages_of_mypy(findings: Findings) -> None:
    """docs/arguments.md has three of the mistakes."""
    shown = re.findall(r"^error: (.*)$", (ROOT / "docs" / "arguments.md").read_text("utf-8"), re.MULTILINE)

    messages = {text for texts in findings[os.path.relpath(REFUSED, ROOT)].values() for text in texts}
    assert len(shown) == 3
    assert set(shown) <= messages


def test_type_checkers_name_the_wrong_key_at_any_depth(findings: Findings) -> None:
    """A user sees which key to correct."""
    messages = findings[os.path.relpath(REFUSED, ROOT)]
    marks = [MARK.search(line) for line in REFUSED.read_text("utf-8").splitlines()]
    keys = {number: mark["key"] for number, mark in enumerate(marks, 1) if mark and mark["key"]}

    without_key = {
        number: messages[number]
        for number, key in keys.items()
        if not any(re.search(rf"\b{key}\b", text) for text in messages[number])
    }

    assert without_key == {}
