"""`volcano-jobs graph`: print the topology of a job as a diagram."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from pulumi_volcano_jobs.cli import arguments
from pulumi_volcano_jobs.cli.check_options import Checks
from pulumi_volcano_jobs.cli.documents import process
from pulumi_volcano_jobs.cli.files import check_output
from pulumi_volcano_jobs.cli.findings import errors_to_stderr
from pulumi_volcano_jobs.cli.output import GENERATED, STDIN, exit_with_usage_error, save
from pulumi_volcano_jobs.explain.flowchart import graph
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.rendering.renderer import Rendered, render

EXAMPLES = """\b
Examples:
  volcano-jobs graph train.yaml                          Mermaid text
  volcano-jobs graph train.yaml -o train.mmd
  volcano-jobs graph train.yaml --format svg -o train.svg
  (echo '```mermaid'; volcano-jobs graph train.yaml; echo '```') >> README.md

GitHub, GitLab and many editors display Mermaid text as a diagram."""


GraphFormat = Literal["mermaid", "svg"]
_COMMENTS = {"mermaid": f"%% {GENERATED} graph.\n", "svg": f"<!-- {GENERATED} graph. -->\n"}


def graph_command(
    files: arguments.Files,
    *,
    style: Annotated[
        GraphFormat, typer.Option("--format", help='Mermaid text, or SVG, which needs the extra "svg" of this package.')
    ] = "mermaid",
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="-|FILE", help="Write to a file, or to standard output (-).")
    ] = STDIN,
    force: arguments.Force = False,
    lenient: arguments.Lenient = False,
    on_conflict: arguments.Conflict = "error",
    defaults: arguments.PluginDefaults = "volcano",
    plugin_settings: arguments.PluginSettings = None,
    ignore: arguments.Ignore = "",
    kubernetes_version: arguments.KubernetesVersion = "",
    volcano_version: arguments.VolcanoVersion = "",
    cluster: arguments.Cluster = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Print the topology of a job as a diagram.

    The diagram shows the Pods of each task, the addresses that they receive, and the objects that they use.
    """
    checks = Checks.read(
        files,
        lenient=lenient,
        on_conflict=on_conflict,
        defaults=defaults,
        plugin_settings=plugin_settings,
        ignore=ignore,
        kubernetes_version=kubernetes_version,
        volcano_version=volcano_version,
        cluster=cluster,
        quiet=quiet,
    )
    check_output(output, files)

    def make(document: job_file.Document, options: Checks) -> Rendered:
        return render(document.data, **options.settings(), redact=True, earlier=document.problems)

    batch = process(files, make, checks, checks.unless_quiet(errors_to_stderr), "pulumi", duplicates="file")
    batch.note_skipped(checks, (), "only Volcano Jobs are drawn")
    text = graph(item.rendered for item in batch.require_jobs())
    picture = text if style == "mermaid" else _svg(text)
    save(output, picture if output == STDIN else _COMMENTS[style] + picture, force=force)


def _svg(text: str) -> str:
    try:
        import mermaidx  # noqa: PLC0415  # an extra, and slow to load
    except ImportError:
        exit_with_usage_error('--format svg needs the package mermaidx: pip install "pulumi-volcano-jobs[svg]"')
    picture: str = mermaidx.render(text).svg()
    return f"{picture}\n"
