"""Names, secrets and the order of fields, shared by the programs of both languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.plugins.settings import default_of, secret_settings
from pulumi_volcano_jobs.spec.model import Job, Model

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


class Secrets:
    """Collector of the secrets of a program."""

    def __init__(self, resources: Sequence[str]) -> None:
        """Reserve the names of resources, because Pulumi YAML does not allow a configuration key of the same name."""
        self._names = Names("-", resources)
        self.found: list[Secret] = []

    def add(self, resource: str, plugin: Plugin) -> dict[str, str]:
        """Add the secrets of a plugin, and return the configuration key of each by the name of its setting."""
        keys = {}
        for flag, setting in secret_settings(type(plugin)).items():
            if is_given(value := getattr(plugin, setting)):
                # In a configuration key, a dot refers to a property of an object.
                keys[setting] = self._names.reserve(f"{resource}-{flag}".replace(".", "-"))
                self.found.append(Secret(keys[setting], value))
        return keys


def resource_names(jobs: Sequence[Job]) -> list[str]:
    """Return a resource name for each job: its name, with the namespace if several jobs have this name."""
    count = Counter(job.name for job in jobs)
    names = Names("-")
    return [
        names.reserve(job.name if count[job.name] == 1 else f"{job.name}-{job.namespace or 'default'}") for job in jobs
    ]


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
