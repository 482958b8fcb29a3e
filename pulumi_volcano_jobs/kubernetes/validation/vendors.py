"""Volume sources of storage systems and clouds: required fields of the schema, and other rules of Kubernetes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, invalid, unsupported, webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.names import dns_label

_VOLUME = "io.k8s.api.core.v1.Volume"
_MAX_BYTE = 255
_MAX_TENANT = 64
_INITIATORS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+\Z", re.ASCII),
    "eui": re.compile(r"^eui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"^naa.[A-Za-z0-9]{32}\Z"),
}
_RESERVED = (".kubernetes.io", ".k8s.io")
_REGISTRY = "must be a host:port pair or multiple pairs separated by commas"
_HOST_PORT = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*")
_CACHING, _DISKS = ("None", "ReadOnly", "ReadWrite"), ("Dedicated", "Managed", "Shared")
_SUBSCRIPTIONS, _BLOB = "/subscriptions/", "https://"


def check(source: ObjectField, kind: str) -> Iterator[Problem]:
    """Yield the fields that Kubernetes rejects in a volume source of this kind."""
    definition, _ = schema.child_definition(_VOLUME, kind)
    for key in schema.required(definition):
        value = source.fields.get(key)
        if isinstance(value, (str, list, tuple)) and not value:
            yield source.problem(key, "Required", "", f"set {key}", show=False)
    rule = _RULES.get(kind)
    yield from rule(source) if rule else ()


def _between(source: ObjectField, key: str, minimum: int) -> Iterator[Problem]:
    number = source.number(key)
    if number is not None and not 0 <= number <= _MAX_BYTE:
        rule = f"must be between {minimum} and {_MAX_BYTE}, inclusive"
        yield source.problem(key, "Invalid", rule, f"set a number up to {_MAX_BYTE}")


def _partition(source: ObjectField) -> Iterator[Problem]:
    yield from _between(source, "partition", 1)


def _iscsi(source: ObjectField) -> Iterator[Problem]:
    for key in ("iqn", "initiatorName"):
        name = source.text(key)
        pattern = _INITIATORS.get(name[:3])
        is_optional_and_empty = key == "iqn" and not name
        if not source.has(key) or source.is_unknown(key) or is_optional_and_empty:
            continue
        if pattern is None:
            rule = "must be valid format starting with iqn, eui, or naa"
            yield invalid(source.at(key), name, rule, "use a name such as iqn.2001-04.com.example:storage.disk1")
        elif not pattern.search(name):
            hint = "use a name such as iqn.2001-04.com.example:storage.disk1"
            yield invalid(source.at(key), name, "must be valid format", hint)
    yield from _between(source, "lun", 0)
    has_login = source.is_true("chapAuthDiscovery") or source.is_true("chapAuthSession")
    if has_login and not source.has("secretRef"):
        yield source.problem("secretRef", "Required", "", "set the name of the Secret for CHAP")


def _fibre(source: ObjectField) -> Iterator[Problem]:
    names, ids = source.is_given("targetWWNs"), source.is_given("wwids")
    if not names and not ids:
        reason = "must specify either targetWWNs or wwids, but not both"
        yield source.problem("targetWWNs", "Required", reason, "set one of them", show=False)
    elif names and ids:
        rule = "targetWWNs and wwids can not be specified simultaneously"
        yield source.problem("targetWWNs", "Invalid", rule, "remove one of them", show=False)
    if names and not source.has("lun"):
        yield source.problem("lun", "Required", "lun is required if targetWWNs is specified", "set lun")
    elif names:
        yield from _between(source, "lun", 0)


def _flocker(source: ObjectField) -> Iterator[Problem]:
    name, uuid = source.is_given("datasetName"), source.is_given("datasetUUID")
    if not name and not uuid:
        yield webhook_problem(
            source.path,
            "Required",
            "one of datasetName and datasetUUID is required",
            hint="set one of them",
        )
    elif name and uuid:
        rule = "datasetName and datasetUUID can not be specified simultaneously"
        yield webhook_problem(source.path, "Invalid", rule, hint="remove one of them")
    dataset = source.text("datasetName")
    if "/" in dataset:
        yield invalid(source.at("datasetName"), dataset, "must not contain '/'", "remove it")


def _secret(source: ObjectField) -> Iterator[Problem]:
    secret = source.child("secretRef")
    yield from secret.check_required("name", "set the name of the Secret") if secret else ()


def _scale_io(source: ObjectField) -> Iterator[Problem]:
    yield from source.check_required("volumeName", "set the name of the volume")


def _storageos(source: ObjectField) -> Iterator[Problem]:
    yield from source.check_required("volumeName", "set the name of the volume")
    for key in ("volumeName", "volumeNamespace"):
        yield from dns_label(source.text(key) or None, source.at(key))
    yield from _secret(source)


def _flex(source: ObjectField) -> Iterator[Problem]:
    options = source.child("options")
    for key in options.fields if options else ():
        if f".{key.partition('/')[0].lower()}".endswith(_RESERVED) and options:
            yield invalid(options.at(key), key, "kubernetes.io and k8s.io namespaces are reserved", "remove it")


def _azure_disk(source: ObjectField) -> Iterator[Problem]:
    for key, values in (("cachingMode", _CACHING), ("kind", _DISKS)):
        if source.has(key) and not source.is_unknown(key) and source.text(key) not in values:
            yield unsupported(source.at(key), source.text(key), values, "")
    uri = source.text("diskURI")
    start = _SUBSCRIPTIONS if source.text("kind") == "Managed" else _BLOB
    if uri and not source.is_unknown("kind") and not uri.startswith(start):
        reason = f'supported values begin with "{start}"'
        yield source.problem("diskURI", "NotSupported", reason, "set kind: Managed for a managed disk")


def _quobyte(source: ObjectField) -> Iterator[Problem]:
    registry = source.text("registry")
    if len(source.text("tenant")) > _MAX_TENANT:
        reason = f"must be a UUID and may not exceed a length of {_MAX_TENANT} characters"
        yield source.problem("tenant", "Invalid", reason, "shorten it", show=False)
    elif registry and not all(map(_HOST_PORT.fullmatch, registry.split(","))):
        yield invalid(source.at("registry"), registry, _REGISTRY, "use an address such as registry.example.org:7861")


def _git(source: ObjectField) -> Iterator[Problem]:
    path, directory = source.at("directory"), source.text("directory")
    if directory.startswith("/"):
        yield invalid(path, directory, "must be a relative path", "remove the leading /")
    elif ".." in directory.split("/"):
        yield invalid(path, directory, "must not contain '..'", "remove '..'")


_RULES: dict[str, Callable[[ObjectField], Iterator[Problem]]] = {
    "awsElasticBlockStore": _partition,
    "azureDisk": _azure_disk,
    "cinder": _secret,
    "fc": _fibre,
    "flexVolume": _flex,
    "flocker": _flocker,
    "gcePersistentDisk": _partition,
    "gitRepo": _git,
    "iscsi": _iscsi,
    "quobyte": _quobyte,
    "scaleIO": _scale_io,
    "storageos": _storageos,
}
