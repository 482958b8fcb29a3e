"""Names, images and restart policies of containers. Separate modules check the other fields."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.container_lists import CONTAINER_LISTS
from pulumi_volcano_jobs.kubernetes.validation import env_vars, mounts, ports, probes, resources, security, volumes
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, SupportedValues, check_one_of, check_unique
from pulumi_volcano_jobs.kubernetes.validation.names import dns_label, subdomain

_MAX_RULES, _MAX_CODES = 20, 255
_SUPPORTED = (
    SupportedValues("imagePullPolicy", ("Always", "IfNotPresent", "Never")),
    SupportedValues("terminationMessagePolicy", ("File", "FallbackToLogsOnError")),
    SupportedValues("restartPolicy", ("Always", "OnFailure", "Never"), required=True),
)
_ACTION = SupportedValues("action", ("Restart", "RestartAllContainers"), required=True)
_OPERATOR = SupportedValues("operator", ("In", "NotIn"), required=True)
_RESIZE = (
    SupportedValues("resourceName", ("cpu", "memory"), required=True),
    SupportedValues("restartPolicy", ("NotRequired", "RestartContainer"), required=True),
)


def all_containers(spec: ObjectField) -> list[ObjectField]:
    """Return all containers of a Pod, init containers first."""
    return [container for kind in CONTAINER_LISTS for container in spec.children(kind)]


def check(spec: ObjectField) -> Iterator[Problem]:
    """Yield invalid fields of the containers of a Pod."""
    yield from spec.check_required("containers", "add at least one container")
    if spec.is_given("ephemeralContainers"):
        reason, hint = "ephemeral containers not allowed in pod template", "use kubectl debug on a running Pod"
        yield spec.problem("ephemeralContainers", "Forbidden", reason, hint, show=False)
    yield from _claims(spec)
    yield from check_unique(all_containers(spec), "name")
    yield from ports.check_host_ports(spec)
    pod_volumes, claims = spec.children("volumes"), spec.names("resourceClaims")
    known, claimable, empty = (
        volumes.volume_names(pod_volumes),
        volumes.claim_volume_names(pod_volumes),
        volumes.volume_names(pod_volumes, "emptyDir"),
    )
    for container in all_containers(spec):
        yield from _container(container, spec)
        yield from mounts.check(container, known, claimable)
        yield from env_vars.check_file_refs(container, known, empty)
        yield from resources.check(container, claims)
        yield from security.check_container(container, spec)
    for container in spec.children("initContainers"):
        yield from probes.check(container, spec) if _may_be_sidecar(container) else _init_container_fields(container)
    for container in spec.children("containers"):
        yield from probes.check(container, spec)


def _container(container: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    yield from dns_label(container.fields.get("name"), container.at("name"))
    yield from container.check_required("image", "set the image of the container")
    for supported in _SUPPORTED:
        yield from supported.check(container)
    yield from ports.check(container)
    yield from _rules(container)
    yield from _resizing(container, spec)
    yield from env_vars.check(container)


def _may_be_sidecar(container: ObjectField) -> bool:
    """Return whether an init container may be a sidecar (restartPolicy Always)."""
    return container.is_unknown("restartPolicy") or container.text("restartPolicy") == "Always"


def _init_container_fields(container: ObjectField) -> Iterator[Problem]:
    """Yield fields that an init container cannot have because later containers wait for it to complete."""
    for key in probes.FIELDS:
        if container.has(key):
            reason = "may not be set for init containers without restartPolicy=Always"
            yield container.problem(key, "Forbidden", reason, "remove it, or set restartPolicy: Always", show=False)
    for policy in container.children("resizePolicy"):
        if policy.text("restartPolicy") == "RestartContainer":
            reason = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            yield policy.problem("restartPolicy", "Invalid", reason, "set NotRequired")


def _rules(container: ObjectField) -> Iterator[Problem]:
    rules = container.children("restartPolicyRules")
    if rules and not container.has("restartPolicy"):
        reason = "must specify restartPolicy when restart rules are used"
        yield container.problem("restartPolicy", "Required", reason, "add restartPolicy: Never")
    yield from container.check_max_items("restartPolicyRules", _MAX_RULES, "rules")
    for rule in rules:
        yield from _ACTION.check(rule)
        hint = "add exitCodes: {operator: In, values: [42]}"
        yield from rule.check_required("exitCodes", hint, "must be specified")
        codes = rule.child("exitCodes")
        if codes:
            yield from _OPERATOR.check(codes)
            yield from codes.check_max_items("values", _MAX_CODES, "codes")


def _resizing(container: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    policies = container.children("resizePolicy")
    yield from check_unique(policies, "resourceName")
    for policy in policies:
        for choices in _RESIZE:
            yield from choices.check(policy)
        if spec.text("restartPolicy") == "Never" and policy.text("restartPolicy") == "RestartContainer":
            reason = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            yield policy.problem("restartPolicy", "Invalid", reason, "set NotRequired")


def _claims(spec: ObjectField) -> Iterator[Problem]:
    """Yield invalid resource claims of the Pod."""
    claims, sources = spec.children("resourceClaims"), ("resourceClaimName", "resourceClaimTemplateName")
    yield from check_unique(claims, "name")
    for claim in claims:
        yield from dns_label(claim.fields.get("name"), claim.at("name"))
        missing = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        rule = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        yield from check_one_of(claim, sources, rule, missing, "Invalid")
        for key in sources:
            yield from subdomain(claim.fields.get(key), claim.at(key))
