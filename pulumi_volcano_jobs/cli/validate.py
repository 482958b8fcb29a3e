"""`volcano-jobs validate`: report every problem as text, JSON or SARIF."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal
from urllib.parse import quote

import typer

from pulumi_volcano_jobs.cli import arguments
from pulumi_volcano_jobs.cli.check_options import Checks, reject_choice
from pulumi_volcano_jobs.cli.files import for_each, reject_duplicates_per_file, report, write_out
from pulumi_volcano_jobs.cli.report import Finding, as_json, as_sarif
from pulumi_volcano_jobs.core.errors import Problem, in_order
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.rendering.renderer import Rendered, render
from pulumi_volcano_jobs.spec.options import ManagedBy

EXAMPLES = """\b
Examples:
  volcano-jobs validate jobs/*.yaml
  volcano-jobs validate train.yaml --ignore VJ103,VJ105
  volcano-jobs validate train.yaml --format sarif > volcano-jobs.sarif
  volcano-jobs validate train.yaml --kubernetes-version 1.31
  volcano-jobs validate train.yaml --managed-by volcano --volcano-version 1.15
  volcano-jobs validate train.yaml --cluster cluster.yaml

The exit code is 0 without problems (warnings are allowed), 1 with problems, 2 for wrong usage or files."""


ReportFormat = Literal["text", "json", "sarif"]


def validate(
    files: arguments.Files,
    *,
    managed_by: Annotated[
        ManagedBy,
        typer.Option("--managed-by", help="volcano: also report problems that only Volcano's CRD and webhook reject."),
    ] = "pulumi",
    style: Annotated[
        ReportFormat,
        typer.Option(
            "--format", help="Text on standard error, or JSON or SARIF (editors, code review) on standard output."
        ),
    ] = "text",
    lenient: arguments.Lenient = False,
    on_conflict: arguments.Conflict = "error",
    defaults: arguments.PluginDefaults = "volcano",
    plugin_settings: arguments.PluginSettings = None,
    ignore: arguments.Ignore = "",
    kubernetes_version: arguments.KubernetesVersion = "",
    volcano_version: arguments.VolcanoVersion = "",
    cluster: arguments.Cluster = None,
) -> None:
    """Report every problem of Volcano jobs and how to fix it."""
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
    reject_choice(checks, managed_by)
    findings: list[Finding] = []

    def collect(file: str, problems: Iterable[Problem]) -> None:
        place = quote(file) if style == "sarif" else file
        findings.extend(Finding(place, problem) for problem in in_order(problems))

    def check(document: job_file.Document) -> Rendered:
        return render(document.data, **checks.settings(managed_by), earlier=document.problems)

    report_problems = report if style == "text" else collect
    try:
        documents = for_each(files, check, checks.without_ignored(report_problems))
        reject_duplicates_per_file(documents, managed_by, report_problems)
    finally:
        if style != "text":
            text = as_json(findings) if style == "json" else as_sarif(findings)
            write_out(f"{text}\n")
