"""docs/commands.md shows the output of the commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Shell

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "commands.md").read_text("utf-8")
CONSOLE = re.findall(r"```console\n\$ volcano-jobs ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)
PICTURES = re.findall(r"<!-- volcano-jobs ([^\n]*) -->\n```mermaid\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(
    ("command", "output"), [*CONSOLE, *PICTURES], ids=[command for command, _ in (*CONSOLE, *PICTURES)]
)
def test_the_commands_print_the_output_of_the_page(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, command: str, output: str
) -> None:
    """They run in the repository at 80 columns."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")

    assert shell.good(*command.split()).out == output


def test_the_page_shows_each_command() -> None:
    """It explains a job and a Pod, and draws a graph."""
    assert [command.split()[0] for command, _ in (*CONSOLE, *PICTURES)] == ["explain", "explain", "graph"]
