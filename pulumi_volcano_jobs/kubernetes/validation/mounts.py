"""What a container sees of the Pod's volumes: directories (mounts) and disks (devices)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, SupportedValues, check_unique

_PROPAGATION = SupportedValues("mountPropagation", ("None", "HostToContainer", "Bidirectional"), required=True)
_RECURSIVE = SupportedValues("recursiveReadOnly", ("Disabled", "IfPossible", "Enabled"), required=True)
_INSIDE = "must be a relative path without '..': it is in the volume"
_NO_VOLUME = "the Pod has no volume of this name"


def check(container: ObjectField, volumes: Collection[str], claimable: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong with the mounts and devices of a container.

    `volumes` are the names of the Pod's, `claimable` those among them that may be disks.
    """
    mounts, devices = container.children("volumeMounts"), container.children("volumeDevices")
    yield from check_unique(mounts, "mountPath", error_type="Invalid")
    for mount in mounts:
        yield from _mount(mount, volumes)
        yield from _propagation(mount, container)
    yield from check_unique(devices, "name", error_type="Invalid")
    yield from check_unique(devices, "devicePath", error_type="Invalid")
    mounted = {key: {mount.text(key) for mount in mounts} for key in ("name", "mountPath")}
    for device in devices:
        yield from _device(device, volumes, claimable)
        yield from _both(device, mounted)


def is_inside(path: str) -> bool:
    """Tell whether a path does not leave the directory that it begins in."""
    return not path.startswith("/") and ".." not in path.split("/")


def _mount(mount: ObjectField, volumes: Collection[str]) -> Iterator[Problem]:
    yield from mount.check_required("mountPath", reason="a mount needs a path")
    if not mount.is_unknown("name") and mount.text("name") not in volumes:
        yield mount.problem("name", "NotFound", _NO_VOLUME)
    for key in ("subPath", "subPathExpr"):
        if not is_inside(mount.text(key)):
            yield mount.problem(key, "Invalid", _INSIDE)
    if mount.is_given("subPath") and mount.is_given("subPathExpr"):
        yield mount.problem("subPathExpr", "Invalid", "a mount has a subPath or a subPathExpr", "remove one of them")


def _propagation(mount: ObjectField, container: ObjectField) -> Iterator[Problem]:
    yield from _PROPAGATION.check(mount)
    yield from _RECURSIVE.check(mount)
    context = container.child("securityContext")
    known = not container.is_unknown("securityContext") and not (context and context.is_unknown("privileged"))
    privileged = context and context.is_true("privileged")
    if mount.text("mountPropagation") == "Bidirectional" and known and not privileged:
        reason = "only a privileged container passes its mounts on to the node"
        yield mount.problem(
            "mountPropagation", "Forbidden", reason, "set HostToContainer, or securityContext.privileged: true"
        )
    if mount.text("recursiveReadOnly") in ("IfPossible", "Enabled"):
        if not mount.is_true("readOnly") and not mount.is_unknown("readOnly"):
            yield mount.problem(
                "recursiveReadOnly", "Forbidden", "this is for mounts that are readOnly", "set readOnly: true"
            )
        if mount.text("mountPropagation") not in ("", "None"):
            reason = "this is for mounts without mountPropagation"
            yield mount.problem("recursiveReadOnly", "Forbidden", reason, "remove mountPropagation")


def _device(device: ObjectField, volumes: Collection[str], claimable: Collection[str]) -> Iterator[Problem]:
    name = device.text("name")
    if not device.is_unknown("name") and name not in volumes:
        yield device.problem("name", "NotFound", _NO_VOLUME)
    elif name and name not in claimable:
        yield device.problem("name", "Invalid", "only a claim's volume can be a device", "mount it with volumeMounts")
    yield from device.check_required("devicePath", "for example /dev/xvda", "a device needs a path")
    if ".." in device.text("devicePath").split("/"):
        yield device.problem("devicePath", "Invalid", "no part of this can be '..'")


def _both(device: ObjectField, mounted: Mapping[str, Collection[str]]) -> Iterator[Problem]:
    for key, mount_key, noun in (("name", "name", "volume"), ("devicePath", "mountPath", "path")):
        if device.text(key) and device.text(key) in mounted[mount_key]:
            yield device.problem(key, "Invalid", f"this {noun} is in volumeMounts too", "keep one of them")
