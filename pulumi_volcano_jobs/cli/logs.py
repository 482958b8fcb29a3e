"""`volcano-jobs logs`: print the logs of a job by rank."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, Annotated

import typer

from pulumi_volcano_jobs.cli import jobs_in_cluster
from pulumi_volcano_jobs.cli.findings import print_note
from pulumi_volcano_jobs.cli.output import exit_with_usage_error, write_out
from pulumi_volcano_jobs.core.phrases import some
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.status.job import JobView
from pulumi_volcano_jobs.status.kubectl import Kubectl, Reader
from pulumi_volcano_jobs.status.logs import LogSource, sources, without_log

EXAMPLES = """\b
Examples:
  volcano-jobs logs train
  volcano-jobs logs train --task worker --tail 20
  volcano-jobs logs train -n research -f

Each line begins with its rank, such as [worker-0]. The Pod that failed first is
printed first. Init containers are printed while they run, or if they failed."""
_COLORS = ("cyan", "green", "yellow", "magenta", "blue", "bright_cyan", "bright_green", "bright_magenta")
_BATCH = 500
_INTERVAL, _STEP = 3.0, 0.1
_MOST_STREAMS = 50


@dataclass(frozen=True)
class LogOptions:
    """Options that are passed to `kubectl logs`."""

    tail: int
    since: str
    follow: bool

    def arguments(self, source: LogSource) -> list[str]:
        """Return the arguments of kubectl for a container."""
        tail = [f"--tail={self.tail}"] if self.tail >= 0 else []
        since = [f"--since={self.since}"] if self.since else []
        follow = ["--follow"] if self.follow else []
        return ["logs", source.pod, f"--container={source.container}", *tail, *since, *follow]


def logs_command(
    job: jobs_in_cluster.JobArgument,
    *,
    namespace: jobs_in_cluster.Namespace = "",
    task: Annotated[str, typer.Option("--task", metavar="NAME", help="Print the Pods of one task.")] = "",
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Print new lines until the Pods end; wait for Pods to start.")
    ] = False,
    tail: Annotated[int, typer.Option("--tail", metavar="N", help="Print the last N lines of each container.")] = -1,
    since: Annotated[str, typer.Option("--since", metavar="DURATION", help="Print lines since 10m or 2h ago.")] = "",
    context: jobs_in_cluster.Context = "",
    kubeconfig: jobs_in_cluster.KubeConfig = "",
) -> None:
    """Print the logs of all Pods of a job, by rank.

    The command reads the cluster through kubectl, with its contexts and credentials.
    """
    chosen = jobs_in_cluster.targets(job, namespace)
    if len(chosen) > 1:
        exit_with_usage_error(f"set the name of one job: the file has {some([target.name for target in chosen])}")
    (target,) = chosen
    with jobs_in_cluster.kubectl_errors():
        _print(Kubectl(target.namespace, context, kubeconfig), target.name, task, LogOptions(tail, since, follow))


def _print(kubectl: Kubectl, name: str, task: str, options: LogOptions) -> None:
    view = _read(kubectl, name)
    if not view.pods:
        exit_with_usage_error(f"job {name}: it has no Pods: volcano-jobs status {name} shows the reasons")
    if task and task not in view.pods_by_task:
        exit_with_usage_error(f"--task {task}: the job has no Pods of this task: {suggestion(task, view.pods_by_task)}")
    kubectl = kubectl.in_namespace(view.namespace)
    if options.follow:
        _Followers(kubectl, name, task, options).run(view)
    else:
        _print_all(kubectl, view, task, options)


def _read(kubectl: Kubectl, name: str) -> JobView:
    return Reader(kubectl).read(name, {}, with_details=False)


def _print_all(kubectl: Kubectl, view: JobView, task: str, options: LogOptions) -> None:
    found = sources(view, task)
    colors = _colors(found)
    for source in found:
        for lines in _streamed(kubectl, source, options):
            write_out(_prefixed(lines, source, colors))
    if waiting := without_log(view, task):
        print_note(f"no log yet: {some([f'{pod.rank} ({pod.status})' for pod in waiting])}")


def _streamed(kubectl: Kubectl, source: LogSource, options: LogOptions) -> Iterator[list[str]]:
    """Yield the lines of a log, one at a time if they are followed, otherwise in batches."""
    command = kubectl.command(*options.arguments(source))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603  # no shell
        try:
            yield from _batches(_decoded(process.stdout), 1 if options.follow else _BATCH)
            error = process.stderr.read().decode(errors="replace") if process.stderr else ""
        finally:
            process.terminate()
        if error.strip():
            print_note(f"{source.prefix}: {error.strip()}")


def _decoded(stream: IO[bytes] | None) -> Iterator[str]:
    for line in stream or ():
        yield line.decode(errors="replace").rstrip("\r\n")


def _batches(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    iterator = iter(lines)
    while batch := list(islice(iterator, size)):
        yield batch


def _colors(found: Sequence[LogSource]) -> dict[str, str]:
    """Return a color for each prefix; none if the output is not a terminal."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    if not is_terminal:
        return {}
    return {source.prefix: _COLORS[index % len(_COLORS)] for index, source in enumerate(found)}


def _prefixed(lines: Sequence[str], source: LogSource, colors: dict[str, str]) -> str:
    prefix = f"[{source.prefix}]"
    if color := colors.get(source.prefix):
        prefix = typer.style(prefix, fg=color)
    return "".join(f"{prefix} {line}\n" for line in lines)


class _Followers:
    """Threads that follow the logs of containers, including containers that start later."""

    def __init__(self, kubectl: Kubectl, name: str, task: str, options: LogOptions) -> None:
        self._kubectl, self._name, self._task, self._options = kubectl, name, task, options
        self._threads: dict[tuple[str, str, int], threading.Thread] = {}
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._colors: dict[str, str] = {}

    def run(self, view: JobView) -> None:
        """Follow until all Pods have ended, and all lines are printed."""
        while not self._stop.is_set():
            self._start(sources(view, self._task))
            if all(pod.has_ended for pod in view.pods if self._task in {"", pod.task}):
                break
            self._pause()
            view = _read(self._kubectl, self._name)
        for thread in self._threads.values():
            thread.join()

    def _pause(self) -> None:
        # Ctrl-C can break the lock of `Event.wait`, but not a sleep.
        end = time.monotonic() + _INTERVAL
        while time.monotonic() < end and not self._stop.is_set():
            time.sleep(_STEP)

    def _start(self, found: Sequence[LogSource]) -> None:
        active = sum(thread.is_alive() for thread in self._threads.values())
        new = [source for source in found if _key(source) not in self._threads]
        if active + len(new) > _MOST_STREAMS:
            exit_with_usage_error(
                f"cannot follow {active + len(new)} containers, at most {_MOST_STREAMS}: set --task, or remove -f"
            )
        self._colors = _colors(found) | self._colors
        for source in new:
            thread = threading.Thread(target=self._follow, args=(source,), daemon=True)
            self._threads[_key(source)] = thread
            thread.start()

    def _follow(self, source: LogSource) -> None:
        try:
            for lines in _streamed(self._kubectl, source, self._options):
                with self._lock:
                    write_out(_prefixed(lines, source, self._colors))
        except (OSError, typer.Exit):
            # The reader of standard output is gone, as after `| head`.
            self._stop.set()


def _key(source: LogSource) -> tuple[str, str, int]:
    return source.pod, source.container, source.restarts
