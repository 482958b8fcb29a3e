"""The command line `volcano-jobs`, which does not need Pulumi. Each command has a module."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from pulumi_volcano_jobs.cli import (
    arguments,
    convert,
    explain,
    graph,
    jobs_in_cluster,
    logs,
    output,
    render,
    schema,
    status,
    validate,
)

app = typer.Typer(
    name="volcano-jobs",
    help="Check, render, explain and convert Volcano Job files, and show the state of jobs in a cluster.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(is_requested: bool) -> None:  # noqa: FBT001  # typer passes it as a positional argument
    if is_requested:
        output.write_out(f"volcano-jobs {version('pulumi-volcano-jobs')}\n")
        raise typer.Exit


_VERSION = typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")


@app.callback()
def _all_commands(*, asked: Annotated[bool, _VERSION] = False) -> None:
    """Accept the options before a command. typer shows the help of the application instead of this text."""


_NO_BRACES = str.maketrans("", "", "{}")


class _Command(TyperCommand):
    """A command with the usage line of kubectl: `FILE...` and `JOB` without braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line."""
        return [piece.translate(_NO_BRACES) for piece in super().collect_usage_pieces(ctx)]


def _add(name: str, command: Callable[..., None], examples: str, of_argument: str = arguments.FILE_HELP) -> None:
    text = inspect.getdoc(command) or ""
    summary = text.partition("\n\n")[0]
    description = f"{text}\n\n{of_argument}"
    app.command(name, cls=_Command, help=description, short_help=summary, epilog=examples)(command)


_add("render", render.render_command, render.EXAMPLES)
_add("validate", validate.validate, validate.EXAMPLES)
_add("explain", explain.explain_command, explain.EXAMPLES)
_add("graph", graph.graph_command, graph.EXAMPLES)
_add("convert", convert.convert, convert.EXAMPLES)
_add("status", status.status_command, status.EXAMPLES, jobs_in_cluster.JOB_HELP)
_add("logs", logs.logs_command, logs.EXAMPLES, jobs_in_cluster.JOB_HELP)
app.command("schema", epilog=schema.EXAMPLES)(schema.schema_command)


def main() -> None:
    """Run the command line. Exit codes: 0 for success, 1 for problems in a job, 2 for wrong usage or files."""
    app(prog_name="volcano-jobs")
