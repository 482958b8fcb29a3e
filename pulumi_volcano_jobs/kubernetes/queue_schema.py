"""Volcano's Queue (`scheduling.volcano.sh/v1beta1`), in the form of Kubernetes' own schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SPEC = "sh.volcano.scheduling.v1beta1.QueueSpec"

_GROUP = SPEC.rpartition(".")[0]
_STRING, _INTEGER = {"type": "string"}, {"type": "integer"}
_STRINGS = {"type": "array", "items": _STRING}
_AMOUNTS = {
    "type": "object",
    "additionalProperties": {"$ref": "#/$defs/io.k8s.apimachinery.pkg.api.resource.Quantity"},
}
_TERMS = {
    "preferredDuringSchedulingIgnoredDuringExecution": _STRINGS,
    "requiredDuringSchedulingIgnoredDuringExecution": _STRINGS,
}


def _of(kind: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{_GROUP}.{kind}"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


DEFINITIONS: Mapping[str, Any] = {
    SPEC: _object(
        affinity=_of("Affinity"),
        capability=_AMOUNTS,
        dequeueStrategy=_STRING,
        deserved=_AMOUNTS,
        extendClusters={"type": "array", "items": _of("Cluster")},
        guarantee=_of("Guarantee"),
        parent=_STRING,
        priority=_INTEGER,
        reclaimable={"type": "boolean"},
        type=_STRING,
        weight=_INTEGER,
    ),
    f"{_GROUP}.Affinity": _object(nodeGroupAffinity=_of("NodeGroups"), nodeGroupAntiAffinity=_of("NodeGroups")),
    f"{_GROUP}.Cluster": _object(capacity=_AMOUNTS, name=_STRING, weight=_INTEGER),
    f"{_GROUP}.Guarantee": _object(resource=_AMOUNTS),
    f"{_GROUP}.NodeGroups": _object(**_TERMS),
}
"""What Kubernetes' schemas have for its own kinds, by the definition's name."""
