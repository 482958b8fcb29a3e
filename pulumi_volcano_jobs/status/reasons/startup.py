"""Containers that the kubelet cannot start: images, Secrets and ConfigMaps, volumes, and claims."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.phrases import listed
from pulumi_volcano_jobs.core.resource_types import CLAIM, POD
from pulumi_volcano_jobs.core.text import cropped
from pulumi_volcano_jobs.status.fields import Object, text
from pulumi_volcano_jobs.status.job import JobView, message_of
from pulumi_volcano_jobs.status.pods import ContainerState, PodView
from pulumi_volcano_jobs.status.reasons.observation import Observation

_IMAGE = frozenset({"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError"})
_CONFIGURATION = frozenset(
    {
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "PreCreateHookError",
        "PostStartHookError",
    }
)
# Messages of registries (containerd and CRI-O), with the fix. The first match applies.
_PULLS = tuple(
    (re.compile(pattern, re.IGNORECASE), fix)
    for pattern, fix in (
        (r"toomanyrequests|rate limit", "use a mirror of the registry, or set imagePullSecrets with an account"),
        (
            r"unauthorized|authentication required|authorization failed|no basic auth|forbidden|denied",
            "check the name of the image, or set imagePullSecrets to a Secret of this namespace",
        ),
        (r"not found|manifest unknown|does not exist", "check the name and the tag of the image"),
        (r"no match for platform|no matching manifest", "build the image for the platform of the node"),
        (r"x509|certificate", "add the certificate of the registry to the nodes"),
        (
            r"no such host|i/o timeout|connection refused|deadline exceeded|network is unreachable|tls handshake",
            "check that the node reaches the registry",
        ),
    )
)
# The kubelet pulls without the Secrets that it cannot read, so that the registry reports another error.
_PULL_SECRETS = re.compile(r"Unable to retrieve some image pull secrets \(([^)]+)\)")
_MISSING = re.compile(r"(?i)\b(secret|configmap)s? \"([^\"]+)\" not found")
_KEY = re.compile(r"couldn't find key (\S+) in (Secret|ConfigMap) (?:[^/\s]+/)?(\S+)")
_VOLUME_FIXES = tuple(
    (re.compile(pattern), fix)
    for pattern, fix in (
        (r"Multi-Attach error", "use a claim with ReadWriteMany, or wait until the Pod on the other node is gone"),
        (r"access denied|permission denied", "check the permissions of the storage"),
        (r"driver name .* not found", "install the CSI driver on the node"),
        (r"timed out waiting for the condition", "check the storage provider and its driver on the node"),
    )
)


def check(job: JobView) -> Iterator[Observation]:
    """Yield the problems of Pods that have a node but do not run, and of claims."""
    for pod in job.pods:
        if pod.has_ended or pod.is_terminating:
            continue
        yield from (item for container in pod.containers for item in _waiting(container, pod, job))
        if pod.is_bound and pod.phase == "Pending":
            yield from _mounts(pod, job)
    for name, pods in job.claims().items():
        if any(not pod.has_ended and pod.phase != "Running" for pod in pods):
            yield from _claim(name, job)


def _waiting(container: ContainerState, pod: PodView, job: JobView) -> Iterator[Observation]:
    reason, message = container.waiting, container.message
    where = f"container {container.name}"
    if reason in _IMAGE:
        image = text(container.spec, "image")
        fix = _pull_secret_fix(pod, job) or _image_fix(reason, message)
        yield Observation("image", POD.kind, pod.name, f"{reason} for {image}: {_pull_error(message)}", fix)
    elif reason in _CONFIGURATION:
        problem = f"{reason} of {where}: {cropped(message)}"
        yield Observation("configuration", POD.kind, pod.name, problem, missing_fix(message) or _container_fix(message))


def _pull_error(message: str) -> str:
    """Return the error of the registry in a message, which begins with the name of the image several times."""
    inner = re.split(r"(?:ErrImagePull|code = \w+ desc = )[: ]*", message)[-1]
    return cropped(inner.strip() or message or "no message")


def _pull_secret_fix(pod: PodView, job: JobView) -> str:
    """Return the fix if the kubelet could not read a Secret of imagePullSecrets."""
    events = job.events(POD.kind, pod.name, "FailedToRetrieveImagePullSecret")
    match = _PULL_SECRETS.search(message_of(events[0])) if events else None
    if match is None:
        return ""
    return f"create {listed('Secret', match[1].split(', '))} in this namespace, or correct imagePullSecrets"


def _image_fix(reason: str, message: str) -> str:
    if reason == "InvalidImageName":
        return "write a reference such as ghcr.io/team/train:1"
    if reason == "ErrImageNeverPull":
        return "load the image into the node, or set another imagePullPolicy"
    return next((fix for pattern, fix in _PULLS if pattern.search(message)), "kubectl describe pod shows each attempt")


def missing_fix(message: str) -> str:
    """Return the fix if a message names a Secret, a ConfigMap or a key that does not exist."""
    if match := _MISSING.search(message):
        kind = "Secret" if match[1].lower() == "secret" else "ConfigMap"
        return f"create the {kind} {match[2]} in this namespace, or correct its name"
    if match := _KEY.search(message):
        return f"add the key {match[1]} to the {match[2]} {match[3]}, or correct its name"
    return ""


def _container_fix(message: str) -> str:
    if "runAsNonRoot" in message:
        return "set runAsUser, or an image whose user is not root"
    if "executable file not found" in message or "no such file or directory" in message:
        return "check command, args and the PATH of the image"
    return "kubectl describe pod shows each attempt"


def _mounts(pod: PodView, job: JobView) -> Iterator[Observation]:
    """Yield the newest failure of a mount. Later, the kubelet only reports that it timed out waiting for it."""
    events = job.events(POD.kind, pod.name, "FailedMount", "FailedAttachVolume", "FailedMapVolume")
    messages = list(map(message_of, events))
    specific = [item for item in messages if "timed out waiting" not in item] or messages
    for message in specific[:1]:
        fixes = (fix for pattern, fix in _VOLUME_FIXES if pattern.search(message))
        fix = missing_fix(message) or next(fixes, "kubectl describe pod shows each attempt")
        yield Observation("volume", POD.kind, pod.name, _without_ids(message, pod), fix)


def _without_ids(message: str, pod: PodView) -> str:
    """Return a message without the name of the Pod, so that the messages of several Pods are equal."""
    namespaced = text(pod.manifest, "metadata", "namespace")
    return cropped(message.replace(f"{namespaced}/{pod.name}", "the Pod").replace(pod.name, "the Pod"))


def _claim(name: str, job: JobView) -> Iterator[Observation]:
    claim = job.claim(name)
    if job.objects.lacks(CLAIM.kind, name, job.namespace):
        fix = "create the claim in this namespace, or correct volume_claim_name"
        yield Observation("claim", CLAIM.kind, name, "not found", fix)
    if claim is None:
        return
    phase = text(claim, "status", "phase")
    if phase == "Lost":
        yield Observation(
            "claim", CLAIM.kind, name, "Lost: its volume is gone", "restore the volume, or use another claim"
        )
    elif phase == "Pending":
        yield from _pending_claim(name, claim, job)


def _pending_claim(name: str, claim: Object, job: JobView) -> Iterator[Observation]:
    events = job.events(CLAIM.kind, name, "ProvisioningFailed", "FailedBinding")
    # A claim with WaitForFirstConsumer is Pending until its Pod has a node, as intended.
    is_scheduled = any(pod.is_bound for pod in job.claims()[name])
    if not events and not is_scheduled and job.events(CLAIM.kind, name, "WaitForFirstConsumer"):
        return
    message = message_of(events[0]) if events else ""
    storage_class = text(claim, "spec", "storageClassName")
    of_class = f" (storage class {storage_class})" if storage_class else ""
    fix = "check the storage class and its provisioner: kubectl describe pvc"
    if "no storage class is set" in message:
        fix = "set storageClassName of the claim, or a default storage class of the cluster"
    elif "storageclass" in message.lower() and "not found" in message:
        fix = "set storageClassName to one of: kubectl get storageclasses"
    yield Observation("claim", CLAIM.kind, name, f"Pending{of_class}{f': {cropped(message)}' if message else ''}", fix)
