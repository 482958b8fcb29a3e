"""Fixtures that run the command line in a temporary folder."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from pulumi_volcano_jobs import Problem, cli
from pulumi_volcano_jobs.cli import render
from pulumi_volcano_jobs.core.errors import RejectionStage

# A path begins with a lower-case letter, and an error type with an upper-case letter.
_PLACE = re.compile(r"(?P<place>.+?:\d+:\d+|[^:]+)(?P<level>: warning)?(?P<path>: [a-z][^\s:]*(?=: ))?: .")


@dataclass(frozen=True)
class Answer:
    """The output and the exit code of a command."""

    code: int
    out: str
    err: str
    command: str = field(default="", compare=False)

    @property
    def lines(self) -> list[str]:
        """Findings: the lines of standard error, or those of `validate`, without the last line, which counts them."""
        if self.command == "validate" and self.code != 2:
            return self.out.splitlines()[:-1]
        return self.err.splitlines()

    @property
    def reported(self) -> tuple[int, list[str]]:
        """The exit code and the findings."""
        return self.code, self.lines

    @property
    def places(self) -> list[str]:
        """File, line, column, level and path of each finding."""
        matches = [_PLACE.match(line) for line in self.lines]
        return ["".join(part or "" for part in match.groups()) if match else "" for match in matches]

    def documents(self) -> list[dict[str, Any]]:
        """Parse the YAML on standard output."""
        return list(yaml.safe_load_all(self.out))


PLACEHOLDERS = f"volcano-jobs: {render._PLACEHOLDERS['pulumi']}\n"
"""The message of `render` when it prints placeholders instead of ssh keys (test_keys.py has its snapshot)."""
NATIVE_PLACEHOLDERS = f"volcano-jobs: {render._PLACEHOLDERS['volcano']}\n"
"""The message of `render --managed-by volcano` when it prints placeholders."""


class Shell:
    """A folder in which commands run; file names are relative to it."""

    def __init__(self, folder: Path) -> None:
        """Use an empty folder."""
        self.folder = folder

    def write(self, name: str, *documents: Any) -> str:
        """Write a file of text, bytes or documents, and return its name."""
        (first, *_) = documents
        if isinstance(first, bytes):
            (self.folder / name).write_bytes(first)
        else:
            text = first if isinstance(first, str) else yaml.safe_dump_all(documents)
            (self.folder / name).write_text(text, "utf-8")
        return name

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Answer:
        """Run `volcano-jobs` with these arguments, and check that it shows no traceback."""
        result = CliRunner().invoke(cli.app, list(arguments), input=stdin, prog_name="volcano-jobs")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr, next(iter(arguments), ""))

    def good(self, *arguments: str, stdin: bytes = b"") -> Answer:
        """Run a command, and check that it succeeds with nothing on standard error."""
        answer = self(*arguments, stdin=stdin)
        assert (answer.code, answer.err) == (0, "")
        return answer

    def warned(self, *arguments: str, stdin: bytes = b"") -> Answer:
        """Run a command, and check that it succeeds with warnings only on standard error."""
        answer = self(*arguments, stdin=stdin)
        assert answer.code == 0
        assert all(": warning: " in line for line in answer.lines)
        return answer

    def problems(self, *arguments: str, stdin: bytes = b"") -> list[Problem]:
        """Run `validate --format json`, and return the Problems that it reports."""
        answer = self("validate", "--quiet", "--format", "json", *arguments, stdin=stdin)
        entries = json.loads(answer.out)
        assert answer.err == ""
        assert answer.code == any(entry["level"] == "error" for entry in entries)
        names = ("path", "type", "reason", "hint", "value", "code", "line", "column")
        return [
            Problem(**{name: entry[name] for name in names}, stage=RejectionStage[entry["stage"].upper()])
            for entry in entries
        ]

    def without_keys(self, *arguments: str, stdin: bytes = b"") -> Answer:
        """Run `render` without `--show-keys` on a job with ssh keys, and check its only message."""
        answer = self("render", *arguments, stdin=stdin)
        assert (answer.code, answer.err) == (0, PLACEHOLDERS)
        return answer


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Provide an empty folder to run the command line in."""
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path)
