"""Pods that wait for other Pods: init containers, readiness, and tasks that depend on other tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.phrases import counted
from pulumi_volcano_jobs.core.resource_types import JOB, POD
from pulumi_volcano_jobs.core.tree import scalars
from pulumi_volcano_jobs.status.fields import listed, mapping, text, texts
from pulumi_volcano_jobs.status.job import JobView
from pulumi_volcano_jobs.status.pods import ContainerState, PodView
from pulumi_volcano_jobs.status.reasons.failures import LAST_LINES, without_secrets
from pulumi_volcano_jobs.status.reasons.observation import Observation

_HOST = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SLOW_START = 120
"""Seconds after which a container that is being created, or a Pod that is not ready, is a problem."""


def check(job: JobView) -> Iterator[Observation]:
    """Yield the waits of Pods and of tasks."""
    targets: dict[tuple[str, str], list[PodView]] = {}
    for pod in job.pods:
        init = pod.init_in_progress if pod.is_bound else None
        if init and init.is_running:
            # All Pods of a task wait for the same Pods.
            if (pod.task, init.name) not in targets:
                targets[pod.task, init.name] = _targets(init, pod, job)
            yield _init(init, pod, targets[pod.task, init.name], job)
        elif _is_starting(pod):
            yield from _starting(pod, job)
        elif pod.phase == "Running" and pod.runs and not pod.is_ready:
            yield from _not_ready(pod, job)
    yield from _dependencies(job)


def _init(init: ContainerState, pod: PodView, targets: list[PodView], job: JobView) -> Observation:
    # Lines differ between Pods, so only the lines of one Pod are shown.
    lines = without_secrets(pod, job.logs.get((pod.name, init.name), ())[-LAST_LINES:])
    absent = [target for target in targets if not target.is_ready]
    problem = f"init container {init.name} still runs"
    fix = f"read its log: volcano-jobs logs {job.name} --task {pod.task}"
    if absent:
        first = absent[0]
        more = f" and {counted(len(absent) - 1, 'other Pod')}" if len(absent) > 1 else ""
        problem += f": it waits for Pod {first.name} ({_shown(first)}){more}"
        fix = f"check Pod {first.name} first: the wait ends when it listens on its port"
        if first.has_ended:
            fix = "run the job again: the Pod that it waits for has ended"
    elif targets:
        problem += f": it waits for Pod {targets[0].name}, which is Running and ready"
        fix = "check that the program listens on the port, and the NetworkPolicies of the namespace"
    return Observation("init", POD.kind, pod.name, problem, fix, lines)


def _shown(pod: PodView) -> str:
    return f"{pod.status}, not ready" if pod.status == "Running" else pod.status


def _targets(init: ContainerState, pod: PodView, job: JobView) -> list[PodView]:
    """Return the Pods whose host names are in the command or the variables of an init container, or in a host list."""
    words = {word for value in scalars(init.spec) if isinstance(value, str) for word in _HOST.findall(value)}
    named = [other for other in job.pods if other.name != pod.name and other.host in words]
    if named or init.name != "wait-for-workers":
        return named
    return [other for other in job.pods if other.task != pod.task]


def _is_starting(pod: PodView) -> bool:
    waiting = {container.waiting for container in pod.containers if not container.is_init}
    return pod.is_bound and pod.phase == "Pending" and waiting <= {"ContainerCreating", "PodInitializing", ""}


def _starting(pod: PodView, job: JobView) -> Iterator[Observation]:
    """Yield a Pod whose containers are created for a long time without an error."""
    age = (job.now - pod.started).total_seconds() if pod.started else 0
    has_error = job.events(POD.kind, pod.name, "FailedMount", "FailedAttachVolume", "FailedMapVolume")
    if pod.init_in_progress is None and age > _SLOW_START and not has_error:
        sandbox = job.events(POD.kind, pod.name, "FailedCreatePodSandBox")
        problem = f"ContainerCreating on node {pod.node} for more than {_SLOW_START} s"
        fix = "kubectl describe pod shows whether the node pulls the image or attaches a volume"
        if sandbox:
            problem, fix = "FailedCreatePodSandBox", "check the network plugin of the node: kubectl describe pod"
        yield Observation("starting", POD.kind, pod.name, problem, fix)


def _not_ready(pod: PodView, job: JobView) -> Iterator[Observation]:
    age = (job.now - pod.started).total_seconds() if pod.started else 0
    if age > _SLOW_START and any(mapping(item.spec, "readinessProbe") for item in pod.containers):
        problem = "Running, but not ready: its readiness probe fails, and its host name may not resolve"
        fix = "check the probe: kubectl describe pod; or set publish_not_ready_addresses of svc"
        yield Observation("not-ready", POD.kind, pod.name, problem, fix)


def _dependencies(job: JobView) -> Iterator[Observation]:
    """Yield the tasks of a Job without Pods that depend on a task whose Pods do not run."""
    for task in listed(job.job, "spec", "tasks"):
        name = text(task, "name")
        wanted = texts(task, "dependsOn", "name")
        if wanted and name not in job.pods_by_task and job.phase in {"", "Pending", "Running"}:
            problem = f"task {name} has no Pods, because it depends on task {', '.join(wanted)}"
            fix = "wait until that task runs; if the gang needs both tasks, lower minAvailable, or remove dependsOn"
            yield Observation("depends-on", JOB.kind, job.name, problem, fix)
