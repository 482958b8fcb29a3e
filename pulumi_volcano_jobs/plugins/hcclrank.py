"""The hcclrank plugin, which sets a Pod's rank as an annotation for Ascend's HCCL (upstream: .../hcclrank)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import Leaf, derive
from pulumi_volcano_jobs.kubernetes.manifest import Pod
from pulumi_volcano_jobs.plugins.base import JobUpdate, Plugin, Stage, role_problem
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.settings import Setting, default_of, flag
from pulumi_volcano_jobs.spec.model import Job

ANNOTATION = "hccl/rankIndex"


class HcclrankPlugin(Plugin):
    """Set the annotation `hccl/rankIndex` to RANK of a container, or otherwise number masters before workers.

    The plugin runs after the framework plugins, so it uses RANK of pytorch. It keeps an annotation in the template.
    """

    name = "hcclrank"
    since = "1.12.3"
    stage = Stage.OBSERVE
    master: Setting[str] = flag("master", default="master")
    """The task of the masters."""
    worker: Setting[str] = flag("worker", default="worker")
    """The task of the workers."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield a Problem for each role whose task does not exist."""
        yield from super().validate(job)
        for role in ("master", "worker"):
            if getattr(self, role) != default_of(type(self), role):
                yield from role_problem(self, role, job)

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Set the annotation, unless the Pod already has it."""
        present = pod.annotations.get(ANNOTATION)
        if isinstance(present, Leaf) or present:
            return
        counted, rank = self._count(pod, ctx), _rank(pod)
        if isinstance(rank, Leaf):
            pod.annotations[ANNOTATION] = derive(lambda value: value or counted or "", rank)
        elif rank or counted is not None:
            pod.annotations[ANNOTATION] = rank or counted

    def on_job_update(self, ctx: JobContext) -> JobUpdate:  # noqa: ARG002
        """Replace the Pods if the roles change, because programs read the rank only at start."""
        return JobUpdate(restart_triggers=tuple(self.to_args()))

    def _count(self, pod: Pod, ctx: JobContext) -> str | None:
        if pod.task == self.master:
            return str(pod.index)
        if pod.task == self.worker:
            master = ctx.task(self.master)
            return str((master.size if master else 0) + pod.index)
        return None


def _rank(pod: Pod) -> Any:
    """Return the literal value of the first RANK in the containers. An empty one hides later ones."""
    entries = (container.env("RANK") for container in pod.containers)
    first_entry = next((entry for entry in entries if entry is not None), None)
    return first_entry.get("value") if first_entry else None
