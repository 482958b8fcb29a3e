"""`volcano-jobs graph`: a job's topology as a picture."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from pulumi_volcano_jobs.cli.checks import Checks, with_checks
from pulumi_volcano_jobs.cli.files import errors_only, for_each, give_up, refuse_twins_of_files, report, write_out
from pulumi_volcano_jobs.cli.options import Files, Manager
from pulumi_volcano_jobs.explain.graph import graph
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.rendering.renderer import Rendered, render

EXAMPLES = """\b
Examples:
  volcano-jobs graph train.yaml                          Mermaid text
  volcano-jobs graph train.yaml --format svg > train.svg
  (echo '```mermaid'; volcano-jobs graph train.yaml; echo '```') >> README.md

GitHub, GitLab and many editors draw Mermaid text themselves."""


class Picture(enum.Enum):
    """How a picture is written."""

    MERMAID = "mermaid"
    SVG = "svg"


@with_checks
def graph_command(
    files: Files,
    *,
    checks: Checks,
    style: Annotated[
        Picture, typer.Option("--format", help='Mermaid text, or SVG (needs the extra "svg" of this package).')
    ] = Picture.MERMAID,
) -> None:
    """Draw a job's topology as a picture.

    Its Pods, which of them are told whose address, and the objects that they use.
    """

    def make(document: job_file.Document) -> Rendered:
        return render(document.data, **checks.settings(), redact=True, earlier=document.problems)

    made = for_each(files, make, errors_only(report))
    refuse_twins_of_files(made, Manager.PULUMI, report)
    text = graph(item.rendered for item in made)
    write_out(text if style is Picture.MERMAID else _svg(text))


def _svg(text: str) -> str:
    try:
        import mermaidx  # noqa: PLC0415  # an extra, and slow to load
    except ImportError:
        give_up('--format svg needs the package mermaidx: pip install "pulumi-volcano-jobs[svg]"')
    picture: str = mermaidx.render(text).svg()
    return f"{picture}\n"
