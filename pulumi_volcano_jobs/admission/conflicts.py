"""Check that the template, the job's volumes and the plugins do not set the same entry of a Pod.

The entries are variables, mounts, named ports, volumes and containers. Server-side apply and the API server reject
duplicates. A plugin that replaces the command of a container has a warning, because Volcano's own plugin does the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, value_text
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.core.phrases import Option, Phrase
from pulumi_volcano_jobs.kubernetes import processes
from pulumi_volcano_jobs.kubernetes.container_lists import placed_containers
from pulumi_volcano_jobs.kubernetes.manifest import Pod, replaces_program
from pulumi_volcano_jobs.kubernetes.pod_log import JOB, PodLog
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.spec.model import Task
from pulumi_volcano_jobs.spec.options import OnConflict

# A list and its container. The list of volumes has no container.
_TrackedList = tuple[str, str]
_COMMAND = "command"
_NOUNS = {"env": "variable", "volumeMounts": "mount path", "ports": "port name", "volumes": "volume"}
_KEYS = {"env": "name", "volumeMounts": "mountPath", "ports": "name"}
_CONTAINERS = ("containers", "")
_PLUGIN, _USER = Option("on_conflict", "plugin"), Option("on_conflict", "user")


class _Origin(NamedTuple):
    place: str
    plugin: str = ""


def entries(pod: Pod) -> dict[_TrackedList, Mapping[str, Any]]:
    """Return the entries of each list of a Pod by name, the commands, and the number of containers by name."""
    found: dict[_TrackedList, Mapping[str, Any]] = {}
    for key, own in pod.lists():
        # Two containers with one name are rejected by `_repeated`, or by the validation of the template.
        found[key] = {**found[key], **own} if key in found else own
    for container in pod.all_containers:
        command = container.fields.get(_COMMAND)
        found[_COMMAND, container.name] = {"": command} if is_given(command) else {}
    return {**found, _CONTAINERS: Counter(container.name for container in pod.all_containers)}


def check(
    log: PodLog, task: Task, path: str, plugins: Sequence[Plugin], on_conflict: OnConflict, *, native: bool
) -> Iterator[Problem]:
    """Yield the conflicts in a Pod of a task. All Pods of a task conflict in the same places.

    Args:
        log: the writers of the `entries` of the Pod. An entry that is replaced by an equal one also conflicts.
        task: the task.
        path: the path of its template.
        plugins: the plugins of the job.
        on_conflict: the option of the job.
        native: whether Volcano's plugins create the Pods.
    """
    yield from _command_conflicts(log, task, f"{path}.spec", plugins, on_conflict, native=native)
    origins = _origins(task.pod_spec, f"{path}.spec")
    counts = dict(log.steps[0][1][_CONTAINERS])
    for writer, changes in log.steps[1:]:
        origin = _Origin("spec.volumes") if writer == JOB else _of_plugin(writer)
        added = {name: count or 0 for name, count in changes.get(_CONTAINERS, {}).items()}
        repeated = [name for name, count in added.items() if count > max(1, counts.get(name, 0))]
        counts |= added
        origins[_CONTAINERS] = dict.fromkeys(added, origin) | origins[_CONTAINERS]
        yield from (_repeated(name, origins[_CONTAINERS][name].place, origin) for name in repeated)
        for (kind, container), changed in changes.items():
            if kind not in _NOUNS:
                continue
            known = origins.setdefault((kind, container), {})
            set_here = [name for name, entry in changed.items() if entry is not None]
            # A port that is removed has another name now.
            overridden = [name for name in (changed if kind == "ports" else set_here) if name in known]
            # The lists of two containers with one name are merged, so conflicts in them are not real.
            for name in () if repeated else overridden:
                what = f"{_NOUNS[kind]} {name}" + (f" of the container {container}" if container else "")
                yield from _conflict(what, known[name], origin, task, on_conflict, native=native)
            known |= dict.fromkeys(set_here, origin)


def _of_plugin(name: str) -> _Origin:
    return _Origin(f"spec.plugins.{name}", name)


def _command_conflicts(
    log: PodLog, task: Task, path: str, plugins: Sequence[Plugin], on_conflict: OnConflict, *, native: bool
) -> Iterator[Problem]:
    """Yield the conflicts of commands. A command that runs the one before it does not conflict with it."""
    by_name = {plugin.name: plugin for plugin in plugins}
    for _, place, container in placed_containers(task.pod_spec, path):
        name, program = container["name"], container
        origin = _Origin(f"{place}.{_COMMAND if is_given(container.get(_COMMAND)) else 'args'}")
        for writer, changes in log.steps[1:]:
            command = changes.get((_COMMAND, name), {}).get("")
            if command is None:
                continue
            if replaces_program(command, program) and origin.plugin:
                what = f"{_COMMAND} of the container {name}"
                yield from _conflict(what, origin, _of_plugin(writer), task, on_conflict, native=native)
            elif replaces_program(command, program) and on_conflict == "error" and not _has_program(command, program):
                yield _replaced_command(origin.place, by_name[writer], task, program, native=native)
            program, origin = {_COMMAND: command}, _of_plugin(writer)


def _conflict(
    what: str, old: _Origin, new: _Origin, task: Task, on_conflict: OnConflict, *, native: bool
) -> Iterator[Problem]:
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
        keep = () if native else (_USER, " to keep it, or ")
        yield Problem(
            old.place, "Forbidden", reason, Phrase("remove it here, or set ", *keep, _PLUGIN, " to replace it")
        )


def _has_program(command: Any, program: Mapping[str, Any]) -> bool:
    """Check whether a command runs the programs of another one with all their arguments, and perhaps with more."""
    replaced, run = processes.run_by(program), processes.run_by({_COMMAND: command})
    return bool(replaced) and all(any({*old.words} <= {*new.words} for new in run) for old in replaced)


def _replaced_command(place: str, plugin: Plugin, task: Task, program: Mapping[str, Any], *, native: bool) -> Problem:
    """Return a warning about a command or args of the template that do not run."""
    is_command = place.endswith(f".{_COMMAND}")
    what = f"replaces this {_COMMAND}" if is_command else f"sets a {_COMMAND} that does not use these args"
    reason = f"the plugin {plugin.name} {what}, so the program does not run"
    if keep := plugin.keeping_command(task.name or "", program):
        hint = Phrase(keep, ", or remove it")
    else:
        hint = Phrase("remove it", *(() if native else (", or set ", _USER, " to keep it")))
    return Problem(place, "Warning", reason, hint, code="VJ145")


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
