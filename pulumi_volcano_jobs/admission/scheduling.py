"""Check the scheduling of a job: minAvailable, dependsOn, scheduler, partitions, network topology and whole CPUs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.admission.defaults import SCHEDULER
from pulumi_volcano_jobs.admission.tasks import dependencies
from pulumi_volcano_jobs.core.errors import Problem, value_text
from pulumi_volcano_jobs.core.leaf import Leaf, is_given
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_VOLCANO, Phrase
from pulumi_volcano_jobs.kubernetes import quantity
from pulumi_volcano_jobs.kubernetes.container_lists import placed_containers
from pulumi_volcano_jobs.kubernetes.validation.field import webhook_problem
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.model import Job, NetworkTopology, Task

_RAISE = "lower it, or add replicas"
_DEFAULT_SCHEDULER = "default-scheduler"
# Letters of other names of Volcano: its repository, its Deployments and its programs.
_SCHEDULER_ALIASES = frozenset({"vcscheduler", "vcvolcano", "volcanosh", "volcanoscheduler", "volcanoshvolcano"})
_SIMILAR = 0.8


def gang(job: Job, tasks: Sequence[Task]) -> Iterator[Problem]:
    """Yield a Problem if minAvailable of a job is more than its Pods."""
    total = sum(task.size for task in tasks)
    follows_from_task = any((task.min_available or 0) > task.size for task in tasks)
    if (job.min_available or 0) > total and not (follows_from_task and job.min_available == _minimum(tasks)):
        reason = f"must be less than or equal to the number of replicas of the job, {total}"
        yield webhook_problem("spec.minAvailable", "Invalid", reason, job.min_available, _RAISE)


def gang_of_task(task: Task, path: str) -> Iterator[Problem]:
    """Yield a Problem if minAvailable of a task is more than its replicas."""
    if (task.min_available or 0) > task.size:
        reason = f"must be less than or equal to the number of replicas of the task, {task.size}"
        place, minimum = _place_of_minimum(task, path)
        if minimum is not None:
            reason = f"minPartitions times partitionSize, {task.min_available}, {reason}"
        yield webhook_problem(place, "Invalid", reason, minimum or task.min_available, _RAISE)


def _minimum(tasks: Sequence[Task]) -> int:
    return sum(task.min_available or 0 for task in tasks)


def _place_of_minimum(task: Task, path: str) -> tuple[str, int | None]:
    """Return the field that sets minAvailable of a task, and minPartitions if it is this field."""
    policy = task.partition_policy
    if policy and policy.min_partitions and policy.min_partitions * policy.partition_size == task.min_available:
        return f"{path}.partitionPolicy.minPartitions", policy.min_partitions
    return f"{path}.minAvailable", None


def incomplete_gang(job: Job, plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield a warning if a gang can start with fewer Pods than a plugin passes to each Pod."""
    tasks, ctx = job.tasks or (), JobContext(job)
    total, least = sum(task.size for task in tasks), job.min_available or 0
    static = [plugin.name for plugin in plugins if plugin.on_job_update(ctx).is_static]
    created = sum(task.size for task in tasks if not (task.depends_on and task.depends_on.name))
    # A gang cannot contain Pods that Volcano creates only when other Pods run (`waiting_gang`).
    if not static or least >= created:
        return
    reason = (
        f"the gang can start with {least} of {total} Pods, but {static[0]} configures each Pod for {total}, so started"
        " Pods would wait for the missing Pods while holding their resources"
    )
    smaller = [index for index, task in enumerate(tasks) if (task.min_available or 0) < task.size]
    if least == _minimum(tasks):
        for index in smaller:
            task = tasks[index]
            place, minimum = _place_of_minimum(task, f"spec.tasks[{index}]")
            policy = task.partition_policy
            field = f"minPartitions: {policy.total_partitions}" if minimum and policy else f"minAvailable: {task.size}"
            yield Problem(place, "Warning", reason, f"set {field}, or remove it", code="VJ103")
    else:
        yield Problem(
            "spec.minAvailable", "Warning", reason, f"set minAvailable: {created}, or remove it", code="VJ103"
        )


def waiting_gang(job: Job, *, native: bool) -> Iterator[Problem]:
    """Yield a Problem if a gang contains Pods that Volcano creates only when other Pods of the gang run.

    Volcano's gang plugin requires minAvailable Pods of the job and, unless the minAvailable of all tasks add up to
    more, also minAvailable Pods of each task (`CheckTaskValid`). In native mode, such a job never starts.
    """
    tasks = job.tasks or ()
    minimums = {task.name: task.min_available or 0 for task in tasks}
    if any(dependencies(tasks)):
        # The error of the dependencies comes first.
        return
    waiting = [index for index, task in enumerate(tasks) if _waits(task, minimums)]
    least, created = job.min_available or 0, [task for index, task in enumerate(tasks) if index not in waiting]
    needs_each_task = least >= sum(minimums.values()) and any(minimums[tasks[index].name] for index in waiting)
    if not waiting or not (needs_each_task or sum(task.size for task in created) < least):
        return
    names = ", ".join(tasks[index].name or "" for index in waiting)
    others = ", ".join(task.name or "" for task in created)
    reason = (
        f"Volcano creates the Pods of {names} only when those of {others} run, but these start only when all"
        f" {least} Pods of the gang exist (minAvailable), so the job never starts"
    )
    fewer = max(sum(minimums[task.name] for task in created), 1)
    hint = f"set spec.minAvailable: {fewer}, or remove dependsOn and let the Pods wait for each other"
    path = f"spec.tasks[{waiting[0]}].dependsOn"
    if native:
        yield Problem(path, "Invalid", reason, hint)
    else:
        yield Problem(path, "Warning", Phrase("with ", MANAGED_BY_VOLCANO, f", {reason}"), hint, code="VJ132")


def _waits(task: Task, minimums: Mapping[str | None, int]) -> bool:
    """Check whether a task waits for Pods of another task. A task whose minAvailable is 0 makes no task wait."""
    depends_on = task.depends_on
    names = (depends_on.name if depends_on else None) or ()
    are_waiting = [minimums.get(name, 0) > 0 for name in names]
    is_any = len(names) > 1 and depends_on is not None and depends_on.iteration == "any"
    return all(are_waiting) if is_any else any(are_waiting)


def schedulers(job: Job) -> Iterator[Problem]:
    """Yield a warning for each scheduler that does not schedule the job as a gang, probably by mistake."""
    yield from _scheduler(job.scheduler_name, "spec.schedulerName", job)
    for index, task in enumerate(job.tasks or ()):
        yield from _scheduler(
            task.pod_spec.get("schedulerName"), f"spec.tasks[{index}].template.spec.schedulerName", job
        )


def _scheduler(name: Any, path: str, job: Job) -> Iterator[Problem]:
    if not isinstance(name, str) or name in {"", SCHEDULER}:
        return
    if name == _DEFAULT_SCHEDULER and (job.min_available or 0) > 1:
        reason = "the default scheduler ignores PodGroups: Pods do not start together, and the queue has no effect"
        yield Problem(path, "Warning", reason, f"set it to {SCHEDULER}, or remove it", value_text(name), code="VJ131")
    elif _resembles_volcano(name):
        reason = "Pods stay pending without an event if no scheduler has this name"
        yield Problem(path, "Warning", reason, f"did you mean {SCHEDULER}?", value_text(name), code="VJ131")


def _resembles_volcano(name: str) -> bool:
    """Check whether a name is probably meant as the name of Volcano's scheduler.

    A cluster can have several schedulers of Volcano, such as `volcano-2` or `volcano-gpu`.
    """
    letters = re.sub("[^a-z]", "", name.lower())
    if letters in _SCHEDULER_ALIASES or name.strip().lower() == SCHEDULER:
        return True
    is_own = re.fullmatch(f"{SCHEDULER}[-0-9].*", name)
    return not is_own and difflib.SequenceMatcher(None, letters, SCHEDULER).ratio() >= _SIMILAR


def priorities(job: Job, cluster: ClusterFacts) -> Iterator[Problem]:
    """Yield a Problem for each priority of a template that differs from the known value of its PriorityClass."""
    for index, task in enumerate(job.tasks or ()):
        priority, own = task.pod_spec.get("priority"), task.pod_spec.get("priorityClassName")
        name = own if is_given(own) else job.priority_class_name
        value = cluster.priority_classes.get(name) if isinstance(name, str) else None
        if value is not None and isinstance(priority, int) and priority != value:
            path = f"spec.tasks[{index}].template.spec.priority"
            reason = f"the PriorityClass {name} has the value {value}, and the API server rejects another one"
            yield Problem(path, "Forbidden", reason, "remove it")


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
