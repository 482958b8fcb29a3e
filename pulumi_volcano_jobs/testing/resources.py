"""Resources as registered with the engine."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import json_format  # type: ignore[import-untyped]  # it has no types

from pulumi_volcano_jobs.component.lookup import NamedItems
from pulumi_volcano_jobs.core.resource_types import SECRET
from pulumi_volcano_jobs.testing.values import SecretValue, Text, Wire, inner, read


@dataclass
class Registration:
    """The registration of a resource, and the engine's answer."""

    urn: str
    request: Any
    """The `RegisterResourceRequest`."""
    state: Any = None
    """The engine's answer: the outputs as a protobuf Struct."""
    outputs: Wire = field(default_factory=dict)
    """The outputs that a component registered."""
    warnings: list[str] = field(default_factory=list)


class Resource:
    """A resource that a program registered: its inputs, outputs and options."""

    def __init__(self, registration: Registration, stack: Mapping[str, Resource]) -> None:
        """Read a registration.

        Args:
            registration: the registration of the resource.
            stack: all resources of the program by URN.
        """
        request = registration.request
        self._stack = stack
        self.urn: str = registration.urn
        """The URN."""
        self.name: str = request.name
        """The name in the stack, which may differ from the name in the cluster."""
        self.type: str = request.type
        """The whole type, such as `kubernetes:core/v1:Pod`."""
        self.is_component: bool = not request.custom
        """Whether the resource is a component, which has no provider."""
        self.inputs: Wire = read(json_format.MessageToDict(request.object))
        """All inputs, with `SecretValue` and `UNKNOWN` for secret and unknown values."""
        self.outputs: Wire = registration.outputs
        """The outputs that a component registered."""
        self.warnings: list[str] = list(registration.warnings)
        """The warnings that were logged for this resource."""
        self.protect: bool = request.protect
        """Whether the engine refuses to delete the resource."""
        self.ignore_changes: list[str] = list(request.ignoreChanges)
        """The inputs whose changes are ignored."""
        self.replace_on_changes: list[str] = list(request.replaceOnChanges)
        """The inputs whose changes replace the resource."""
        self.delete_before_replace: bool = request.deleteBeforeReplace
        """Whether the old resource is deleted before the new one is created."""
        self.retain_on_delete: bool = request.retainOnDelete
        """Whether the object stays in the cluster when the resource is deleted from the stack."""
        trigger = request.replacement_trigger
        self.replacement_trigger: Any = read(json_format.MessageToDict(trigger)) if trigger.WhichOneof("kind") else None
        """The replacement trigger. For Pods of a job, it is a digest of all values that may not change in place."""
        self.request: Any = request
        """The request, for options without an attribute here."""

    @property
    def kind(self) -> str:
        """The last part of the type, such as `Pod`."""
        return self.type.rsplit(":", 1)[-1]

    @property
    def parent(self) -> Resource | None:
        """The parent component; None if the parent is the stack."""
        return self._stack.get(self.request.parent)

    @property
    def children(self) -> list[Resource]:
        """The resources with this resource as their parent."""
        return [item for item in self._stack.values() if item.request.parent == self.urn]

    @property
    def depends_on(self) -> list[Resource]:
        """All resources that are created before this one: in `depends_on`, or with outputs that are inputs here."""
        return self._known(self.request.dependencies)

    @property
    def inputs_from(self) -> Mapping[str, list[Resource]]:
        """The resources whose outputs each input contains."""
        return {key: self._known(item.urns) for key, item in self.request.propertyDependencies.items()}

    @property
    def provider(self) -> Resource | None:
        """The explicit provider; None for the default provider."""
        return self._stack.get(self.request.provider.rpartition("::")[0])

    def below(self) -> list[Resource]:
        """Return all descendants."""
        return [item for child in self.children for item in (child, *child.below())]

    def _known(self, urns: Iterable[str]) -> list[Resource]:
        return [self._stack[urn] for urn in urns if urn in self._stack]

    def __str__(self) -> str:
        """Return kind and name."""
        return f"{self.kind} {self.name}"

    def __repr__(self) -> str:
        """Return kind and name, without values."""
        return f"<{self}>"


class ManifestView(ABC):
    """Base of Kubernetes objects and Pod templates, which have metadata and a spec."""

    @property
    @abstractmethod
    def manifest(self) -> Wire:
        """The whole manifest."""

    @property
    @abstractmethod
    def _what(self) -> str:
        """The name in messages."""

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
    """A Kubernetes object of the program."""

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
        """The data of a ConfigMap, or of a Secret: each value is a `SecretValue`, decoded if it is base64 of text."""
        data = dict(self._texts(self.inputs, "key", "data"))
        if self.type == SECRET.token:
            data = {key: _decoded(value) for key, value in data.items()}
            data |= self._texts(self.inputs, "key", "stringData")
        return NamedItems("key", data.items(), self._what)

    @property
    def _what(self) -> str:
        return str(self)


def _decoded(value: Text) -> Text:
    """Decode a value of a Secret, unless the result is not text."""
    if not isinstance(value, SecretValue):
        return value
    try:
        return SecretValue(base64.b64decode(value.reveal()).decode())
    except ValueError:
        return value
