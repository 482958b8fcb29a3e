"""Check the scheduling fields of a job: minAvailable, partitions, network topology and whole CPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes import quantity
from pulumi_volcano_jobs.kubernetes.container_lists import placed_containers
from pulumi_volcano_jobs.kubernetes.validation.field import webhook_problem
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.spec.model import Job, NetworkTopology, Task

_RAISE = "lower it, or add replicas"


def gang(job: Job, tasks: Sequence[Task]) -> Iterator[Problem]:
    """Yield a Problem if minAvailable of a job is more than its Pods."""
    total = sum(task.size for task in tasks)
    if (job.min_available or 0) > total:
        reason = f"must be less than or equal to the number of replicas of the job, {total}"
        yield webhook_problem("spec.minAvailable", "Invalid", reason, job.min_available, _RAISE)


def gang_of_task(task: Task, path: str) -> Iterator[Problem]:
    """Yield a Problem if minAvailable of a task is more than its replicas."""
    if (task.min_available or 0) > task.size:
        reason = f"must be less than or equal to the number of replicas of the task, {task.size}"
        yield webhook_problem(f"{path}.minAvailable", "Invalid", reason, task.min_available, _RAISE)


def incomplete_gang(job: Job, plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield a warning if a gang can start with fewer Pods than a plugin passes to each Pod."""
    tasks, ctx = job.tasks or (), JobContext(job)
    total, least = sum(task.size for task in tasks), job.min_available or 0
    static = [plugin.name for plugin in plugins if plugin.on_job_update(ctx).is_static]
    if not static or least >= total:
        return
    reason = (
        f"the gang can start with {least} of {total} Pods, but {static[0]} configures each Pod for {total}, so started"
        " Pods would wait for the missing Pods while holding their resources"
    )
    smaller = [index for index, task in enumerate(tasks) if (task.min_available or 0) < task.size]
    if least == sum(task.min_available or 0 for task in tasks):
        for index in smaller:
            hint = f"set minAvailable: {tasks[index].size}, or remove it"
            yield Problem(f"spec.tasks[{index}].minAvailable", "Warning", reason, hint, code="VJ103")
    else:
        yield Problem("spec.minAvailable", "Warning", reason, f"set minAvailable: {total}, or remove it", code="VJ103")


def no_pods(job: Job) -> Iterator[Problem]:
    """Yield a warning if all tasks have 0 replicas, unless the job already has warnings about missing replicas."""
    if not job.has_pods and all(problem.code != "VJ128" for problem in job.warnings):
        reason = "all tasks have 0 replicas, so the job has no Pods and does not complete"
        hint = "set replicas of a task, or ignore this warning while the job is scaled to zero"
        yield Problem("spec.tasks", "Warning", reason, hint, code="VJ129")


def tiers(topology: NetworkTopology | None, path: str) -> Iterator[Problem]:
    """Yield a Problem if a networkTopology sets the highest tier both by number and by name."""
    if topology and topology.highest_tier_allowed is not None and topology.highest_tier_name:
        yield webhook_problem(
            path, "Forbidden", "may not specify both highestTierAllowed and highestTierName", hint="remove one of them"
        )


def partitions(task: Task, path: str) -> Iterator[Problem]:
    """Yield a Problem if the partitions of a task do not add up to its replicas."""
    policy = task.partition_policy
    if policy is None:
        return
    place = f"{path}.partitionPolicy"
    if task.size != policy.total_partitions * policy.partition_size:
        total, size = policy.total_partitions, policy.partition_size
        reason = f"totalPartitions times partitionSize ({total} x {size}) must be equal to replicas ({task.size})"
        yield webhook_problem(place, "Invalid", reason, hint=f"set replicas: {total * size}")
    least = (policy.min_partitions or 0) * policy.partition_size
    if least and task.min_available != least:
        reason = (
            f"minPartitions times partitionSize ({policy.min_partitions} x {policy.partition_size}) must be equal to"
            f" minAvailable ({task.min_available})"
        )
        yield webhook_problem(place, "Invalid", reason, hint=f"set minAvailable: {least}")
    yield from tiers(policy.network_topology, f"{place}.networkTopology")


def whole_cpus(task: Task, path: str) -> Iterator[Problem]:
    """Yield a Problem for each container without whole CPUs in a task whose topologyPolicy requires them."""
    if (task.topology_policy or "none") == "none":
        return
    for _, place, container in placed_containers(task.pod_spec, f"{path}.template.spec"):
        if not _is_whole_number(_cpu(container)):
            reason = f"topologyPolicy {task.topology_policy} requires a whole number of CPUs in each container"
            hint = "request whole CPUs, or set topologyPolicy: none"
            yield webhook_problem(f"{place}.resources", "Invalid", reason, hint=hint)


def _cpu(container: Mapping[str, Any]) -> Any:
    """Return the CPUs in a container's requests, or in its limits if it has no requests, or a leaf."""
    amounts = container.get("resources")
    for kind in ("requests", "limits"):
        declared = amounts if isinstance(amounts, Leaf) else (amounts or {}).get(kind)
        if isinstance(declared, Leaf) or declared:
            return declared if isinstance(declared, Leaf) else declared.get("cpu", 0)
    return 0


def _is_whole_number(amount: Any) -> bool:
    if isinstance(amount, Leaf):
        return True
    try:
        nano = quantity.parse(amount).nano
    except ValueError:
        return False
    return nano > 0 and nano % quantity.NANO == 0
