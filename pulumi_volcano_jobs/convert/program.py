"""Names, secrets, other objects and the order of fields, shared by the programs of both languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.core.resource_types import PRIORITY_CLASS, SECRET, ObjectType
from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.plugins.settings import default_of, secret_settings
from pulumi_volcano_jobs.rendering import queue
from pulumi_volcano_jobs.spec.document import METADATA_FIELDS, role_of
from pulumi_volcano_jobs.spec.model import Job, Model, Task

# An action follows its event, and the longest fields come last.
_LAST = frozenset({"action", "tasks", "template"})


@dataclass(frozen=True, eq=False, repr=False)
class Secret(Sealed):
    """A secret that the program reads from the configuration of the stack."""

    key: str
    """The key in the configuration."""
    value: str = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Program(Sealed):
    """A Pulumi program."""

    text: str
    secrets: tuple[Secret, ...]
    """The secrets to set with `pulumi config set --secret` before the program runs."""


@dataclass(frozen=True, eq=False, repr=False)
class Objects(Sealed):
    """The objects of a program that are not Jobs, by the resource that creates them."""

    queues: Sequence[Mapping[str, Any]] = ()
    """The fields of each Queue, in the flat form; a parent comes before its children."""
    priority_classes: Sequence[Manifest] = ()
    """PriorityClasses. They are resources of their own, because jobs refer to them."""
    secrets: Sequence[Manifest] = ()
    """Secrets. They are resources of their own, because their values come from the configuration of the stack."""
    group: Sequence[Manifest] = ()
    """All other objects, which one ConfigGroup creates."""

    @classmethod
    def of(cls, manifests: Iterable[Manifest]) -> Objects:
        """Sort the manifests of a file that are not Jobs."""
        queues, classes, secrets, group = [], [], [], []
        for item in manifests:
            kind = ObjectType(item["apiVersion"], item["kind"])
            if role_of(item) == "queue":
                queues.append(queue.flat_fields(item))
            elif kind == PRIORITY_CLASS:
                classes.append(item)
            elif kind == SECRET:
                secrets.append(item)
            else:
                group.append(item)
        return cls(_parents_first(queues), classes, secrets, group)


def _parents_first(queues: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Sort queues by their depth below the queues that are not in the file."""
    parents = {fields["name"]: fields.get("parent") for fields in queues}

    def depth(name: Any) -> int:
        seen: set[Any] = set()
        while name in parents and name not in seen:
            seen.add(name)
            name = parents[name]
        return len(seen)

    return sorted(queues, key=lambda fields: depth(fields["name"]))


def metadata_of(manifest: Manifest) -> dict[str, Any]:
    """Return the metadata of a manifest that a program sets."""
    return {key: value for key, value in manifest["metadata"].items() if key in METADATA_FIELDS and value}


def with_references(job: Job, queues: Mapping[str, Any], priority_classes: Mapping[str, Any]) -> Job:
    """Return a job that refers to the resources of its queue and its priority classes.

    Names alone would fail in the first preview: the API server rejects a Pod whose PriorityClass it does not have.

    Args:
        job: the job.
        queues: the value for the name of each queue in the program.
        priority_classes: the value for the name of each PriorityClass in the program.
    """
    changes = {
        name: known[value]
        for name, known in (("queue", queues), ("priority_class_name", priority_classes))
        if isinstance(value := getattr(job, name), str) and value in known
    }
    tasks = tuple(_with_class(task, priority_classes) for task in job.tasks or ())
    return job.with_(**changes, tasks=tasks or None)


def _with_class(task: Task, priority_classes: Mapping[str, Any]) -> Task:
    name = task.pod_spec.get("priorityClassName")
    if not isinstance(name, str) or name not in priority_classes:
        return task
    spec = {**task.pod_spec, "priorityClassName": priority_classes[name]}
    return task.with_(template={**task.pod_template, "spec": spec})


class Secrets:
    """Collector of the secrets of a program."""

    def __init__(self, resources: Sequence[str]) -> None:
        """Reserve the names of resources, because Pulumi YAML does not allow a configuration key of the same name."""
        self._names = Names("-", resources)
        self.found: list[Secret] = []

    def add(self, resource: str, plugin: Plugin) -> dict[str, str]:
        """Add the secrets of a plugin, and return the configuration key of each by the name of its setting."""
        settings = secret_settings(type(plugin)).items()
        return {
            setting: self.add_value(f"{resource}-{flag}", value)
            for flag, setting in settings
            if is_given(value := getattr(plugin, setting))
        }

    def add_value(self, name: str, value: str) -> str:
        """Add a secret, and return its configuration key."""
        # In a configuration key, a dot refers to a property of an object.
        key = self._names.reserve(name.replace(".", "-"))
        self.found.append(Secret(key, value))
        return key


@dataclass(frozen=True)
class ResourceNames:
    """The names of the resources of a program, in the order of their objects. Each name is unique."""

    jobs: Sequence[str]
    queues: Sequence[str]
    priority_classes: Sequence[str]
    secrets: Sequence[str]
    group: str

    @classmethod
    def of(cls, jobs: Sequence[Job], objects: Objects) -> ResourceNames:
        """Return the name of each object. A job has its namespace in its name if several jobs have this name."""
        count = Counter(job.name for job in jobs)
        names = Names("-")
        return cls(
            [
                names.reserve(job.name if count[job.name] == 1 else f"{job.name}-{job.namespace or 'default'}")
                for job in jobs
            ],
            [names.reserve_with(fields["name"], "queue") for fields in objects.queues],
            [names.reserve_with(item["metadata"]["name"], "priority-class") for item in objects.priority_classes],
            [names.reserve_with(item["metadata"]["name"], "secret") for item in objects.secrets],
            names.reserve("objects"),
        )

    @property
    def all(self) -> list[str]:
        """All names."""
        return [*self.jobs, *self.queues, *self.priority_classes, *self.secrets, self.group]


class Names:
    """Generator of unique names: a name that is already taken gets a number."""

    def __init__(self, separator: str, taken: Iterable[str] = ()) -> None:
        """Set the separator between a name and its number, and the reserved names."""
        self._separator = separator
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}

    def reserve(self, name: str) -> str:
        """Reserve a name and return it. A name that is already taken gets the first free number."""
        candidate, number = name, self._numbers.get(name, 1)
        while candidate in self._taken:
            number += 1
            candidate = f"{name}{self._separator}{number}"
        self._numbers[name] = number
        self._taken.add(candidate)
        return candidate

    def reserve_with(self, name: str, kind: str) -> str:
        """Reserve a name and return it. A name that is already taken gets the kind of its object."""
        return self.reserve(f"{name}{self._separator}{kind}" if name in self._taken else name)


def ordered_fields(model: Model) -> Iterator[tuple[str, str, Any]]:
    """Yield the name in Python, the name in YAML and the value of each field of a model that is set."""
    items = type(model).model_fields.items()
    for name, item in sorted(items, key=lambda pair: pair[0] in _LAST):
        value = getattr(model, name)
        if value is not None:
            yield name, item.alias or name, value


def settings(plugin: Plugin) -> Iterator[tuple[str, Any]]:
    """Yield the settings of a plugin that differ from the defaults."""
    for name in type(plugin).model_fields:
        value = getattr(plugin, name)
        if value != default_of(type(plugin), name):
            yield name, value
