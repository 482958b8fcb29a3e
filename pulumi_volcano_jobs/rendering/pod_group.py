"""The PodGroup of a job (upstream: `createOrUpdatePodGroup` of Volcano's job controller)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.admission.defaults import QUEUE
from pulumi_volcano_jobs.core.leaf import derive, is_given
from pulumi_volcano_jobs.core.resource_types import POD_GROUP
from pulumi_volcano_jobs.kubernetes.container_lists import CONTAINER_LISTS, containers_in
from pulumi_volcano_jobs.kubernetes.manifest import PARTITION_ID, TASK_SPEC, Manifest, build
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.rendering import min_resources
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import NetworkTopology, PartitionPolicy, Task

# The fields of a Pod spec that minResources depends on. An Output in another field must not make minResources unknown.
_COUNTED_OF_POD = ("resources", "overhead")
_COUNTED_OF_CONTAINER = ("resources", "restartPolicy")


def pod_group(ctx: JobContext, priority_classes: Mapping[str, int]) -> Manifest:
    """Build the PodGroup of a job.

    The queue `default` is omitted: Volcano's webhook replaces it by the default queue of the namespace, and an update
    must not move the PodGroup back.
    """
    job = ctx.job
    is_default = isinstance(job.queue, str) and job.queue == QUEUE
    spec: Manifest = {} if is_default else {"queue": job.queue}
    if job.min_available:
        spec["minMember"] = job.min_available
    if is_given(job.priority_class_name):
        spec["priorityClassName"] = job.priority_class_name
    if ctx.tasks:
        spec["minTaskMember"] = {task.name: task.min_available for task in ctx.tasks}
    if job.network_topology:
        spec["networkTopology"] = _topology(job.network_topology)
    groups = [_sub_group(task.name, task.partition_policy) for task in ctx.tasks if task.partition_policy]
    if groups:
        spec["subGroupPolicy"] = groups
    spec["minResources"] = _min_resources(ctx.tasks, job.min_available or 0, priority_classes)
    group = build(POD_GROUP, naming.pod_group(ctx.name), ctx.namespace, spec=spec)
    for key, values in (("labels", job.labels), ("annotations", job.annotations)):
        if values:
            group["metadata"][key] = dict(values)
    return group


def _topology(topology: NetworkTopology) -> Manifest:
    wire = topology.to_wire()
    return {key: value for key, value in wire.items() if value != ""}


def _sub_group(task: str | None, policy: PartitionPolicy) -> Manifest:
    group: Manifest = {
        "name": task,
        "subGroupSize": policy.partition_size,
        "minSubGroups": policy.min_partitions or 0,
        "labelSelector": {"matchLabels": {TASK_SPEC: task}},
        "matchLabelKeys": [PARTITION_ID],
    }
    if policy.network_topology:
        group["networkTopology"] = _topology(policy.network_topology)
    return group


def _min_resources(tasks: Sequence[Task], min_available: int, priority_classes: Mapping[str, int]) -> Any:
    classes = [task.pod_spec.get("priorityClassName") if priority_classes else None for task in tasks]
    sizes = [(task.size, task.min_available or 0) for task in tasks]
    specs = [_counted_fields(task.pod_spec) for task in tasks]

    def compute(classes: Sequence[str | None], specs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        pods = [
            min_resources.TaskPods(priority_classes.get(name or "", 0), replicas, min_available_of_task, spec)
            for name, (replicas, min_available_of_task), spec in zip(classes, sizes, specs, strict=True)
        ]
        return min_resources.min_resources(pods, min_available)

    return derive(compute, classes, specs)


def _counted_fields(spec: Mapping[str, Any]) -> dict[str, Any]:
    counted = {key: spec[key] for key in _COUNTED_OF_POD if key in spec}
    for kind in CONTAINER_LISTS:
        counted[kind] = [
            {key: container[key] for key in _COUNTED_OF_CONTAINER if key in container}
            for container in containers_in(spec, kind)
        ]
    return counted
