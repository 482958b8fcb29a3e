"""Find the place of a field that is at the wrong level of a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.suggestions import closest

_SEGMENT = re.compile(r"[^.\[\]]+")
# Names that many objects have, so that a field of this name at another level proves nothing.
_COMMON = frozenset({"host", "items", "key", "kind", "name", "path", "port", "type", "value"})
# Objects and lists in which users expect a field first.
_FIRST = (
    "spec",
    "template",
    "tasks",
    "policies",
    "containers",
    "securityContext",
    "resources",
    "requests",
    "valueFrom",
    "httpGet",
    "secret",
    "configMap",
    "persistentVolumeClaim",
    "emptyDir",
    "hostPath",
    "volumes",
)
# Lists that repeat the fields of `containers`, and fields that the API server sets.
_SKIPPED = frozenset({"ephemeralContainers", "initContainers", "managedFields", "status"})
_DEEPEST = 5
_SHORTEST_END = 8
_SIMILAR = 0.75
_RESOURCES = frozenset({"cpu", "ephemeral-storage", "memory", "storage"})

Kind = Hashable
"""The type of an object: a name, or a class."""


class Child(NamedTuple):
    """The type of a field's value; None for a plain value."""

    kind: Kind | None = None
    is_list: bool = False


class _PlacedObject(NamedTuple):
    path: str
    kind: Kind


@dataclass(frozen=True)
class FieldTree:
    """The fields of a document, by the types of its objects."""

    root: Kind
    path: str
    """The path of the root; empty for a whole document."""
    fields_of: Callable[[Kind], Mapping[str, Child]]
    """Return the fields of a type."""

    def hint(self, key: str, path: str) -> str:
        """Return the hint where to move an unknown field of the object at a path; empty if no place is known."""
        place = self.place(key, path)
        if not place and key == "spec":
            return "move its fields one level up"
        return f"move it to {place}" if place else ""

    def place(self, key: str, path: str) -> str:
        """Return the path to which an unknown field of the object at a path belongs, otherwise an empty text.

        The nearest object with a field of this name is found first: a part of the object, then an object around it,
        then an entry of a list.
        """
        chain = self._chain(path)
        name = _folded(key)
        if not chain or any(_is_same(name, known) for known in self._names(chain[-1].kind)):
            return ""
        if _is_resource(key):
            return self._resource_place(key, chain)
        return self._nearest(name, chain)

    def _chain(self, path: str) -> list[_PlacedObject]:
        """Return the objects from the root to a path; empty if the path is not in the tree."""
        if not path.startswith(self.path):
            return []
        chain, place = [_PlacedObject(self.path, self.root)], self.path
        for match in _SEGMENT.finditer(path, len(self.path)):
            if match[0].isdecimal() and path[match.start() - 1] == "[":
                place = f"{place}[{match[0]}]"
                chain[-1] = _PlacedObject(place, chain[-1].kind)
                continue
            child = self.fields_of(chain[-1].kind).get(match[0])
            if child is None or child.kind is None:
                return []
            place = paths.join(place, match[0])
            chain.append(_PlacedObject(place, child.kind))
        return chain

    def _nearest(self, name: str, chain: list[_PlacedObject]) -> str:
        holder = chain[-1]
        places = [] if name == "name" else [self._in_parts(name, holder)]
        places.append(self._in_parts(name, holder, only="metadata"))
        if name == "spec":
            return next(filter(None, places), "")
        # A common name of an entry of a list, such as the name of a volume, is about this entry.
        ancestors = chain[:-1] if name not in _COMMON else [item for item in chain[:-1] if _in_entry(item, holder)]
        for ancestor in reversed(ancestors):
            places += [self._own(name, ancestor), self._in_parts(name, ancestor, only="metadata")]
            places += [] if name in _COMMON else [self._in_parts(name, ancestor)]
        found = next(filter(None, places), "")
        # A sibling with a similar name is nearer than a field in an entry of a list.
        if found or name in _COMMON or closest(name, self._names(holder.kind), _SIMILAR):
            return found
        return next(filter(None, (self._below(name, ancestor) for ancestor in reversed(chain))), "")

    def _resource_place(self, key: str, chain: list[_PlacedObject]) -> str:
        """Return the place of an amount, such as `resources.requests.cpu` or `capability.cpu`."""
        names = ("capability", "limits" if "/" in key else "requests")
        found = [self._own(name, chain[-1]) for name in ("resource", *names)]
        found += [self._nearest(name, chain) for name in names]
        holder = next(filter(None, found), "")
        return holder and paths.join(holder, key)

    def _names(self, kind: Kind) -> dict[str, str]:
        return {_folded(name): name for name in self.fields_of(kind)}

    def _own(self, name: str, item: _PlacedObject) -> str:
        names = self._names(item.kind)
        return paths.join(item.path, names[name]) if name in names and not _is_rare(name, names) else ""

    def _in_parts(self, name: str, item: _PlacedObject, only: str = "") -> str:
        """Find a field in the objects of an object. The objects of a template are also objects of its task."""
        for part, is_list in self._parts(item):
            key = part.path.rpartition(".")[2]
            if is_list or (only and key != only):
                continue
            place = self._own(name, part) or (self._in_parts(name, part, only) if key == "template" else "")
            if place:
                return place
        return ""

    def _below(self, name: str, item: _PlacedObject) -> str:
        """Find a field in the objects and the lists of an object, level by level."""
        level = [item]
        for _ in range(_DEEPEST):
            level = [part for holder in level for part, _ in self._parts(holder)]
            for part in level:
                if place := self._own(name, part):
                    return place
        return ""

    def _parts(self, item: _PlacedObject) -> Iterator[tuple[_PlacedObject, bool]]:
        """Yield the objects of an object, and the first entry of each of its lists, with whether it is an entry."""
        fields = self.fields_of(item.kind)
        order = {name: index for index, name in enumerate(_FIRST)}
        for name in sorted(fields, key=lambda name: order.get(name, len(order))):
            child = fields[name]
            if child.kind is None or name in _SKIPPED or _is_rare(name, fields):
                continue
            place = paths.join(item.path, name)
            yield _PlacedObject(paths.join(place, 0) if child.is_list else place, child.kind), child.is_list


def _in_entry(item: _PlacedObject, holder: _PlacedObject) -> bool:
    """Check whether an object is in the same entry of a list as the holder of a field."""
    entry, bracket, _ = holder.path.rpartition("]")
    return item.path.startswith(entry + bracket)


def _is_rare(name: str, siblings: Collection[str]) -> bool:
    """Check for `resources` of a Pod, a new and rare field: most users mean a container's."""
    return name == "resources" and "containers" in siblings


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _is_same(name: str, known: str) -> bool:
    """Check whether a name differs from a known name only in its spelling, or is its end: `claimName`."""
    return name == known or (len(name) >= _SHORTEST_END and known.endswith(name))


def _is_resource(key: str) -> bool:
    return key in _RESOURCES or bool(re.fullmatch(r"(?:[a-z0-9-]+\.)+[a-z]+/[\w.-]+", key))
