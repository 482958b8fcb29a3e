"""Volcano's Queue (`scheduling.volcano.sh/v1beta1`), in the form of Kubernetes' own schemas.

`make schema` generates the argument types of `VolcanoQueue` from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SPEC = "sh.volcano.scheduling.v1beta1.QueueSpec"

_GROUP = SPEC.rpartition(".")[0]
_QUANTITY = {"$ref": "#/$defs/io.k8s.apimachinery.pkg.api.resource.Quantity"}


def _string(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _choice(description: str, choices: Sequence[str], default: str) -> dict[str, Any]:
    return _string(description) | {"enum": list(choices), "default": default}


def _integer(description: str) -> dict[str, Any]:
    return {"type": "integer", "description": description}


def _boolean(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


def _strings(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _amounts(description: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": _QUANTITY, "description": description}


def _of(kind: str, description: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{_GROUP}.{kind}", "description": description}


def _list_of(kind: str, description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/$defs/{_GROUP}.{kind}"}, "description": description}


def _object(description: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "description": description}


DEFINITIONS: Mapping[str, Any] = {
    SPEC: _object(
        "The spec of a Queue.",
        weight=_integer("The share of the queue relative to its siblings, from 1 (the default) to 65535."),
        priority=_integer(
            "The priority of the queue: a higher one is served first and reclaimed from last; 0 or more."
        ),
        capability=_amounts(
            "The maximum resources of all jobs in the queue, as quantities by the name of the resource. A resource "
            "without a quantity is unlimited."
        ),
        deserved=_amounts(
            "The resources that the queue keeps when there are not enough for all queues, as quantities by the name of "
            "the resource. For the capacity plugin of the scheduler."
        ),
        guarantee=_of("Guarantee", "The resources that are reserved for the queue; `deserved` must include them."),
        reclaimable=_boolean(
            "Whether other queues may reclaim resources that the queue uses beyond its share; true by default."
        ),
        parent=_string(
            "The parent queue, such as the `name` of another VolcanoQueue; root by default. Only leaf queues run jobs."
        ),
        dequeueStrategy=_choice(
            "Whether jobs after a job that does not fit may start (`traverse`, the default) or wait (`fifo`).",
            ("fifo", "traverse"),
            "traverse",
        ),
        affinity=_of("Affinity", "The groups of nodes for the Pods of the queue (nodegroup plugin of the scheduler)."),
        type=_string("The type of the queue, for Volcano's dispatcher."),
        extendClusters=_list_of("Cluster", "Clusters to which Volcano dispatches the jobs of the queue."),
    ),
    f"{_GROUP}.NodeGroups": _object(
        "Groups of nodes, by the values of their label `volcano.sh/nodegroup-name`.",
        requiredDuringSchedulingIgnoredDuringExecution=_strings("Groups that the scheduler must use, or avoid."),
        preferredDuringSchedulingIgnoredDuringExecution=_strings(
            "Groups that the scheduler prefers, or tries to avoid."
        ),
    ),
    f"{_GROUP}.Affinity": _object(
        "The groups of nodes for the Pods of a queue.",
        nodeGroupAffinity=_of("NodeGroups", "The groups that the Pods run on."),
        nodeGroupAntiAffinity=_of("NodeGroups", "The groups that the Pods do not run on."),
    ),
    f"{_GROUP}.Guarantee": _object(
        "The resources that are reserved for a queue.",
        resource=_amounts("Quantities by the name of the resource."),
    ),
    f"{_GROUP}.Cluster": _object(
        "A cluster to which Volcano dispatches the jobs of a queue.",
        name=_string("The name of the cluster."),
        weight=_integer("The share of the jobs that the cluster gets."),
        capacity=_amounts("The capacity of the cluster, as quantities by the name of the resource."),
    ),
}
"""Definitions by name, in addition to the definitions of Kubernetes."""
