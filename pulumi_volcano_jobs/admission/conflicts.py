"""Variables, mounts, named ports and volumes that two write: the template, the job's volumes, the plugins.

A Pod has each of them once: server-side apply and the API server refuse another.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pulumi_volcano_jobs.core.errors import Problem, Stage
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, Pod
from pulumi_volcano_jobs.spec.model import Task
from pulumi_volcano_jobs.spec.options import OnConflict

_NOUNS = {"env": "variable", "volumeMounts": "mount path", "ports": "port name", "volumes": "volume"}


class _ListKey(NamedTuple):
    kind: str
    container: str = ""


class _Key(NamedTuple):
    kind: str
    name: str
    container: str = ""

    def __str__(self) -> str:
        where = f" of the container {self.container}" if self.container else ""
        return f"{_NOUNS[self.kind]} {self.name}{where}"


class _Origin(NamedTuple):
    place: str
    plugin: str = ""


class _List(NamedTuple):
    """The entries of one list of a Pod, and the origin of each."""

    entries: Mapping[str, Manifest] = {}
    ids: Mapping[str, int] = {}
    origins: Mapping[str, _Origin] = {}

    def updated(self, entries: Mapping[str, Manifest], origin: _Origin) -> tuple[_List, list[str]]:
        """Return the list after `origin` has changed it to `entries`, and the names of the entries that were replaced.

        An entry that was replaced by an equal one also conflicts. Entries are compared by identity, in bulk and not in
        a loop, because svc sets two variables for each task in each Pod.
        """
        ids = dict(zip(entries, map(id, entries.values()), strict=True))
        fresh = dict(ids.items() - self.ids.items())
        if not fresh:
            return self, []
        order = dict(zip(entries, itertools.count(), strict=False))
        replaced = sorted(fresh.keys() & self.ids.keys(), key=order.__getitem__)
        # The list keeps its entries alive, so that no other object gets the id of one.
        origins = {**self.origins, **dict.fromkeys(fresh, origin)}
        return _List({**self.entries, **entries}, {**self.ids, **ids}, origins), replaced


class Ledger:
    """Who wrote what into one Pod of a task; all Pods of a task conflict in the same places."""

    def __init__(self, pod: Pod, task: Task, path: str, on_conflict: OnConflict) -> None:
        """Begin with what the template, which stands at `path`, has."""
        self._task, self._on_conflict = task.name or "", on_conflict
        self._lists: dict[_ListKey, _List] = {}
        self._note(pod, _Origin(""))
        places = _places(task, f"{path}.spec")
        self._containers: dict[str, list[str]] = {}
        for name, place in _containers(task, f"{path}.spec"):
            self._containers.setdefault(name, []).append(place)
        for key, found in self._lists.items():
            origins = {name: _Origin(places[_Key(key.kind, name, key.container)]) for name in found.entries}
            self._lists[key] = found._replace(origins=origins)

    def note_volumes(self, pod: Pod) -> Iterator[Problem]:
        """Yield what the job's volumes have written over."""
        for key, old in self._note(pod, _Origin("spec.volumes")):
            reason = f"the job's volumes (spec.volumes) bring a {key} too"
            yield Problem(old.place, "Duplicate", reason, "keep one of them", stage=Stage.API)

    def note(self, pod: Pod, plugin: str) -> Iterator[Problem]:
        """Yield what a plugin has written over, be it the template's or another plugin's, unless that is decided."""
        place = f"spec.plugins.{plugin}"
        replaced = self._note(pod, _Origin(place, plugin))
        if repeated := list(self._repeated(pod, plugin)):
            # The lists of two containers with one name are merged, so conflicts in them are not real.
            yield from repeated
            return
        for key, old in replaced:
            if self._on_conflict == "plugin" or old.plugin == plugin:
                continue
            if old.plugin:
                reason = (
                    f"the plugins {old.plugin} (spec.plugins.{old.plugin}) and {plugin} both set the {key} in Pods of"
                    f" {self._task}"
                )
                hint = f"do without one of them, or let {plugin}, which runs later, have it: on_conflict plugin"
                yield Problem(place, "Forbidden", reason, hint)
            elif self._on_conflict == "error":
                reason = f"the plugin {plugin} ({place}) sets the {key} too"
                hint = "remove it here, or say on_conflict: user keeps what stands here, plugin what the plugin sets"
                yield Problem(old.place, "Forbidden", reason, hint)

    def _repeated(self, pod: Pod, plugin: str) -> Iterator[Problem]:
        """Yield a Problem for each container of a plugin with the name of another container.

        `on_conflict` does not apply to containers.
        """
        place = f"spec.plugins.{plugin}"
        for name, count in Counter(container.name for container in pod.all_containers).items():
            known = self._containers.setdefault(name, [])
            added = count - len(known)
            known += [place] * added
            if added > 0 and count > 1:
                reason = f'Duplicate value: "{name}": the plugin {plugin} ({place}) adds a container of this name'
                yield Problem(known[0], "Duplicate", reason, "rename this container", stage=Stage.API)

    def _note(self, pod: Pod, origin: _Origin) -> list[tuple[_Key, _Origin]]:
        overwritten = []
        for key, entries in _lists(pod).items():
            before = self._lists.get(key, _List())
            self._lists[key], replaced = before.updated(entries, origin)
            overwritten += [(_Key(key.kind, name, key.container), before.origins[name]) for name in replaced]
        return overwritten


def _lists(pod: Pod) -> dict[_ListKey, Mapping[str, Manifest]]:
    found: dict[_ListKey, Mapping[str, Manifest]] = {}
    for container in pod.all_containers:
        for kind, entries in container.lists():
            key = _ListKey(kind, container.name)
            # Two containers with one name are rejected by `_repeated`, or by the validation of the template.
            found[key] = {**found[key], **entries} if key in found else entries
    found[_ListKey("volumes")] = dict(pod.volumes())
    return found


def _containers(task: Task, path: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each container of a template, and its path."""
    for section in ("containers", "initContainers"):
        for position, container in enumerate(task.pod_spec.get(section) or ()):
            yield container["name"], f"{path}.{section}[{position}].name"


def _places(task: Task, path: str) -> dict[_Key, str]:
    """Find the places in a template; of a name that stands twice the last counts."""
    spec: dict[str, Any] = dict(task.pod_spec)
    places = {
        _Key("volumes", entry["name"]): f"{path}.volumes[{index}]"
        for index, entry in enumerate(spec.get("volumes") or ())
    }
    for section in ("containers", "initContainers"):
        for position, container in enumerate(spec.get(section) or ()):
            for kind, field in (("env", "name"), ("volumeMounts", "mountPath"), ("ports", "name")):
                for index, entry in enumerate(container.get(kind) or ()):
                    key = _Key(kind, entry.get(field, ""), container["name"])
                    places[key] = f"{path}.{section}[{position}].{kind}[{index}]"
    return places
