"""What a container sees of the Pod's volumes: directories (mounts) and disks (devices)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.validation.field import Choices, Place, unique

_PROPAGATION = Choices("mountPropagation", ("None", "HostToContainer", "Bidirectional"), required=True)
_RECURSIVE = Choices("recursiveReadOnly", ("Disabled", "IfPossible", "Enabled"), required=True)
_INSIDE = "this must be a relative path without '..': it is in the volume"
_NO_VOLUME = "the Pod has no volume of this name"


def check(container: Place, volumes: Collection[str], claimable: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong with the mounts and devices of a container.

    `volumes` are the names of the Pod's, `claimable` those among them that may be disks.
    """
    mounts, devices = container.children("volumeMounts"), container.children("volumeDevices")
    yield from unique(mounts, "mountPath", error_type="Invalid")
    for mount in mounts:
        yield from _mount(mount, volumes)
        yield from _propagation(mount, container)
    yield from unique(devices, "name", error_type="Invalid")
    yield from unique(devices, "devicePath", error_type="Invalid")
    mounted = {key: {mount.text(key) for mount in mounts} for key in ("name", "mountPath")}
    for device in devices:
        yield from _device(device, volumes, claimable)
        yield from _both(device, mounted)


def is_inside(path: str) -> bool:
    """Tell whether a path does not leave the directory that it begins in."""
    return not path.startswith("/") and ".." not in path.split("/")


def _mount(mount: Place, volumes: Collection[str]) -> Iterator[Problem]:
    yield from mount.required("mountPath", reason="a mount needs a path")
    if not mount.unknown("name") and mount.text("name") not in volumes:
        yield mount.fault("name", "NotFound", _NO_VOLUME)
    for key in ("subPath", "subPathExpr"):
        if not is_inside(mount.text(key)):
            yield mount.fault(key, "Invalid", _INSIDE)
    if mount.given("subPath") and mount.given("subPathExpr"):
        yield mount.fault("subPathExpr", "Invalid", "a mount has a subPath or a subPathExpr", "remove one of them")


def _propagation(mount: Place, container: Place) -> Iterator[Problem]:
    yield from _PROPAGATION.check(mount)
    yield from _RECURSIVE.check(mount)
    context = container.child("securityContext")
    known = not container.unknown("securityContext") and not (context and context.unknown("privileged"))
    privileged = context and context.is_true("privileged")
    if mount.text("mountPropagation") == "Bidirectional" and known and not privileged:
        reason = "only a privileged container passes its mounts on to the node"
        yield mount.fault(
            "mountPropagation", "Forbidden", reason, "set HostToContainer, or securityContext.privileged: true"
        )
    if mount.text("recursiveReadOnly") in ("IfPossible", "Enabled"):
        if not mount.is_true("readOnly") and not mount.unknown("readOnly"):
            yield mount.fault(
                "recursiveReadOnly", "Forbidden", "this is for mounts that are readOnly", "set readOnly: true"
            )
        if mount.text("mountPropagation") not in ("", "None"):
            reason = "this is for mounts without mountPropagation"
            yield mount.fault("recursiveReadOnly", "Forbidden", reason, "remove mountPropagation")


def _device(device: Place, volumes: Collection[str], claimable: Collection[str]) -> Iterator[Problem]:
    name = device.text("name")
    if not device.unknown("name") and name not in volumes:
        yield device.fault("name", "NotFound", _NO_VOLUME)
    elif name and name not in claimable:
        yield device.fault("name", "Invalid", "only a claim's volume can be a device", "mount it with volumeMounts")
    yield from device.required("devicePath", "for example /dev/xvda", "a device needs a path")
    if ".." in device.text("devicePath").split("/"):
        yield device.fault("devicePath", "Invalid", "no part of this can be '..'")


def _both(device: Place, mounted: Mapping[str, Collection[str]]) -> Iterator[Problem]:
    for key, other, what in (("name", "name", "volume"), ("devicePath", "mountPath", "path")):
        if device.text(key) and device.text(key) in mounted[other]:
            yield device.fault(key, "Invalid", f"this {what} is in volumeMounts too", "keep one of them")
