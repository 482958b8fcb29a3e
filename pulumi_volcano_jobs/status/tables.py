"""The status of a job as tables for people and as JSON for scripts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

from pulumi_volcano_jobs.core.phrases import counted, some
from pulumi_volcano_jobs.core.sections import Explanation, Section
from pulumi_volcano_jobs.status.job import names_as_ranges
from pulumi_volcano_jobs.status.model import GangState, PodState, QueueState, Reason, Status, TaskState

_MOST_ROWS = 20
"""The number of Pods up to which each has a row. Above it, the Pods of a task with the same status have one."""
_AMOUNTS = ("allocated", "deserved", "capability")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def tables(status: Status) -> Explanation:
    """Return the status as tables."""
    sections = (
        Section("Pods", ("task", "Pod", "status", "node", "restarts", "age"), tuple(_pods(status))),
        Section("PodGroup", ("field", "value"), tuple(_gang(status.gang)) if status.gang else ()),
        Section("Queue", ("field", "value"), tuple(_queue(status.queue)) if status.queue else ()),
        _reasons(status),
    )
    return Explanation(_title(status), tuple(section for section in sections if section.rows))


def _title(status: Status) -> str:
    manager = "Pulumi" if status.managed_by == "pulumi" else "Volcano"
    phase = f", phase {status.phase}" if status.phase else ""
    return f"Job {status.job} in namespace {status.namespace}: {status.state} (managed by {manager}{phase})"


def _reasons(status: Status) -> Section:
    """Return the reasons as a table, whose rows of one reason have the same number."""
    title = "Reason" if len(status.reasons) == 1 else "Reasons, most likely first"
    rows = [(str(number), line) for number, reason in enumerate(status.reasons, 1) for line in _reason_lines(reason)]
    return Section(title, ("", "object, problem and fix"), tuple(rows))


def _reason_lines(reason: Reason) -> Iterator[str]:
    kind = reason.kind if len(reason.names) == 1 else f"{reason.kind}s"
    yield f"{kind} {names_as_ranges(reason.names)}: {reason.problem}"
    for line in reason.lines:
        yield f"| {line}"
    yield f"Fix: {reason.fix}"


def _pods(status: Status) -> Iterator[tuple[str, ...]]:
    is_short = sum(len(task.pods) for task in status.tasks) <= _MOST_ROWS
    for task in status.tasks:
        for group in _single(task) if is_short else _by_status(task):
            yield (task.name, *_row(group, status.read_at))
        missing = task.replicas - len(task.pods)
        if missing > 0:
            yield task.name, counted(missing, "Pod"), "not in the cluster", "", "", ""


def _single(task: TaskState) -> list[list[PodState]]:
    return [[pod] for pod in task.pods]


def _by_status(task: TaskState) -> list[list[PodState]]:
    groups: dict[str, list[PodState]] = {}
    for pod in task.pods:
        groups.setdefault(pod.status, []).append(pod)
    return list(groups.values())


def _row(pods: list[PodState], now: dt.datetime) -> tuple[str, ...]:
    used = {pod.node for pod in pods if pod.node}
    oldest = min((pod.created for pod in pods if pod.created), default=None)
    return (
        names_as_ranges([pod.name for pod in pods]),
        pods[0].status,
        some(used) if len(used) <= 1 else counted(len(used), "node"),
        str(sum(pod.restarts for pod in pods)),
        age(now - oldest) if oldest else "",
    )


def age(duration: dt.timedelta) -> str:
    """Return a duration as kubectl shows ages: `45s`, `12m`, `3h20m`, `5d`."""
    seconds = max(int(duration.total_seconds()), 0)
    if seconds < 2 * _MINUTE:
        return f"{seconds}s"
    if seconds < 3 * _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < 2 * _DAY:
        minutes = seconds % _HOUR // _MINUTE
        return f"{seconds // _HOUR}h{f'{minutes}m' if minutes and seconds < 8 * _HOUR else ''}"
    return f"{seconds // _DAY}d"


def _gang(gang: GangState) -> Iterator[tuple[str, str]]:
    yield "name", gang.name
    yield "phase", gang.phase or "not set"
    yield "minMember", f"{gang.min_member} ({counted(gang.pods, 'Pod')} in the cluster)"
    if gang.message:
        yield "scheduler", gang.message


def _queue(queue: QueueState) -> Iterator[tuple[str, str]]:
    yield "name", queue.name
    yield "state", queue.state or "not set"
    yield "weight", str(queue.weight)
    if queue.parent:
        yield "parent", queue.parent
    for resource, amounts in queue.amounts.items():
        parts = zip(_AMOUNTS, amounts, strict=True)
        yield resource, ", ".join(f"{name} {amount}" for name, amount in parts if amount)


def as_json(status: Status) -> dict[str, Any]:
    """Return the status as data for JSON."""
    return {
        "job": status.job,
        "namespace": status.namespace,
        "managedBy": status.managed_by,
        "state": status.state,
        "phase": status.phase,
        "tasks": [_task_json(task) for task in status.tasks],
        "podGroup": _gang_json(status.gang),
        "queue": _queue_json(status.queue),
        "reasons": [_reason_json(reason) for reason in status.reasons],
    }


def _task_json(task: TaskState) -> dict[str, Any]:
    pods = [
        {
            "name": pod.name,
            "index": pod.index,
            "status": pod.status,
            "node": pod.node,
            "restarts": pod.restarts,
            "created": pod.created.strftime("%Y-%m-%dT%H:%M:%SZ") if pod.created else "",
        }
        for pod in task.pods
    ]
    return {"name": task.name, "replicas": task.replicas, "pods": pods}


def _gang_json(gang: GangState | None) -> dict[str, Any] | None:
    if gang is None:
        return None
    return {"name": gang.name, "phase": gang.phase, "minMember": gang.min_member, "message": gang.message}


def _queue_json(queue: QueueState | None) -> dict[str, Any] | None:
    if queue is None:
        return None
    amounts = {resource: dict(zip(_AMOUNTS, values, strict=True)) for resource, values in queue.amounts.items()}
    return {
        "name": queue.name,
        "state": queue.state,
        "weight": queue.weight,
        "parent": queue.parent,
        "resources": amounts,
    }


def _reason_json(reason: Reason) -> dict[str, Any]:
    return {
        "code": reason.code,
        "kind": reason.kind,
        "names": list(reason.names),
        "problem": reason.problem,
        "fix": reason.fix,
        "lines": list(reason.lines),
    }
