"""How large a job may be: what is beyond is refused before it is made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.errors import Problem, Stage
from pulumi_volcano_jobs.manifest import Manifest, ObjectRef, Placeholder
from pulumi_volcano_jobs.model import Job

MOST_PODS = 150_000
"""Kubernetes supports no more in a cluster (kubernetes.io, Considerations for large clusters)."""
GROWS = "it grows with the Pods: use fewer Pods, or shorter names of job and tasks"
_MIB = 1 << 20
# The API server refuses more data in a ConfigMap or Secret, and etcd any larger object.
_LARGEST_DATA, _LARGEST_OBJECT = _MIB, 3 * _MIB // 2
_LARGEST_TASK = 1024 * _MIB  # of manifests; no engine and no memory is made for more


def pods(job: Job) -> Iterator[Problem]:
    """Yield a Problem at the task with which a job has too many Pods."""
    total = 0
    for index, task in enumerate(job.tasks or ()):
        total += task.size
        if total > MOST_PODS:
            reason = f"with this task the job has {total} Pods, and Kubernetes supports {MOST_PODS} in a cluster"
            value = str(task.size)
            yield Problem(f"spec.tasks[{index}].replicas", reason, "lower it", value=value, stage=Stage.API)
            return


def objects(manifests: Iterable[Manifest], made_by: Mapping[ObjectRef, str]) -> Iterator[Problem]:
    """Yield a Problem for each ConfigMap and Secret that no API server takes: their host lists grow with the job."""
    for item in manifests:
        kind, name = made = ObjectRef.of(item)
        size = sum(_decoded(value) if kind == "Secret" else length(value) for value in item.get("data", {}).values())
        if size > _LARGEST_DATA:
            reason = f"the {kind} {name} takes {size} bytes; Kubernetes stores at most {_LARGEST_DATA}"
            yield Problem(f"spec.plugins.{made_by[made]}", reason, GROWS, stage=Stage.API)


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


def task(first: Manifest, replicas: int, path: str) -> Iterator[Problem]:
    """Yield a Problem for a task, by its first Pod, that no API server takes or that fills the memory."""
    # Of what is not known yet nothing can be said.
    size = len(json.dumps(first, default=lambda _leaf: None))
    if size > _LARGEST_OBJECT:
        reason = f"each Pod would have {_shown(size)}, and the API server takes at most {_shown(_LARGEST_OBJECT)}"
        hint = "make its template smaller, or use fewer Pods if a plugin lists them in it"
        yield Problem(path.removesuffix(".replicas"), reason, hint, stage=Stage.API)
    elif size * replicas > _LARGEST_TASK:
        reason = f"the task's Pods would have {_shown(size * replicas)}, and at most {_shown(_LARGEST_TASK)} are made"
        yield Problem(path, reason, "use fewer replicas", value=str(replicas), stage=Stage.API)


def _shown(size: int) -> str:
    return f"{size / _MIB:.1f} MiB"
