"""docs/commands.md shows what the commands print."""

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
def test_what_the_page_shows_is_printed(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, command: str, output: str
) -> None:
    """At 80 columns, where the repository is."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")

    assert shell.good(*command.split()).out == output


def test_the_page_shows_each_command() -> None:
    """A whole job, one Pod, and a picture."""
    assert [command.split()[0] for command, _ in (*CONSOLE, *PICTURES)] == ["explain", "explain", "graph"]
