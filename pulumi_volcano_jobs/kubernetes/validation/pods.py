"""A PodTemplateSpec as a whole; its parts have modules of their own."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
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
from pulumi_volcano_jobs.kubernetes.validation.field import Choices, Place, Wire
from pulumi_volcano_jobs.kubernetes.validation.names import subdomain

_MAX_SECONDS = 2**31 - 1
_CHOICES = (
    Choices("restartPolicy", ("Always", "OnFailure", "Never")),
    Choices("dnsPolicy", ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")),
    Choices("preemptionPolicy", ("PreemptLowerPriority", "Never"), required=True),
)
_NAMES = ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName")


def check(template: Wire, path: str) -> Iterator[Problem]:
    """Yield what Kubernetes would refuse in a PodTemplateSpec."""
    spec = Place(template.get("spec") or {}, f"{path}.spec")
    yield from metadata.check(Place(template.get("metadata") or {}, f"{path}.metadata"), spec)
    yield from _spec(spec)


def _spec(spec: Place) -> Iterator[Problem]:
    for choices in _CHOICES:
        yield from choices.check(spec)
    for key in _NAMES:
        # An empty name is none, but for a runtime class.
        if spec.text(key) or (key == "runtimeClassName" and spec.is_empty_text(key)):
            yield from subdomain(spec.text(key), spec.at(key))
    if not spec.given("serviceAccountName"):
        # The older name of the field.
        yield from subdomain(spec.text("serviceAccount") or None, spec.at("serviceAccount"))
    yield from _deadline(spec)
    yield from _system(spec)
    yield from volumes.check(spec)
    yield from containers.check(spec)
    yield from resources.of_pod(spec)
    yield from network.check(spec)
    yield from scheduling.check(spec)
    yield from security.of_pod(spec)
    yield from windows.check(spec)


def _deadline(spec: Place) -> Iterator[Problem]:
    reason = f"this must be a number from 1 to {_MAX_SECONDS}"
    yield from spec.between("activeDeadlineSeconds", 1, _MAX_SECONDS, reason, "leave it out for no deadline")


def _system(spec: Place) -> Iterator[Problem]:
    system = spec.child("os")
    if system:
        yield from Choices("name", ("linux", "windows"), required=True).check(system)
    for holder in [spec, *containers.of(spec)] if windows.os_name(spec) == "linux" else ():
        context = holder.child("securityContext")
        if context and context.has("windowsOptions"):
            reason = "the Pod's os is linux, where no Windows options can be set"
            yield context.fault("windowsOptions", "Forbidden", reason, "remove them", show=False)
