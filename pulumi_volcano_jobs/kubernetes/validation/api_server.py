"""Rules that the API server applies to the Pods of a template, and Volcano's webhook does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.kubernetes.validation import claims, containers, resources, volumes
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, Wire, duplicates


def check(template: Wire, path: str) -> Iterator[Problem]:
    """Yield what the API server rejects, ignores or replaces in the Pods of a template that the webhook accepts."""
    spec = ObjectField(template.get("spec") or {}, f"{path}.spec")
    for problem in _problems(spec):
        yield replace(problem, stage=RejectionStage.API)
    for claim in volumes.claim_specs(spec):
        yield from claims.ignored_data_source(claim)
    # The API server replaces a negative value with 1.
    hint = "0 kills at once; left out, it is 30"
    for problem in spec.check_minimum("terminationGracePeriodSeconds", 0, hint):
        yield replace(problem, stage=RejectionStage.STRICT)


def _problems(spec: ObjectField) -> Iterator[Problem]:
    for container in containers.all_containers(spec):
        image = container.text("image")
        if image != image.strip():
            yield container.problem("image", "Invalid", "an image's name has no blanks around it", "remove them")
    for volume in spec.children("volumes"):
        image_volume = volume.child("image")
        if image_volume:
            yield from image_volume.check_required("reference", "name the image")
    if spec.text("nodeName") and spec.is_given("schedulingGates"):
        yield spec.problem(
            "nodeName", "Forbidden", "a Pod that waits for schedulingGates has no node yet", "remove one of them"
        )
    yield from _values_of_classes(spec)
    yield from _host_network_ports(spec)
    yield from resources.check_totals(spec, is_created=True)


def _values_of_classes(spec: ObjectField) -> Iterator[Problem]:
    """Yield values that the API server's default admission takes from a class, and rejects without one."""
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
        yield spec.problem("overhead", "Forbidden", reason, "set runtimeClassName, or remove it", show=False)


def _host_network_ports(spec: ObjectField) -> Iterator[Problem]:
    """Yield ports that two containers want on the network of the node, where a container's port is the node's."""
    if not spec.is_true("hostNetwork"):
        return
    declared = [port for container in spec.children("containers") for port in container.children("ports")]
    ports = [port for port in declared if not port.is_given("hostPort") and not port.is_unknown("protocol")]
    named = (
        (port.at("containerPort"), f"{port.text('protocol') or 'TCP'} {port.number('containerPort')}") for port in ports
    )
    yield from duplicates(named, "with hostNetwork two containers cannot have one port", "give each its own")
