"""Rules that Volcano's webhook applies to a Pod template, but the API server does not apply to the Pods.

Volcano's webhook calls Kubernetes' `ValidatePodTemplate` with `PodLevelResourcesEnabled` and no other option
(volcano-sh/volcano, pkg/webhooks/admission/jobs/validate/admit_job.go). The API server sets the options by its feature
gates, and drops fields of disabled gates before it validates. `docs/modes.md` lists all options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_PULUMI, Phrase
from pulumi_volcano_jobs.kubernetes.dns import MAX_SUBDOMAIN
from pulumi_volcano_jobs.kubernetes.validation import containers
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, Wire, invalid, unsupported, webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.metadata import check_template
from pulumi_volcano_jobs.kubernetes.validation.names import SUBDOMAIN_RULE, is_subdomain
from pulumi_volcano_jobs.kubernetes.validation.scheduling import COMPARISONS
from pulumi_volcano_jobs.kubernetes.validation.windows import os_name

_NAME = re.compile(r"(?!\.\.)(?!\.\Z)[-._a-zA-Z][-._a-zA-Z0-9]*")
_NAME_RULE = (
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not "
    "start with a digit"
)
# Kubernetes, pkg/apis/core/validation/validation.go: supportedStopSignalsLinux and supportedStopSignalsWindows.
_SIGNALS = {
    "linux": re.compile(
        r"SIG(ABRT|ALRM|BUS|CHLD|CLD|CONT|FPE|HUP|ILL|INT|IO|IOT|KILL|PIPE|POLL|PROF|PWR|QUIT|SEGV|STKFLT|STOP|SYS|TERM"
        r"|TRAP|TSTP|TTIN|TTOU|URG|USR1|USR2|VTALRM|WINCH|XCPU|XFSZ|RTMIN(\+([1-9]|1[0-5]))?|RTMAX(-([1-9]|1[0-4]))?)"
    ),
    "windows": re.compile(r"SIG(KILL|TERM)"),
}
_OR_COMPOSED = Phrase(", or use ", MANAGED_BY_PULUMI)


def check(template: Wire, path: str) -> Iterator[Problem]:
    """Yield fields that Volcano's webhook rejects, although Kubernetes 1.36 accepts them in Pods."""
    spec = ObjectField(template.get("spec") or {}, f"{path}.spec")
    for container in spec.children("containers"):
        if container.has("restartPolicy") and not container.is_unknown("restartPolicy"):
            reason = "may not be set for non-init containers"
            hint = Phrase("set the restartPolicy of the Pod", _OR_COMPOSED)
            yield container.problem("restartPolicy", "Forbidden", reason, hint, show=False)
    for container in spec.children("initContainers"):
        yield from _init(container)
    for container in containers.all_containers(spec):
        yield from _names(container)
        yield from _lifecycle(container, spec)
    for toleration in spec.children("tolerations"):
        operator = toleration.text("operator")
        if operator in COMPARISONS:
            hint = Phrase("tolerate individual values", _OR_COMPOSED)
            yield unsupported(toleration.at("operator"), operator, ("Equal", "Exists"), hint)
    yield from check_template(ObjectField(template.get("metadata") or {}, f"{path}.metadata"), spec)
    yield from _searches(spec)
    yield from _group(spec)


def _init(container: ObjectField) -> Iterator[Problem]:
    policy = container.text("restartPolicy")
    if policy and policy != "Always":
        yield unsupported(container.at("restartPolicy"), policy, ("Always",), Phrase("remove it", _OR_COMPOSED))
    if container.is_given("resizePolicy") and not container.is_unknown("resizePolicy"):
        reason = "must not be set for init containers"
        yield container.problem("resizePolicy", "Invalid", reason, Phrase("remove it", _OR_COMPOSED), show=False)


def _names(container: ObjectField) -> Iterator[Problem]:
    named = [(variable, "name") for variable in container.children("env")]
    named += [(source, "prefix") for source in container.children("envFrom")]
    for place, key in named:
        name = place.text(key)
        # Kubernetes' relaxed rule already rejects an equals sign.
        if name and "=" not in name and not _NAME.fullmatch(name):
            yield invalid(place.at(key), name, _NAME_RULE, Phrase("rename it", _OR_COMPOSED))


def _lifecycle(container: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    lifecycle = container.child("lifecycle")
    if not lifecycle:
        return
    yield from _signal(lifecycle, spec)
    for key in ("postStart", "preStop"):
        hook = lifecycle.child(key)
        sleep = hook.child("sleep") if hook else None
        if sleep and sleep.number("seconds") == 0:
            reason = "must be greater than 0 and less than terminationGracePeriodSeconds"
            yield webhook_problem(sleep.at("seconds"), "Invalid", reason, 0, Phrase("use at least 1", _OR_COMPOSED))


def _signal(lifecycle: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    system, signal = os_name(spec), lifecycle.text("stopSignal")
    known = _SIGNALS.get(system)
    if lifecycle.has("stopSignal") and not lifecycle.is_unknown("stopSignal") and not spec.has("os"):
        reason = "may not be set for containers with empty `spec.os.name`"
        yield lifecycle.problem(
            "stopSignal", "Forbidden", reason, "set spec.os.name of the Pod, or remove it", show=False
        )
    elif signal and known and not known.fullmatch(signal):
        hint = f"use a signal of {system}, such as SIGTERM"
        yield webhook_problem(lifecycle.at("stopSignal"), "NotSupported", "", signal, hint)


def _searches(spec: ObjectField) -> Iterator[Problem]:
    config = spec.child("dnsConfig")
    for path, search in config.items("searches") if config else ():
        name = search.removesuffix(".")
        # The relaxed rule also rejects a longer name.
        if not is_subdomain(name) and len(name) <= MAX_SUBDOMAIN:
            yield invalid(path, search, SUBDOMAIN_RULE, Phrase("remove it", _OR_COMPOSED))


def _group(spec: ObjectField) -> Iterator[Problem]:
    group = spec.child("schedulingGroup")
    if not group or group.is_unknown("podGroupName"):
        return
    path, name = group.at("podGroupName"), group.text("podGroupName")
    hint = "remove schedulingGroup, because Volcano creates the PodGroup"
    if not group.has("podGroupName"):
        yield webhook_problem(path, "Invalid", "must specify one of: `podGroupName`", hint=hint)
    elif not is_subdomain(name):
        yield invalid(path, name, SUBDOMAIN_RULE, hint)
