"""Recorded objects of a cluster: the documents that `kubectl get -o json` prints, by kind."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core.bounds import MOST_LEVELS
from pulumi_volcano_jobs.core.resource_types import CLAIM, CONFIG_MAP, JOB, NETWORK_POLICY, POD, POD_GROUP, QUEUE
from pulumi_volcano_jobs.kubernetes.object_kinds import group_of
from pulumi_volcano_jobs.status.fields import Object, listed, name_of, namespace_of, text, time

EVENT, NODE, RESOURCE_QUOTA = "Event", "Node", "ResourceQuota"
_GROUPS = {
    JOB.kind: "batch.volcano.sh",
    POD_GROUP.kind: "scheduling.volcano.sh",
    QUEUE.kind: "scheduling.volcano.sh",
    NETWORK_POLICY.kind: "networking.k8s.io",
    POD.kind: "",
    CONFIG_MAP.kind: "",
    CLAIM.kind: "",
    EVENT: "",
    NODE: "",
    RESOURCE_QUOTA: "",
}
"""The kinds that the status depends on, with their API groups. A Job of `batch/v1` is not one of them."""
_CLUSTER_SCOPED = frozenset({QUEUE.kind, NODE})


class RecordedObjects:
    """Objects by kind. A kind without objects is known to have none only if it is in `complete`."""

    def __init__(self, documents: Iterable[Any], complete: Iterable[str] = ()) -> None:
        """Index the objects of documents, also inside Lists.

        Args:
            documents: parsed JSON. Other objects and values are ignored.
            complete: the kinds of which all objects of the job are among the documents.
        """
        self._by_kind: dict[str, list[Object]] = {}
        self._by_name: dict[tuple[str, str, str], Object] = {}
        for item in documents:
            for each in _flatten(item):
                self._add(each)
        self._complete = frozenset(complete) | self._by_kind.keys()

    def _add(self, item: Object) -> None:
        kind, name = text(item, "kind"), name_of(item)
        if not name or _GROUPS.get(kind) != group_of(text(item, "apiVersion")):
            return
        key = (kind, "" if kind in _CLUSTER_SCOPED else namespace_of(item), name)
        if key not in self._by_name:
            self._by_kind.setdefault(kind, []).append(item)
        self._by_name[key] = item

    def of(self, kind: str, namespace: str = "") -> list[Object]:
        """Return the objects of a kind, in one namespace or in all."""
        found = self._by_kind.get(kind, [])
        return [item for item in found if namespace_of(item) == namespace] if namespace else list(found)

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """Return an object, or None."""
        return self._by_name.get((kind, namespace, name))

    def lacks(self, kind: str, name: str, namespace: str = "") -> bool:
        """Check whether an object is known not to exist."""
        return bool(name) and kind in self._complete and self.get(kind, name, namespace) is None

    def recorded_at(self) -> dt.datetime:
        """Return the newest time in the objects, as the time when they were read."""
        times = [found for items in self._by_kind.values() for item in items for found in _times(item)]
        return max(times, default=dt.datetime.fromtimestamp(0, dt.timezone.utc))


def _flatten(item: Any, level: int = 0) -> Iterator[Object]:
    """Yield an object, or the objects of a List. The items of a typed list, such as PodList, have no kind."""
    if not isinstance(item, Mapping) or level > MOST_LEVELS:
        return
    kind = text(item, "kind")
    if not kind.endswith("List"):
        yield item
        return
    kinds = {"kind": kind.removesuffix("List"), "apiVersion": text(item, "apiVersion")}
    for each in listed(item, "items"):
        yield from _flatten({**kinds, **each} if kinds["kind"] else each, level + 1)


def _times(item: Object) -> Iterator[dt.datetime]:
    """Yield the times of an object that a controller or the kubelet wrote."""
    places: list[tuple[Object, tuple[str, ...]]] = [
        (item, ("metadata", "creationTimestamp")),
        (item, ("lastTimestamp",)),
        (item, ("series", "lastObservedTime")),
        (item, ("eventTime",)),
    ]
    places += [(entry, ("lastTransitionTime",)) for entry in listed(item, "status", "conditions")]
    for entry in listed(item, "status", "containerStatuses"):
        places += [(entry, ("state", "running", "startedAt")), (entry, ("state", "terminated", "finishedAt"))]
    yield from (found for tree, keys in places if (found := time(tree, *keys)))
