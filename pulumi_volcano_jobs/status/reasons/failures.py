"""Containers that failed: the rank that failed first, its exit code and its last lines."""

from __future__ import annotations

import datetime as dt
import re
import signal
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pulumi_volcano_jobs.core.phrases import counted
from pulumi_volcano_jobs.core.resource_types import POD
from pulumi_volcano_jobs.core.text import PRIVATE, cropped, may_be_key
from pulumi_volcano_jobs.plugins import mpi_hostfile, wait_containers
from pulumi_volcano_jobs.status.fields import listed, mapping, text
from pulumi_volcano_jobs.status.job import JobView
from pulumi_volcano_jobs.status.pods import ContainerState, PodView, Termination
from pulumi_volcano_jobs.status.reasons.observation import Observation

LAST_LINES = 5
"""The number of lines of a log that a reason shows."""
_LONGEST_LINE = 300
_SHORTEST_SECRET = 6
_SIGNALS = 128

_EXIT_CODES = {
    1: "the program failed",
    2: "wrong usage of a command",
    126: "the command cannot be executed",
    127: "command not found",
    128: "the container could not start",
    255: "a remote command failed, such as ssh",
}
_SIGNAL_CAUSES = {
    signal.SIGABRT: ", such as a failed assertion or a timeout of NCCL",
    signal.SIGBUS: ", such as a full /dev/shm",
    signal.SIGKILL: ", such as by the kernel for lack of memory",
    signal.SIGTERM: ", because it was asked to end",
}
_FIXES = {
    2: "check command and args of the container",
    126: "check the permissions of the command and the platform of the image",
    127: "check command, args and the PATH of the image",
    128: "check command, args and the entrypoint of the image",
    255: "check that sshd runs in all Pods of the job, and read its log",
    _SIGNALS + signal.SIGBUS: "mount a larger /dev/shm: presets.shm()",
    _SIGNALS + signal.SIGKILL: "compare the memory of the container with its limit and with the node",
    _SIGNALS + signal.SIGTERM: "find out who deleted or preempted the Pod: kubectl get events",
}
_REASONS = {
    "Evicted": "request the resource that ran out, so that the scheduler reserves it",
    "Preempting": "set a higher priorityClassName, or a queue that is not reclaimable",
    "PreemptionByScheduler": "set a higher priorityClassName, or a queue that is not reclaimable",
    "DeadlineExceeded": "increase activeDeadlineSeconds",
    "NodeLost": "check the node",
    "NodeShutdown": "run the job again on another node",
    "Terminated": "run the job again on another node",
    "UnexpectedAdmissionError": "check the device plugin of the node",
    "NodeAffinity": "check the labels of the node: they changed after the Pod was scheduled",
}
"""Fixes by the reason of a Pod that the kubelet or the scheduler ended."""

# Last lines that name their cause, with the fix. The first match applies.
_LINES = tuple(
    (re.compile(pattern), fix)
    for pattern, fix in (
        (r"CUDA out of memory|OutOfMemoryError", "reduce the batch size, or request GPUs with more memory"),
        (r"[Nn]ot enough slots|There are not enough slots", "set slots of the mpi plugin, or mpirun --oversubscribe"),
        (r"No space left on device", "mount a larger volume, or presets.shm() for /dev/shm"),
        (
            r"Could not resolve hostname|Name or service not known|Temporary failure in name resolution",
            "set publish_not_ready_addresses of svc, and wait_master_enabled of pytorch or wait_for_workers of mpi",
        ),
        (r"Permission denied \(publickey", "set ssh_key_file_path of ssh to the home directory of the user"),
        (r"UNPROTECTED PRIVATE KEY|bad permissions", 'set file_modes="by-user" of ssh'),
        (r"Host key verification failed", "keep StrictHostKeyChecking no in the ssh configuration"),
        (r"ModuleNotFoundError|ImportError", "install the module in the image"),
        (r"Address already in use", "set another port of the plugin"),
        (r"Connection refused|Connection timed out", "check that the other Pod runs and listens on this port"),
        (
            r"NCCL (?:error|WARN)|collective operation timeout|ncclSystemError",
            "find the rank that stopped first, and check the network between the nodes with NCCL_DEBUG=INFO",
        ),
        (r"exec format error", "build the image for the platform of the node"),
        (r"executable file not found", "check command, args and the PATH of the image"),
    )
)


class FailedContainer(NamedTuple):
    """A container that ended with an error."""

    pod: PodView
    container: ContainerState
    end: Termination
    """The end that counts: of the current instance, or of the one before a restart."""


def failures(pods: Sequence[PodView]) -> list[FailedContainer]:
    """Return the failed containers of Pods, in the order of their ends."""
    found = [
        FailedContainer(pod, container, end)
        for pod in pods
        if pod.phase != "Succeeded"
        for container in pod.containers
        if (end := _failed_end(pod, container))
    ]
    latest = dt.datetime.max.replace(tzinfo=dt.timezone.utc)
    return sorted(found, key=lambda failure: failure.end.finished or latest)


def _failed_end(pod: PodView, container: ContainerState) -> Termination | None:
    """Return the end of a container that keeps the Pod from running: it ended, or it restarts after a failure."""
    if container.ended and container.ended.failed:
        return container.ended
    before = container.ended_before
    restarts = container.waiting == "CrashLoopBackOff" or (pod.phase == "Running" and not container.is_running)
    return before if before and restarts and (before.failed or container.waiting) else None


def check(job: JobView) -> Iterator[Observation]:
    """Yield the first failed container, the other ones, and the Pods that were ended from outside."""
    found = failures(job.pods)
    named = {failure.pod.name for failure in found}
    for pod in job.pods:
        if pod.phase == "Failed" and (pod.reason or pod.name not in named):
            yield _ended_pod(pod, job)
    found = [failure for failure in found if not (failure.pod.phase == "Failed" and failure.pod.reason)]
    failed_pods = len({failure.pod.name for failure in found})
    for failure in found[:1]:
        is_first = f", first of {counted(failed_pods, 'Pod')}" if failed_pods > 1 else ""
        yield _container(failure, job, is_first)
    for failure in found[1:]:
        if failure.pod.name != found[0].pod.name:
            yield _later(failure)


def _container(failure: FailedContainer, job: JobView, first: str) -> Observation:
    lines = last_lines(failure, job)
    code = "failed" if failure.pod.phase == "Failed" else "restarting"
    restarts = counted(failure.container.restarts, "restart")
    after = f" after {restarts}" if failure.container.restarts else ""
    problem = f"{_described(failure)}{after}{first}"
    return Observation(
        code, POD.kind, failure.pod.name, problem, f"{_fix(failure, lines, job)}{_again(failure, job)}", lines
    )


def _later(failure: FailedContainer) -> Observation:
    code = "failed" if failure.pod.phase == "Failed" else "restarting"
    fix = "start with the Pod that failed first: other ranks usually fail because of it"
    return Observation(code, POD.kind, failure.pod.name, f"{_described(failure)} later", fix)


def _described(failure: FailedContainer) -> str:
    container, end = failure.container, failure.end
    kind = "init container" if container.is_init else "container"
    if end.reason == "OOMKilled":
        limit = text(container.spec, "resources", "limits", "memory")
        return f"{kind} {container.name} was OOMKilled{f' at its memory limit of {limit}' if limit else ''}"
    reason = end.reason if end.reason not in {"", "Error"} else meaning(end.exit_code)
    return f"{kind} {container.name} ended with exit code {end.exit_code}{f' ({reason})' if reason else ''}"


def meaning(code: int) -> str:
    """Return the meaning of an exit code, or an empty text."""
    if code in _EXIT_CODES:
        return _EXIT_CODES[code]
    try:
        name = signal.Signals(code - _SIGNALS)
    except ValueError:
        return ""
    return f"killed by {name.name}{_SIGNAL_CAUSES.get(name, '')}"


def _fix(failure: FailedContainer, lines: Sequence[str], job: JobView) -> str:
    container, end = failure.container, failure.end
    if end.reason == "OOMKilled":
        return "increase resources.limits.memory, or use less memory"
    if not end.exit_code:
        return "set restartPolicy: OnFailure, because the default Always restarts a program that has ended"
    if wait := _wait_fix(container.name, end.exit_code):
        return wait
    shown = "\n".join(lines)
    of_lines = next((fix for pattern, fix in _LINES if pattern.search(shown)), "")
    return of_lines or _FIXES.get(end.exit_code, f"read its log: volcano-jobs logs {job.name}")


def _wait_fix(container: str, code: int) -> str:
    if container == wait_containers.NAME and code == wait_containers.NO_TOOL:
        return "set wait_master_image of pytorch to an image with nc -z or bash"
    if container == wait_containers.NAME:
        return "check the Pod of the master, or increase wait_master_timeout of pytorch"
    if container == mpi_hostfile.WAIT_CONTAINER:
        return "check the Pods of the workers, or increase wait_for_workers_timeout of mpi"
    return ""


def _again(failure: FailedContainer, job: JobView) -> str:
    return _run_again(job) if failure.pod.phase == "Failed" else ""


def _run_again(job: JobView) -> str:
    if job.managed_by == "volcano":
        return ". Then run the job again: set another run token in Pulumi, or create the Job again"
    return '. Then run the job again: set another run token, such as run="2", and run pulumi up'


def _ended_pod(pod: PodView, job: JobView) -> Observation:
    """Return the observation about a Pod that has failed without a failed container, such as an evicted Pod."""
    message = text(pod.manifest, "status", "message").strip().rstrip(".")
    disruption = next(
        (item for item in listed(pod.manifest, "status", "conditions") if item.get("type") == "DisruptionTarget"), {}
    )
    reason = pod.reason or text(disruption, "reason") or "Failed"
    message = message or text(disruption, "message").strip().rstrip(".")
    fix = _REASONS.get(reason, "check the node: kubectl describe pod")
    if reason.startswith("OutOf"):
        fix = "run the job again: other Pods of the node used the resource first"
    return Observation(
        "failed", POD.kind, pod.name, f"{reason}{f': {cropped(message)}' if message else ''}", fix + _run_again(job)
    )


def last_lines(failure: FailedContainer, job: JobView) -> tuple[str, ...]:
    """Return the last lines of the container's log, or its termination message, without secrets of the Pod."""
    pod, container = failure.pod, failure.container
    lines = job.logs.get((pod.name, container.name)) or failure.end.message.splitlines()
    return without_secrets(pod, [line for line in lines if line.strip()][-LAST_LINES:])


def without_secrets(pod: PodView, lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines without the values of secrets: variables of the Pod that are named like a secret."""
    entries = [entry for container in pod.containers for entry in listed(container.spec, "env")]
    values = {text(entry, "value") for entry in entries if may_be_key(text(mapping(entry), "name"))}
    secrets = sorted((value for value in values if len(value) >= _SHORTEST_SECRET), key=len, reverse=True)
    return tuple(cropped(_replaced(line.rstrip(), secrets), _LONGEST_LINE) for line in lines)


def _replaced(line: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        line = line.replace(secret, PRIVATE)
    return line
