"""Tasks whose Pods decide that a job has ended. The Pods of other tasks serve them, and never end themselves."""

from __future__ import annotations

import json
from typing import Any

from pulumi_volcano_jobs.status.fields import listed, text
from pulumi_volcano_jobs.status.job import JobView
from pulumi_volcano_jobs.status.pods import PodView

_SERVERS = frozenset({"ps", "evaluator"})


def serving_tasks(job: JobView) -> list[str]:
    """Return the tasks whose Pods only serve other Pods: workers of MPI, and parameter servers of TensorFlow."""
    firsts = {task: pods[0] for task, pods in job.pods_by_task.items()}
    masters = [task for task, pod in firsts.items() if _variable(pod, "MPI_HOST") is not None]
    if masters:
        return [task for task in firsts if task not in masters]
    serving = [task for task, pod in firsts.items() if _tensorflow_type(pod) in _SERVERS]
    return serving if len(serving) < len(firsts) else []


def _tensorflow_type(pod: PodView) -> Any:
    try:
        config = json.loads(_variable(pod, "TF_CONFIG") or "{}")
    except ValueError:
        return ""
    task = config.get("task") if isinstance(config, dict) else None
    return text(task, "type")


def _variable(pod: PodView, name: str) -> str | None:
    """Return the value of a variable in the first container that has it. Values of variables are never shown."""
    entries = (entry for container in pod.containers for entry in listed(container.spec, "env"))
    return next((text(entry, "value") for entry in entries if entry.get("name") == name), None)
