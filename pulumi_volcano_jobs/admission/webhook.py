"""What Volcano's validating webhook refuses when a job is created (contract section 5)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import ErrorType, Problem, Stage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes import quantity, schema, validation
from pulumi_volcano_jobs.kubernetes.dns import DNS_SUBDOMAIN, MAX_LABEL
from pulumi_volcano_jobs.plugins import MpiPlugin, Plugin
from pulumi_volcano_jobs.spec.cluster import ROOT_QUEUE, ClusterFacts
from pulumi_volcano_jobs.spec.model import Job, NetworkTopology, Policy, Task, Volume

EVENTS = ("*", "JobUpdated", "PodEvicted", "PodFailed", "PodPending", "TaskCompleted", "TaskFailed", "Unknown")
ACTIONS = (
    "AbortJob",
    "CompleteJob",
    "RestartJob",
    "RestartPartition",
    "RestartPod",
    "RestartTask",
    "ResumeJob",
    "TerminateJob",
)
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_NANO = 10**9


def check(job: Job, plugins: Sequence[Plugin], cluster: ClusterFacts, *, native: bool) -> Iterator[Problem]:
    """Yield the problems for which the webhook rejects a job with its defaults.

    Args:
        job: the job.
        plugins: its plugins.
        cluster: facts of the cluster.
        native: whether Volcano gets the Job itself, and not only its PodGroup.
    """
    tasks = job.tasks or ()
    if not tasks:
        yield _fault("spec.tasks", "Required", "a job needs at least one task")
        return
    yield from _mpi_master(job, plugins)
    yield from _counts(job, tasks)
    yield from _topology(job.network_topology, "spec.networkTopology")
    yield from _policies(job.policies or (), "spec.policies")
    yield from _volumes(job.volumes or ())
    yield from _queue(job, cluster)
    yield from _dependencies(tasks)
    for index, task in enumerate(tasks):
        yield from _task(job, task, index, native=native)


def template(task: Task, path: str, *, native: bool) -> Iterator[Problem]:
    """Yield the problems of a Pod template; in a native Job also those that only Volcano rejects."""
    found = list(validation.check(task.pod_template, path))
    if native:
        found += validation.native(task.pod_template, path)
        reported = {place for problem in found for place in paths.with_parents(problem.path)}
        repeated = schema.repeated(task.pod_template, schema.POD_TEMPLATE, path)
        found += [
            Problem(entry.path, "Duplicate", entry.reason, entry.hint, stage=Stage.SCHEMA)
            for entry in repeated
            if entry.path not in reported
        ]
    yield from found


def metadata(job: Job) -> Iterator[Problem]:
    """Yield labels and annotations of the job itself that the API server refuses before it asks the webhook."""
    own = {"labels": job.labels, "annotations": job.annotations}
    yield from validation.object_meta(own, "metadata", Stage.SCHEMA)


def _mpi_master(job: Job, plugins: Sequence[Plugin]) -> Iterator[Problem]:
    for plugin in plugins:
        if isinstance(plugin, MpiPlugin) and job.task(plugin.master) is None:
            yield _fault("spec.plugins.mpi.master", "NotFound", "the job has no task of this name", plugin.master)


def _counts(job: Job, tasks: Sequence[Task]) -> Iterator[Problem]:
    total = sum(task.size for task in tasks)
    if (job.min_available or 0) > total:
        yield _fault(
            "spec.minAvailable",
            "Invalid",
            f"the job has only {total} replicas in all",
            job.min_available,
            "lower it, or add replicas",
        )
    for name, count in Counter(task.name for task in tasks).items():
        if count > 1:
            yield _fault(
                "spec.tasks",
                "Duplicate",
                f"{count} tasks have the name {name}",
                hint="give each task a name of its own",
            )


def _task(job: Job, task: Task, index: int, *, native: bool) -> Iterator[Problem]:
    path = f"spec.tasks[{index}]"
    if (task.min_available or 0) > task.size:
        yield _fault(
            f"{path}.minAvailable",
            "Invalid",
            f"the task has only {task.size} replicas",
            task.min_available,
            "lower it, or add replicas",
        )
    # Upstream tests the task's position where the Pod has its replica index.
    name = f"{job.name}-{task.name}-{index}"
    if len(name) > MAX_LABEL or len(job.name) > MAX_LABEL or not _QUALIFIED.fullmatch(name):
        reason = f"names of Pods such as {name} must be at most {MAX_LABEL} characters long"
        yield _fault(f"{path}.name", "TooLong", reason, task.name, "shorten the job's or the task's name")
    yield from template(task, f"{path}.template", native=native)
    yield from _policies(task.policies or (), f"{path}.policies")
    yield from _numa(task, path)
    yield from _partition(task, path)


def _numa(task: Task, path: str) -> Iterator[Problem]:
    if (task.topology_policy or "none") == "none":
        return
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(task.pod_spec.get(kind) or ()):
            if not _is_whole(_cpu(container)):
                place = f"{path}.template.spec.{kind}[{index}].resources"
                reason = f"topologyPolicy {task.topology_policy} needs a whole number of CPUs in every container"
                yield _fault(place, "Invalid", reason, hint="request whole CPUs, or set topologyPolicy: none")


def _cpu(container: Mapping[str, Any]) -> Any:
    """Give what a container asks for: of its requests if it has any, else of its limits; a leaf if they are unknown."""
    amounts = container.get("resources")
    for kind in ("requests", "limits"):
        found = amounts if isinstance(amounts, Leaf) else (amounts or {}).get(kind)
        if isinstance(found, Leaf) or found:
            return found if isinstance(found, Leaf) else found.get("cpu", 0)
    return 0


def _is_whole(amount: Any) -> bool:
    if isinstance(amount, Leaf):
        return True
    try:
        nano = quantity.parse(amount).nano
    except ValueError:
        return False
    return nano > 0 and nano % _NANO == 0


def _partition(task: Task, path: str) -> Iterator[Problem]:
    policy = task.partition_policy
    if policy is None:
        return
    place = f"{path}.partitionPolicy"
    if task.size != policy.total_partitions * policy.partition_size:
        reason = "the task's replicas must be totalPartitions times partitionSize"
        yield _fault(
            place, "Invalid", reason, f"{policy.total_partitions} x {policy.partition_size}, replicas {task.size}"
        )
    least = (policy.min_partitions or 0) * policy.partition_size
    if least and task.min_available != least:
        reason = "the task's minAvailable must be minPartitions times partitionSize"
        yield _fault(
            place, "Invalid", reason, f"{least}, minAvailable {task.min_available}", f"set minAvailable: {least}"
        )
    yield from _topology(policy.network_topology, f"{place}.networkTopology")


def _topology(topology: NetworkTopology | None, path: str) -> Iterator[Problem]:
    if topology and topology.highest_tier_allowed is not None and topology.highest_tier_name:
        yield _fault(path, "Forbidden", "highestTierAllowed and highestTierName exclude each other", hint="remove one")


def _policies(policies: Sequence[Policy], path: str) -> Iterator[Problem]:
    seen_events: set[str] = set()
    seen_codes: set[int] = set()
    for index, policy in enumerate(policies):
        place = f"{path}[{index}]"
        events = dict.fromkeys([*(policy.events or ()), *((policy.event,) if policy.event else ())])
        if events and policy.exit_code is not None:
            yield _fault(
                place, "Forbidden", "a policy has either events or an exitCode", hint="make two policies of it"
            )
        elif events:
            yield from _events(list(events), policy.action, seen_events, place)
        elif policy.exit_code is None:
            yield _fault(place, "Required", "a policy needs an event, events or an exitCode", hint="add one")
        elif policy.exit_code == 0:
            yield _fault(f"{place}.exitCode", "Invalid", "0 is no failure", hint="use event: TaskCompleted")
        elif policy.exit_code in seen_codes:
            yield _fault(f"{place}.exitCode", "Duplicate", "another policy has this exit code", policy.exit_code)
        seen_codes |= {policy.exit_code} if policy.exit_code is not None else set()
    if "*" in seen_events and len(seen_events) > 1:
        yield _fault(path, "Forbidden", "the event * excludes all others", hint="remove the others, or *")


def _events(events: Sequence[str], action: str | None, seen: set[str], path: str) -> Iterator[Problem]:
    for event in events:
        if event not in EVENTS:
            yield _fault(
                path, "NotSupported", f"the event {event} is Volcano's own; a policy takes one of {', '.join(EVENTS)}"
            )
        if event in seen:
            yield _fault(path, "Duplicate", f"another policy has the event {event}", hint="put both into one policy")
        seen.add(event)
    if action not in ACTIONS:
        error_type: ErrorType = "NotSupported" if action else "Required"
        yield _fault(f"{path}.action", error_type, f"this must be one of {', '.join(ACTIONS)}", action or "")


def _volumes(volumes: Sequence[Volume]) -> Iterator[Problem]:
    paths = Counter(volume.mount_path for volume in volumes)
    for index, volume in enumerate(volumes):
        place = f"spec.volumes[{index}]"
        if paths[volume.mount_path] > 1:
            yield _fault(
                f"{place}.mountPath", "Duplicate", "this path is mounted twice", volume.mount_path, "remove one"
            )
        if bool(volume.volume_claim_name) == (volume.volume_claim is not None):
            reason = "a volume has either a volumeClaimName (an existing claim) or a volumeClaim (a new one)"
            error_type: ErrorType = "Forbidden" if volume.volume_claim_name else "Required"
            yield _fault(place, error_type, reason, hint="give one of them")
        elif volume.volume_claim_name and not re.fullmatch(DNS_SUBDOMAIN, volume.volume_claim_name):
            yield _fault(f"{place}.volumeClaimName", "Invalid", "this is no name of a claim", volume.volume_claim_name)


def _queue(job: Job, cluster: ClusterFacts) -> Iterator[Problem]:
    queue = job.queue
    if not isinstance(queue, str):
        return
    if queue == ROOT_QUEUE:
        yield _fault(
            "spec.queue", "Forbidden", "jobs cannot be put into the root queue", queue, "name a queue below it"
        )
    elif cluster.queues is not None:
        facts = cluster.queues.get(queue)
        if facts is None:
            yield _fault("spec.queue", "NotFound", "the cluster has no queue of this name", queue, "create it first")
        elif facts.state != "Open":
            yield _fault("spec.queue", "Forbidden", f"the queue's state is {facts.state or 'unknown'}, not Open", queue)
        elif facts.children:
            reason = f"queues below it: {facts.children}; jobs go into leaf queues"
            yield _fault("spec.queue", "Forbidden", reason, queue)


def _dependencies(tasks: Sequence[Task]) -> Iterator[Problem]:
    needs = {task.name: set((task.depends_on.name if task.depends_on else None) or ()) for task in tasks}
    for index, task in enumerate(tasks):
        for name in sorted(needs[task.name] - needs.keys()):
            place = f"spec.tasks[{index}].dependsOn.name"
            yield _fault(place, "NotFound", "no task has this name", name, "name a task of this job")
        listed = (task.depends_on.name if task.depends_on else None) or ()
        seen: set[str] = set()
        for position, name in enumerate(listed):
            if name in seen:
                reason = (
                    "the dependencies do not form a directed acyclic graph (DAG), because Volcano counts each entry"
                )
                place = f"spec.tasks[{index}].dependsOn.name[{position}]"
                yield _fault(place, "Duplicate", f'Duplicate value: "{name}": {reason}', hint="remove one")
            seen.add(name)
    waiting, followers = {name: len(names) for name, names in needs.items()}, _followers(needs)
    ready = [name for name, count in waiting.items() if not count]
    # The list grows while it is read.
    for done in ready:
        for follower in followers.get(done, ()):
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    stuck = [name or "" for name, names in needs.items() if waiting[name] and names <= needs.keys()]
    if stuck:
        yield _fault(
            "spec.tasks", "Invalid", f"these tasks wait for each other: {', '.join(stuck)}", hint="break the circle"
        )


def _followers(needs: Mapping[str | None, set[str]]) -> dict[str | None, list[str | None]]:
    """Return the tasks that wait for each task."""
    followers: dict[str | None, list[str | None]] = {}
    for name, names in needs.items():
        for other in names:
            followers.setdefault(other, []).append(name)
    return followers


def _fault(path: str, error_type: ErrorType, reason: str, value: object = "", hint: str = "") -> Problem:
    return Problem(path, error_type, reason, hint, value="" if value in ("", None) else str(value), stage=Stage.WEBHOOK)
