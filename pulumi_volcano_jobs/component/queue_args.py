"""The arguments of `VolcanoQueue`, as typed dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

import pulumi

Amounts = Mapping[str, pulumi.Input[str | int | float]]
"""Quantities by the resource's name, such as `{"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": 4}`."""


class QueueNodeGroups(TypedDict, total=False):
    """Groups of nodes, by the values of their label `volcano.sh/nodegroup-name`."""

    required_during_scheduling_ignored_during_execution: pulumi.Input[Sequence[pulumi.Input[str]]]
    """Those that must be kept to, or away from."""
    preferred_during_scheduling_ignored_during_execution: pulumi.Input[Sequence[pulumi.Input[str]]]
    """Those that are kept to, or away from, where that is possible."""


class QueueAffinity(TypedDict, total=False):
    """Where the Pods of a queue go (Volcano's nodegroup plugin)."""

    node_group_affinity: QueueNodeGroups
    """The groups of nodes that they go to."""
    node_group_anti_affinity: QueueNodeGroups
    """The groups of nodes that they keep away from."""


class QueueGuarantee(TypedDict, total=False):
    """What is reserved for a queue."""

    resource: pulumi.Input[Amounts]
    """Quantities by the resource's name."""


class QueueCluster(TypedDict, total=False):
    """A cluster to which the jobs of a queue are dispatched."""

    name: pulumi.Input[str]
    """The cluster's name."""
    weight: pulumi.Input[int]
    """Its share of the jobs."""
    capacity: pulumi.Input[Amounts]
    """What it has, in quantities by the resource's name."""


class VolcanoQueueArgs(TypedDict, total=False):
    """A Volcano Queue (`scheduling.volcano.sh/v1beta1`) with snake_case names; all of it is optional.

    Outputs may stand everywhere but in `name`.
    """

    name: str
    """The queue's name; the resource's name by default."""
    labels: pulumi.Input[Mapping[str, pulumi.Input[str]]]
    """Labels of the Queue."""
    annotations: pulumi.Input[Mapping[str, pulumi.Input[str]]]
    """Annotations of the Queue."""
    weight: pulumi.Input[int]
    """Its share beside its siblings, from 1 (the default of Volcano) to 65535."""
    priority: pulumi.Input[int]
    """Which queue is served first, and gives back last; 0 or more."""
    capability: pulumi.Input[Amounts]
    """The most that its jobs may use; a resource that it does not name is unlimited."""
    deserved: pulumi.Input[Amounts]
    """What is its own when there is not enough for all (the scheduler's capacity plugin)."""
    guarantee: QueueGuarantee
    """What nobody else gets; `deserved` must name each of its resources."""
    reclaimable: pulumi.Input[bool]
    """Whether others may take back what it uses beyond its own; true by default."""
    parent: pulumi.Input[str]
    """The queue above it, `parent.name` of another VolcanoQueue; root by default. Jobs go into leaves only."""
    dequeue_strategy: pulumi.Input[Literal["fifo", "traverse"]]
    """Whether jobs behind one that does not fit may start (`traverse`, the default) or wait for it (`fifo`)."""
    affinity: QueueAffinity
    """Which nodes its Pods go to."""
    type: pulumi.Input[str]
    """The queue's type, for Volcano's dispatcher."""
    extend_clusters: Sequence[QueueCluster]
    """Clusters to which its jobs are dispatched."""
