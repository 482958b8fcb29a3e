"""The command line `volcano-jobs`, which needs neither Pulumi nor a cluster. Each command has a module."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from pulumi_volcano_jobs.cli import convert, explain, files, graph, render, validate

app = typer.Typer(
    name="volcano-jobs",
    help="Check, render, explain and convert Volcano Job files. Needs neither a cluster nor Pulumi.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(is_requested: bool) -> None:  # noqa: FBT001  # typer passes it as a positional argument
    if is_requested:
        files.write_out(f"volcano-jobs {version('pulumi-volcano-jobs')}\n")
        raise typer.Exit


_VERSION = typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")


@app.callback()
def _all_commands(*, asked: Annotated[bool, _VERSION] = False) -> None:
    """Accept the options before a command. typer shows the help of the application instead of this text."""


app.command("render", epilog=render.EXAMPLES)(render.render_command)
app.command("validate", epilog=validate.EXAMPLES)(validate.validate)
app.command("explain", epilog=explain.EXAMPLES)(explain.explain_command)
app.command("graph", epilog=graph.EXAMPLES)(graph.graph_command)
app.command("convert", epilog=convert.EXAMPLES)(convert.convert)


def main() -> None:
    """Run the command line. Exit codes: 0 for success, 1 for problems in a job, 2 for wrong usage or files."""
    app(prog_name="volcano-jobs")
