"""`volcano-jobs graph`: print the topology of a job as a diagram."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from pulumi_volcano_jobs.cli import arguments
from pulumi_volcano_jobs.cli.check_options import Checks
from pulumi_volcano_jobs.cli.files import (
    errors_only,
    exit_with_usage_error,
    for_each,
    reject_duplicates_per_file,
    report,
    write_out,
)
from pulumi_volcano_jobs.explain.flowchart import graph
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.rendering.renderer import Rendered, render

EXAMPLES = """\b
Examples:
  volcano-jobs graph train.yaml                          Mermaid text
  volcano-jobs graph train.yaml --format svg > train.svg
  (echo '```mermaid'; volcano-jobs graph train.yaml; echo '```') >> README.md

GitHub, GitLab and many editors display Mermaid text as a diagram."""


GraphFormat = Literal["mermaid", "svg"]


def graph_command(
    files: arguments.Files,
    *,
    style: Annotated[
        GraphFormat, typer.Option("--format", help='Mermaid text, or SVG, which needs the extra "svg" of this package.')
    ] = "mermaid",
    lenient: arguments.Lenient = False,
    on_conflict: arguments.Conflict = "error",
    defaults: arguments.PluginDefaults = "volcano",
    plugin_settings: arguments.PluginSettings = None,
    ignore: arguments.Ignore = "",
    kubernetes_version: arguments.KubernetesVersion = "",
    volcano_version: arguments.VolcanoVersion = "",
    cluster: arguments.Cluster = None,
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
    )

    def make(document: job_file.Document) -> Rendered:
        return render(document.data, **checks.settings(), redact=True, earlier=document.problems)

    documents = for_each(files, make, errors_only(report))
    reject_duplicates_per_file(documents, "pulumi", report)
    text = graph(item.rendered for item in documents)
    write_out(text if style == "mermaid" else _svg(text))


def _svg(text: str) -> str:
    try:
        import mermaidx  # noqa: PLC0415  # an extra, and slow to load
    except ImportError:
        exit_with_usage_error('--format svg needs the package mermaidx: pip install "pulumi-volcano-jobs[svg]"')
    picture: str = mermaidx.render(text).svg()
    return f"{picture}\n"
