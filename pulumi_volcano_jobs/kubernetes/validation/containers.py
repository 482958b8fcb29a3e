"""Containers: names, images, when they start again; their other fields have modules of their own."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.validation import env, mounts, ports, probes, resources, security, volumes
from pulumi_volcano_jobs.kubernetes.validation.field import Choices, Place, one_of, unique
from pulumi_volcano_jobs.kubernetes.validation.names import dns_label, subdomain

_MAX_RULES, _MAX_CODES = 20, 255
_CHOICES = (
    Choices("imagePullPolicy", ("Always", "IfNotPresent", "Never")),
    Choices("terminationMessagePolicy", ("File", "FallbackToLogsOnError")),
    Choices("restartPolicy", ("Always", "OnFailure", "Never"), required=True),
)
_ACTION = Choices("action", ("Restart", "RestartAllContainers"), required=True)
_OPERATOR = Choices("operator", ("In", "NotIn"), required=True)
_RESIZE = (
    Choices("resourceName", ("cpu", "memory"), required=True),
    Choices("restartPolicy", ("NotRequired", "RestartContainer"), required=True),
)


def of(spec: Place) -> list[Place]:
    """Give all containers of a Pod, those that run first before the others."""
    return [*spec.children("initContainers"), *spec.children("containers")]


def check(spec: Place) -> Iterator[Problem]:
    """Yield what is wrong with the containers of a Pod."""
    yield from spec.required("containers", reason="a Pod needs at least one container")
    if spec.given("ephemeralContainers"):
        reason, hint = "a template has no ephemeral containers", "kubectl debug adds one to a Pod that runs"
        yield spec.fault("ephemeralContainers", "Forbidden", reason, hint, show=False)
    yield from _claims(spec)
    yield from unique(of(spec), "name", "two containers have this name")
    yield from ports.of_node(spec)
    own, claims = spec.children("volumes"), spec.names("resourceClaims")
    known, claimable, empty = volumes.names(own), volumes.of_claims(own), volumes.names(own, "emptyDir")
    for container in of(spec):
        yield from _container(container, spec)
        yield from mounts.check(container, known, claimable)
        yield from env.files(container, known, empty)
        yield from resources.check(container, claims)
        yield from security.of_container(container, spec)
    for container in spec.children("initContainers"):
        yield from probes.check(container, spec) if _stays(container) else _what_ends(container)
    for container in spec.children("containers"):
        yield from probes.check(container, spec)


def _container(container: Place, spec: Place) -> Iterator[Problem]:
    yield from dns_label(container.fields.get("name"), container.at("name"))
    yield from container.required("image", reason="a container needs an image")
    for choices in _CHOICES:
        yield from choices.check(container)
    yield from ports.check(container)
    yield from _rules(container)
    yield from _resizing(container, spec)
    yield from env.check(container)


def _stays(container: Place) -> bool:
    """Tell whether an init container may be a sidecar, which starts again whenever it ends."""
    return container.unknown("restartPolicy") or container.text("restartPolicy") == "Always"


def _what_ends(container: Place) -> Iterator[Problem]:
    """Yield what an init container cannot have because the others wait for its end."""
    for key in probes.FIELDS:
        if container.has(key):
            reason = "only an init container with restartPolicy: Always has this; the others end before the Pod's begin"
            yield container.fault(key, "Forbidden", reason, "remove it, or set restartPolicy: Always", show=False)
    for policy in container.children("resizePolicy"):
        if policy.text("restartPolicy") == "RestartContainer":
            reason = "an init container is only restarted to be resized if its restartPolicy is Always"
            yield policy.fault("restartPolicy", "Invalid", reason, "set NotRequired")


def _rules(container: Place) -> Iterator[Problem]:
    rules = container.children("restartPolicyRules")
    if rules and not container.has("restartPolicy"):
        reason = "with restartPolicyRules a container needs a restartPolicy too, for what no rule is about"
        yield container.fault("restartPolicy", "Required", reason, "add restartPolicy: Never")
    yield from container.at_most("restartPolicyRules", _MAX_RULES, "rules")
    for rule in rules:
        yield from _ACTION.check(rule)
        hint = "add exitCodes: {operator: In, values: [42]}"
        yield from rule.required("exitCodes", hint, "a rule says for which exit codes it is")
        codes = rule.child("exitCodes")
        if codes:
            yield from _OPERATOR.check(codes)
            yield from codes.at_most("values", _MAX_CODES, "codes")


def _resizing(container: Place, spec: Place) -> Iterator[Problem]:
    policies = container.children("resizePolicy")
    yield from unique(policies, "resourceName")
    for policy in policies:
        for choices in _RESIZE:
            yield from choices.check(policy)
        if spec.text("restartPolicy") == "Never" and policy.text("restartPolicy") == "RestartContainer":
            reason = "the Pod's restartPolicy is Never, so no container is restarted to be resized"
            yield policy.fault("restartPolicy", "Invalid", reason, "set NotRequired")


def _claims(spec: Place) -> Iterator[Problem]:
    """Yield what is wrong with the devices that the Pod claims."""
    claims, sources = spec.children("resourceClaims"), ("resourceClaimName", "resourceClaimTemplateName")
    yield from unique(claims, "name")
    for claim in claims:
        yield from dns_label(claim.fields.get("name"), claim.at("name"))
        missing = "a claim is there already, or made by a template"
        yield from one_of(claim, sources, "a claim has one source", missing, "Invalid")
        for key in sources:
            yield from subdomain(claim.fields.get(key), claim.at(key))
