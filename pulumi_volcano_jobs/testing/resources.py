"""Resources as the engine was told of them."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import json_format  # type: ignore[import-untyped]  # it has no types

from pulumi_volcano_jobs.testing.lookup import NamedItems
from pulumi_volcano_jobs.testing.values import SecretValue, Text, Wire, inner, read

_SECRET = "kubernetes:core/v1:Secret"  # noqa: S105  # a type


@dataclass
class Registration:
    """What a program told the engine of a resource, and what it was told of it."""

    urn: str
    request: Any
    """The `RegisterResourceRequest`."""
    state: Any = None
    """What the engine answered: the outputs as a protobuf Struct."""
    outputs: Wire = field(default_factory=dict)
    """What a component registered as its outputs."""
    warnings: list[str] = field(default_factory=list)


class Resource:
    """A resource that a program registered: what it was given, and its options."""

    def __init__(self, registration: Registration, stack: Mapping[str, Resource]) -> None:
        """Take what was registered.

        Args:
            registration: the resource's own.
            stack: all resources of the program by URN.
        """
        request = registration.request
        self._stack = stack
        self.urn: str = registration.urn
        """The URN: what the engine calls it."""
        self.name: str = request.name
        """The name in the stack, not that in the cluster."""
        self.type: str = request.type
        """The whole type, such as `kubernetes:core/v1:Pod`."""
        self.is_component: bool = not request.custom
        """Whether it is a component, which no provider makes."""
        self.inputs: Wire = read(json_format.MessageToDict(request.object))
        """All inputs, with `SecretValue` and `UNKNOWN` in the place of what is secret and not known."""
        self.outputs: Wire = registration.outputs
        """The outputs that a component registered."""
        self.warnings: list[str] = list(registration.warnings)
        """The warnings that were logged about this very resource."""
        self.protect: bool = request.protect
        """Whether the engine refuses to delete it."""
        self.ignore_changes: list[str] = list(request.ignoreChanges)
        """The inputs whose changes count for nothing."""
        self.replace_on_changes: list[str] = list(request.replaceOnChanges)
        """The inputs whose changes replace it."""
        self.delete_before_replace: bool = request.deleteBeforeReplace
        """Whether the old one goes before the new one is made."""
        self.retain_on_delete: bool = request.retainOnDelete
        """Whether it stays in the cluster when it leaves the stack."""
        trigger = request.replacement_trigger
        self.replacement_trigger: Any = read(json_format.MessageToDict(trigger)) if trigger.WhichOneof("kind") else None
        """Another value replaces the resource. Of a job's Pods it is a digest of all that may not change in place."""
        self.request: Any = request
        """The request itself, for all that has no name here."""

    @property
    def kind(self) -> str:
        """The last part of the type, such as `Pod`."""
        return self.type.rsplit(":", 1)[-1]

    @property
    def parent(self) -> Resource | None:
        """The component that the resource belongs to; none if it is the stack's own."""
        return self._stack.get(self.request.parent)

    @property
    def children(self) -> list[Resource]:
        """The resources that have this one as their parent."""
        return [item for item in self._stack.values() if item.request.parent == self.urn]

    @property
    def depends_on(self) -> list[Resource]:
        """All resources that must be there before: those of `depends_on`, and those whose outputs are inputs here."""
        return self._known(self.request.dependencies)

    @property
    def inputs_from(self) -> Mapping[str, list[Resource]]:
        """The resources whose outputs each input has in it."""
        return {key: self._known(item.urns) for key, item in self.request.propertyDependencies.items()}

    @property
    def provider(self) -> Resource | None:
        """The provider that the program gave it; none if it is the default one."""
        return self._stack.get(self.request.provider.rpartition("::")[0])

    def below(self) -> list[Resource]:
        """Give the children, and theirs."""
        return [item for child in self.children for item in (child, *child.below())]

    def _known(self, urns: Iterable[str]) -> list[Resource]:
        return [self._stack[urn] for urn in urns if urn in self._stack]

    def __str__(self) -> str:
        """Give kind and name."""
        return f"{self.kind} {self.name}"

    def __repr__(self) -> str:
        """Give kind and name, and no value."""
        return f"<{self}>"


class ManifestView(ABC):
    """What has metadata and a spec: an object of the cluster, or a Pod template."""

    @property
    @abstractmethod
    def manifest(self) -> Wire:
        """The whole manifest."""

    @property
    @abstractmethod
    def _what(self) -> str:
        """What it is, for messages."""

    @property
    def metadata(self) -> Wire:
        """The manifest's metadata."""
        return inner(self.manifest.get("metadata"), {}, f"the metadata of {self._what}")

    @property
    def labels(self) -> Mapping[str, Text]:
        """The labels."""
        return self._texts(self.metadata, "label")

    @property
    def annotations(self) -> Mapping[str, Text]:
        """The annotations."""
        return self._texts(self.metadata, "annotation")

    @property
    def spec(self) -> Wire:
        """The manifest's spec; empty if it has none."""
        return inner(self.manifest.get("spec"), {}, f"the spec of {self._what}")

    def _texts(self, fields: Wire, noun: str, key: str = "") -> Mapping[str, Text]:
        key = key or f"{noun}s"
        texts: Mapping[str, Text] = inner(fields.get(key), {}, f"{key} of {self._what}")
        return NamedItems(noun, texts.items(), self._what)


class KubernetesObject(Resource, ManifestView):
    """An object of the cluster, by its manifest."""

    @property
    def manifest(self) -> Wire:
        """The whole manifest."""
        return self.inputs

    @property
    def object_name(self) -> str:
        """The name in the cluster."""
        return str(self.metadata.get("name", self.name))

    @property
    def namespace(self) -> Text:
        """The namespace; `default` if the manifest has none."""
        namespace: Text = self.metadata.get("namespace", "default")
        return namespace

    @property
    def data(self) -> Mapping[str, Text]:
        """The data of a ConfigMap, or of a Secret: each a `SecretValue`, decoded where that gives text."""
        data = dict(self._texts(self.inputs, "key", "data"))
        if self.type == _SECRET:
            data = {key: _decoded(value) for key, value in data.items()}
            data |= self._texts(self.inputs, "key", "stringData")
        return NamedItems("key", data.items(), self._what)

    @property
    def _what(self) -> str:
        return str(self)


def _decoded(value: Text) -> Text:
    """Take base64 off a value of a Secret, unless no text is under it."""
    if not isinstance(value, SecretValue):
        return value
    try:
        return SecretValue(base64.b64decode(value.reveal()).decode())
    except ValueError:
        return value
