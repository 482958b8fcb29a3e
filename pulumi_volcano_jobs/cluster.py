"""What only a cluster knows, and a job's rendering depends on: given from outside, never asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi_volcano_jobs.errors import JobError, Problem

ROOT_QUEUE = "root"
_KINDS = ("PriorityClass", "Queue", "PersistentVolumeClaim")


@dataclass(frozen=True)
class Queue:
    """A Volcano queue: its state (`Open`, `Closed`, …) and how many queues have it as their parent."""

    state: str = "Open"
    children: int = 0


@dataclass(frozen=True)
class ClusterFacts:
    """Priority classes, queues and claims of a cluster.

    Without facts nothing is assumed: priority classes count 0, queues and claims are not checked (`None`).
    """

    priority_classes: Mapping[str, int] = field(default_factory=dict)
    """The value of each PriorityClass by name."""
    queues: Mapping[str, Queue] | None = None
    """Volcano's queues by name."""
    claims: frozenset[tuple[str, str]] | None = None
    """The namespace and name of each PersistentVolumeClaim."""

    @classmethod
    def from_objects(cls, objects: Iterable[Mapping[str, Any]]) -> ClusterFacts:
        """Read what `kubectl get priorityclasses,queues.scheduling.volcano.sh,pvc -A -o yaml` prints.

        Raises:
            JobError: for anything that is not one of these kinds (or a List of them).
        """
        found = list(_flatten(objects))
        faults = [
            Problem(f"items[{position}].kind", f"this is no {', '.join(_KINDS)}", "see volcano-jobs render --help")
            for position, item in enumerate(found)
            if item.get("kind") not in _KINDS
        ]
        if faults:
            raise JobError(faults)
        by_kind = {kind: [item for item in found if item["kind"] == kind] for kind in _KINDS}
        return cls(
            priority_classes={_name(item): item.get("value") or 0 for item in by_kind["PriorityClass"]},
            queues=_queues(by_kind["Queue"]),
            claims=frozenset((_namespace(item), _name(item)) for item in by_kind["PersistentVolumeClaim"]),
        )


def _flatten(objects: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    for item in objects:
        if str(item.get("kind", "")).endswith("List"):
            yield from item.get("items") or ()
        else:
            yield item


def _queues(items: Iterable[Mapping[str, Any]]) -> dict[str, Queue]:
    items = list(items)
    parents = [(item.get("spec") or {}).get("parent") or ROOT_QUEUE for item in items]
    return {
        _name(item): Queue((item.get("status") or {}).get("state") or "", parents.count(_name(item))) for item in items
    }


def _name(item: Mapping[str, Any]) -> str:
    name: str = item["metadata"]["name"]
    return name


def _namespace(item: Mapping[str, Any]) -> str:
    namespace: str = item["metadata"].get("namespace") or "default"
    return namespace
