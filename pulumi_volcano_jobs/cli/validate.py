"""`volcano-jobs validate`: every problem, for people, scripts, editors and code review."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal
from urllib.parse import quote

import typer

from pulumi_volcano_jobs.cli import options
from pulumi_volcano_jobs.cli.checks import Checks, refuse_choice
from pulumi_volcano_jobs.cli.files import for_each, refuse_twins_of_files, report, write_out
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

The exit code is 0 without problems (warnings are none), 1 with problems, 2 for bad usage or files."""


ReportStyle = Literal["text", "json", "sarif"]


def validate(
    files: options.Files,
    *,
    managed_by: Annotated[
        ManagedBy,
        typer.Option("--managed-by", help="volcano: report also what Volcano's CRD and webhook reject."),
    ] = "pulumi",
    style: Annotated[
        ReportStyle,
        typer.Option("--format", help="Lines for people; JSON or SARIF (editors, code review) on standard output."),
    ] = "text",
    lenient: options.Lenient = False,
    on_conflict: options.Conflict = "error",
    defaults: options.DefaultsOf = "volcano",
    plugin_settings: options.PluginSettings = None,
    ignore: options.Ignore = "",
    kubernetes_version: options.KubernetesVersion = "",
    volcano_version: options.VolcanoVersion = "",
    cluster: options.Cluster = None,
) -> None:
    """Report every problem of Volcano jobs and what to do."""
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
    refuse_choice(checks, managed_by)
    findings: list[Finding] = []

    def collect(file: str, problems: Iterable[Problem]) -> None:
        place = quote(file) if style == "sarif" else file
        findings.extend(Finding(place, problem) for problem in in_order(problems))

    def check(document: job_file.Document) -> Rendered:
        return render(document.data, **checks.settings(managed_by), earlier=document.problems)

    tell = report if style == "text" else collect
    try:
        made = for_each(files, check, checks.heard(tell))
        refuse_twins_of_files(made, managed_by, tell)
    finally:
        if style != "text":
            text = as_json(findings) if style == "json" else as_sarif(findings)
            write_out(f"{text}\n")
