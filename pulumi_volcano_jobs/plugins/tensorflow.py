"""The tensorflow plugin: TF_CONFIG (upstream: .../plugins/distributed-framework/tensorflow)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pulumi_volcano_jobs.context import JobContext
from pulumi_volcano_jobs.errors import Problem
from pulumi_volcano_jobs.manifest import Pod
from pulumi_volcano_jobs.model import Job
from pulumi_volcano_jobs.plugins.base import JobUpdate, Plugin, flag, port_problems, role_problem

# A task with the name of several roles counts for the first of these in the cluster, and for the first of those as
# its own type: upstream's two switches differ.
CLUSTER_ROLES = ("ps", "worker", "chief", "evaluator")
TYPE_ROLES = ("chief", "worker", "ps", "evaluator")


class TensorflowPlugin(Plugin):
    """Set TF_CONFIG in every container; a job of one Pod in one task gets none.

    Tasks of other names are not in the cluster; their type is their own name.
    """

    name = "tensorflow"
    requires = frozenset({"svc"})
    ps: str = flag("ps", default="ps")
    """The parameter servers' task."""
    worker: str = flag("worker", default="worker")
    """The workers' task."""
    chief: str = flag("chief", default="chief")
    """The chief's task."""
    evaluator: str = flag("evaluator", default="evaluator")
    """The evaluator's task."""
    port: int = flag("port", default=2222)
    """The port of every member."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield named roles that no task has, and a job without any role."""
        yield from super().validate(job)
        yield from port_problems(self, "port")
        named = [role for role in CLUSTER_ROLES if getattr(self, role) != getattr(type(self), role)]
        for role in named:
            yield from role_problem(self, role, job)
        if not named and not any(job.task(getattr(self, role)) for role in CLUSTER_ROLES):
            tasks = ", ".join(task.name or "" for task in job.tasks or ())
            reason = f"no task is a ps, worker, chief or evaluator (the job has {tasks}): the cluster would be empty"
            yield self.problem("worker", reason, "name the task of each role")

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Set TF_CONFIG."""
        if len(ctx.tasks) == 1 and ctx.tasks[0].size == 1:
            return
        cluster = ctx.once("tensorflow.cluster", lambda: self._cluster(ctx))
        role = next((role for role in TYPE_ROLES if getattr(self, role) == pod.task), pod.task)
        config = f'{{"cluster":{cluster},"task":{{"type":{json.dumps(role)},"index":{pod.index}}}}}'
        for container in pod.containers:
            container.set_env("TF_CONFIG", config)

    def on_job_update(self, ctx: JobContext) -> JobUpdate:  # noqa: ARG002
        """Say that the cluster depends on the replicas."""
        return JobUpdate(scaled_env=frozenset({"TF_CONFIG"}))

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Give the cluster: the addresses of each role."""
        return {"cluster": json.loads(self._cluster(ctx))}

    def _cluster(self, ctx: JobContext) -> str:
        cluster: dict[str, list[str]] = {}
        for task in ctx.tasks:
            role = next((role for role in CLUSTER_ROLES if getattr(self, role) == task.name), None)
            if role and task.size:
                cluster[role] = [f"{address}:{self.port}" for address in ctx.all_addresses(task)]
        ordered = {role: cluster[role] for role in CLUSTER_ROLES if role in cluster}
        return json.dumps(ordered, separators=(",", ":"))
