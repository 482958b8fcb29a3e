"""Fixtures that run the command line in a temporary folder."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs import Problem
from pulumi_volcano_jobs.cli import render
from pulumi_volcano_jobs.core.errors import RejectionStage
from tests.commands import run_command

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
        return list(yaml.load_all(self.out, Loader=yaml.CSafeLoader))


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
        result = run_command(*arguments, stdin=stdin)
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


class Kubectl:
    """The folder of a kubectl on PATH."""

    def __init__(self, folder: Path) -> None:
        """Write the program."""
        self.folder = folder
        folder.mkdir()
        program = folder / "kubectl"
        # The program reads its data from the folder of this script.
        shutil.copy(Path(__file__).with_name("fake_kubectl.py"), folder / "fake_kubectl.py")
        script = shlex.quote(str(folder / "fake_kubectl.py"))
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S {script} "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def has(self, objects: list[dict[str, Any]], logs: Mapping[str, list[str]] | None = None, **denied: str) -> None:
        """Set the objects and the logs of the cluster, and the messages about resources that may not be read."""
        (self.folder / "objects.json").write_text(json.dumps(objects))
        (self.folder / "logs.json").write_text(json.dumps(logs or {}))
        (self.folder / "denied.json").write_text(json.dumps(denied))

    def calls(self) -> list[str]:
        """Return the calls since the last time."""
        path = self.folder / "calls.txt"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines


@pytest.fixture
def kubectl(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Kubectl:
    """Provide a kubectl on PATH."""
    folder = tmp_path_factory.mktemp("bin") / "kubectl"
    made = Kubectl(folder)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return made
