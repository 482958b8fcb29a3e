"""Security contexts of Pods and containers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.integers import MAX_INT32
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, SupportedValues, check_unique, webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.mounts import is_inside

_ID_RULE = f"must be between 0 and {MAX_INT32}, inclusive"
_OF_POD = (
    SupportedValues("fsGroupChangePolicy", ("OnRootMismatch", "Always"), required=True),
    SupportedValues("supplementalGroupsPolicy", ("Merge", "Strict"), required=True),
    SupportedValues("seLinuxChangePolicy", ("MountOption", "Recursive"), required=True),
)
_PROC = SupportedValues("procMount", ("Default", "Unmasked"), required=True)
_PROFILE = SupportedValues("type", ("RuntimeDefault", "Localhost", "Unconfined"), required=True)
_SYSCTL_PART = r"[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = re.compile(rf"({_SYSCTL_PART}[./])*{_SYSCTL_PART}")
_MAX_SYSCTL, _MAX_PROFILE = 253, 4095
_NETWORK = re.compile(r"net[./].*")
_IPC = re.compile(r"kernel[./](sem|shm(all|max|mni|_rmid_forced)?|msg(max|mnb|mni)?)|fs[./]mqueue[./].*")


def check_pod(spec: ObjectField) -> Iterator[Problem]:
    """Yield invalid fields of the security context of a Pod."""
    yield from _namespaces(spec)
    context = spec.child("securityContext")
    if not context:
        return
    for key in ("runAsUser", "runAsGroup", "fsGroup"):
        yield from context.check_range(key, 0, MAX_INT32, _ID_RULE)
    for path, group in context.items("supplementalGroups"):
        if isinstance(group, int) and not 0 <= group <= MAX_INT32:
            yield webhook_problem(path, "Invalid", _ID_RULE, group)
    for choices in _OF_POD:
        yield from choices.check(context)
    yield from _profiles(context)
    yield from check_unique(context.children("sysctls"), "name")
    for setting in context.children("sysctls"):
        yield from _sysctl(setting, spec)


def check_container(container: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    """Yield invalid fields of the security context of a container."""
    if spec.is_false("hostUsers") and container.is_given("volumeDevices"):
        yield container.problem(
            "volumeDevices", "Forbidden", "when `hostUsers` is false", "remove it, or hostUsers", show=False
        )
    context = container.child("securityContext")
    if not context:
        return
    for key in ("runAsUser", "runAsGroup"):
        yield from context.check_range(key, 0, MAX_INT32, _ID_RULE)
    yield from _profiles(context)
    yield from _PROC.check(context)
    if context.text("procMount") == "Unmasked" and not spec.is_false("hostUsers") and not spec.is_unknown("hostUsers"):
        yield context.problem(
            "procMount",
            "Invalid",
            "`hostUsers` must be false to use `Unmasked`",
            "set hostUsers: false in the Pod spec, or remove it",
        )
    if context.is_false("allowPrivilegeEscalation"):
        yield from _escalation(context)


def _escalation(context: ObjectField) -> Iterator[Problem]:
    capabilities = context.child("capabilities")
    added = [name for _, name in capabilities.items("add")] if capabilities else []
    if context.is_true("privileged") or "CAP_SYS_ADMIN" in added:
        other = "`privileged` to true" if context.is_true("privileged") else "`capabilities.Add` CAP_SYS_ADMIN"
        reason = f"cannot set `allowPrivilegeEscalation` to false and {other}"
        yield context.problem("allowPrivilegeEscalation", "Invalid", reason, "remove one of them")


def _namespaces(spec: ObjectField) -> Iterator[Problem]:
    """Yield host namespaces that cannot be used together."""
    for key in ("hostPID", "hostIPC", "hostNetwork") if spec.is_false("hostUsers") else ():
        if spec.is_true(key):
            yield spec.problem(key, "Forbidden", "when `hostUsers` is false", f"remove {key} or hostUsers")
    if spec.is_true("shareProcessNamespace") and spec.is_true("hostPID"):
        reason = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield spec.problem("shareProcessNamespace", "Invalid", reason, "remove one of them")


def _profiles(context: ObjectField) -> Iterator[Problem]:
    for kind in ("seccompProfile", "appArmorProfile"):
        profile = context.child(kind)
        if profile:
            yield from _PROFILE.check(profile)
            yield from _localhost_profile(profile, kind)


def _localhost_profile(profile: ObjectField, kind: str) -> Iterator[Problem]:
    """Yield a localhostProfile that is missing or invalid with type Localhost, or set with another type."""
    key = "localhostProfile"
    name_of_kind = "AppArmor" if kind == "appArmorProfile" else "seccomp"
    name = profile.text(key)
    if profile.text("type") == "Localhost" and not profile.is_unknown(key):
        armour = kind == "appArmorProfile"
        if not profile.has(key) or (armour and not name.strip()):
            yield profile.problem(key, "Required", f"must be set when {name_of_kind} type is Localhost", show=False)
        elif armour and (name != name.strip() or len(name) > _MAX_PROFILE):
            yield profile.problem(
                key,
                "Invalid",
                f"must be no more than {_MAX_PROFILE} characters, and must not be padded with whitespace",
            )
        elif not armour and not is_inside(name):
            yield profile.problem(key, "Invalid", "must be a relative path without '..'")
    elif profile.has(key) and profile.text("type") in ("RuntimeDefault", "Unconfined"):
        yield profile.problem(key, "Invalid", f"can only be set when {name_of_kind} type is Localhost", "remove it")


def _sysctl(setting: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    name = setting.text("name")
    if not setting.is_unknown("name") and (len(name) > _MAX_SYSCTL or not _SYSCTL.fullmatch(name)):
        yield setting.problem(
            "name",
            "Invalid",
            f"must be a sysctl name of no more than {_MAX_SYSCTL} characters",
            "use a name such as net.core.somaxconn",
        )
    for key, kinds in (("hostNetwork", _NETWORK), ("hostIPC", _IPC)):
        if spec.is_true(key) and kinds.fullmatch(name):
            yield setting.problem(
                "name", "Invalid", f"may not be specified when '{key}' is true", f"remove it, or {key}"
            )
