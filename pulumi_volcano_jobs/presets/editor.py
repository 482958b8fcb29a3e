"""A Pod template while a preset edits it: nothing comes to stand in it twice, and nothing is written over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.core import bounds, paths
from pulumi_volcano_jobs.core.errors import Problem, key_text

Template = dict[str, Any]


class Editor:
    """A template's copy, and what is in the preset's way.

    Where something cannot be looked into, the edit goes on in an empty one, so that all problems are found.
    """

    def __init__(self, preset: str, template: Any) -> None:
        """Copy the template; messages name the preset."""
        self.problems: list[Problem] = []
        self._preset = preset
        self.problems += bounds.check_bounds(template, "template")
        self.template: Template = {} if self.problems else self._fields(plain(template), "template")
        self._spec = self.fields_at(self.template, "spec", "template")

    def container(self, name: str) -> ContainerEditor:
        """Find the container of this name; without one, the only container."""
        path, containers = "template.spec.containers", self.list_at(self._spec, "containers", "template.spec")
        wires = [self._fields(item, f"{path}[{index}]") for index, item in enumerate(containers)]
        matches = [index for index, wire in enumerate(wires) if name in ("", wire.get("name"))]
        if len(matches) == 1:
            return ContainerEditor(self, wires[matches[0]], f"{path}[{matches[0]}]")
        if not self.problems:
            self.problems.append(self._no_container(name, [str(wire.get("name")) for wire in wires], path))
        return ContainerEditor(self, {}, path)

    def add_volume(self, name: str, source: Template) -> None:
        """Add a volume."""
        entries = self.list_at(self._spec, "volumes", "template.spec")
        self.put(entries, {"name": name, **source}, ("name",), "template.spec.volumes", "volume")

    def set_label(self, key: str, value: str) -> None:
        """Set a label of the Pods."""
        metadata = self.fields_at(self.template, "metadata", "template")
        labels = self.mapping_at(metadata, "labels", "template.metadata")
        self.assign(labels, key, value, "template.metadata.labels", "label")

    def add(self, place: Sequence[str], entry: Template, keys: Sequence[str] = ()) -> None:
        """Add an entry to a list of the Pod's; `keys` tell its entries apart, or all that is in them."""
        holder, path = self._spec, "template.spec"
        for key in place[:-1]:
            holder, path = self.fields_at(holder, key, path), f"{path}.{key}"
        entries = self.list_at(holder, place[-1], path)
        self.put(entries, entry, keys or tuple(entry), f"{path}.{place[-1]}", "entry for")

    def put(self, entries: list[Any], entry: Template, keys: Sequence[str], path: str, noun: str) -> None:
        """Add an entry to a list, unless it is there."""
        equal_entries = [
            index
            for index, present in enumerate(entries)
            if isinstance(present, dict) and all(present.get(key) == entry[key] for key in keys)
        ]
        for index in equal_entries:
            if entries[index] != entry:
                self._report_conflict(f"{path}[{index}]", f"{noun} {entry[keys[0]]}")
        # A copy: one preset may be put on several templates.
        entries += [] if equal_entries else [plain(entry)]

    def assign(self, holder: Template, key: str, value: Any, path: str, noun: str) -> None:
        """Set an entry of a mapping, unless it is there."""
        present = holder.setdefault(key, value)
        # A quantity may be written as a number.
        if present != value and not (isinstance(present, int) and str(present) == value):
            self._report_conflict(paths.join(path, key), f"{noun} {key}")

    def fields_at(self, holder: Template, key: str, path: str) -> Template:
        """Give the object behind a key; make it where there is none."""
        return self._fields(self.mapping_at(holder, key, path), f"{path}.{key}")

    def mapping_at(self, holder: Template, key: str, path: str) -> Template:
        """Give the mapping behind a key; make it where there is none."""
        mapping: Template = self._below(holder, key, path, {})
        return mapping

    def list_at(self, holder: Template, key: str, path: str) -> list[Any]:
        """Give the list behind a key; make it where there is none."""
        entries: list[Any] = self._below(holder, key, path, [])
        return entries

    def _below(self, holder: Template, key: str, path: str, empty: Any) -> Any:
        value = holder.get(key)
        if value is None:
            value = holder[key] = empty
        elif not isinstance(value, type(empty)):
            kind = "mapping" if empty == {} else "list"
            reason = f"the preset {self._preset} adds to this, which must be a plain {kind}"
            self.problems.append(
                Problem(f"{path}.{key}", "TypeInvalid", reason, "an Output may be a single value in it")
            )
            return empty
        return value

    def _fields(self, value: Any, path: str) -> Template:
        if not isinstance(value, dict):
            reason = f"presets take a template as YAML has it, and this is of the type {type(value).__name__}"
            hint = "write it as a dict, with the names that its fields have in YAML"
            self.problems.append(Problem(path, "TypeInvalid", reason, hint))
            return {}
        for key in value:
            if "_" in key_text(key):
                reason = "presets take a template as YAML has it, and there no field is called so"
                self.problems.append(
                    Problem(f"{path}.{key}", "Forbidden", reason, "for example volumeMounts, not volume_mounts")
                )
        return value

    def _no_container(self, name: str, known: list[str], path: str) -> Problem:
        if not known:
            return Problem(path, "Required", "a Pod needs at least one container")
        if name:
            reason = f"the template has no container {name} (it has {', '.join(known)})"
            return Problem(path, "NotFound", reason, f"name the one that the preset {self._preset} is for")
        reason = f"the preset {self._preset} is for one of the containers {', '.join(known)}"
        return Problem(path, "Required", reason, f'say for which, as in container="{known[0]}"')

    def _report_conflict(self, path: str, noun: str) -> None:
        reason = f"the preset {self._preset} sets the {noun} too, and not to what stands here"
        self.problems.append(Problem(path, "Duplicate", reason, "keep one of them"))


class ContainerEditor:
    """A container of a template that a preset edits."""

    def __init__(self, pod: Editor, wire: Template, path: str) -> None:
        """Edit the container, which stands at `path`, in place."""
        self._pod, self._wire, self._path = pod, wire, path

    def set_env(self, name: str, value: Any) -> None:
        """Set a variable."""
        entries = self._pod.list_at(self._wire, "env", self._path)
        self._pod.put(entries, {"name": name, "value": value}, ("name",), f"{self._path}.env", "variable")

    def mount(self, path: str, volume: str) -> None:
        """Mount a volume."""
        entries = self._pod.list_at(self._wire, "volumeMounts", self._path)
        mount = {"mountPath": path, "name": volume}
        self._pod.put(entries, mount, ("mountPath",), f"{self._path}.volumeMounts", "mount at")

    def request(self, resource: str, amount: Any) -> None:
        """Request an amount of a resource that cannot be overcommitted: its limit is the same."""
        resources, path = self._pod.fields_at(self._wire, "resources", self._path), f"{self._path}.resources"
        for kind in ("limits", "requests"):
            amounts = self._pod.mapping_at(resources, kind, path)
            self._pod.assign(amounts, resource, amount, f"{path}.{kind}", "resource")

    def add_capability(self, name: str) -> None:
        """Add a capability of Linux'."""
        context, path = self._pod.fields_at(self._wire, "securityContext", self._path), f"{self._path}.securityContext"
        capabilities = self._pod.fields_at(context, "capabilities", path)
        added = self._pod.list_at(capabilities, "add", f"{path}.capabilities")
        added += [] if name in added else [name]


def plain(tree: Any) -> Any:
    """Copy mappings and sequences as dicts and lists; share all else, Outputs too."""
    if isinstance(tree, Mapping):
        return {key: plain(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [plain(value) for value in tree]
    return tree
