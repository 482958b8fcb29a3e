"""Pods and their containers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from pulumi_volcano_jobs.component.lookup import NamedItems, NotFound
from pulumi_volcano_jobs.testing.resources import KubernetesObject, ManifestView
from pulumi_volcano_jobs.testing.values import Text, Wire, inner

Variable: TypeAlias = Text | Mapping[str, Any]
"""The value of an environment variable, or its `valueFrom`."""


class Container:
    """A container or an init container."""

    def __init__(self, spec: Wire, pod: str) -> None:
        """Wrap a container of a Pod spec."""
        self.spec = spec
        """The container as in the Pod spec."""
        self.name: str = spec["name"]
        """The name of the container."""
        self._where = f"container {self.name} of {pod}"

    @property
    def image(self) -> Text:
        """The image; empty if there is none."""
        image: Text = self.spec.get("image", "")
        return image

    @property
    def env(self) -> Mapping[str, Variable]:
        """The variables by name: the value, or the mapping in `valueFrom`."""
        entries = self._list("env")
        return NamedItems("variable", ((item["name"], _variable(item)) for item in entries), self._where)

    @property
    def command(self) -> list[Text]:
        """The command."""
        return self._list("command")

    @property
    def args(self) -> list[Text]:
        """The arguments."""
        return self._list("args")

    @property
    def mounts(self) -> Mapping[str, Wire]:
        """The mounts by path."""
        return NamedItems("mount", ((item["mountPath"], item) for item in self._list("volumeMounts")), self._where)

    @property
    def requests(self) -> Mapping[str, Text]:
        """The resource requests, such as `cpu` and `nvidia.com/gpu`."""
        return self._resources("request")

    @property
    def limits(self) -> Mapping[str, Text]:
        """The resource limits."""
        return self._resources("limit")

    def _list(self, key: str) -> list[Any]:
        return inner(self.spec.get(key), [], f"{key} of {self._where}")

    def _resources(self, noun: str) -> Mapping[str, Text]:
        resources: Wire = inner(self.spec.get("resources"), {}, f"resources of {self._where}")
        amounts: Mapping[str, Text] = inner(resources.get(f"{noun}s"), {}, f"{noun}s of {self._where}")
        return NamedItems(noun, amounts.items(), self._where)

    def __repr__(self) -> str:
        """Return the name without values."""
        return f"<{self._where}>"


class PodFields(ManifestView):
    """The fields of a Pod or a template. Container fields such as `env` belong to the first container."""

    @property
    def containers(self) -> Mapping[str, Container]:
        """The containers by name."""
        return self._containers("container", "containers")

    @property
    def init_containers(self) -> Mapping[str, Container]:
        """The init containers by name."""
        return self._containers("init container", "initContainers")

    @property
    def env(self) -> Mapping[str, Variable]:
        """The variables of the first container by name: the value, or the mapping in `valueFrom`."""
        return self._first.env

    @property
    def image(self) -> Text:
        """The image of the first container."""
        return self._first.image

    @property
    def command(self) -> list[Text]:
        """The command of the first container."""
        return self._first.command

    @property
    def args(self) -> list[Text]:
        """The arguments of the first container."""
        return self._first.args

    @property
    def mounts(self) -> Mapping[str, Wire]:
        """The mounts of the first container by path."""
        return self._first.mounts

    @property
    def volumes(self) -> Mapping[str, Wire]:
        """The volumes by name."""
        return self._named("volume", ((item["name"], item) for item in self._list("volumes")))

    @property
    def node_selector(self) -> Mapping[str, Text]:
        """The node selector: the labels that a node must have."""
        return self._texts(self.spec, "node selector", "nodeSelector")

    @property
    def tolerations(self) -> list[Wire]:
        """The tolerations."""
        return self._list("tolerations")

    @property
    def _first(self) -> Container:
        for container in self.containers.values():
            return container
        raise NotFound(f"{self._what} has no containers")

    def _containers(self, noun: str, key: str) -> Mapping[str, Container]:
        return self._named(noun, ((item["name"], Container(item, self._what)) for item in self._list(key)))

    def _list(self, key: str) -> list[Any]:
        return inner(self.spec.get(key), [], f"{key} of {self._what}")

    def _named(self, noun: str, items: Iterable[tuple[str, Any]]) -> NamedItems[Any]:
        return NamedItems(noun, items, self._what)


class PodTemplate(PodFields):
    """The Pod template of a task whose Pods Volcano creates."""

    def __init__(self, manifest: Wire, what: str) -> None:
        """Store the template and its name in messages."""
        self._manifest = manifest
        self._named_as = what

    @property
    def manifest(self) -> Wire:
        """The template as in the Job."""
        return self._manifest

    @property
    def _what(self) -> str:
        return self._named_as

    def __repr__(self) -> str:
        """Return the name without values."""
        return f"<{self._what}>"


class Pod(KubernetesObject, PodFields):
    """A Pod of a job."""


def _variable(entry: Wire) -> Variable:
    value: Variable = entry["valueFrom"] if "valueFrom" in entry else entry.get("value", "")
    return value
