"""`--help` has examples."""

from __future__ import annotations

import re
from importlib.metadata import version

import pytest

from tests.cli.conftest import Shell
from tests.conftest import job, task

QUEUE = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "Queue",
    "metadata": {"name": "default"},
    "status": {"state": "Open"},
}


@pytest.mark.parametrize("command", ["render", "validate"])
@pytest.mark.parametrize("columns", ["80", "140"])
def test_each_example_works(shell: Shell, monkeypatch: pytest.MonkeyPatch, command: str, columns: str) -> None:
    """Each is on its own line at any terminal width."""
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.chdir(shell.folder)
    (shell.folder / "jobs").mkdir()
    for file in ("train.yaml", "jobs/*.yaml", "-"):
        shell.write(file, job(task(), plugins={"svc": []}))
    shell.write("cluster.yaml", QUEUE)
    stdin = (shell.folder / "-").read_bytes()

    out = shell.good(command, "--help").out

    examples = re.findall(rf"volcano-jobs ({command} [^>|\n]*)", out.partition("Examples:")[2])
    assert len(examples) >= 4
    assert [shell(*example.split(), stdin=stdin).code for example in examples] == [0] * len(examples)


def test_every_command_has_examples(shell: Shell) -> None:
    """The list of commands describes each one and fits into 80 columns."""
    commands = re.findall(r"^  (\w+) +\w", shell.good("--help").out.partition("Commands:")[2], re.MULTILINE)

    assert set(commands) == {"render", "validate", "explain", "graph", "convert", "schema", "status", "logs"}
    helps = [shell.good(command, "--help").out for command in commands]
    assert ["Examples:" in text for text in helps] == [True] * len(commands)
    assert max(len(line) for text in helps for line in text.splitlines()) <= 80


def test_the_version_is_that_of_the_package(shell: Shell) -> None:
    """Bug reports include it."""
    assert shell.good("--version").out == f"volcano-jobs {version('pulumi-volcano-jobs')}\n"


@pytest.mark.parametrize("command", ["render", "validate", "explain", "graph", "convert"])
def test_arguments_have_names_instead_of_types(shell: Shell, command: str) -> None:
    """A user does not know Python's types."""
    out = shell.good(command, "--help").out

    assert f"volcano-jobs {command} [OPTIONS] FILE...\n" in out
    assert "FILE is a file that kubectl apply accepts" in out
    assert re.findall(r"\b(?:TEXT|PATH)\b|list\[|<str>|\{", out) == []


def test_no_word_of_the_help_is_broken(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command for --cluster is longer than the column of the descriptions."""
    monkeypatch.setenv("COLUMNS", "80")

    out = shell.good("validate", "--help").out

    assert out.count("priorityclasses,queues.scheduling.volcano.sh,pvc") == 1
