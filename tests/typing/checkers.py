"""Type checkers in strict mode, and the marks of the lines that they have to report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"  # refused(?:: (?P<key>\w+))?$")
FAULT = 1
"""Exit status of both checkers if there are errors."""


class Finding(NamedTuple):
    """An error of a checker."""

    file: str
    """The path, relative to the root."""
    line: int
    message: str
    key: str = ""
    """The key or argument of the value that pyright underlines instead of naming its key."""


def mypy(files: Sequence[str]) -> Iterator[Finding]:
    """Run mypy, without the configuration of this repository."""
    options = ["--strict", "--config-file=", "--no-error-summary"]
    for line in _run("mypy", *options, *files).splitlines():
        found = re.fullmatch(r"(?P<file>.+?):(?P<line>\d+): error: (?P<message>.*)", line)
        if found:
            yield Finding(_relative(found["file"]), int(found["line"]), found["message"])


def pyright(files: Sequence[str]) -> Iterator[Finding]:
    """Run pyright; the files set its strictness."""
    options = ["--outputjson", f"--pythonpath={sys.executable}"]
    for item in json.loads(_run("pyright", *options, *files))["generalDiagnostics"]:
        start = item["range"]["start"]
        yield Finding(_relative(item["file"]), start["line"] + 1, item["message"], _key_before(item["file"], start))


CHECKERS: Mapping[str, Callable[[Sequence[str]], Iterator[Finding]]] = {"mypy": mypy, "pyright": pyright}


def marks(file: Path) -> dict[int, str]:
    """Return the key of each marked line of a file; empty if the mark has none."""
    found = ((number, MARK.search(line)) for number, line in enumerate(file.read_text("utf-8").splitlines(), 1))
    return {number: mark["key"] or "" for number, mark in found if mark}


def without_key(file: Path, findings: Sequence[Finding]) -> dict[int, list[str]]:
    """Return the messages for each marked line of a file that name another key than the mark."""
    messages = {line: [item for item in findings if item.line == line] for line in marks(file)}
    return {
        line: [item.message for item in messages[line]]
        for line, key in marks(file).items()
        if key and not any(re.search(rf"\b{key}\b", f"{item.message} {item.key}") for item in messages[line])
    }


def _relative(file: str) -> str:
    return os.path.relpath(ROOT / file, ROOT)


def _key_before(file: str, start: Mapping[str, int]) -> str:
    before = Path(file).read_text("utf-8").splitlines()[start["line"]][: start["character"]]
    found = re.search(r"""(\w+)(?:": |=)$""", before)
    return found[1] if found else ""


def _run(checker: str, *arguments: str) -> str:
    """Run a checker in the root, and return its output."""
    command = [sys.executable, "-m", checker, *arguments]
    environment = os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == FAULT, done.stderr or done.stdout
    return done.stdout
