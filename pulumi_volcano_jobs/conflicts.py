"""Variables, mounts, named ports and volumes that two write: the template, the job's volumes, the plugins.

A Pod has each of them once: server-side apply and the API server refuse another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pulumi_volcano_jobs.choices import OnConflict
from pulumi_volcano_jobs.errors import Problem, Stage
from pulumi_volcano_jobs.manifest import Manifest, Pod
from pulumi_volcano_jobs.model import Task

_NOUNS = {"env": "variable", "volumeMounts": "mount path", "ports": "port name", "volumes": "volume"}


class _Key(NamedTuple):
    kind: str
    name: str
    container: str = ""

    def __str__(self) -> str:
        where = f" of the container {self.container}" if self.container else ""
        return f"{_NOUNS[self.kind]} {self.name}{where}"


class _Entry(NamedTuple):
    made: Manifest
    place: str
    plugin: str = ""


class Ledger:
    """Who wrote what into one Pod of a task; all Pods of a task conflict in the same places."""

    def __init__(self, pod: Pod, task: Task, path: str, on_conflict: OnConflict) -> None:
        """Begin with what the template, which stands at `path`, has."""
        self._task, self._on_conflict = task.name or "", on_conflict
        places = _places(task, f"{path}.spec")
        self._entries = {key: _Entry(made, places[key]) for key, made in _written(pod)}

    def note_volumes(self, pod: Pod) -> Iterator[Problem]:
        """Yield what the job's volumes have written over."""
        for key, old in self._note(pod, "spec.volumes", ""):
            reason = f"the job's volumes (spec.volumes) bring a {key} too"
            yield Problem(old.place, reason, "keep one of them", stage=Stage.API)

    def note(self, pod: Pod, plugin: str) -> Iterator[Problem]:
        """Yield what a plugin has written over, be it the template's or another plugin's, unless that is decided."""
        place = f"spec.plugins.{plugin}"
        for key, old in self._note(pod, place, plugin):
            if self._on_conflict == "plugin" or old.plugin == plugin:
                continue
            if old.plugin:
                reason = (
                    f"the plugins {old.plugin} (spec.plugins.{old.plugin}) and {plugin} both set the {key} in Pods of"
                    f" {self._task}"
                )
                hint = f"do without one of them, or let {plugin}, which runs later, have it: on_conflict plugin"
                yield Problem(place, reason, hint)
            elif self._on_conflict == "error":
                reason = f"the plugin {plugin} ({place}) sets the {key} too"
                hint = "remove it here, or say on_conflict: user keeps what stands here, plugin what the plugin sets"
                yield Problem(old.place, reason, hint)

    def _note(self, pod: Pod, place: str, plugin: str) -> list[tuple[_Key, _Entry]]:
        overwritten = []
        after = dict(_written(pod))
        for key, made in after.items():
            old = self._entries.get(key)
            # Equal entries conflict too, unless they are still the same one.
            if old is None or made is not old.made:
                overwritten += [(key, old)] if old else []
                self._entries[key] = _Entry(made, place, plugin)
        return overwritten


def _written(pod: Pod) -> Iterator[tuple[_Key, Manifest]]:
    for container in pod.all_containers:
        yield from ((_Key(kind, name, container.name), entry) for kind, name, entry in container.entries())
    yield from ((_Key("volumes", name), entry) for name, entry in pod.volumes())


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
