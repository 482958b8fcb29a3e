"""How large a job may be: what is beyond is refused before it is made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from pulumi_volcano_jobs.errors import Problem, Stage
from pulumi_volcano_jobs.manifest import Manifest
from pulumi_volcano_jobs.model import Job

MOST_PODS = 150_000
"""Kubernetes supports no more in a cluster (kubernetes.io, Considerations for large clusters)."""
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


def objects(manifests: Iterable[Manifest]) -> Iterator[Problem]:
    """Yield a Problem for each ConfigMap and Secret that no API server takes: their host lists grow with the job."""
    for manifest in manifests:
        size = sum(len(text) for text in manifest.get("data", {}).values() if isinstance(text, str))
        if manifest["kind"] == "Secret":
            size = size * 3 // 4  # it is base64
        if size > _LARGEST_DATA:
            name = f"{manifest['kind']} {manifest['metadata']['name']}"
            reason = f"the {name} would have {_shown(size)}, and the API server takes at most {_shown(_LARGEST_DATA)}"
            yield Problem("spec.tasks", reason, "use fewer replicas", stage=Stage.API)


def task(first: Manifest, replicas: int, path: str) -> Iterator[Problem]:
    """Yield a Problem for a task, by its first Pod, that no API server takes or that fills the memory."""
    # Of what is not known yet nothing can be said.
    size = len(json.dumps(first, default=lambda _leaf: None))
    if size > _LARGEST_OBJECT:
        reason = f"each Pod would have {_shown(size)}, and the API server takes at most {_shown(_LARGEST_OBJECT)}"
        yield Problem(path, reason, "use fewer replicas", value=str(replicas), stage=Stage.API)
    elif size * replicas > _LARGEST_TASK:
        reason = f"the task's Pods would have {_shown(size * replicas)}, and at most {_shown(_LARGEST_TASK)} are made"
        yield Problem(path, reason, "use fewer replicas", value=str(replicas), stage=Stage.API)


def _shown(size: int) -> str:
    return f"{size / _MIB:.1f} MiB"
