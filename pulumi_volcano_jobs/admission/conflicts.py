"""Check that the template, the job's volumes and the plugins do not set the same entry of a Pod.

The entries are variables, mounts, named ports, volumes and containers. Server-side apply and the API server reject
duplicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, value_text
from pulumi_volcano_jobs.core.phrases import Option, Phrase
from pulumi_volcano_jobs.kubernetes.container_lists import placed_containers
from pulumi_volcano_jobs.kubernetes.manifest import Pod
from pulumi_volcano_jobs.kubernetes.pod_log import JOB, PodLog
from pulumi_volcano_jobs.spec.model import Task
from pulumi_volcano_jobs.spec.options import OnConflict

# A list and its container. The list of volumes has no container.
_TrackedList = tuple[str, str]
_NOUNS = {"env": "variable", "volumeMounts": "mount path", "ports": "port name", "volumes": "volume"}
_KEYS = {"env": "name", "volumeMounts": "mountPath", "ports": "name"}
_CONTAINERS = ("containers", "")
_PLUGIN, _USER = Option("on_conflict", "plugin"), Option("on_conflict", "user")


class _Origin(NamedTuple):
    place: str
    plugin: str = ""


def entries(pod: Pod) -> dict[_TrackedList, Mapping[str, Any]]:
    """Return the entries of each list of a Pod by name, and the number of containers by name."""
    found: dict[_TrackedList, Mapping[str, Any]] = {}
    for key, own in pod.lists():
        # Two containers with one name are rejected by `_repeated`, or by the validation of the template.
        found[key] = {**found[key], **own} if key in found else own
    return {**found, _CONTAINERS: Counter(container.name for container in pod.all_containers)}


def check(log: PodLog, task: Task, path: str, on_conflict: OnConflict) -> Iterator[Problem]:
    """Yield the conflicts in a Pod of a task. All Pods of a task conflict in the same places.

    Args:
        log: the writers of the `entries` of the Pod. An entry that is replaced by an equal one also conflicts.
        task: the task.
        path: the path of its template.
        on_conflict: the option of the job.
    """
    origins = _origins(task.pod_spec, f"{path}.spec")
    counts = dict(log.steps[0][1][_CONTAINERS])
    for writer, changes in log.steps[1:]:
        origin = _Origin("spec.volumes") if writer == JOB else _Origin(f"spec.plugins.{writer}", writer)
        added = {name: count or 0 for name, count in changes.get(_CONTAINERS, {}).items()}
        repeated = [name for name, count in added.items() if count > max(1, counts.get(name, 0))]
        counts |= added
        origins[_CONTAINERS] = dict.fromkeys(added, origin) | origins[_CONTAINERS]
        yield from (_repeated(name, origins[_CONTAINERS][name].place, origin) for name in repeated)
        for (kind, container), changed in changes.items():
            if (kind, container) == _CONTAINERS:
                continue
            known = origins.setdefault((kind, container), {})
            set_here = [name for name, entry in changed.items() if entry is not None]
            # The lists of two containers with one name are merged, so conflicts in them are not real.
            for name in () if repeated else [name for name in set_here if name in known]:
                what = f"{_NOUNS[kind]} {name}" + (f" of the container {container}" if container else "")
                yield from _conflict(what, known[name], origin, task, on_conflict)
            known |= dict.fromkeys(set_here, origin)


def _conflict(what: str, old: _Origin, new: _Origin, task: Task, on_conflict: OnConflict) -> Iterator[Problem]:
    """Yield a Problem if the job's volumes or a plugin replace an entry, unless `on_conflict` decides."""
    if not new.plugin:
        reason = f"the job's volumes ({new.place}) also add the {what}"
        yield Problem(old.place, "Duplicate", reason, "remove one of them", stage=RejectionStage.API)
    elif on_conflict == "plugin" or old.plugin == new.plugin:
        return
    elif old.plugin:
        writers = f"the plugins {old.plugin} ({old.place}) and {new.plugin}"
        reason = f"{writers} both set the {what} in Pods of the task {task.name}"
        hint = Phrase("remove one of the plugins, or set ", _PLUGIN, f" to use {new.plugin}, which runs later")
        yield Problem(new.place, "Forbidden", reason, hint)
    elif on_conflict == "error":
        reason = f"the plugin {new.plugin} ({new.place}) also sets the {what}"
        hint = Phrase("remove it here, or set ", _USER, " to keep it, or ", _PLUGIN, " to replace it")
        yield Problem(old.place, "Forbidden", reason, hint)


def _repeated(name: str, place: str, origin: _Origin) -> Problem:
    """Return the Problem of a plugin's container with the name of another container. `on_conflict` does not apply."""
    reason = f"the plugin {origin.plugin} ({origin.place}) also adds a container with this name"
    return Problem(place, "Duplicate", reason, "rename this container", value_text(name), RejectionStage.API)


def _origins(spec: Mapping[str, Any], path: str) -> dict[_TrackedList, dict[str, _Origin]]:
    """Return the paths of a template's entries (the last with each name) and of its containers (the first)."""
    volumes = {
        entry["name"]: _Origin(f"{path}.volumes[{index}]") for index, entry in enumerate(spec.get("volumes") or ())
    }
    origins: dict[_TrackedList, dict[str, _Origin]] = {("volumes", ""): volumes, _CONTAINERS: {}}
    for _, place, container in placed_containers(spec, path):
        name = container["name"]
        origins[_CONTAINERS].setdefault(name, _Origin(f"{place}.name"))
        for kind, field in _KEYS.items():
            known = origins.setdefault((kind, name), {})
            for index, entry in enumerate(container.get(kind) or ()):
                known[entry.get(field, "")] = _Origin(f"{place}.{kind}[{index}]")
    return origins
