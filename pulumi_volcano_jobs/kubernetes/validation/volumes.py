"""Volumes of a Pod, and the volume sources that jobs use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.kubernetes.validation import claims, env_vars, vendors
from pulumi_volcano_jobs.kubernetes.validation.field import (
    ObjectField,
    SupportedValues,
    check_one_of,
    check_unique,
    duplicates,
)
from pulumi_volcano_jobs.kubernetes.validation.mounts import is_inside
from pulumi_volcano_jobs.kubernetes.validation.names import dns_label, is_subdomain, object_meta, reference
from pulumi_volcano_jobs.kubernetes.validation.resources import check_quantity

# In the order of Kubernetes' validation, which rejects the second of two sources.
_SOURCES = (
    *("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi"),
    *("glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI", "fc"),
    *("flexVolume", "configMap", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk"),
    *("storageos", "projected", "scaleIO", "csi", "ephemeral", "image"),
)
_CLAIMS = ("persistentVolumeClaim", "ephemeral")
_PROJECTED = ("secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate")
_OF_FILES = ("secret", "configMap", "downwardAPI")
_HOST_PATHS = (
    *("Directory", "DirectoryOrCreate", "File", "FileOrCreate"),
    *("Socket", "CharDevice", "BlockDevice"),
)
_ALL_MODES = 0o777
_MAX_DRIVER = 63
_MODE_RULE = "must be a number between 0 and 0777 (octal), both inclusive"
_TOKEN_SECONDS = (600, 2**32)


def check(spec: ObjectField) -> Iterator[Problem]:
    """Yield invalid volumes of a Pod."""
    volumes = spec.children("volumes")
    yield from check_unique(volumes, "name")
    for volume in volumes:
        yield from dns_label(volume.fields.get("name"), volume.at("name"))
        yield from check_one_of(volume, _SOURCES, "may not specify more than 1 volume type")
        for kind in _SOURCES:
            source = volume.child(kind)
            if source:
                yield from _RULES[kind](source) if kind in _RULES else vendors.check(source, kind)


def _empty(source: ObjectField) -> Iterator[Problem]:
    yield from check_quantity(source, "sizeLimit", "remove it for no limit", "Forbidden")


def _host(source: ObjectField) -> Iterator[Problem]:
    yield from source.check_required("path", "set a directory or file of the node")
    if ".." in source.text("path").split("/"):
        yield source.problem("path", "Invalid", "must not contain '..'")
    yield from SupportedValues("type", _HOST_PATHS, "remove it to skip the check of the type").check(source)


def _secret(source: ObjectField) -> Iterator[Problem]:
    yield from source.check_required("secretName", "set the name of the Secret")
    yield from _files(source)


def _config(source: ObjectField) -> Iterator[Problem]:
    yield from source.check_required("name", "set the name of the ConfigMap")
    yield from _files(source)


def _files(source: ObjectField) -> Iterator[Problem]:
    yield from _mode(source, "defaultMode")
    for item in source.children("items"):
        yield from item.check_required("key", "set a key of the ConfigMap or Secret")
        yield from _file(item)


def _file(item: ObjectField) -> Iterator[Problem]:
    yield from item.check_required("path", "set the path of the file in the volume")
    path = item.text("path")
    if not is_inside(path) or path.startswith(".."):
        yield item.problem("path", "Invalid", "must be a relative path that does not contain or start with '..'")
    yield from _mode(item, "mode")


def _mode(field: ObjectField, key: str) -> Iterator[Problem]:
    digits = str(field.number(key))
    is_octal = bool(re.fullmatch("[0-7]{3}", digits))
    hint = octal_hint(digits) if is_octal else "use a mode such as 0644 in YAML, 0o644 in Python, or 420 in JSON"
    yield from field.check_range(key, 0, _ALL_MODES, _MODE_RULE, hint)


def octal_hint(digits: str) -> str:
    """Return the fix for a mode that was written without the sign of an octal number."""
    return f"write 0{digits} in YAML, 0o{digits} in Python, or {int(digits, 8)} in JSON"


def modes(volume: ObjectField) -> Iterator[tuple[ObjectField, str]]:
    """Yield the fields of a volume that are modes of files, each as a mapping and a key."""
    projected = volume.child("projected")
    sources = [volume.child(kind) for kind in _OF_FILES]
    parts = [part.child(kind) for part in (projected.children("sources") if projected else ()) for kind in _OF_FILES]
    for source in (projected, *sources):
        if source:
            yield source, "defaultMode"
    for source in (*sources, *parts):
        if source:
            yield from ((item, "mode") for item in source.children("items"))


def _claim(source: ObjectField) -> Iterator[Problem]:
    yield from source.check_required("claimName", "set the name of the PersistentVolumeClaim")


def _nfs(source: ObjectField) -> Iterator[Problem]:
    yield from source.check_required("server", "set the host name or IP address of the NFS server")
    yield from source.check_required("path", "set a directory of the server")
    path = source.text("path")
    if path and not path.startswith("/"):
        yield source.problem("path", "Invalid", "must be an absolute path", f"write /{path}")


def _pod_fields(source: ObjectField) -> Iterator[Problem]:
    yield from _mode(source, "defaultMode")
    for item in source.children("items"):
        yield from _file(item)
        missing = "one of fieldRef and resourceFieldRef is required"
        rule = "fieldRef and resourceFieldRef can not be specified simultaneously"
        yield from check_one_of(item, ("fieldRef", "resourceFieldRef"), rule, missing)
        of_pod, of_container = item.child("fieldRef"), item.child("resourceFieldRef")
        if of_pod:
            yield from env_vars.check_field_ref(of_pod)
        if of_container:
            yield from env_vars.check_resource_field_ref(of_container, in_file=True)


def _projected(source: ObjectField) -> Iterator[Problem]:
    yield from _mode(source, "defaultMode")
    files = []
    for part in source.children("sources"):
        yield from check_one_of(part, _PROJECTED, "may not specify more than 1 volume type per source")
        for kind in _PROJECTED[:3]:
            inner = part.child(kind)
            files += [(item.at("path"), item.text("path")) for item in inner.children("items")] if inner else []
        yield from _projection(part)
    yield from duplicates(files, "conflicting duplicate paths", error_type="Invalid")


def _projection(part: ObjectField) -> Iterator[Problem]:
    for kind, object_kind in (("secret", "Secret"), ("configMap", "ConfigMap")):
        inner = part.child(kind)
        if inner:
            yield from inner.check_required("name", f"set the name of the {object_kind}")
            yield from _files(inner)
    downward, token = part.child("downwardAPI"), part.child("serviceAccountToken")
    if downward:
        yield from _pod_fields(downward)
    if token:
        yield from _file(token)
        minimum, maximum = _TOKEN_SECONDS
        yield from token.check_range("expirationSeconds", minimum, maximum, hint="remove it for the default of 1 hour")


def _csi(source: ObjectField) -> Iterator[Problem]:
    driver = source.text("driver")
    yield from source.check_required("driver", "set the name of the CSI driver")
    if driver and (len(driver) > _MAX_DRIVER or not is_subdomain(driver.lower())):
        yield source.problem("driver", "Invalid", "must be a DNS name of no more than 63 characters")
    secret = source.child("nodePublishSecretRef")
    if secret:
        yield from reference(secret, "Secret")


def _ephemeral(source: ObjectField) -> Iterator[Problem]:
    yield from source.check_required("volumeClaimTemplate", "add it, with a spec of accessModes and resources")
    template = source.child("volumeClaimTemplate")
    metadata = template.child("metadata") if template else None
    if metadata:
        yield from object_meta(metadata.fields, metadata.path, RejectionStage.WEBHOOK)
        for key in ("name", "namespace", "finalizers"):
            if metadata.is_given(key):
                yield metadata.problem(key, "Forbidden", "cannot be set", "remove it", show=False)
    spec = template.child("spec") if template else None
    if spec:
        yield from claims.check(spec)


def claim_specs(spec: ObjectField) -> Iterator[ObjectField]:
    """Yield the claim specs of the ephemeral volumes of a Pod."""
    for volume in spec.children("volumes"):
        ephemeral = volume.child("ephemeral")
        template = ephemeral.child("volumeClaimTemplate") if ephemeral else None
        claim = template.child("spec") if template else None
        if claim:
            yield claim


def _image(source: ObjectField) -> Iterator[Problem]:
    yield from SupportedValues("pullPolicy", ("Always", "IfNotPresent", "Never")).check(source)


_RULES: dict[str, Callable[[ObjectField], Iterator[Problem]]] = {
    "emptyDir": _empty,
    "hostPath": _host,
    "secret": _secret,
    "configMap": _config,
    "persistentVolumeClaim": _claim,
    "nfs": _nfs,
    "downwardAPI": _pod_fields,
    "projected": _projected,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}


def volume_names(volumes: Sequence[ObjectField], *kinds: str) -> frozenset[str]:
    """Return the names of volumes; with `kinds`, the names of volumes that have one of these sources."""
    return frozenset(volume.text("name") for volume in volumes if not kinds or any(volume.has(kind) for kind in kinds))


def claim_volume_names(volumes: Sequence[ObjectField]) -> frozenset[str]:
    """Return the names of volumes that come from a claim, and so may be block devices."""
    return volume_names(volumes, *_CLAIMS)
