"""Volumes of a Pod: one source each, and the sources that jobs use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from pulumi_volcano_jobs.core.errors import Problem, Stage
from pulumi_volcano_jobs.kubernetes.validation import claims, env, vendors
from pulumi_volcano_jobs.kubernetes.validation.field import Choices, Place, one_of, twice, unique
from pulumi_volcano_jobs.kubernetes.validation.mounts import is_inside
from pulumi_volcano_jobs.kubernetes.validation.names import dns_label, is_subdomain, object_meta, reference
from pulumi_volcano_jobs.kubernetes.validation.resources import amount

# In Kubernetes' order: of two that are there it refuses the second.
_SOURCES = (
    *("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi"),
    *("glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI", "fc"),
    *("flexVolume", "configMap", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk"),
    *("storageos", "projected", "scaleIO", "csi", "ephemeral", "image"),
)
_CLAIMS = ("persistentVolumeClaim", "ephemeral")
_PROJECTED = ("secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate")
_HOST_PATHS = (
    *("Directory", "DirectoryOrCreate", "File", "FileOrCreate"),
    *("Socket", "CharDevice", "BlockDevice"),
)
_ALL_MODES = 0o777
_MAX_DRIVER = 63
_MODE_RULE = "this must be a mode from 0 to 0777 (decimal 511)"
_TOKEN_SECONDS = (600, 2**32)


def check(spec: Place) -> Iterator[Problem]:
    """Yield what is wrong with the volumes of a Pod."""
    volumes = spec.children("volumes")
    yield from unique(volumes, "name")
    for volume in volumes:
        yield from dns_label(volume.fields.get("name"), volume.at("name"))
        yield from one_of(volume, _SOURCES, "a volume has one source")
        for kind in _SOURCES:
            source = volume.child(kind)
            if source:
                yield from _RULES[kind](source) if kind in _RULES else vendors.check(source, kind)


def _empty(source: Place) -> Iterator[Problem]:
    yield from amount(source, "sizeLimit", "leave it out for no limit", "Forbidden")


def _host(source: Place) -> Iterator[Problem]:
    yield from source.required("path", "name a directory or file of the node")
    if ".." in source.text("path").split("/"):
        yield source.fault("path", "Invalid", "no part of this can be '..'")
    yield from Choices("type", _HOST_PATHS, "leave it out to have nothing checked").check(source)


def _secret(source: Place) -> Iterator[Problem]:
    yield from source.required("secretName", "name the Secret")
    yield from _files(source)


def _config(source: Place) -> Iterator[Problem]:
    yield from source.required("name", "name the ConfigMap")
    yield from _files(source)


def _files(source: Place) -> Iterator[Problem]:
    yield from _mode(source, "defaultMode")
    for item in source.children("items"):
        yield from item.required("key", "name a key of it")
        yield from _file(item)


def _file(item: Place) -> Iterator[Problem]:
    yield from item.required("path", "name the file that is made")
    path = item.text("path")
    if not is_inside(path) or path.startswith(".."):
        yield item.fault(
            "path", "Invalid", "this must be a relative path that does not begin with '..': it is in the volume"
        )
    yield from _mode(item, "mode")


def _mode(place: Place, key: str) -> Iterator[Problem]:
    digits = str(place.number(key))
    is_octal = bool(re.fullmatch("[0-7]{3}", digits))
    hint = f"write 0{digits} in YAML, and {int(digits, 8)} elsewhere" if is_octal else "0400 is 256, and 0644 is 420"
    yield from place.between(key, 0, _ALL_MODES, _MODE_RULE, hint)


def _claim(source: Place) -> Iterator[Problem]:
    yield from source.required("claimName", "name the PersistentVolumeClaim")


def _nfs(source: Place) -> Iterator[Problem]:
    yield from source.required("server", "name the NFS server")
    yield from source.required("path", "name a directory of the server")
    path = source.text("path")
    if path and not path.startswith("/"):
        yield source.fault("path", "Invalid", "this must be an absolute path", f"write /{path}")


def _pod_fields(source: Place) -> Iterator[Problem]:
    yield from _mode(source, "defaultMode")
    for item in source.children("items"):
        yield from _file(item)
        missing = "a file of the Pod's own fields comes from one of them"
        yield from one_of(item, ("fieldRef", "resourceFieldRef"), "a file comes from one place", missing)
        of_pod, of_container = item.child("fieldRef"), item.child("resourceFieldRef")
        if of_pod:
            yield from env.field(of_pod)
        if of_container:
            yield from env.amount(of_container, in_file=True)


def _projected(source: Place) -> Iterator[Problem]:
    yield from _mode(source, "defaultMode")
    made = []
    for part in source.children("sources"):
        yield from one_of(part, _PROJECTED, "an entry has one source")
        for kind in _PROJECTED[:3]:
            inner = part.child(kind)
            made += [(item.at("path"), item.text("path")) for item in inner.children("items")] if inner else []
        yield from _projection(part)
    yield from twice(made, "another source of this volume makes this file", error_type="Invalid")


def _projection(part: Place) -> Iterator[Problem]:
    for kind, what in (("secret", "Secret"), ("configMap", "ConfigMap")):
        inner = part.child(kind)
        if inner:
            yield from inner.required("name", f"name the {what}")
            yield from _files(inner)
    own, token = part.child("downwardAPI"), part.child("serviceAccountToken")
    if own:
        yield from _pod_fields(own)
    if token:
        yield from _file(token)
        least, most = _TOKEN_SECONDS
        yield from token.between("expirationSeconds", least, most, hint="leave it out for an hour")


def _csi(source: Place) -> Iterator[Problem]:
    driver = source.text("driver")
    yield from source.required("driver", "name the CSI driver")
    if driver and (len(driver) > _MAX_DRIVER or not is_subdomain(driver.lower())):
        yield source.fault("driver", "Invalid", "a driver has a DNS name of at most 63 characters")
    secret = source.child("nodePublishSecretRef")
    if secret:
        yield from reference(secret, "name", "Secret")


def _ephemeral(source: Place) -> Iterator[Problem]:
    yield from source.required("volumeClaimTemplate", "add it, with a spec of accessModes and resources")
    template = source.child("volumeClaimTemplate")
    metadata = template.child("metadata") if template else None
    if metadata:
        yield from object_meta(metadata.fields, metadata.path, Stage.WEBHOOK)
        for key in ("name", "namespace", "finalizers"):
            if metadata.given(key):
                yield metadata.fault(key, "Forbidden", "Forbidden: cannot be set", "remove it", show=False)
    spec = template.child("spec") if template else None
    if spec:
        yield from claims.check(spec)


def claim_specs(spec: Place) -> Iterator[Place]:
    """Yield the claim specs of the ephemeral volumes of a Pod."""
    for volume in spec.children("volumes"):
        ephemeral = volume.child("ephemeral")
        template = ephemeral.child("volumeClaimTemplate") if ephemeral else None
        claim = template.child("spec") if template else None
        if claim:
            yield claim


def _image(source: Place) -> Iterator[Problem]:
    yield from Choices("pullPolicy", ("Always", "IfNotPresent", "Never")).check(source)


_RULES: dict[str, Callable[[Place], Iterator[Problem]]] = {
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


def names(volumes: Sequence[Place], *kinds: str) -> frozenset[str]:
    """Give the names of volumes; of `kinds`, if any are named, and of those whose source nobody knows yet."""
    return frozenset(volume.text("name") for volume in volumes if not kinds or any(volume.has(kind) for kind in kinds))


def of_claims(volumes: Sequence[Place]) -> frozenset[str]:
    """Give the names of the volumes that are claims, and so may be disks."""
    return names(volumes, *_CLAIMS)
