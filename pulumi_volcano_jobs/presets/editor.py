"""Editor for Pod templates, which adds entries without duplicates and does not override existing ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pulumi_volcano_jobs.core import bounds, paths
from pulumi_volcano_jobs.core.errors import Problem, key_text, value_text
from pulumi_volcano_jobs.core.tree import map_tree

Template = dict[str, Any]
"""A Pod template, with fields as in YAML."""


class Editor:
    """A copy of a template, and the problems of a preset with it.

    If a field has a wrong type, the preset edits an empty replacement, so that all problems are found.
    """

    def __init__(self, preset: str, template: Any) -> None:
        """Copy the template. Messages contain the name of the preset."""
        self.problems: list[Problem] = []
        self._preset = preset
        self.problems += bounds.check_bounds(template, "template")
        self.template: Template = {} if self.problems else self._fields(plain(template), "template")
        self._spec = self.fields_at(self.template, "spec", "template")

    def container(self, name: str | None) -> ContainerEditor:
        """Return the editor of the container with a name, or of the only container without a name."""
        path, containers = "template.spec.containers", self.list_at(self._spec, "containers", "template.spec")
        wires = [self._fields(item, f"{path}[{index}]") for index, item in enumerate(containers)]
        matches = [index for index, wire in enumerate(wires) if not name or name == wire.get("name")]
        if len(matches) == 1:
            return ContainerEditor(self, wires[matches[0]], f"{path}[{matches[0]}]")
        if not self.problems:
            self.problems.append(self._no_container(name, [str(wire.get("name")) for wire in wires], path))
        return ContainerEditor(self, {}, path)

    def add_volume(self, name: str, source: Template) -> None:
        """Add a volume to the Pod."""
        entries = self.list_at(self._spec, "volumes", "template.spec")
        self.put(entries, {"name": name, **source}, ("name",), "template.spec.volumes", "volume")

    def set_label(self, key: str, value: str) -> None:
        """Set a label of the Pod."""
        metadata = self.fields_at(self.template, "metadata", "template")
        labels = self.mapping_at(metadata, "labels", "template.metadata")
        self.assign(labels, key, value, "template.metadata.labels", "label")

    def add(self, place: Sequence[str], entry: Template, keys: Sequence[str] = ()) -> None:
        """Add an entry to a list in the Pod spec. `keys` identify an entry; by default, all keys of the entry do."""
        holder, path = self._spec, "template.spec"
        for key in place[:-1]:
            holder, path = self.fields_at(holder, key, path), f"{path}.{key}"
        entries = self.list_at(holder, place[-1], path)
        self.put(entries, entry, keys or tuple(entry), f"{path}.{place[-1]}", "entry for")

    def put(self, entries: list[Any], entry: Template, keys: Sequence[str], path: str, noun: str) -> None:
        """Add an entry to a list, unless the list contains it."""
        equal_entries = [
            index
            for index, present in enumerate(entries)
            if isinstance(present, dict) and all(present.get(key) == entry[key] for key in keys)
        ]
        for index in equal_entries:
            if entries[index] != entry:
                self._report_conflict(f"{path}[{index}]", f"{noun} {entry[keys[0]]}")
        # A copy, because a preset can be applied to several templates.
        entries += [] if equal_entries else [plain(entry)]

    def assign(self, holder: Template, key: str, value: Any, path: str, noun: str) -> None:
        """Set an entry of a mapping, unless the mapping contains it."""
        present = holder.setdefault(key, value)
        # A quantity may also be a number.
        if present != value and not (isinstance(present, int) and str(present) == value):
            self._report_conflict(paths.join(path, key), f"{noun} {key}")

    def fields_at(self, holder: Template, key: str, path: str) -> Template:
        """Return the object at a key, which is created if it is missing."""
        return self._fields(self.mapping_at(holder, key, path), f"{path}.{key}")

    def mapping_at(self, holder: Template, key: str, path: str) -> Template:
        """Return the mapping at a key, which is created if it is missing."""
        mapping: Template = self._below(holder, key, path, {})
        return mapping

    def list_at(self, holder: Template, key: str, path: str) -> list[Any]:
        """Return the list at a key, which is created if it is missing."""
        entries: list[Any] = self._below(holder, key, path, [])
        return entries

    def _below(self, holder: Template, key: str, path: str, empty: Any) -> Any:
        value = holder.get(key)
        if value is None:
            value = holder[key] = empty
        elif not isinstance(value, type(empty)):
            kind = "mapping" if empty == {} else "list"
            reason = f"must be a plain {kind}, because the preset {self._preset} adds to it"
            self.problems.append(
                Problem(f"{path}.{key}", "TypeInvalid", reason, "use Outputs only for single values in it")
            )
            return empty
        return value

    def _fields(self, value: Any, path: str) -> Template:
        if not isinstance(value, dict):
            reason = f"must be a dict, not {type(value).__name__}"
            hint = "use a dict with the field names of YAML"
            self.problems.append(Problem(path, "TypeInvalid", reason, hint))
            return {}
        for key in value:
            if "_" in key_text(key):
                hint = "use the field names of YAML, such as volumeMounts instead of volume_mounts"
                self.problems.append(Problem(f"{path}.{key}", "Forbidden", "unknown field", hint))
        return value

    def _no_container(self, name: str | None, known: list[str], path: str) -> Problem:
        if not known:
            return Problem(path, "Required", "must have at least one container")
        if name:
            reason = f"no container has this name (containers: {', '.join(known)})"
            hint = f"set container of presets.{self._preset} to one of them"
            return Problem(path, "NotFound", reason, hint, value_text(name))
        reason = f"the template has several containers ({', '.join(known)})"
        return Problem(path, "Required", reason, f'set presets.{self._preset}(container="{known[0]}"), for example')

    def _report_conflict(self, path: str, noun: str) -> None:
        reason = f"the preset {self._preset} also sets the {noun}, with another value"
        self.problems.append(Problem(path, "Duplicate", reason, "keep one of them"))


class ContainerEditor:
    """Editor for a container of a template."""

    def __init__(self, pod: Editor, wire: Template, path: str) -> None:
        """Edit the container at `path` in place."""
        self._pod, self._wire, self._path = pod, wire, path

    def set_env(self, name: str, value: Any) -> None:
        """Set a variable of the container."""
        entries = self._pod.list_at(self._wire, "env", self._path)
        self._pod.put(entries, {"name": name, "value": value}, ("name",), f"{self._path}.env", "variable")

    def mount(self, path: str, volume: str) -> None:
        """Mount a volume at a path."""
        entries = self._pod.list_at(self._wire, "volumeMounts", self._path)
        mount = {"mountPath": path, "name": volume}
        self._pod.put(entries, mount, ("mountPath",), f"{self._path}.volumeMounts", "mount at")

    def request(self, resource: str, amount: Any) -> None:
        """Set the request and the limit of a resource, which must be equal because it cannot be overcommitted."""
        resources, path = self._pod.fields_at(self._wire, "resources", self._path), f"{self._path}.resources"
        for kind in ("limits", "requests"):
            amounts = self._pod.mapping_at(resources, kind, path)
            self._pod.assign(amounts, resource, amount, f"{path}.{kind}", "resource")

    def add_capability(self, name: str) -> None:
        """Add a Linux capability."""
        context, path = self._pod.fields_at(self._wire, "securityContext", self._path), f"{self._path}.securityContext"
        capabilities = self._pod.fields_at(context, "capabilities", path)
        added = self._pod.list_at(capabilities, "add", f"{path}.capabilities")
        added += [] if name in added else [name]


def plain(tree: Any) -> Any:
    """Return a copy with dicts for mappings and lists for sequences. Other values, such as Outputs, are shared."""
    return map_tree(tree, lambda value: value)
