"""`volcano-jobs graph`: a job's topology as a picture."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from pulumi_volcano_jobs.cli import options
from pulumi_volcano_jobs.cli.checks import Checks
from pulumi_volcano_jobs.cli.files import errors_only, for_each, give_up, refuse_twins_of_files, report, write_out
from pulumi_volcano_jobs.explain.graph import graph
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.rendering.renderer import Rendered, render

EXAMPLES = """\b
Examples:
  volcano-jobs graph train.yaml                          Mermaid text
  volcano-jobs graph train.yaml --format svg > train.svg
  (echo '```mermaid'; volcano-jobs graph train.yaml; echo '```') >> README.md

GitHub, GitLab and many editors draw Mermaid text themselves."""


Picture = Literal["mermaid", "svg"]


def graph_command(
    files: options.Files,
    *,
    style: Annotated[
        Picture, typer.Option("--format", help='Mermaid text, or SVG (needs the extra "svg" of this package).')
    ] = "mermaid",
    lenient: options.Lenient = False,
    on_conflict: options.Conflict = "error",
    defaults: options.DefaultsOf = "volcano",
    plugin_settings: options.PluginSettings = None,
    ignore: options.Ignore = "",
    kubernetes_version: options.KubernetesVersion = "",
    volcano_version: options.VolcanoVersion = "",
    cluster: options.Cluster = None,
) -> None:
    """Draw a job's topology as a picture.

    Its Pods, which of them are told whose address, and the objects that they use.
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

    made = for_each(files, make, errors_only(report))
    refuse_twins_of_files(made, "pulumi", report)
    text = graph(item.rendered for item in made)
    write_out(text if style == "mermaid" else _svg(text))


def _svg(text: str) -> str:
    try:
        import mermaidx  # noqa: PLC0415  # an extra, and slow to load
    except ImportError:
        give_up('--format svg needs the package mermaidx: pip install "pulumi-volcano-jobs[svg]"')
    picture: str = mermaidx.render(text).svg()
    return f"{picture}\n"
