"""The jobs that are measured: a training of so many workers for each framework."""

from __future__ import annotations

from typing import Any

RESOURCES = {"requests": {"cpu": "4", "memory": "16Gi"}, "limits": {"nvidia.com/gpu": 8}}
ROLES = {"pytorch": "master", "mpi": "master", "ray": "head", "tensorflow": "ps"}
MOST_WITH_HOSTS = 1000
"""Above so many Pods a variable with all hosts is larger than Linux takes, and svc is told to leave it out."""


def task(name: str, replicas: int) -> dict[str, Any]:
    """Give a task whose container has the task's name, as Ray wants it."""
    container = {
        "name": name,
        "image": "ghcr.io/me/train:1",
        "command": ["python", "train.py"],
        "resources": RESOURCES,
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
    }
    spec = {"restartPolicy": "OnFailure", "containers": [container]}
    return {"name": name, "replicas": replicas, "template": {"spec": spec}}


def job(framework: str, pods: int) -> dict[str, Any]:
    """Give a job of so many Pods with ssh, svc and env beside the framework's plugin."""
    svc = ["--inject-hosts-env=false"] if pods > MOST_WITH_HOSTS else []
    plugins = {framework: [], "ssh": [], "svc": svc, "env": []}
    tasks = [task(ROLES[framework], 1), task("worker", pods - 1)]
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {"minAvailable": pods, "plugins": plugins, "tasks": tasks},
    }
