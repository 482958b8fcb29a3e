"""Rules that the API server applies to the Pods of a template, but Volcano's webhook does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.kubernetes import images
from pulumi_volcano_jobs.kubernetes.validation import claims, containers, resources, volumes
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, Wire, duplicates


def check(template: Wire, path: str) -> Iterator[Problem]:
    """Yield fields that the webhook accepts, but the API server rejects, ignores or replaces in the Pods."""
    spec = ObjectField(template.get("spec") or {}, f"{path}.spec")
    for problem in _problems(spec):
        yield replace(problem, stage=RejectionStage.API)
    for claim in volumes.claim_specs(spec):
        yield from claims.ignored_data_source(claim)
    yield from check_images(template, path)
    # The API server replaces a negative value with 1.
    hint = "use 0 to stop at once, or remove it for the default, 30"
    for problem in spec.check_minimum("terminationGracePeriodSeconds", 0, hint):
        yield replace(problem, stage=RejectionStage.STRICT)


def check_images(template: Wire, path: str) -> Iterator[Problem]:
    """Yield a Problem for each image that the API server accepts, but no kubelet can pull."""
    spec = template.get("spec")
    for place, image in _images(ObjectField(spec, f"{path}.spec")) if isinstance(spec, Mapping) else ():
        yield from images.check_reference(image, place)


def _problems(spec: ObjectField) -> Iterator[Problem]:
    for container in containers.all_containers(spec):
        image = container.text("image")
        if image != image.strip():
            yield container.problem(
                "image", "Invalid", "must not have leading or trailing whitespace", "remove the whitespace"
            )
    for volume in spec.children("volumes"):
        image_volume = volume.child("image")
        if image_volume:
            yield from image_volume.check_required("reference", "set the name of the image")
    if spec.text("nodeName") and spec.is_given("schedulingGates"):
        yield spec.problem(
            "nodeName",
            "Forbidden",
            "cannot be set until all schedulingGates have been cleared",
            "remove nodeName or schedulingGates",
        )
    yield from _values_of_classes(spec)
    yield from _host_network_ports(spec)
    yield from resources.check_totals(spec, is_created=True)


def _images(spec: ObjectField) -> Iterator[tuple[str, str]]:
    """Yield the path of each image of a Pod, and the image."""
    for container in containers.all_containers(spec):
        yield container.at("image"), container.text("image")
    for volume in spec.children("volumes"):
        source = volume.child("image")
        if source:
            yield source.at("reference"), source.text("reference")


def _values_of_classes(spec: ObjectField) -> Iterator[Problem]:
    """Yield values that the default admission plugins of the API server set from a class, and reject without it."""
    if not spec.is_given("priorityClassName"):
        if spec.number("priority"):
            reason = "the integer value of priority must not be provided in pod spec"
            yield spec.problem("priority", "Forbidden", reason, "set priorityClassName", show=False)
        if spec.text("preemptionPolicy") == "Never":
            reason = "the string value of PreemptionPolicy must not be provided in pod spec"
            yield spec.problem(
                "preemptionPolicy", "Forbidden", reason, "set priorityClassName to a class with this policy", show=False
            )
    if spec.child("overhead") and not spec.is_given("runtimeClassName") and not any(resources.check_overhead(spec)):
        reason = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        yield spec.problem("overhead", "Forbidden", reason, "set runtimeClassName, or remove overhead", show=False)


def _host_network_ports(spec: ObjectField) -> Iterator[Problem]:
    """Yield ports that two containers declare with hostNetwork, where each container port is a port of the node."""
    if not spec.is_true("hostNetwork"):
        return
    declared = [port for container in spec.children("containers") for port in container.children("ports")]
    ports = [port for port in declared if not port.is_given("hostPort") and not port.is_unknown("protocol")]
    named = (
        (port.at("containerPort"), f"{port.text('protocol') or 'TCP'} {port.number('containerPort')}") for port in ports
    )
    yield from duplicates(named, "must be unique when `hostNetwork` is true", "use another port")
