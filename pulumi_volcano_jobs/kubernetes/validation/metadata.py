"""Labels and annotations of a Pod template, and security profiles declared by an annotation and a field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.kubernetes.validation import containers
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, invalid, webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.mounts import is_inside
from pulumi_volcano_jobs.kubernetes.validation.names import object_meta
from pulumi_volcano_jobs.kubernetes.validation.windows import os_name

_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_MIRROR = "kubernetes.io/config.mirror"
_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
_SECCOMP, _SECCOMP_OF_CONTAINER = (
    "seccomp.security.alpha.kubernetes.io/pod",
    "container.seccomp.security.alpha.kubernetes.io/",
)
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_LOCAL = "localhost/"
_MAX_DIGITS = 10  # of a 32-bit integer
# Equivalent values of the annotation, by the type in the field.
_NAMES = {"Unconfined": ("unconfined",), "RuntimeDefault": ("runtime/default", "docker/default")}


def check(metadata: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    """Yield labels and annotations that Kubernetes rejects, and fields that contradict an annotation."""
    yield from object_meta(metadata.fields, metadata.path, RejectionStage.WEBHOOK)
    annotations = metadata.child("annotations")
    if not annotations:
        return
    yield from _values(annotations, spec)
    yield from _seccomp(annotations, spec)
    if os_name(spec) != "windows":
        yield from _app_armor(annotations, spec)


def _values(annotations: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    names = {container.text("name") for container in containers.all_containers(spec)}
    for key in annotations.fields:
        place, value = annotations.at(key), annotations.text(key)
        if annotations.is_unknown(key):
            continue
        if key == _DELETION_COST and not _is_int32(value):
            yield invalid(place, value, "must be a 32bit integer", 'use a value such as "-100"')
        elif key == _MIRROR and not spec.is_given("nodeName"):
            yield invalid(place, value, "must set spec.nodeName if mirror pod annotation is set", "remove it")
        elif key == _TOLERATIONS and value and not _is_list(value):
            yield invalid(place, value, "must be a JSON list of tolerations", "move them to spec.tolerations")
        elif (key == _SECCOMP or key.startswith(_SECCOMP_OF_CONTAINER)) and not _is_seccomp(value):
            yield invalid(place, value, "must be a valid seccomp profile", "use securityContext.seccompProfile")
        elif key.startswith(_APP_ARMOR):
            if key.removeprefix(_APP_ARMOR) not in names:
                yield invalid(place, value, "container not found", "use securityContext.appArmorProfile")
            if value not in ("", "runtime/default", "unconfined") and not value.startswith(_LOCAL):
                yield invalid(place, value, "invalid AppArmor profile name", "use securityContext.appArmorProfile")


def _is_int32(text: str) -> bool:
    digits = text.lstrip("-0")
    is_integer = re.fullmatch(r"0|-[0-9]+|[1-9][0-9]*", text, re.ASCII) and len(digits) <= _MAX_DIGITS
    return bool(is_integer) and int(digits or 0) < 2**31 + text.startswith("-")


def _is_list(text: str) -> bool:
    try:
        tolerations: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(tolerations, list) and all(isinstance(item, Mapping) for item in tolerations)


def _is_seccomp(text: str) -> bool:
    names = {name for several in _NAMES.values() for name in several}
    return text in names or (text.startswith(_LOCAL) and is_inside(text.removeprefix(_LOCAL)))


def _seccomp(annotations: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    of_pod = _profile(spec, "seccompProfile")
    if of_pod:
        yield from _contradiction(annotations, _SECCOMP, of_pod, "seccomp")
    for container in containers.all_containers(spec):
        profile = _profile(container, "seccompProfile")
        if profile:
            key = f"{_SECCOMP_OF_CONTAINER}{container.text('name')}"
            yield from _contradiction(annotations, key, profile, "seccomp")


def _app_armor(annotations: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    # The API server copies an annotation to a container without the field, so the Pod's field has no effect.
    for container in containers.all_containers(spec):
        profile = _profile(container, "appArmorProfile")
        if profile:
            yield from _contradiction(annotations, f"{_APP_ARMOR}{container.text('name')}", profile, "apparmor")


def check_template(metadata: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    """Yield AppArmor annotations that contradict the Pod's field. The API server copies annotations only in Pods."""
    annotations, profile = metadata.child("annotations"), _profile(spec, "appArmorProfile")
    if not annotations or not profile or os_name(spec) == "windows":
        return
    for container in containers.all_containers(spec):
        if not _profile(container, "appArmorProfile"):
            key = f"{_APP_ARMOR}{container.text('name')}"
            yield from _contradiction(annotations, key, profile, "apparmor")


def _profile(holder: ObjectField, kind: str) -> ObjectField | None:
    context = holder.child("securityContext")
    return context.child(kind) if context else None


def _contradiction(annotations: ObjectField, key: str, profile: ObjectField, kind: str) -> Iterator[Problem]:
    value, local = annotations.text(key), profile.text("localhostProfile")
    if not annotations.has(key) or annotations.is_unknown(key) or profile.is_unknown("type"):
        return
    allowed = _NAMES.get(profile.text("type"), ())
    # AppArmor does not have the profile docker/default.
    allowed = allowed[:1] if kind == "apparmor" else allowed
    is_local = profile.text("type") == "Localhost"
    hint = f"remove the annotation {key}"
    if (allowed and value not in allowed) or (is_local and not value.startswith(_LOCAL)):
        yield webhook_problem(
            profile.at("type"), "Forbidden", f"{kind} type in annotation and field must match", hint=hint
        )
    elif is_local and not profile.is_unknown("localhostProfile") and value != f"{_LOCAL}{local}":
        reason = f"{kind} profile in annotation and field must match"
        yield webhook_problem(profile.at("localhostProfile"), "Forbidden", reason, hint=hint)
