"""What programs of both languages have in common: names, secrets, and the order of fields."""

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

# What happens stands behind when it happens, and what is longest hides no other field.
_LAST = frozenset({"action", "tasks", "template"})


@dataclass(frozen=True, eq=False, repr=False)
class Secret(Sealed):
    """A value that must not stand in a program: the program reads it from the stack's configuration."""

    key: str
    """Its key there."""
    value: str = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Program(Sealed):
    """A Pulumi program."""

    text: str
    secrets: tuple[Secret, ...]
    """What must be set with `pulumi config set --secret` before it runs."""


class Secrets:
    """The secrets of a program, as they are met."""

    def __init__(self, resources: Sequence[str]) -> None:
        """Begin with none; in Pulumi YAML, resources and configuration share their names."""
        self._names = Names("-", resources)
        self.found: list[Secret] = []

    def add(self, resource: str, plugin: Plugin) -> dict[str, str]:
        """Take the secrets of a job's plugin: the key of each, by the plugin's setting."""
        keys = {}
        for flag, setting in secret_settings(type(plugin)).items():
            if is_given(value := getattr(plugin, setting)):
                # A dot would lead into an object.
                keys[setting] = self._names.reserve(f"{resource}-{flag}".replace(".", "-"))
                self.found.append(Secret(keys[setting], value))
        return keys


def resource_names(jobs: Sequence[Job]) -> list[str]:
    """Name the resources after their jobs; jobs of one name stand in namespaces of their own."""
    count = Counter(job.name for job in jobs)
    names = Names("-")
    return [
        names.reserve(job.name if count[job.name] == 1 else f"{job.name}-{job.namespace or 'default'}") for job in jobs
    ]


class Names:
    """Unique names: a name that is taken gets a number."""

    def __init__(self, separator: str, taken: Iterable[str] = ()) -> None:
        """Set the separator between a name and its number, and the names that are taken."""
        self._separator = separator
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}

    def reserve(self, name: str) -> str:
        """Reserve a name and return it, with the first free number if it is taken."""
        candidate, number = name, self._numbers.get(name, 1)
        while candidate in self._taken:
            number += 1
            candidate = f"{name}{self._separator}{number}"
        self._numbers[name] = number
        self._taken.add(candidate)
        return candidate


def ordered_fields(model: Model) -> Iterator[tuple[str, str, Any]]:
    """Yield the fields of a model that are set: the name in Python, the name in YAML, and the value."""
    items = type(model).model_fields.items()
    for name, item in sorted(items, key=lambda pair: pair[0] in _LAST):
        value = getattr(model, name)
        if value is not None:
            yield name, item.alias or name, value


def settings(plugin: Plugin) -> Iterator[tuple[str, Any]]:
    """Yield the settings of a plugin that are not its defaults."""
    for name in type(plugin).model_fields:
        value = getattr(plugin, name)
        if value != default_of(type(plugin), name):
            yield name, value
