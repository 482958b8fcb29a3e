"""`volcano-jobs status`: print the state of a job in a cluster, and the reasons why it waits or failed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import typer

from pulumi_volcano_jobs.cli import jobs_in_cluster
from pulumi_volcano_jobs.cli.findings import print_note
from pulumi_volcano_jobs.cli.jobs_in_cluster import Target
from pulumi_volcano_jobs.cli.output import PROBLEMS, STDIN, exit_with_usage_error, write_out
from pulumi_volcano_jobs.cli.tables import format_tables
from pulumi_volcano_jobs.core.phrases import some
from pulumi_volcano_jobs.core.text import json_text
from pulumi_volcano_jobs.status.job import JobView, jobs_in
from pulumi_volcano_jobs.status.kubectl import Kubectl, KubectlError, Reader
from pulumi_volcano_jobs.status.model import State, Status
from pulumi_volcano_jobs.status.objects import RecordedObjects
from pulumi_volcano_jobs.status.summary import exists, status_of
from pulumi_volcano_jobs.status.tables import as_json, tables

EXAMPLES = """\b
Examples:
  volcano-jobs status train
  volcano-jobs status train -n research --watch
  volcano-jobs status train.yaml --format json
  volcano-jobs status --from recorded.json

\b
Exit codes:
  0  done      all Pods that matter have succeeded, or the Job is Completed
  1  failed    a Pod failed, or the Job is Failed, Terminated or Aborted
  2            wrong usage, kubectl failed, or the job does not exist
  3  waiting   Pods of the gang do not run yet
  4  running   the gang runs
With several jobs, the first of 1, 3, 4 and 0 that a job has."""
StatusFormat = Literal["text", "json"]
_EXIT_CODES: dict[State, int] = {"failed": PROBLEMS, "waiting": 3, "running": 4, "done": 0}
"""Exit codes by state. The first state that a job has decides."""
_CLEAR = "\x1b[2J\x1b[H"  # the terminal, and the cursor to its first line
_INTERVAL = 5.0


def status_command(
    job: jobs_in_cluster.JobArgument = "",
    *,
    namespace: jobs_in_cluster.Namespace = "",
    watch: Annotated[
        bool, typer.Option("-w", "--watch", help="Print each change, until the job is done or failed.")
    ] = False,
    style: Annotated[StatusFormat, typer.Option("--format", help="Tables for people, or JSON for scripts.")] = "text",
    source: Annotated[
        str,
        typer.Option(
            "--from", metavar="FILE", help="Read the output of kubectl get -o json instead of a cluster; - for stdin."
        ),
    ] = "",
    context: jobs_in_cluster.Context = "",
    kubeconfig: jobs_in_cluster.KubeConfig = "",
) -> None:
    """Show the state of a job: its Pods, gang and queue, and why it waits or failed.

    The reasons are listed most likely first. Each names the object that shows it, and the fix. The command reads the
    cluster through kubectl, with its contexts and credentials, and changes nothing. It works for
    the jobs of Pulumi and of Volcano. It does not show environment variables.
    """
    if source:
        if watch:
            exit_with_usage_error("--watch needs a cluster: remove --from")
        if source == STDIN and job == STDIN:
            exit_with_usage_error("- is set as --from and as JOB, but standard input can be read only once")
        views = _recorded(source, job, namespace)
        raise typer.Exit(_show([status_of(view) for view in views], style))
    if not job:
        exit_with_usage_error("set the name of a job, or a file with a job")
    read = _reader(jobs_in_cluster.targets(job, namespace), Kubectl(namespace, context, kubeconfig))
    with jobs_in_cluster.kubectl_errors():
        statuses = read()
    raise typer.Exit(_watch(read, statuses, style) if watch else _show(statuses, style))


def _recorded(source: str, job: str, namespace: str) -> list[JobView]:
    objects = jobs_in_cluster.recorded_objects(source)
    if job:
        chosen = jobs_in_cluster.targets(job, namespace)
    else:
        chosen = [Target(name, own, {}) for own, name in jobs_in(objects, namespace)]
        if len(chosen) != 1:
            names = some([target.name for target in chosen]) or "none"
            exit_with_usage_error(f"set the name of a job: the file has {names}")
    return [_recorded_job(objects, target) for target in chosen]


def _recorded_job(objects: RecordedObjects, target: Target) -> JobView:
    own = [space for space, name in jobs_in(objects) if name == target.name and target.namespace in {"", space}]
    if len(own) > 1:
        exit_with_usage_error(f"set --namespace: the job {target.name} is in {some(own)}")
    namespace = own[0] if own else target.namespace
    view = JobView(target.name, namespace, objects, objects.recorded_at(), target.replicas)
    return _existing(view, f"job {target.name}: not found in the recorded objects")


def _reader(targets: Sequence[Target], kubectl: Kubectl) -> Callable[[], list[Status]]:
    """Return a function that reads the jobs from the cluster. It exits if one does not exist.

    The function raises a KubectlError if kubectl fails.
    """
    notes: set[str] = set()

    def read() -> list[Status]:
        statuses = []
        for target in targets:
            reader = Reader(kubectl.in_namespace(target.namespace))
            view = reader.read(target.name, target.replicas)
            where = f"namespace {target.namespace}" if target.namespace else "the namespace of the current context"
            for note in reader.notes:
                if note not in notes:
                    print_note(note)
            notes.update(reader.notes)
            statuses.append(status_of(_existing(view, f"job {target.name}: not found in {where}")))
        return statuses

    return read


def _existing(view: JobView, message: str) -> JobView:
    if not exists(view):
        exit_with_usage_error(f"{message}: check the name and the namespace")
    return view


def _watch(read: Callable[[], list[Status]], statuses: list[Status], style: StatusFormat) -> int:
    """Show each change until all jobs have ended. A failure of kubectl is a note, and the next try follows."""
    shown: list[Status] = []
    while True:
        if _unchanging(statuses) != _unchanging(shown):
            if sys.stdout.isatty():
                typer.echo(_CLEAR, nl=False)
            code = _show(statuses, style)
            shown = statuses
        if all(status.state in {"done", "failed"} for status in statuses):
            return code
        time.sleep(_INTERVAL)
        try:
            statuses = read()
        except KubectlError as error:
            print_note(str(error))


def _unchanging(statuses: Sequence[Status]) -> list[object]:
    """Return statuses without the time at which they were read."""
    return [as_json(status) for status in statuses]


def _show(statuses: Sequence[Status], style: StatusFormat) -> int:
    """Print statuses, and return the exit code."""
    if style == "json":
        write_out("".join(f"{json_text(as_json(status))}\n" for status in statuses))
    else:
        write_out(format_tables(map(tables, statuses)))
    states = {status.state for status in statuses}
    return next(code for state, code in _EXIT_CODES.items() if state in states)
