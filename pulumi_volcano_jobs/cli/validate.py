"""`volcano-jobs validate`: every problem, for people, scripts, editors and code review."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Annotated
from urllib.parse import quote

import typer

from pulumi_volcano_jobs.cli.checks import Checks, refuse_choice, with_checks
from pulumi_volcano_jobs.cli.files import for_each, refuse_twins_of_files, report, write_out
from pulumi_volcano_jobs.cli.options import Files, Manager
from pulumi_volcano_jobs.cli.report import Finding, as_json, as_sarif
from pulumi_volcano_jobs.core.errors import Problem, in_order
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.rendering.renderer import Rendered, render

EXAMPLES = """\b
Examples:
  volcano-jobs validate jobs/*.yaml
  volcano-jobs validate train.yaml --ignore VJ103,VJ105
  volcano-jobs validate train.yaml --format sarif > volcano-jobs.sarif
  volcano-jobs validate train.yaml --kubernetes-version 1.31
  volcano-jobs validate train.yaml --managed-by volcano --volcano-version 1.15
  volcano-jobs validate train.yaml --cluster cluster.yaml

The exit code is 0 without problems (warnings are none), 1 with problems, 2 for bad usage or files."""


class ReportStyle(enum.Enum):
    """How problems are written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


@with_checks
def validate(
    files: Files,
    *,
    checks: Checks,
    managed_by: Annotated[
        Manager,
        typer.Option("--managed-by", help="volcano: report also what Volcano's CRD and webhook reject."),
    ] = Manager.PULUMI,
    style: Annotated[
        ReportStyle,
        typer.Option("--format", help="Lines for people; JSON or SARIF (editors, code review) on standard output."),
    ] = ReportStyle.TEXT,
) -> None:
    """Report every problem of Volcano jobs and what to do."""
    refuse_choice(checks, managed_by)
    findings: list[Finding] = []

    def collect(file: str, problems: Iterable[Problem]) -> None:
        place = quote(file) if style is ReportStyle.SARIF else file
        findings.extend(Finding(place, problem) for problem in in_order(problems))

    def check(document: job_file.Document) -> Rendered:
        return render(document.data, **checks.settings(managed_by), earlier=document.problems)

    tell = report if style is ReportStyle.TEXT else collect
    try:
        made = for_each(files, check, checks.heard(tell))
        refuse_twins_of_files(made, managed_by, tell)
    finally:
        if style is not ReportStyle.TEXT:
            text = as_json(findings) if style is ReportStyle.JSON else as_sarif(findings)
            write_out(f"{text}\n")
