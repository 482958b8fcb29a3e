"""The tensorflow plugin, which sets TF_CONFIG (upstream: .../plugins/distributed-framework/tensorflow)."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_VOLCANO, Phrase
from pulumi_volcano_jobs.kubernetes import processes
from pulumi_volcano_jobs.kubernetes.container_lists import placed_containers
from pulumi_volcano_jobs.kubernetes.manifest import Pod
from pulumi_volcano_jobs.plugins.base import JobUpdate, Plugin, PluginOutput, port_problems, role_problem
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.settings import Setting, default_of, flag, option
from pulumi_volcano_jobs.spec.model import Job, Task

# If a task has several roles, the first of these is its role in the cluster, and the first of TYPE_ROLES is the type of
# its Pods: upstream's two switch statements have a different order.
CLUSTER_ROLES = ("ps", "worker", "chief", "evaluator")
TYPE_ROLES = ("chief", "worker", "ps", "evaluator")
# Volcano's plugin uses the name of a task without a role as the type of its Pods.
_WITHOUT_EVALUATOR = 'set tensorflow.evaluator to "" instead, and name its task "evaluator"'
MIRRORED, PARAMETER_SERVER = "MultiWorkerMirroredStrategy", "ParameterServerStrategy"


class TensorflowPlugin(Plugin):
    """Set TF_CONFIG in every container, unless the job has only one task with one Pod.

    The cluster does not contain tasks without a role. The type of their Pods is the name of the task.
    """

    name = "tensorflow"
    requires = frozenset({"svc"})
    ps: Setting[str] = flag("ps", default="ps")
    """The task of the parameter servers."""
    worker: Setting[str] = flag("worker", default="worker")
    """The task of the workers."""
    chief: Setting[str] = flag("chief", default="chief")
    """The task of the chief."""
    evaluator: Setting[str] = flag("evaluator", default="evaluator")
    """The task of the evaluator. If it is empty, no cluster has an evaluator. The Pods of a task that is named
    `evaluator` still have this type."""
    port: Setting[int] = flag("port", default=2222)
    """The port of all cluster members."""
    strategy: Setting[Literal["any", "MultiWorkerMirroredStrategy", "ParameterServerStrategy"]] = option(default="any")
    """The tf.distribute strategy of the program. If set, the job must have the roles that the strategy needs."""
    evaluator_in_cluster: Setting[Literal["all", "own", "none"]] = option(
        default="all", recommended="own", not_native="Volcano's plugin writes TF_CONFIG"
    )
    """The Pods whose TF_CONFIG has the evaluator in the cluster: `all`, only the evaluator (`own`), or `none`."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield problems of roles: without a task, with the same task, or in conflict with the strategy."""
        yield from super().validate(job)
        yield from port_problems(self, "port")
        named = [role for role in CLUSTER_ROLES if getattr(self, role) != default_of(type(self), role)]
        for role in named:
            yield from role_problem(self, role, job) if getattr(self, role) else ()
        if not named and not any(job.task(getattr(self, role)) for role in CLUSTER_ROLES):
            tasks = ", ".join(task.name or "" for task in job.tasks or ())
            reason = f"no task is a ps, worker, chief or evaluator (tasks: {tasks}), so the cluster would be empty"
            yield self.problem("worker", reason, "set the name of the task for each role", error_type="Required")
        for role, other in itertools.combinations(CLUSTER_ROLES, 2):
            if getattr(self, role) == getattr(self, other) and job.task(getattr(self, role)):
                reason = f"the task also has the role {role}, so its role in the cluster and in its Pods would differ"
                yield self.problem(other, reason, "use a different task for each role", error_type="Duplicate")
        yield from _script_warnings(job)
        yield from self._strategy_problems(job) if self.strategy != "any" and job.has_pods else ()

    def not_native(self) -> Iterator[Problem]:
        """Yield a Problem for the place of the evaluator, with the setting that Volcano supports as its fix."""
        return (dataclasses.replace(problem, hint=_WITHOUT_EVALUATOR) for problem in super().not_native())

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
        """Return TF_CONFIG, which depends on the replicas."""
        return JobUpdate(scaled_env=frozenset({"TF_CONFIG"}))

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Return the cluster of the training Pods: the addresses by role."""
        roles = self._roles(of_evaluator=False)
        members = [task for task in ctx.tasks if self._role_in_cluster(task) in roles]
        endpoints = list(dict.fromkeys(ref for task in members for ref in ctx.endpoints(task)))
        return {"cluster": PluginOutput(json.loads(self._cluster(ctx, roles)), endpoints)}

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
        """Yield problems of roles with which the strategy would fail or wait forever."""
        sizes = dict.fromkeys(CLUSTER_ROLES, 0)
        sizes |= {role: task.size for task in job.tasks or () if (role := self._role_in_cluster(task))}
        if self.strategy == PARAMETER_SERVER:
            yield from self._parameter_server_problems(sizes)
        else:
            yield from self._mirrored_problems(sizes)
        if sizes["evaluator"] > 1 and self.evaluator_in_cluster != "none":
            reason = f"TensorFlow supports 1 evaluator, but the job has {sizes['evaluator']}"
            yield self.problem("evaluator", reason, "set its replicas to 1", error_type="TooMany")

    def _parameter_server_problems(self, sizes: Mapping[str, int]) -> Iterator[Problem]:
        if sizes["chief"] != 1:
            number = sizes["chief"] or "none"
            reason = f"{PARAMETER_SERVER} needs 1 chief as its coordinator, but the job has {number}"
            yield self.problem(
                "strategy", reason, f'use a task named "{self.chief}" with 1 replica', error_type="Required"
            )
        for role in ("ps", "worker"):
            if not sizes[role]:
                hint = f'add a task named "{getattr(self, role)}"'
                reason = f"{PARAMETER_SERVER} needs at least one {role}"
                yield self.problem("strategy", reason, hint, error_type="Required")
        if sizes["evaluator"] and self.evaluator_in_cluster == "all":
            reason = (
                f"with {PARAMETER_SERVER}, the chief connects to all cluster members, and would wait forever for the"
                " evaluator, which does not run a server (tensorflow 46169)"
            )
            hint = Phrase('set it to "own"; with ', MANAGED_BY_VOLCANO, f", {_WITHOUT_EVALUATOR}")
            yield self.problem("evaluator_in_cluster", reason, hint)

    def _mirrored_problems(self, sizes: Mapping[str, int]) -> Iterator[Problem]:
        if not sizes["chief"] + sizes["worker"]:
            reason = f"{MIRRORED} needs at least one worker"
            yield self.problem("strategy", reason, f'add a task named "{self.worker}"', error_type="Required")
        if sizes["chief"] > 1:
            reason = f"the strategy supports at most 1 chief (worker 0 by default), but the job has {sizes['chief']}"
            yield self.problem("strategy", reason, "move the other chiefs to the workers' task", error_type="TooMany")
        if sizes["ps"]:
            reason = f"{MIRRORED} does not support parameter servers, so the Pods of the task {self.ps} would fail"
            yield self.problem("strategy", reason, "remove the task", error_type="Forbidden")


def _script_warnings(job: Job) -> Iterator[Problem]:
    """Yield a warning for each script that overrides TF_CONFIG."""
    for index, task in enumerate(job.tasks or ()):
        for _, path, container in placed_containers(task.pod_spec, f"spec.tasks[{index}].template.spec"):
            if processes.sets_variable(container, "TF_CONFIG"):
                reason = "the script overrides TF_CONFIG of the tensorflow plugin"
                hint = "remove TF_CONFIG from the script, or remove the plugin"
                yield Problem(path, "Warning", reason, hint, code="VJ138")
