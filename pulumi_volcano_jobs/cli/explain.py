"""`volcano-jobs explain`: print the source of each field of a job as tables."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Annotated

import typer

from pulumi_volcano_jobs.cli import arguments
from pulumi_volcano_jobs.cli.check_options import Checks, reject_choice
from pulumi_volcano_jobs.cli.documents import RenderedJob, process
from pulumi_volcano_jobs.cli.findings import to_stderr
from pulumi_volcano_jobs.cli.output import exit_with_usage_error, write_out
from pulumi_volcano_jobs.cli.tables import format_tables
from pulumi_volcano_jobs.core.sections import Explanation
from pulumi_volcano_jobs.explain.tables import explain, explain_pod, pods
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.rendering.renderer import Rendered, render
from pulumi_volcano_jobs.spec.options import ManagedBy

EXAMPLES = """\b
Examples:
  volcano-jobs explain train.yaml
  volcano-jobs explain train.yaml --pod train-worker-1
  volcano-jobs explain train.yaml --managed-by volcano
  kubectl get vcjob train -o yaml | volcano-jobs explain - | less

The tables are as wide as the terminal. COLUMNS=140 sets another width."""
_MOST_NAMES = 5


def explain_command(
    files: arguments.Files,
    *,
    pod: Annotated[
        str | None,
        typer.Option("--pod", metavar="NAME", help="Explain one Pod: all its fields, and the source of each."),
    ] = None,
    managed_by: Annotated[
        ManagedBy,
        typer.Option("--managed-by", help="Whether Pulumi or Volcano's controllers create the Pods."),
    ] = "pulumi",
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
    """Show the source of each field of a job.

    The tables list the Pods and host names of each task, the plugins, the objects that they create, and the PodGroup.
    They list the variables, mounts and ports that are injected into Pods. They also show the effect of scaling, and the
    fields that only Volcano's controllers apply.
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
    native = managed_by == "volcano"
    reject_choice(checks, managed_by)

    def make(document: job_file.Document, options: Checks) -> Rendered:
        return render(document.data, **options.settings(managed_by), redact=True, earlier=document.problems)

    batch = process(files, make, checks, checks.unless_quiet(to_stderr), managed_by, duplicates="file")
    batch.note_skipped(checks, (), "only Volcano Jobs are explained")
    jobs = batch.require_jobs()
    explanations = (
        [explain(item.rendered, native=native) for item in jobs] if pod is None else _pods(jobs, pod, native=native)
    )
    write_out(format_tables(explanations))


def _pods(jobs: Sequence[RenderedJob], name: str, *, native: bool) -> list[Explanation]:
    """Explain the Pods with a name. Each file may have one."""
    known = [(item.rendered, pods(item.rendered)) for item in jobs]
    explanations = [explain_pod(rendered, *places[name], native=native) for rendered, places in known if name in places]
    if not explanations:
        exit_with_usage_error(
            f"no job has the Pod {name}: {_similar_names(name, [pod for _, places in known for pod in places])}"
        )
    return explanations


def _similar_names(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known)
    if close:
        return f"did you mean {' or '.join(close)}?"
    names = [*known[:_MOST_NAMES], *(["…"] if len(known) > _MOST_NAMES else [])]
    return f"the Pods are {', '.join(names)}" if names else "the jobs have no Pods"
