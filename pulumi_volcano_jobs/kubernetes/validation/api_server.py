"""Rules that the API server applies to the Pods of a template, and Volcano's webhook does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pulumi_volcano_jobs.core.errors import Problem, Stage
from pulumi_volcano_jobs.kubernetes.validation import claims, containers, resources, volumes
from pulumi_volcano_jobs.kubernetes.validation.field import Place, Wire, twice


def check(template: Wire, path: str) -> Iterator[Problem]:
    """Yield what the API server rejects, ignores or replaces in the Pods of a template that the webhook accepts."""
    spec = Place(template.get("spec") or {}, f"{path}.spec")
    for problem in _found(spec):
        yield replace(problem, stage=Stage.API)
    for claim in volumes.claim_specs(spec):
        yield from claims.ignored(claim)
    # The API server replaces a negative value with 1.
    hint = "0 kills at once; left out, it is 30"
    for problem in spec.at_least("terminationGracePeriodSeconds", 0, hint):
        yield replace(problem, stage=Stage.STRICT)


def _found(spec: Place) -> Iterator[Problem]:
    for container in containers.of(spec):
        image = container.text("image")
        if image != image.strip():
            yield container.fault("image", "Invalid", "an image's name has no blanks around it", "remove them")
    for volume in spec.children("volumes"):
        image_volume = volume.child("image")
        if image_volume:
            yield from image_volume.required("reference", "name the image")
    if spec.text("nodeName") and spec.given("schedulingGates"):
        yield spec.fault(
            "nodeName", "Forbidden", "a Pod that waits for schedulingGates has no node yet", "remove one of them"
        )
    yield from _of_a_class(spec)
    yield from _on_the_node(spec)
    yield from resources.of_all(spec, made=True)


def _of_a_class(spec: Place) -> Iterator[Problem]:
    """Yield values that the API server's default admission takes from a class, and rejects without one."""
    if not spec.given("priorityClassName"):
        if spec.number("priority"):
            reason = "Forbidden: the integer value of priority must not be provided in pod spec"
            yield spec.fault("priority", "Forbidden", reason, "set priorityClassName", show=False)
        if spec.text("preemptionPolicy") == "Never":
            reason = "Forbidden: the string value of PreemptionPolicy must not be provided in pod spec"
            yield spec.fault(
                "preemptionPolicy", "Forbidden", reason, "set priorityClassName to a class with this policy", show=False
            )
    if spec.child("overhead") and not spec.given("runtimeClassName") and not any(resources.overhead(spec)):
        reason = "Forbidden: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        yield spec.fault("overhead", "Forbidden", reason, "set runtimeClassName, or remove it", show=False)


def _on_the_node(spec: Place) -> Iterator[Problem]:
    """Yield ports that two containers want on the network of the node, where a container's port is the node's."""
    if not spec.is_true("hostNetwork"):
        return
    found = [port for container in spec.children("containers") for port in container.children("ports")]
    ports = [port for port in found if not port.given("hostPort") and not port.unknown("protocol")]
    named = (
        (port.at("containerPort"), f"{port.text('protocol') or 'TCP'} {port.number('containerPort')}") for port in ports
    )
    yield from twice(named, "with hostNetwork two containers cannot have one port", "give each its own")
