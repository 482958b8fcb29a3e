"""Variables of a container: their names, and where values come from. A value is never shown: it may be secret."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.validation.field import (
    ObjectField,
    SupportedValues,
    check_one_of,
    did_you_mean,
    invalid,
    webhook_problem,
)
from pulumi_volcano_jobs.kubernetes.validation.names import data_key, dns_label, is_qualified, reference

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_NAME = re.compile(r"[ -<>-~]+")
_NAME_RULE = "a variable's name is not empty and has no '='"
_PRINTABLE = "a variable's name is printable ASCII"
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
    """Yield what is wrong with the variables of a container."""
    for variable in container.children("env"):
        yield from _variable(variable)
    for source in container.children("envFrom"):
        if source.text("prefix"):
            yield from _name(source, "prefix")
        yield from check_one_of(
            source,
            ("configMapRef", "secretRef"),
            "variables come from one of these",
            "there is nothing to take variables from",
            "Invalid",
        )
        for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            named = source.child(key)
            if named:
                yield from reference(named, "name", kind)


def check_file_refs(container: ObjectField, volumes: Collection[str], empty: Collection[str]) -> Iterator[Problem]:
    """Yield variables from files in volumes that the Pod does not have, or that are not emptyDir.

    `volumes` are the names of the Pod's volumes, `empty` those of type emptyDir.
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
            yield invalid(file.at("volumeName"), name, rule, "name an emptyDir volume")


def _name(field: ObjectField, key: str) -> Iterator[Problem]:
    name = field.fields.get(key)
    if isinstance(name, str) and not _NAME.fullmatch(name):
        reason = _NAME_RULE if not name or "=" in name else _PRINTABLE
        # The text after the '=' may be a value, and a secret.
        shown = f"{name.partition('=')[0]}=…" if "=" in name else name
        yield ObjectField({key: shown}, field.path).problem(key, "Invalid" if name else "Required", reason)


def _variable(variable: ObjectField) -> Iterator[Problem]:
    yield from _name(variable, "name")
    if variable.has("valueFrom") and variable.text("value"):
        reason = "a variable has either a value or a valueFrom"
        yield webhook_problem(variable.path, "Invalid", reason, variable.text("name").partition("=")[0])
    source = variable.child("valueFrom")
    if not source:
        return
    missing = "there is nothing to take the value from"
    yield from check_one_of(source, _SOURCES, "a value comes from one place", missing, "Invalid")
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
            yield from reference(place, "name", object_kind, "Invalid")
            yield from data_key(place, "key", object_kind)
    file = source.child("fileKeyRef")
    if file:
        yield from _name(file, "key")
        yield from dns_label(file.fields.get("volumeName"), file.at("volumeName"))
        yield from file.check_required("path", "name the file in the volume")
        if ".." in file.text("path").split("/"):
            yield file.problem("path", "Invalid", "a file is in its volume, so no part of this can be '..'")


def check_field_ref(field: ObjectField, known: tuple[str, ...] = _FILE_FIELDS) -> Iterator[Problem]:
    """Yield a Problem if the Pod has no field to take a value from."""
    yield from SupportedValues("apiVersion", ("v1",), "leave it out", error_type="Invalid").check(field)
    path = field.text("fieldPath")
    label_path = _ONE_KEY.fullmatch(path)
    if label_path:
        key = label_path[2].lower() if label_path[1] == "annotations" else label_path[2]
        if not is_qualified(key):
            yield field.problem(
                "fieldPath", "Invalid", f"no key of {label_path[1]} can be this", "for example metadata.labels['team']"
            )
    elif _OLD_NAMES.get(path, path) not in known and not field.is_unknown("fieldPath"):
        keys = "" if "metadata.labels" in known else ", metadata.labels['KEY'], metadata.annotations['KEY']"
        yield field.problem(
            "fieldPath",
            "NotSupported" if path in {*_POD_FIELDS, *_FILE_FIELDS} else "Invalid",
            f"must be one of {', '.join(known)}{keys}",
            did_you_mean(path, known),
        )


def check_resource_field_ref(field: ObjectField, *, in_file: bool = False) -> Iterator[Problem]:
    """Yield a Problem if a container has no such amount to take a value from."""
    if in_file:
        yield from field.check_required("containerName", "name one of the Pod's containers")
    name = field.text("resource")
    if field.is_unknown("resource"):
        return
    if name not in _RESOURCES and not name.startswith(("limits.hugepages-", "requests.hugepages-")):
        yield field.problem("resource", "NotSupported", f"must be one of {', '.join(_RESOURCES)}")
        return
    units = ("1", "1m") if name.endswith(".cpu") else _UNITS
    divisor = field.fields.get("divisor")
    if isinstance(divisor, (str, int, float)) and str(divisor) not in ("0", *units):
        yield field.problem("divisor", "Invalid", f"must be one of {', '.join(units)}")
