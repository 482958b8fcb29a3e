"""What programs of both languages have in common: names, secrets, and the order of fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from pulumi_volcano_jobs.leaf import is_given
from pulumi_volcano_jobs.model import Job, Model
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.plugins.settings import secret_settings

# What happens stands behind when it happens, and what is longest hides no other field.
_LAST = frozenset({"action", "tasks", "template"})


@dataclass(frozen=True)
class Secret:
    """A value that must not stand in a program: the program reads it from the stack's configuration."""

    key: str
    """Its key there."""
    value: str = field(repr=False)


@dataclass(frozen=True)
class Program:
    """A Pulumi program."""

    text: str
    secrets: tuple[Secret, ...]
    """What must be set with `pulumi config set --secret` before it runs."""


class Secrets:
    """The secrets of a program, as they are met."""

    def __init__(self, resources: Sequence[str]) -> None:
        """Begin with none; in Pulumi YAML, resources and configuration share their names."""
        self._taken = set(resources)
        self.found: list[Secret] = []

    def take(self, resource: str, plugin: Plugin) -> dict[str, str]:
        """Take the secrets of a job's plugin: the key of each, by the plugin's setting."""
        keys = {}
        for flag, setting in secret_settings(type(plugin)).items():
            if is_given(value := getattr(plugin, setting)):
                # A dot would lead into an object.
                keys[setting] = unused(f"{resource}-{flag}".replace(".", "-"), self._taken, "-")
                self._taken.add(keys[setting])
                self.found.append(Secret(keys[setting], value))
        return keys


def resource_names(jobs: Sequence[Job]) -> list[str]:
    """Name the resources after their jobs; jobs of one name stand in namespaces of their own."""
    count = Counter(job.name for job in jobs)
    names: dict[str, None] = {}
    for job in jobs:
        name = job.name if count[job.name] == 1 else f"{job.name}-{job.namespace or 'default'}"
        names[unused(name, names, "-")] = None
    return list(names)


def unused(name: str, taken: Container[str], separator: str) -> str:
    """Number a name that is taken."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}{separator}{number}"
    return free


def in_order(model: Model) -> Iterator[tuple[str, str, Any]]:
    """Yield the fields of a model that are set: the name in Python, the name in YAML, and the value."""
    items = type(model).model_fields.items()
    for name, item in sorted(items, key=lambda pair: pair[0] in _LAST):
        value = getattr(model, name)
        if value is not None:
            yield name, item.alias or name, value


def settings(plugin: Plugin) -> Iterator[tuple[str, Any]]:
    """Yield the settings of a plugin that are not its defaults."""
    for item in fields(plugin):  # type: ignore[arg-type]  # plugins are dataclasses
        value = getattr(plugin, item.name)
        if value != item.default:
            yield item.name, value
