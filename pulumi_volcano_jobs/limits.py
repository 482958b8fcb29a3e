"""How large a job may be: what is beyond is refused before it is made."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.errors import Problem, Stage
from pulumi_volcano_jobs.model import Job

MOST_PODS = 150_000
"""Kubernetes supports no more in a cluster (kubernetes.io, Considerations for large clusters)."""


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
