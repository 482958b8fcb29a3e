"""The measured jobs: one training job for each framework, with any number of workers."""

from __future__ import annotations

from typing import Any

RESOURCES = {"requests": {"cpu": "4", "memory": "16Gi"}, "limits": {"nvidia.com/gpu": 8}}
ROLES = {"pytorch": "master", "mpi": "master", "ray": "head", "tensorflow": "ps"}
MOST_WITH_HOSTS = 1000
"""Above this number of Pods, a variable with all hosts is too long for Linux, so the job does not use it."""


def task(name: str, replicas: int) -> dict[str, Any]:
    """Return a task whose container has the name of the task, as the ray plugin requires."""
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
    """Return a job with the number of Pods, with the framework's plugin and ssh, svc and env."""
    svc = ["--inject-hosts-env=false"] if pods > MOST_WITH_HOSTS else []
    plugins = {framework: [], "ssh": [], "svc": svc, "env": []}
    tasks = [task(ROLES[framework], 1), task("worker", pods - 1)]
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {"minAvailable": pods, "plugins": plugins, "tasks": tasks},
    }
