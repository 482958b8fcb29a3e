"""Whom containers run as and what they may do: the security contexts of Pods and containers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.validation.field import Choices, Place, fault, unique
from pulumi_volcano_jobs.kubernetes.validation.mounts import is_inside

_MAX_ID = 2**31 - 1
_ID_RULE = f"this must be a number from 0 to {_MAX_ID}"
_OF_POD = (
    Choices("fsGroupChangePolicy", ("OnRootMismatch", "Always"), required=True),
    Choices("supplementalGroupsPolicy", ("Merge", "Strict"), required=True),
    Choices("seLinuxChangePolicy", ("MountOption", "Recursive"), required=True),
)
_PROC = Choices("procMount", ("Default", "Unmasked"), required=True)
_PROFILE = Choices("type", ("RuntimeDefault", "Localhost", "Unconfined"), required=True)
_SYSCTL_PART = r"[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = re.compile(rf"({_SYSCTL_PART}[./])*{_SYSCTL_PART}")
_MAX_SYSCTL, _MAX_PROFILE = 253, 4095
_NETWORK = re.compile(r"net[./].*")
_IPC = re.compile(r"kernel[./](sem|shm(all|max|mni|_rmid_forced)?|msg(max|mnb|mni)?)|fs[./]mqueue[./].*")


def of_pod(spec: Place) -> Iterator[Problem]:
    """Yield what is wrong with what is said of all containers of a Pod."""
    yield from _namespaces(spec)
    context = spec.child("securityContext")
    if not context:
        return
    for key in ("runAsUser", "runAsGroup", "fsGroup"):
        yield from context.between(key, 0, _MAX_ID, _ID_RULE)
    for path, group in context.items("supplementalGroups"):
        if isinstance(group, int) and not 0 <= group <= _MAX_ID:
            yield fault(path, "Invalid", _ID_RULE, group)
    for choices in _OF_POD:
        yield from choices.check(context)
    yield from _profiles(context)
    yield from unique(context.children("sysctls"), "name")
    for setting in context.children("sysctls"):
        yield from _sysctl(setting, spec)


def of_container(container: Place, spec: Place) -> Iterator[Problem]:
    """Yield what is wrong with what is said of one container."""
    if spec.is_false("hostUsers") and container.given("volumeDevices"):
        yield container.fault("volumeDevices", "Forbidden", "with hostUsers: false a Pod has no devices", show=False)
    context = container.child("securityContext")
    if not context:
        return
    for key in ("runAsUser", "runAsGroup"):
        yield from context.between(key, 0, _MAX_ID, _ID_RULE)
    yield from _profiles(context)
    yield from _PROC.check(context)
    if context.text("procMount") == "Unmasked" and not spec.is_false("hostUsers") and not spec.unknown("hostUsers"):
        yield context.fault(
            "procMount", "Invalid", "only with the Pod's hostUsers: false this can be", "set that, or remove it"
        )
    if context.is_false("allowPrivilegeEscalation"):
        yield from _escalation(context)


def _escalation(context: Place) -> Iterator[Problem]:
    reason = "a container that is privileged, or has CAP_SYS_ADMIN, can always get more privileges"
    capabilities = context.child("capabilities")
    added = [name for _, name in capabilities.items("add")] if capabilities else []
    if context.is_true("privileged") or "CAP_SYS_ADMIN" in added:
        yield context.fault("allowPrivilegeEscalation", "Invalid", reason, "remove this, or the other")


def _namespaces(spec: Place) -> Iterator[Problem]:
    """Yield namespaces of the node that exclude each other."""
    for key in ("hostPID", "hostIPC", "hostNetwork") if spec.is_false("hostUsers") else ():
        if spec.is_true(key):
            yield spec.fault(
                key, "Forbidden", "with hostUsers: false a Pod has none of the node's namespaces", "remove one of them"
            )
    if spec.is_true("shareProcessNamespace") and spec.is_true("hostPID"):
        reason = "with hostPID containers have the node's processes, so they share none of their own"
        yield spec.fault("shareProcessNamespace", "Invalid", reason, "remove one of them")


def _profiles(context: Place) -> Iterator[Problem]:
    for kind in ("seccompProfile", "appArmorProfile"):
        profile = context.child(kind)
        if profile:
            yield from _PROFILE.check(profile)
            yield from _local(profile, kind)


def _local(profile: Place, kind: str) -> Iterator[Problem]:
    """Look at the name of a profile of the node, which is there if and only if the type says so."""
    key = "localhostProfile"
    name = profile.text(key)
    if profile.text("type") == "Localhost" and not profile.unknown(key):
        armour = kind == "appArmorProfile"
        if not profile.has(key) or (armour and not name.strip()):
            yield profile.fault(key, "Required", "with type: Localhost a profile of the node is named here", show=False)
        elif armour and (name != name.strip() or len(name) > _MAX_PROFILE):
            yield profile.fault(key, "Invalid", f"this has at most {_MAX_PROFILE} characters, and no blanks around it")
        elif not armour and not is_inside(name):
            yield profile.fault(key, "Invalid", "this must be a relative path without '..'")
    elif profile.has(key) and profile.text("type") in ("RuntimeDefault", "Unconfined"):
        yield profile.fault(key, "Invalid", "only with type: Localhost this can be", "remove it")


def _sysctl(setting: Place, spec: Place) -> Iterator[Problem]:
    name = setting.text("name")
    if not setting.unknown("name") and (len(name) > _MAX_SYSCTL or not _SYSCTL.fullmatch(name)):
        yield setting.fault("name", "Invalid", "this is no name of a kernel setting", "for example net.core.somaxconn")
    for key, kinds in (("hostNetwork", _NETWORK), ("hostIPC", _IPC)):
        if spec.is_true(key) and kinds.fullmatch(name):
            yield setting.fault("name", "Invalid", f"with {key} this is the node's own setting", f"remove it, or {key}")
