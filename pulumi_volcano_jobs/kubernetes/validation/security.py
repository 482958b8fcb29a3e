"""Whom containers run as and what they may do: the security contexts of Pods and containers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, SupportedValues, check_unique, webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.mounts import is_inside

_MAX_ID = 2**31 - 1
_ID_RULE = f"must be a number from 0 to {_MAX_ID}"
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
    """Yield what is wrong with what is said of all containers of a Pod."""
    yield from _namespaces(spec)
    context = spec.child("securityContext")
    if not context:
        return
    for key in ("runAsUser", "runAsGroup", "fsGroup"):
        yield from context.check_range(key, 0, _MAX_ID, _ID_RULE)
    for path, group in context.items("supplementalGroups"):
        if isinstance(group, int) and not 0 <= group <= _MAX_ID:
            yield webhook_problem(path, "Invalid", _ID_RULE, group)
    for choices in _OF_POD:
        yield from choices.check(context)
    yield from _profiles(context)
    yield from check_unique(context.children("sysctls"), "name")
    for setting in context.children("sysctls"):
        yield from _sysctl(setting, spec)


def check_container(container: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    """Yield what is wrong with what is said of one container."""
    if spec.is_false("hostUsers") and container.is_given("volumeDevices"):
        yield container.problem("volumeDevices", "Forbidden", "with hostUsers: false a Pod has no devices", show=False)
    context = container.child("securityContext")
    if not context:
        return
    for key in ("runAsUser", "runAsGroup"):
        yield from context.check_range(key, 0, _MAX_ID, _ID_RULE)
    yield from _profiles(context)
    yield from _PROC.check(context)
    if context.text("procMount") == "Unmasked" and not spec.is_false("hostUsers") and not spec.is_unknown("hostUsers"):
        yield context.problem(
            "procMount", "Invalid", "only with the Pod's hostUsers: false this can be", "set that, or remove it"
        )
    if context.is_false("allowPrivilegeEscalation"):
        yield from _escalation(context)


def _escalation(context: ObjectField) -> Iterator[Problem]:
    reason = "a container that is privileged, or has CAP_SYS_ADMIN, can always get more privileges"
    capabilities = context.child("capabilities")
    added = [name for _, name in capabilities.items("add")] if capabilities else []
    if context.is_true("privileged") or "CAP_SYS_ADMIN" in added:
        yield context.problem("allowPrivilegeEscalation", "Invalid", reason, "remove this, or the other")


def _namespaces(spec: ObjectField) -> Iterator[Problem]:
    """Yield namespaces of the node that exclude each other."""
    for key in ("hostPID", "hostIPC", "hostNetwork") if spec.is_false("hostUsers") else ():
        if spec.is_true(key):
            yield spec.problem(
                key, "Forbidden", "with hostUsers: false a Pod has none of the node's namespaces", "remove one of them"
            )
    if spec.is_true("shareProcessNamespace") and spec.is_true("hostPID"):
        reason = "with hostPID containers have the node's processes, so they share none of their own"
        yield spec.problem("shareProcessNamespace", "Invalid", reason, "remove one of them")


def _profiles(context: ObjectField) -> Iterator[Problem]:
    for kind in ("seccompProfile", "appArmorProfile"):
        profile = context.child(kind)
        if profile:
            yield from _PROFILE.check(profile)
            yield from _localhost_profile(profile, kind)


def _localhost_profile(profile: ObjectField, kind: str) -> Iterator[Problem]:
    """Look at the name of a profile of the node, which is there if and only if the type says so."""
    key = "localhostProfile"
    name = profile.text(key)
    if profile.text("type") == "Localhost" and not profile.is_unknown(key):
        armour = kind == "appArmorProfile"
        if not profile.has(key) or (armour and not name.strip()):
            yield profile.problem(
                key, "Required", "with type: Localhost a profile of the node is named here", show=False
            )
        elif armour and (name != name.strip() or len(name) > _MAX_PROFILE):
            yield profile.problem(
                key, "Invalid", f"this has at most {_MAX_PROFILE} characters, and no blanks around it"
            )
        elif not armour and not is_inside(name):
            yield profile.problem(key, "Invalid", "must be a relative path without '..'")
    elif profile.has(key) and profile.text("type") in ("RuntimeDefault", "Unconfined"):
        yield profile.problem(key, "Invalid", "only with type: Localhost this can be", "remove it")


def _sysctl(setting: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    name = setting.text("name")
    if not setting.is_unknown("name") and (len(name) > _MAX_SYSCTL or not _SYSCTL.fullmatch(name)):
        yield setting.problem(
            "name", "Invalid", "this is no name of a kernel setting", "for example net.core.somaxconn"
        )
    for key, kinds in (("hostNetwork", _NETWORK), ("hostIPC", _IPC)):
        if spec.is_true(key) and kinds.fullmatch(name):
            yield setting.problem(
                "name", "Invalid", f"with {key} this is the node's own setting", f"remove it, or {key}"
            )
