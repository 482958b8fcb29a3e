"""The tensorflow plugin: TF_CONFIG (upstream: .../plugins/distributed-framework/tensorflow)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.manifest import Pod
from pulumi_volcano_jobs.plugins.base import JobUpdate, Plugin, port_problems, role_problem
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.settings import default_of, flag, option
from pulumi_volcano_jobs.spec.model import Job, Task

# A task with the name of several roles counts for the first of these in the cluster, and for the first of those as
# its own type: upstream's two switches differ.
CLUSTER_ROLES = ("ps", "worker", "chief", "evaluator")
TYPE_ROLES = ("chief", "worker", "ps", "evaluator")
MIRRORED, PARAMETER_SERVER = "MultiWorkerMirroredStrategy", "ParameterServerStrategy"


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
    strategy: Literal["any", "MultiWorkerMirroredStrategy", "ParameterServerStrategy"] = option(default="any")
    """The tf.distribute strategy of the program: that the job has the roles which it needs is then checked."""
    evaluator_in_cluster: Literal["all", "own", "none"] = option(
        default="all", recommended="own", not_native="Volcano's plugin writes TF_CONFIG"
    )
    """Whose TF_CONFIG has the evaluator in the cluster: `all`, only its `own`, or `none`."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield named roles that no task has, a job without any role, and roles that do not fit the strategy."""
        yield from super().validate(job)
        yield from port_problems(self, "port")
        named = [role for role in CLUSTER_ROLES if getattr(self, role) != default_of(type(self), role)]
        for role in named:
            yield from role_problem(self, role, job)
        if not named and not any(job.task(getattr(self, role)) for role in CLUSTER_ROLES):
            tasks = ", ".join(task.name or "" for task in job.tasks or ())
            reason = f"no task is a ps, worker, chief or evaluator (the job has {tasks}): the cluster would be empty"
            yield self.problem("worker", reason, "name the task of each role", error_type="Required")
        for role, other in itertools.combinations(CLUSTER_ROLES, 2):
            if getattr(self, role) == getattr(self, other) and job.task(getattr(self, role)):
                reason = f"this task is the {role}'s too: it would stand in the cluster as one role and run as another"
                yield self.problem(other, reason, "give each role a task of its own", error_type="Duplicate")
        yield from self._strategy_problems(job) if self.strategy != "any" else ()

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Set TF_CONFIG."""
        if len(ctx.tasks) == 1 and ctx.tasks[0].size == 1:
            return
        role = next((role for role in TYPE_ROLES if getattr(self, role) == pod.task), pod.task)
        roles = self._roles(of_evaluator=role == "evaluator")
        cluster = ctx.once(("tensorflow.cluster", roles), lambda: self._cluster(ctx, roles))
        config = f'{{"cluster":{cluster},"task":{{"type":{json.dumps(role)},"index":{pod.index}}}}}'
        for container in pod.containers:
            container.set_env("TF_CONFIG", config)

    def on_job_update(self, ctx: JobContext) -> JobUpdate:  # noqa: ARG002
        """Say that the cluster depends on the replicas."""
        return JobUpdate(scaled_env=frozenset({"TF_CONFIG"}))

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Give the cluster as those that train see it: the addresses of each role."""
        return {"cluster": json.loads(self._cluster(ctx, self._roles(of_evaluator=False)))}

    def _roles(self, *, of_evaluator: bool) -> tuple[str, ...]:
        has_evaluator = {"all": True, "own": of_evaluator, "none": False}[self.evaluator_in_cluster]
        return tuple(role for role in CLUSTER_ROLES if has_evaluator or role != "evaluator")

    def _cluster(self, ctx: JobContext, roles: Sequence[str]) -> str:
        cluster: dict[str, list[str]] = {}
        for task in ctx.tasks:
            role = self._role_in_cluster(task)
            if role and task.size:
                cluster[role] = [f"{address}:{self.port}" for address in ctx.all_addresses(task)]
        ordered = {role: cluster[role] for role in roles if role in cluster}
        return json.dumps(ordered, separators=(",", ":"))

    def _role_in_cluster(self, task: Task) -> str | None:
        return next((role for role in CLUSTER_ROLES if getattr(self, role) == task.name), None)

    def _strategy_problems(self, job: Job) -> Iterator[Problem]:
        """Yield what the strategy's own checks would end the program for, or wait for without an end."""
        sizes = dict.fromkeys(CLUSTER_ROLES, 0)
        sizes |= {role: task.size for task in job.tasks or () if (role := self._role_in_cluster(task))}
        if self.strategy == PARAMETER_SERVER:
            yield from self._parameter_server_problems(sizes)
        else:
            yield from self._mirrored_problems(sizes)
        if sizes["evaluator"] > 1 and self.evaluator_in_cluster != "none":
            yield self.problem(
                "evaluator",
                f"TensorFlow takes one evaluator, and the job has {sizes['evaluator']}",
                error_type="TooMany",
            )

    def _parameter_server_problems(self, sizes: Mapping[str, int]) -> Iterator[Problem]:
        if sizes["chief"] != 1:
            number = sizes["chief"] or "none"
            reason = f"this strategy needs one chief, which coordinates the others, and the job has {number}"
            yield self.problem(
                "strategy", reason, f"give the job a task {self.chief} of 1 replica", error_type="Required"
            )
        for role in ("ps", "worker"):
            if not sizes[role]:
                hint = f"give the job a task {getattr(self, role)}"
                yield self.problem(
                    "strategy",
                    f"this strategy needs a {role} at least, and the job has none",
                    hint,
                    error_type="Required",
                )
        if sizes["evaluator"] and self.evaluator_in_cluster == "all":
            reason = (
                f"{PARAMETER_SERVER}'s chief connects to all members of the cluster, and waits for ever for the"
                " evaluator, which serves nobody (tensorflow 46169)"
            )
            yield self.problem("evaluator_in_cluster", reason, "say own, or let the chief evaluate")

    def _mirrored_problems(self, sizes: Mapping[str, int]) -> Iterator[Problem]:
        if not sizes["chief"] + sizes["worker"]:
            yield self.problem(
                "strategy", "this strategy needs a worker at least, and the job has none", error_type="Required"
            )
        if sizes["chief"] > 1:
            reason = (
                f"this strategy takes one chief at most (without one, worker 0 is it), and the job has {sizes['chief']}"
            )
            yield self.problem("strategy", reason, "count the others as workers", error_type="TooMany")
        if sizes["ps"]:
            reason = f"this strategy knows no parameter servers: those of the task {self.ps} would end with an error"
            yield self.problem("strategy", reason, "remove the task", error_type="Forbidden")
