"""The state of a job, as the command line shows it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pulumi_volcano_jobs.spec.options import ManagedBy

State = Literal["done", "failed", "running", "waiting"]


@dataclass(frozen=True)
class PodState:
    """A Pod of a task."""

    name: str
    index: int
    status: str
    """The column STATUS of `kubectl get pods`, such as `Running`, `Init:0/1` or `ImagePullBackOff`."""
    node: str
    restarts: int
    created: dt.datetime | None


@dataclass(frozen=True)
class TaskState:
    """A task and its Pods, in index order."""

    name: str
    replicas: int
    """The number of Pods that the task has, as far as the objects show it."""
    pods: tuple[PodState, ...]


@dataclass(frozen=True)
class GangState:
    """A PodGroup."""

    name: str
    phase: str
    min_member: int
    pods: int
    message: str
    """The newest message of the scheduler about the gang."""


@dataclass(frozen=True)
class QueueState:
    """A queue, and its amounts by resource: allocated, deserved and capability."""

    name: str
    state: str
    weight: int
    parent: str
    amounts: Mapping[str, tuple[str, str, str]]


@dataclass(frozen=True)
class Reason:
    """A reason why a job does not run as it should: the objects that show it, and the fix."""

    code: str
    kind: str
    """The kind of the objects."""
    names: tuple[str, ...]
    """The names of the objects."""
    problem: str
    fix: str
    lines: tuple[str, ...] = ()
    """The last lines of a container's log, or the message of an init container."""


@dataclass(frozen=True)
class Status:
    """The state of a job."""

    job: str
    namespace: str
    managed_by: ManagedBy
    state: State
    phase: str
    """The phase of the Job that Volcano's controllers manage."""
    tasks: tuple[TaskState, ...]
    gang: GangState | None
    queue: QueueState | None
    reasons: tuple[Reason, ...]
    """Reasons, most likely first."""
    read_at: dt.datetime
    """The time when the objects were read."""
