"""Volume mounts and volume devices of a container."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pulumi_volcano_jobs.core.errors import Problem, value_text
from pulumi_volcano_jobs.core.suggestions import did_you_mean
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, SupportedValues, check_unique

_PROPAGATION = SupportedValues("mountPropagation", ("None", "HostToContainer", "Bidirectional"), required=True)
_RECURSIVE = SupportedValues("recursiveReadOnly", ("Disabled", "IfPossible", "Enabled"), required=True)
_INSIDE = "must be a relative path without '..'"
_MAX_NAMES = 12  # in a hint


def check(container: ObjectField, volumes: Collection[str], claimable: Collection[str]) -> Iterator[Problem]:
    """Yield invalid mounts and devices of a container.

    `volumes` are the names of the Pod's volumes, `claimable` the names of volumes that may be block devices.
    """
    mounts, devices = container.children("volumeMounts"), container.children("volumeDevices")
    yield from check_unique(mounts, "mountPath", "must be unique", "Invalid")
    for mount in mounts:
        yield from _mount(mount, volumes)
        yield from _propagation(mount, container)
    yield from check_unique(devices, "name", "must be unique", "Invalid")
    yield from check_unique(devices, "devicePath", "must be unique", "Invalid")
    mounted = {key: {mount.text(key) for mount in mounts} for key in ("name", "mountPath")}
    for device in devices:
        yield from _device(device, volumes, claimable)
        yield from _both(device, mounted)


def is_inside(path: str) -> bool:
    """Return whether a path is relative and does not contain '..'."""
    return not path.startswith("/") and ".." not in path.split("/")


def _mount(mount: ObjectField, volumes: Collection[str]) -> Iterator[Problem]:
    yield from mount.check_required("mountPath", "set a path such as /data")
    if not mount.is_unknown("name") and mount.text("name") not in volumes:
        yield mount.problem("name", "NotFound", "", _missing_volume_hint(mount.text("name"), volumes))
    for key in ("subPath", "subPathExpr"):
        if not is_inside(mount.text(key)):
            yield mount.problem(key, "Invalid", _INSIDE)
    if mount.is_given("subPath") and mount.is_given("subPathExpr"):
        yield mount.problem(
            "subPathExpr", "Invalid", "subPathExpr and subPath are mutually exclusive", "remove one of them"
        )


def _missing_volume_hint(name: str, volumes: Collection[str]) -> str:
    names = sorted(filter(None, volumes))
    similar = did_you_mean(name, names)
    if similar or not names:
        return similar or "add a volume of this name to spec.volumes"
    shown = ", ".join(map(value_text, names[:_MAX_NAMES])) + ("…" if len(names) > _MAX_NAMES else "")
    return f"add a volume of this name to spec.volumes, or use one of {shown}"


def _propagation(mount: ObjectField, container: ObjectField) -> Iterator[Problem]:
    yield from _PROPAGATION.check(mount)
    yield from _RECURSIVE.check(mount)
    context = container.child("securityContext")
    known = not container.is_unknown("securityContext") and not (context and context.is_unknown("privileged"))
    privileged = context and context.is_true("privileged")
    if mount.text("mountPropagation") == "Bidirectional" and known and not privileged:
        reason = "Bidirectional mount propagation is available only to privileged containers"
        yield mount.problem(
            "mountPropagation", "Forbidden", reason, "set HostToContainer, or securityContext.privileged: true"
        )
    if mount.text("recursiveReadOnly") in ("IfPossible", "Enabled"):
        if not mount.is_true("readOnly") and not mount.is_unknown("readOnly"):
            yield mount.problem(
                "recursiveReadOnly", "Forbidden", "may only be specified when readOnly is true", "set readOnly: true"
            )
        if mount.text("mountPropagation") not in ("", "None"):
            reason = "may only be specified when mountPropagation is None or not specified"
            yield mount.problem("recursiveReadOnly", "Forbidden", reason, "remove mountPropagation")


def _device(device: ObjectField, volumes: Collection[str], claimable: Collection[str]) -> Iterator[Problem]:
    name = device.text("name")
    if not device.is_unknown("name") and name not in volumes:
        yield device.problem("name", "NotFound", "", _missing_volume_hint(name, volumes))
    elif name and name not in claimable:
        yield device.problem(
            "name",
            "Invalid",
            "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
            "use volumeMounts",
        )
    yield from device.check_required("devicePath", "set a path such as /dev/xvda")
    if ".." in device.text("devicePath").split("/"):
        yield device.problem("devicePath", "Invalid", "can not contain backsteps ('..')")


def _both(device: ObjectField, mounted: Mapping[str, Collection[str]]) -> Iterator[Problem]:
    for key, mount_key, noun in (("name", "name", ""), ("devicePath", "mountPath", " as a path")):
        if device.text(key) and device.text(key) in mounted[mount_key]:
            yield device.problem(
                key, "Invalid", f"must not already exist{noun} in volumeMounts", "remove the mount or the device"
            )
