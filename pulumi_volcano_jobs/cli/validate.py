"""`volcano-jobs validate`: report every problem as text, JSON or SARIF."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Literal
from urllib.parse import quote

import typer

from pulumi_volcano_jobs.cli import arguments
from pulumi_volcano_jobs.cli.check_options import Checks, reject_choice
from pulumi_volcano_jobs.cli.documents import Batch, process
from pulumi_volcano_jobs.cli.findings import Report, TextFindings
from pulumi_volcano_jobs.cli.output import write_out
from pulumi_volcano_jobs.cli.report import Finding, as_json, as_sarif
from pulumi_volcano_jobs.core.errors import Problem, in_order
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.rendering.renderer import Rendered, render
from pulumi_volcano_jobs.spec.cluster import READ_CLUSTER
from pulumi_volcano_jobs.spec.options import ManagedBy

# In 80 columns, as the other lines.
_READ_CLUSTER = READ_CLUSTER.replace(" -A ", " \\\n    -A ")
EXAMPLES = f"""\b
Examples:
  volcano-jobs validate jobs
  volcano-jobs validate train.yaml --ignore VJ103,VJ105
  volcano-jobs validate train.yaml --format sarif > volcano-jobs.sarif
  volcano-jobs validate train.yaml --kubernetes-version 1.31
  volcano-jobs validate train.yaml --managed-by volcano --volcano-version 1.15
  {_READ_CLUSTER} > cluster.yaml
  volcano-jobs validate train.yaml --cluster cluster.yaml

Findings are printed to standard output. The exit code is 0 without errors (warnings are allowed), 1 with errors, 2 for
wrong usage or files."""


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
            "--format", help="Format of the findings: text, JSON for scripts, or SARIF for editors and code review."
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
    quiet: arguments.Quiet = False,
) -> None:
    """Report every problem of Jobs and Queues, and how to fix it."""
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
    reject_choice(checks, managed_by)

    def check(document: job_file.Document, options: Checks) -> Rendered:
        return render(document.data, **options.settings(managed_by), earlier=document.problems)

    def process_files(report: Report) -> Batch:
        return process(files, check, checks, report, managed_by, duplicates="file")

    batch = _as_text(process_files, checks) if style == "text" else _as_document(process_files, style)
    batch.note_skipped(checks, ("queue",), "only Volcano Jobs and Queues are validated")
    batch.exit_if_failed()


def _as_text(process_files: Callable[[Report], Batch], checks: Checks) -> Batch:
    """Print each finding on a line, and a last line that counts them."""
    findings = TextFindings()
    batch = process_files(checks.unless_quiet(findings))
    if not checks.quiet:
        findings.print_summary(batch.files, is_empty=all(item.document.role == "other" for item in batch.items))
    return batch


def _as_document(process_files: Callable[[Report], Batch], style: ReportFormat) -> Batch:
    """Print all findings as one document."""
    findings: list[Finding] = []

    def collect(file: str, problems: Iterable[Problem]) -> None:
        place = quote(file) if style == "sarif" else file
        findings.extend(Finding(place, problem) for problem in in_order(problems))

    batch = process_files(collect)
    text = as_json(findings) if style == "json" else as_sarif(findings)
    write_out(f"{text}\n")
    return batch
