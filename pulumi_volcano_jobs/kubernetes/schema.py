"""Kubernetes' schemas of the types that a Job embeds (Pod templates and claims), and Volcano's schema of a Queue.

`SchemaPruner` prunes a tree in wire form as the API server does with Volcano's resource definition. It drops unknown
fields and nulls, sets the defaults of the definition, checks types, and reports each problem. The schemas are from
the `kubernetes-validate` package, so neither a network nor a cluster is needed.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import ErrorType, Problem, RejectionStage, key_text, not_plain
from pulumi_volcano_jobs.core.field_places import Child, FieldTree, Kind
from pulumi_volcano_jobs.core.leaf import Leaf, derive, has_leaf, is_valid_unicode
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.core.tree import whole_number
from pulumi_volcano_jobs.kubernetes import quantity, queue_schema

KUBERNETES_VERSION = "1.36.0"
"""The version of the Kubernetes API that Volcano's resource definition embeds (contract of 2026-08-20)."""

POD_TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec"
CLAIM = "io.k8s.api.core.v1.PersistentVolumeClaimSpec"

_REFERENCE = "#/$defs/"
_VERSION_FOLDER = re.compile(r"v(1\.[0-9]+)\.0-local")
_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_SCALARS: dict[str, tuple[tuple[type, ...], str]] = {
    QUANTITY: ((str, int, float), "must be a quantity such as 500m, 2 or 4Gi"),
    INT_OR_STRING: ((str, int), "must be a whole number or a string"),
    "string": ((str,), "must be a string"),
    "integer": ((int,), "must be a whole number"),
    "number": ((int, float), "must be a number"),
    "boolean": ((bool,), "must be true or false"),
}
SURROGATE = "must be valid Unicode without surrogates"
A_LIST_HINT = "start each entry with '- '"
_HINTS = {"string": "put it in quotes", "integer": "write it without quotes", "boolean": "write it without quotes"}

# Volcano's resource definition embeds the metadata of a template with these fields only.
_TEMPLATE_METADATA = ("annotations", "finalizers", "labels", "name", "namespace")

# The defaults of the resource definition that are not empty (contract section 3). Kubernetes' types define them.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "ContainerPort": {"protocol": "TCP"},
    "GRPCAction": {"service": ""},
    "FileKeySelector": {"optional": False},
    "AzureDiskVolumeSource": {"fsType": "ext4", "readOnly": False},
    "ISCSIVolumeSource": {"iscsiInterface": "default"},
    "RBDVolumeSource": {"keyring": "/etc/ceph/keyring", "pool": "rbd", "user": "admin"},
    "ScaleIOVolumeSource": {"fsType": "xfs", "storageMode": "ThinProvisioned"},
}

# Fields that must not be an Output, with the reason: they determine which objects exist, and their names.
_STRUCTURE: dict[tuple[str, str], str] = {
    ("PodTemplateSpec", "metadata"): "plugins add fields to it",
    ("PodTemplateSpec", "spec"): "plugins add fields to it",
    ("ObjectMeta", "annotations"): "plugins add annotations to it",
    ("ObjectMeta", "labels"): "plugins add labels to it",
    ("PodSpec", "containers"): "plugins add fields to each container",
    ("PodSpec", "initContainers"): "plugins add fields to each container",
    ("PodSpec", "volumes"): "plugins add volumes to it",
    ("PodSpec", "hostname"): "it determines the DNS names of the Pods",
    ("PodSpec", "subdomain"): "it determines the DNS names of the Pods",
    ("PodSpec", "schedulerName"): "it determines whether gang scheduling applies",
    ("PodSpec", "hostNetwork"): "it determines the DNS policy",
    ("Container", "name"): "plugins find containers by name",
    ("Container", "env"): "plugins add variables to it",
    ("Container", "ports"): "plugins add ports to it",
    ("Container", "volumeMounts"): "plugins add mounts to it",
    ("EnvVar", "name"): "plugins replace variables by name",
    ("ContainerPort", "containerPort"): "plugins replace ports by number",
    ("ContainerPort", "name"): "Services find ports by name",
    ("ContainerPort", "protocol"): "plugins replace ports by number and protocol",
    ("VolumeMount", "mountPath"): "plugins replace mounts by path",
    ("Volume", "name"): "plugins replace volumes by name",
}


# An entry of a list of these types cannot be a leaf either.
_STRUCTURED = frozenset(kind for kind, _ in _STRUCTURE)


def _folder() -> Path:
    # The package is not imported, because that loads a JSON Schema validator which is not needed here.
    spec = importlib.util.find_spec("kubernetes_validate")
    (root,) = spec.submodule_search_locations if spec and spec.submodule_search_locations else ("",)
    return Path(root) / "kubernetes-json-schema"


@functools.cache
def versions() -> tuple[str, ...]:
    """Return the Kubernetes versions with a schema, such as 1.31, up to the version that Volcano embeds."""
    available = {match[1] for path in _folder().iterdir() if (match := _VERSION_FOLDER.fullmatch(path.name))}
    newest = _minor(KUBERNETES_VERSION.rpartition(".")[0])
    return tuple(sorted((version for version in available if _minor(version) <= newest), key=_minor))


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


@functools.cache
def _definitions(version: str = KUBERNETES_VERSION) -> dict[str, Any]:
    path = _folder() / f"v{version}-local" / "_definitions.json"
    definitions: dict[str, Any] = json.loads(path.read_text("utf-8"))["$defs"]
    return {**definitions, **queue_schema.DEFINITIONS}


def closed_definitions(roots: Iterable[str]) -> dict[str, Any]:
    """Return definitions and all definitions that they refer to, for a JSON schema that rejects unknown fields."""
    closed: dict[str, Any] = {}
    missing = list(roots)
    while missing:
        name = missing.pop()
        if name not in closed:
            closed[name] = _closed(name)
            missing += sorted(_references(closed[name]))
    return dict(sorted(closed.items()))


def _closed(name: str) -> dict[str, Any]:
    if name in {QUANTITY, INT_OR_STRING}:
        # Kubernetes' own has `oneOf`, which rejects null, because null is valid for both types.
        return {"type": sorted({kind for option in _definitions()[name]["oneOf"] for kind in option["type"]})}
    definition = dict(_definitions()[name])
    if "properties" in definition:
        return definition | {"properties": _properties(name), "additionalProperties": False}
    return definition


def _references(tree: Any) -> Iterator[str]:
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            if key == "$ref" and isinstance(value, str):
                yield value.removeprefix(_REFERENCE)
            else:
                yield from _references(value)
    elif isinstance(tree, list):
        for item in tree:
            yield from _references(item)


@functools.cache
def _properties(definition: str, version: str = KUBERNETES_VERSION) -> dict[str, Any]:
    properties: dict[str, Any] = _definitions(version)[definition].get("properties", {})
    if definition == POD_TEMPLATE:
        # The metadata of a template has a separate type here, as in Volcano's resource definition.
        return properties | {"metadata": {"$ref": _REFERENCE + _METADATA}}
    return properties


@functools.cache
def wire_names(definition: str) -> dict[str, str]:
    """Return the wire names of a definition's fields by their snake_case names in pulumi_kubernetes."""
    return {_snake(name): name for name in _properties(definition)}


def _snake(name: str) -> str:
    # An acronym is one word (hostIPC, setHostnameAsFQDN), and so is its plural (podIPs).
    words = re.sub(r"([A-Z]{2,})s\b", lambda match: f"_{match[1].lower()}s", name)
    words = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", words)
    snake = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words).lower()
    return f"{snake}_" if keyword.iskeyword(snake) or snake == "exec" else snake


def child_definition(definition: str, name: str) -> tuple[str, bool]:
    """Return the definition of a field (empty for plain values), and whether the field is a list of it."""
    schema = _properties(definition).get(name, {})
    items = schema.get("items")
    return (_object_definition(items), True) if items else (_object_definition(schema), False)


class ListPatch(NamedTuple):
    """How a strategic merge patch of Kubernetes merges a list."""

    key: str
    """The field that identifies an entry."""
    replaces_entries: bool
    """Whether an entry replaces the previous one, as with volumes, whose fields exclude each other."""


def patch_of_list(definition: str, name: str) -> ListPatch | None:
    """Return how a field is merged; None if it is not a list, or if a patch replaces the list."""
    field_schema = _properties(definition).get(name, {})
    strategy = field_schema.get("x-kubernetes-patch-strategy", "").split(",")
    key = field_schema.get("x-kubernetes-patch-merge-key")
    return ListPatch(key, "retainKeys" in strategy) if key and "merge" in strategy else None


def field_schemas(definition: str) -> Mapping[str, Any]:
    """Return the schemas of the fields of a definition that Volcano's resource definition has."""
    properties = _properties(definition)
    return {name: properties[name] for name in _TEMPLATE_METADATA} if definition == _METADATA else properties


def is_structure(definition: str, name: str) -> bool:
    """Check whether a field must not be an Output."""
    return (definition.rpartition(".")[2], name) in _STRUCTURE


def referenced(schema: Mapping[str, Any]) -> str:
    """Return the definition that a schema refers to; empty if it refers to none."""
    return str(schema.get("$ref", "")).removeprefix(_REFERENCE)


@functools.cache
def fields_of(definition: Kind) -> Mapping[str, Child]:
    """Return the fields of a definition, with the definitions of their values."""
    children = {name: child_definition(str(definition), name) for name in field_schemas(str(definition))}
    return {name: Child(child or None, is_list) for name, (child, is_list) in children.items()}


def required(definition: str) -> tuple[str, ...]:
    """Return the required fields of a definition."""
    return tuple(_definitions()[definition].get("required", ()))


def is_atomic(definition: str) -> bool:
    """Check whether server-side apply replaces an object of a definition as a whole."""
    return bool(_definitions()[definition].get("x-kubernetes-map-type") == "atomic")


def defaults(definition: str) -> Mapping[str, Any]:
    """Return the defaults of Volcano's resource definition for the fields of a definition, without empty ones."""
    return _DEFAULTS.get(definition.rpartition(".")[2], {})


def _object_definition(schema: Mapping[str, Any]) -> str:
    name = referenced(schema)
    return name if name and "properties" in _definitions()[name] else ""


@dataclass(frozen=True)
class DuplicateEntry:
    """An entry of a list with the key of an earlier entry. Server-side apply and CRDs allow each key once."""

    path: str
    """The later entry."""
    first: str
    """The earlier entry."""
    value: str
    """The key of both entries, as JSON; empty if it may be a secret."""

    @property
    def hint(self) -> str:
        """The fix."""
        return f"remove one (the first is {self.first})"


def duplicate_entries(tree: Mapping[str, Any], definition: str, path: str) -> Iterator[DuplicateEntry]:
    """Yield the repeated entries of a conforming tree, in lists of the type `map` or `set`."""
    properties = _properties(definition)
    for key, value in tree.items():
        place, (child, is_list) = paths.join(path, key), child_definition(definition, key)
        if isinstance(value, (list, tuple)):
            yield from _duplicates_in(value, properties[key], place)
        for index, item in enumerate(value) if is_list and isinstance(value, (list, tuple)) else [("", value)]:
            if child and isinstance(item, Mapping):
                yield from duplicate_entries(item, child, paths.join(place, index) if is_list else place)


def _duplicates_in(entries: Iterable[Any], schema: Mapping[str, Any], path: str) -> Iterator[DuplicateEntry]:
    kind, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys", ())
    first_paths: dict[str, str] = {}
    for index, entry in enumerate(entries) if kind in ("map", "set") else ():
        value = {key: entry.get(key, "") for key in keys} if isinstance(entry, Mapping) else entry
        if has_leaf(value):
            continue
        text, place = json.dumps(value, separators=(",", ":")), paths.join(path, index)
        if text in first_paths:
            yield DuplicateEntry(place, first_paths[text], "" if "=" in text else text)
        first_paths.setdefault(text, place)


_REJECTED = object()


@dataclass
class SchemaPruner:
    """Prune trees as the API server does, and collect the `problems` of each.

    The schemas are of the version that Volcano's resource definition embeds, or of another one (`versions`).
    With `quantities_as_text`, every quantity becomes text. `document` is the document that contains the trees, if an
    unknown field can belong to another part of it.
    """

    kubernetes: str = ""
    quantities_as_text: bool = False
    document: FieldTree | None = None
    problems: list[Problem] = field(default_factory=list)
    _tree: FieldTree | None = None

    @property
    def _version(self) -> str:
        return f"{self.kubernetes}.0" if self.kubernetes else KUBERNETES_VERSION

    def apply(self, tree: Any, definition: str, path: str) -> Any:
        """Return a copy of a tree without unknown fields and nulls, with the definition's defaults.

        Unknown fields are problems of the stage STRICT, wrong types DECODE, missing required fields SCHEMA. Values
        of the wrong type are dropped as well, so that the remaining tree can be validated.
        """
        self._tree = self.document or FieldTree(definition, path, fields_of)
        return self._apply(tree, definition, path)

    def _apply(self, tree: Any, definition: str, path: str) -> Any:
        if isinstance(tree, Leaf):
            return tree
        if not isinstance(tree, Mapping):
            return self._reject(path, "must be a mapping", "write it as key: value lines")
        return self._object(tree, definition, path)

    def apply_below(self, value: Any, definition: str, keys: Sequence[str | int], path: str) -> Any:
        """Return a copy of the value at the path `keys` of a definition, as `apply` does.

        The value of an unknown field is not checked.
        """
        schema: Mapping[str, Any] = {"$ref": _REFERENCE + definition}
        for key in keys:
            reference = referenced(schema)
            if reference in _SCALARS:
                return value
            known = _definitions(self._version)[reference] if reference else schema
            if "properties" in known:
                below = _properties(reference, self._version).get(str(key))
            else:
                below = known.get("items") or known.get("additionalProperties")
            if not isinstance(below, Mapping):
                return value
            schema = below
        return value if value is None else self._value(value, schema, path)

    def _object(self, tree: Mapping[str, Any], definition: str, path: str) -> dict[str, Any]:
        properties, kind = _properties(definition, self._version), definition.rsplit(".", 1)[1]
        names = _TEMPLATE_METADATA if definition == _METADATA else properties
        result = {key: value for key, value in defaults(definition).items() if tree.get(key) is None}
        for key, value in tree.items():
            if key not in names:
                self._unknown(key, names, path)
            elif isinstance(value, Leaf) and (kind, key) in _STRUCTURE:
                self.problems.append(output_not_allowed(paths.join(path, key), _STRUCTURE[kind, key]))
            elif value is not None:
                result[key] = self._value(value, properties[key], paths.join(path, key))
        result = {key: value for key, value in result.items() if value is not _REJECTED}
        for key in _definitions(self._version)[definition].get("required", ()):
            if tree.get(key) is None:
                self._report(paths.join(path, key), "Required", "", f"set {key}", RejectionStage.SCHEMA)
        return result

    def _value(self, value: Any, schema: Mapping[str, Any], path: str) -> Any:
        reference = referenced(schema)
        if self.quantities_as_text and reference == QUANTITY:
            return derive(quantity.as_text, value)
        if reference in _SCALARS:
            return self.scalar(value, reference, path, "int32" if reference == INT_OR_STRING else "")
        definition = _definitions(self._version)[reference] if reference else schema
        if "properties" in definition:
            return self._apply(value, reference, path)
        kinds = definition["type"]
        kind = kinds if isinstance(kinds, str) else kinds[0]
        if kind == "array":
            return self._array(value, definition["items"], path)
        if kind == "object":
            return self._map(value, definition.get("additionalProperties"), path)
        return self.scalar(value, kind, path, definition.get("format", ""))

    def _array(self, value: Any, items: Mapping[str, Any], path: str) -> Any:
        if isinstance(value, Leaf):
            return value
        if not isinstance(value, (list, tuple)):
            return self._reject(path, "must be a list", A_LIST_HINT)
        entries = [self._entry(item, items, paths.join(path, i)) for i, item in enumerate(value) if item is not None]
        # A rejected object keeps its index, so that problems of later entries have the right path.
        entries = [{} if item is _REJECTED and "$ref" in items else item for item in entries]
        return [item for item in entries if item is not _REJECTED]

    def _entry(self, item: Any, items: Mapping[str, Any], path: str) -> Any:
        if isinstance(item, Leaf) and items.get("$ref", "").rpartition(".")[2] in _STRUCTURED:
            self.problems.append(output_not_allowed(path, "plugins edit each entry of the list"))
            return _REJECTED
        return self._value(item, items, path)

    def _map(self, value: Any, values: Any, path: str) -> Any:
        if isinstance(value, Leaf):
            return value
        if not isinstance(value, Mapping):
            return self._reject(path, "must be a mapping", "write it as key: value lines")
        for key in value:
            if not isinstance(key, str):
                return self._reject(path, "keys must be strings", "put each key in quotes")
            if not is_valid_unicode(key):
                return self._reject(path, SURROGATE, "", "Invalid")
        if not isinstance(values, Mapping):
            return dict(value)
        entries = {k: self._value(item, values, paths.join(path, k)) for k, item in value.items() if item is not None}
        return {key: item for key, item in entries.items() if item is not _REJECTED}

    def scalar(self, value: Any, kind: str, path: str, number_format: str = "") -> Any:
        """Return a plain value of a JSON type, or of a definition without fields, after a check of its type."""
        types, reason = _SCALARS[kind]
        if isinstance(value, Leaf):
            return value
        if int in types:
            value = whole_number(value)
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            return self._reject(path, reason, _HINTS.get(kind, ""))
        if isinstance(value, str) and not is_valid_unicode(value):
            return self._reject(path, SURROGATE, "", "Invalid")
        bits = 32 if number_format == "int32" else 64
        if isinstance(value, int) and not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            return self._reject(path, f"must be a {bits}-bit integer", "use a smaller number", "Invalid")
        return _plain(value)

    def _reject(self, path: str, reason: str, hint: str, error_type: ErrorType = "TypeInvalid") -> Any:
        self._report(path, error_type, reason, hint, RejectionStage.DECODE)
        return _REJECTED

    def _unknown(self, key: str, names: Iterable[str], path: str) -> None:
        place = paths.join(path, key_text(key))
        if self.kubernetes:
            reason = f"unknown field in Kubernetes {self.kubernetes}, which drops it"
            self._report(place, "Forbidden", reason, "remove it, or use a newer version of Kubernetes")
        else:
            moved = self._tree.hint(key_text(key), path) if self._tree else ""
            hint = moved or suggestion(key_text(key), names)
            self._report(place, "Forbidden", "unknown field; Volcano drops it", hint)

    def _report(
        self, path: str, error_type: ErrorType, reason: str, hint: str, stage: RejectionStage = RejectionStage.STRICT
    ) -> None:
        self.problems.append(Problem(path, error_type, reason, hint, stage=stage))


def _plain(value: Any) -> Any:
    """Return the plain value of an instance of a subclass, such as an Enum, as YAML and JSON write it."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool):
        return value
    return int(value) if isinstance(value, int) else float(value)


def output_not_allowed(path: str, why: str, other_fix: str = "") -> Problem:
    """Return the problem of an Output in a field that must be known when the program runs."""
    hint = "use pulumi.Config, or StackReference.get_output_details, which return plain values"
    return not_plain(path, f"{hint}; {other_fix}" if other_fix else hint, why)
