"""Environment variables of a container: their names and sources. Messages never show a value, which may be a secret."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.suggestions import did_you_mean
from pulumi_volcano_jobs.kubernetes.validation.field import (
    ObjectField,
    SupportedValues,
    check_one_of,
    invalid,
    webhook_problem,
)
from pulumi_volcano_jobs.kubernetes.validation.names import data_key, dns_label, is_qualified, reference

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_NAME = re.compile(r"[ -<>-~]+")
_NAME_RULE = "a valid environment variable name must consist only of printable ASCII characters other than '='"
_POD_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
_FILE_FIELDS = ("metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid")
_OLD_NAMES = {"spec.host": "spec.nodeName"}
_AMOUNTS = ("cpu", "memory", "ephemeral-storage")
_RESOURCES = tuple(f"{kind}.{name}" for kind in ("limits", "requests") for name in _AMOUNTS)
_UNITS = ("1", *(f"1{unit}" for unit in ("k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")))
_ONE_KEY = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]", re.DOTALL)


def check(container: ObjectField) -> Iterator[Problem]:
    """Yield invalid variables of a container."""
    for variable in container.children("env"):
        yield from _variable(variable)
    for source in container.children("envFrom"):
        if source.text("prefix"):
            yield from _name(source, "prefix")
        yield from check_one_of(
            source,
            ("configMapRef", "secretRef"),
            "may not have more than one field specified at a time",
            "must specify one of: `configMapRef` or `secretRef`",
            "Invalid",
        )
        for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            named = source.child(key)
            if named:
                yield from reference(named, kind)


def check_file_refs(container: ObjectField, volumes: Collection[str], empty: Collection[str]) -> Iterator[Problem]:
    """Yield variables from files in a volume that the Pod does not have, or that is not of type emptyDir.

    `volumes` are the names of all volumes of the Pod, `empty` the names of its emptyDir volumes.
    """
    for variable in container.children("env"):
        source = variable.child("valueFrom")
        file = source.child("fileKeyRef") if source else None
        name = file.text("volumeName") if file else ""
        if not file or not name or name in empty:
            continue
        if name not in volumes:
            hint = "add an emptyDir volume of this name to spec.volumes"
            yield file.problem("volumeName", "NotFound", "", hint)
        else:
            rule = "referenced volume must be of type emptyDir"
            yield invalid(file.at("volumeName"), name, rule, "set the name of an emptyDir volume")


def _name(field: ObjectField, key: str) -> Iterator[Problem]:
    name = field.fields.get(key)
    if isinstance(name, str) and not _NAME.fullmatch(name):
        if name:
            # The text after the '=' may be a value, and a secret.
            shown = f"{name.partition('=')[0]}=…" if "=" in name else name
            yield ObjectField({key: shown}, field.path).problem(key, "Invalid", _NAME_RULE)
        else:
            yield field.problem(key, "Required", "", f"set a {key}")


def _variable(variable: ObjectField) -> Iterator[Problem]:
    yield from _name(variable, "name")
    if variable.has("valueFrom") and variable.text("value"):
        reason = "may not be specified when `value` is not empty"
        yield webhook_problem(variable.path, "Invalid", reason, variable.text("name").partition("=")[0])
    source = variable.child("valueFrom")
    if not source:
        return
    missing = f"must specify one of: {', '.join(f'`{kind}`' for kind in _SOURCES[:-1])} or `{_SOURCES[-1]}`"
    yield from check_one_of(
        source, _SOURCES, "may not have more than one field specified at a time", missing, "Invalid"
    )
    yield from _selected(source)
    of_pod, of_container = source.child("fieldRef"), source.child("resourceFieldRef")
    if of_pod:
        yield from check_field_ref(of_pod, _POD_FIELDS)
    if of_container:
        yield from check_resource_field_ref(of_container)


def _selected(source: ObjectField) -> Iterator[Problem]:
    for kind, object_kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        place = source.child(kind)
        if place:
            yield from reference(place, object_kind, "Invalid")
            yield from data_key(place, "key", object_kind)
    file = source.child("fileKeyRef")
    if file:
        yield from _name(file, "key")
        yield from dns_label(file.fields.get("volumeName"), file.at("volumeName"))
        yield from file.check_required("path", "set the path of the file in the volume")
        if ".." in file.text("path").split("/"):
            yield file.problem("path", "Invalid", "must not contain '..'")


def check_field_ref(field: ObjectField, known: tuple[str, ...] = _FILE_FIELDS) -> Iterator[Problem]:
    """Yield a Problem if a field of the Pod cannot be the source of a value."""
    yield from SupportedValues("apiVersion", ("v1",), "remove it", error_type="Invalid").check(field)
    path = field.text("fieldPath")
    label_path = _ONE_KEY.fullmatch(path)
    if label_path:
        key = label_path[2].lower() if label_path[1] == "annotations" else label_path[2]
        if not is_qualified(key):
            yield field.problem(
                "fieldPath",
                "Invalid",
                f"must contain a valid key of {label_path[1]}",
                "use a path such as metadata.labels['team']",
            )
    elif _OLD_NAMES.get(path, path) not in known and not field.is_unknown("fieldPath"):
        keys = "" if "metadata.labels" in known else ", metadata.labels['KEY'], metadata.annotations['KEY']"
        yield field.problem(
            "fieldPath",
            "NotSupported" if path in {*_POD_FIELDS, *_FILE_FIELDS} else "Invalid",
            f"supported values: {', '.join(known)}{keys}",
            did_you_mean(path, known),
        )


def check_resource_field_ref(field: ObjectField, *, in_file: bool = False) -> Iterator[Problem]:
    """Yield a Problem if a resource of a container cannot be the source of a value."""
    if in_file:
        yield from field.check_required("containerName", "set the name of a container of the Pod")
    name = field.text("resource")
    if field.is_unknown("resource"):
        return
    if name not in _RESOURCES and not name.startswith(("limits.hugepages-", "requests.hugepages-")):
        yield field.problem("resource", "NotSupported", f"supported values: {', '.join(_RESOURCES)}")
        return
    units = ("1", "1m") if name.endswith(".cpu") else _UNITS
    divisor = field.fields.get("divisor")
    if isinstance(divisor, (str, int, float)) and str(divisor) not in ("0", *units):
        yield field.problem("divisor", "Invalid", f"only divisor's values {', '.join(units)} are supported with {name}")
