"""How large a job may be: what is beyond is refused before it is made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core.errors import Problem, Stage
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef, Placeholder
from pulumi_volcano_jobs.spec.model import Job, Task

MOST_PODS = 150_000
"""Kubernetes supports no more in a cluster (kubernetes.io, Considerations for large clusters)."""
GROWS = "it grows with the Pods: use fewer Pods, or shorter names of job and tasks"
_MIB = 1 << 20
# The API server refuses more data in a ConfigMap or Secret, and etcd any larger object.
_LARGEST_DATA, _LARGEST_OBJECT = _MIB, 3 * _MIB // 2
_LARGEST_PODS = 1024 * _MIB  # the manifests of all Pods of a job; no engine and no memory is made for more


def pods(job: Job) -> Iterator[Problem]:
    """Yield a Problem at the task with which a job has too many Pods.

    Nothing that grows with the replicas may be computed for such a job.
    """
    total = 0
    for index, task in enumerate(job.tasks or ()):
        total += task.size
        if total > MOST_PODS:
            reason = f"with this task the job has {total} Pods, and Kubernetes supports {MOST_PODS} in a cluster"
            value = str(task.size)
            yield Problem(f"spec.tasks[{index}].replicas", "TooMany", reason, "lower it", value=value, stage=Stage.API)
            return


def objects(manifests: Iterable[Manifest], made_by: Mapping[ObjectRef, str]) -> Iterator[Problem]:
    """Yield a Problem for each ConfigMap and Secret that no API server takes: their host lists grow with the job."""
    for item in manifests:
        kind, name = made = ObjectRef.of(item)
        size = sum(_decoded(value) if kind == "Secret" else length(value) for value in item.get("data", {}).values())
        if size > _LARGEST_DATA:
            reason = f"the {kind} {name} takes {size} bytes; Kubernetes stores at most {_LARGEST_DATA}"
            yield Problem(f"spec.plugins.{made_by[made]}", "TooLong", reason, GROWS, stage=Stage.API)


def length(value: Any) -> int:
    """Give the bytes of a text; of what is not known yet nothing can be said."""
    if not isinstance(value, str):
        return 0
    return len(value) if value.isascii() else len(value.encode())


def _decoded(value: Any) -> int:
    """Give the bytes behind base64; a placeholder is not encoded."""
    if not isinstance(value, str) or isinstance(value, Placeholder):
        return length(value)
    return len(value) * 3 // 4 - value[-2:].count("=")


class ManifestSizes:
    """The total size of the manifests of a job's Pods, counted task by task."""

    def __init__(self) -> None:
        """Start with no task."""
        self._total = 0

    def add(self, task: Task, index: int, first: Manifest) -> Iterator[Problem]:
        """Add the Pods of a task, and yield a Problem if a Pod or the Pods of the job exceed their limit.

        Args:
            task: the task.
            index: its position in the job.
            first: the manifest of its first Pod.
        """
        # The size of a leaf is not known yet.
        size = len(json.dumps(first, default=lambda _leaf: None))
        # Strict mode also renders the first Pod of a task without replicas.
        self._total += size * max(task.size, 1)
        place = f"spec.tasks[{index}]"
        if size > _LARGEST_OBJECT:
            reason = f"each Pod would have {_shown(size)}, and the API server takes at most {_shown(_LARGEST_OBJECT)}"
            hint = "make its template smaller, or use fewer Pods if a plugin lists them in it"
            yield Problem(place, "TooLong", reason, hint, stage=Stage.API)
        elif self._total > _LARGEST_PODS:
            whose = "the Pods of the job up to this task" if index else "the task's Pods"
            reason = f"{whose} would have {_shown(self._total)}, and at most {_shown(_LARGEST_PODS)} are made"
            hint = "use fewer replicas or tasks" if index else "use fewer replicas"
            yield Problem(f"{place}.replicas", "TooLong", reason, hint, value=str(task.size), stage=Stage.API)


def _shown(size: int) -> str:
    return f"{size / _MIB:.1f} MiB"
