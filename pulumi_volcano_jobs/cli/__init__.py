"""The command line, `volcano-jobs`: job files without Pulumi and without a cluster. A module for each command."""

from __future__ import annotations

import typer

from pulumi_volcano_jobs.cli.convert import EXAMPLES as CONVERT_EXAMPLES
from pulumi_volcano_jobs.cli.convert import convert
from pulumi_volcano_jobs.cli.explain import EXAMPLES as EXPLAIN_EXAMPLES
from pulumi_volcano_jobs.cli.explain import explain_command
from pulumi_volcano_jobs.cli.graph import EXAMPLES as GRAPH_EXAMPLES
from pulumi_volcano_jobs.cli.graph import graph_command
from pulumi_volcano_jobs.cli.render import render_command
from pulumi_volcano_jobs.cli.validate import validate

app = typer.Typer(
    name="volcano-jobs",
    help="Volcano jobs as the Kubernetes objects that they become: no cluster and no Pulumi engine needed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("render")(render_command)
app.command()(validate)
app.command(epilog=CONVERT_EXAMPLES)(convert)
app.command("explain", epilog=EXPLAIN_EXAMPLES)(explain_command)
app.command("graph", epilog=GRAPH_EXAMPLES)(graph_command)


def main() -> None:
    """Run the command line: exit code 0 if all is well, 1 for problems of a job, 2 for bad usage or files."""
    app(prog_name="volcano-jobs")
