"""Pods for Windows: fields that only Linux supports, and options that only Windows supports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.validation import containers
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, invalid, webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.names import subdomain

# Kubernetes, pkg/apis/core/validation/validation.go: validateWindows.
_NOT_IN_PODS = ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace")
_NOT_IN_CONTEXTS = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls", "runAsUser"),
    *("runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"),
)
_NOT_IN_CONTAINERS = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged"),
    *("allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"),
)
# A false or empty value of these is the same as no value.
_PLAIN = ("hostPID", "hostIPC", "sysctls")
_MOST_KIB = 64
_MOST_DOMAIN, _MOST_USER = 256, 104
_NET_BIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_NO_USER = re.compile(r'["/\\:;|=,+*?<>@\[\]]')


def os_name(spec: ObjectField) -> str:
    """Return the operating system of a Pod; empty if it is not set, or unresolved."""
    system = spec.child("os")
    return system.text("name") if system else ""


def check(spec: ObjectField) -> Iterator[Problem]:
    """Yield fields that Windows does not support, and invalid options for Windows."""
    if os_name(spec) == "windows":
        yield from _forbidden_fields(spec, _NOT_IN_PODS)
        context = spec.child("securityContext")
        yield from _forbidden_fields(context, _NOT_IN_CONTEXTS) if context else ()
        for container in containers.all_containers(spec):
            container_context = container.child("securityContext")
            yield from _forbidden_fields(container_context, _NOT_IN_CONTAINERS) if container_context else ()
        if spec.child("resources"):
            yield spec.problem("resources", "Forbidden", "may not be set for a windows pod", "remove it", show=False)
    for holder in (spec, *containers.all_containers(spec)):
        options = _options(holder)
        yield from _windows_options(options) if options else ()
    yield from _host_process(spec)


def _forbidden_fields(field: ObjectField, keys: tuple[str, ...]) -> Iterator[Problem]:
    for key in keys:
        is_set = field.is_given(key) if key in _PLAIN else field.has(key)
        if is_set and not field.is_unknown(key):
            reason = "cannot be set for a windows pod"
            yield field.problem(key, "Forbidden", reason, "remove it, or set os.name: linux", show=False)


def _options(holder: ObjectField) -> ObjectField | None:
    context = holder.child("securityContext")
    return context.child("windowsOptions") if context else None


def _windows_options(options: ObjectField) -> Iterator[Problem]:
    yield from subdomain(options.fields.get("gmsaCredentialSpecName"), options.at("gmsaCredentialSpecName"))
    spec = options.text("gmsaCredentialSpec")
    if options.is_empty_text("gmsaCredentialSpec"):
        rule = "gmsaCredentialSpec cannot be an empty string"
        yield invalid(options.at("gmsaCredentialSpec"), spec, rule, "remove it")
    elif len(spec) > _MOST_KIB * 1024:
        reason = f"gmsaCredentialSpec size must be under {_MOST_KIB} KiB"
        yield options.problem("gmsaCredentialSpec", "Invalid", reason, "set gmsaCredentialSpecName", show=False)
    key = "runAsUserName"
    rule = _user_rule(options.text(key)) if options.has(key) and not options.is_unknown(key) else ""
    if rule:
        yield invalid(options.at(key), options.text(key), rule, "set a user such as ContainerUser")


def _user_rule(name: str) -> str:
    """Return the rule that a user name breaks, otherwise an empty text."""
    domain, backslash, user = name.rpartition("\\")
    rules = {
        "runAsUserName cannot be an empty string": not name,
        "runAsUserName cannot contain control characters": bool(re.search(r"[\x00-\x1f\x7f]", name)),
        "runAsUserName cannot contain more than one backslash": "\\" in domain,
        f"runAsUserName's Domain length must be under {_MOST_DOMAIN} characters": len(domain) >= _MOST_DOMAIN,
        "runAsUserName's Domain doesn't match the NetBios nor the DNS format": bool(backslash)
        and not (_NET_BIOS.fullmatch(domain) or _DNS.fullmatch(domain)),
        "runAsUserName's User cannot be empty": not user,
        f"runAsUserName's User length must not be longer than {_MOST_USER} characters": len(user) > _MOST_USER,
        "runAsUserName's User cannot contain only periods or spaces": bool(re.fullmatch(r"[. ]+", user)),
        "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]": bool(_NO_USER.search(user)),
    }
    return next((rule for rule, is_broken in rules.items() if is_broken), "")


def _host_process(spec: ObjectField) -> Iterator[Problem]:
    """Yield a Problem unless hostProcess has the same value for all containers, and implies hostNetwork."""
    key, of_pod = "hostProcess", _options(spec)
    pod_value = of_pod.fields.get(key) if of_pod else None
    container_values = [
        options.fields.get(key) if options else None for options in map(_options, containers.all_containers(spec))
    ]
    for container, value in zip(containers.all_containers(spec), container_values, strict=True):
        options = _options(container)
        if options and isinstance(pod_value, bool) and isinstance(value, bool) and value is not pod_value:
            reason = "pod hostProcess value must be identical if both are specified"
            yield webhook_problem(options.at(key), "Invalid", reason, value, "remove one of them")
    if any(value is not None and not isinstance(value, bool) for value in (pod_value, *container_values)):
        return
    effective = [pod_value if value is None else value for value in container_values]
    if any(effective) and not all(effective):
        rule = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        yield webhook_problem(
            spec.path,
            "Invalid",
            rule,
            hint="set securityContext.windowsOptions.hostProcess: true for the Pod",
        )
    if any(effective) and not spec.is_true("hostNetwork") and not spec.is_unknown("hostNetwork"):
        reason = "hostNetwork must be true if pod contains any hostProcess containers"
        yield webhook_problem(spec.at("hostNetwork"), "Invalid", reason, False, "set hostNetwork: true")  # noqa: FBT003
