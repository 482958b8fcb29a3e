"""The command line, `volcano-jobs`: job files without Pulumi and without a cluster. A module for each command."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from pulumi_volcano_jobs.cli import convert, explain, files, graph, render, validate

app = typer.Typer(
    name="volcano-jobs",
    help="Volcano jobs as the Kubernetes objects that they become: no cluster and no Pulumi engine needed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(is_requested: bool) -> None:  # noqa: FBT001  # as typer calls it
    if is_requested:
        files.write_out(f"volcano-jobs {version('pulumi-volcano-jobs')}\n")
        raise typer.Exit


_VERSION = typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")


@app.callback()
def _all_commands(*, asked: Annotated[bool, _VERSION] = False) -> None:
    """Take what is no command's own; typer shows the application's help in place of this."""


app.command("render", epilog=render.EXAMPLES)(render.render_command)
app.command("validate", epilog=validate.EXAMPLES)(validate.validate)
app.command("explain", epilog=explain.EXAMPLES)(explain.explain_command)
app.command("graph", epilog=graph.EXAMPLES)(graph.graph_command)
app.command("convert", epilog=convert.EXAMPLES)(convert.convert)


def main() -> None:
    """Run the command line: exit code 0 if all is well, 1 for problems of a job, 2 for bad usage or files."""
    app(prog_name="volcano-jobs")
