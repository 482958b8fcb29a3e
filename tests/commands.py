"""Run `volcano-jobs` in the process of the tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest import mock

from typer import testing
from typer.main import get_command

from pulumi_volcano_jobs import cli

_APPLICATION = get_command(cli.app)


def run_command(*arguments: str, stdin: str | bytes = b"", env: Mapping[str, str] | None = None) -> Any:
    """Run a command, and return the result of typer's runner.

    The runner builds all commands again each time, which takes longer than most commands, so it gets built ones.
    """
    with mock.patch.object(testing, "_get_command", return_value=_APPLICATION):
        return testing.CliRunner().invoke(cli.app, list(arguments), input=stdin, env=env, prog_name="volcano-jobs")
