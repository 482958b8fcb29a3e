"""Validation of a PodTemplateSpec. Other modules validate its parts."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.integers import MAX_INT32
from pulumi_volcano_jobs.kubernetes.validation import (
    containers,
    metadata,
    network,
    resources,
    scheduling,
    security,
    volumes,
    windows,
)
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, SupportedValues, Wire
from pulumi_volcano_jobs.kubernetes.validation.names import subdomain

_SUPPORTED = (
    SupportedValues("restartPolicy", ("Always", "OnFailure", "Never")),
    SupportedValues("dnsPolicy", ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")),
    SupportedValues("preemptionPolicy", ("PreemptLowerPriority", "Never"), required=True),
)
_NAMES = ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName")


def check(template: Wire, path: str) -> Iterator[Problem]:
    """Yield fields of a PodTemplateSpec that Kubernetes rejects."""
    spec = ObjectField(template.get("spec") or {}, f"{path}.spec")
    yield from metadata.check(ObjectField(template.get("metadata") or {}, f"{path}.metadata"), spec)
    yield from _spec(spec)


def _spec(spec: ObjectField) -> Iterator[Problem]:
    for supported in _SUPPORTED:
        yield from supported.check(spec)
    for key in _NAMES:
        # An empty name is the same as no value, except for a runtime class.
        if spec.text(key) or (key == "runtimeClassName" and spec.is_empty_text(key)):
            yield from subdomain(spec.text(key), spec.at(key))
    if not spec.is_given("serviceAccountName"):
        # serviceAccount is the deprecated name of serviceAccountName.
        yield from subdomain(spec.text("serviceAccount") or None, spec.at("serviceAccount"))
    yield from _active_deadline(spec)
    yield from _operating_system(spec)
    yield from volumes.check(spec)
    yield from containers.check(spec)
    yield from resources.check_pod(spec)
    yield from network.check(spec)
    yield from scheduling.check(spec)
    yield from security.check_pod(spec)
    yield from windows.check(spec)


def _active_deadline(spec: ObjectField) -> Iterator[Problem]:
    reason = f"must be between 1 and {MAX_INT32}, inclusive"
    yield from spec.check_range("activeDeadlineSeconds", 1, MAX_INT32, reason, "remove it for no deadline")


def _operating_system(spec: ObjectField) -> Iterator[Problem]:
    system = spec.child("os")
    if system:
        yield from SupportedValues("name", ("linux", "windows"), required=True).check(system)
    for holder in [spec, *containers.all_containers(spec)] if windows.os_name(spec) == "linux" else ():
        context = holder.child("securityContext")
        if context and context.has("windowsOptions"):
            reason = "windows options cannot be set for a linux pod"
            yield context.problem(
                "windowsOptions", "Forbidden", reason, "remove them, or set os.name: windows", show=False
            )
