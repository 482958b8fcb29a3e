"""Manifests from `volcano-jobs render`, and the check that the player supports them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import yaml

Manifest = dict[str, Any]

POD = {
    "containers",
    "dnsPolicy",
    "enableServiceLinks",
    "hostname",
    "initContainers",
    "restartPolicy",
    "schedulerName",
    "securityContext",
    "subdomain",
    "terminationGracePeriodSeconds",
    "tolerations",
    "volumes",
}
POD_SECURITY = {"fsGroup", "runAsGroup", "runAsNonRoot", "runAsUser", "supplementalGroups"}
CONTAINER = {
    "args",
    "command",
    "env",
    "envFrom",
    "image",
    "imagePullPolicy",
    "livenessProbe",
    "name",
    "ports",
    "readinessProbe",
    "resources",
    "securityContext",
    "startupProbe",
    "terminationMessagePolicy",
    "volumeMounts",
    "workingDir",
}
CONTAINER_SECURITY = {"allowPrivilegeEscalation", "capabilities", "runAsGroup", "runAsNonRoot", "runAsUser"}
KINDS = {"ConfigMap", "NetworkPolicy", "PersistentVolumeClaim", "Pod", "PodGroup", "Secret", "Service"}


class UnplayableError(Exception):
    """A manifest has a field that the player does not support."""


def read(text: bytes) -> list[Manifest]:
    """Read YAML documents, and reject fields that the player does not support."""
    manifests = [document for document in yaml.safe_load_all(text) if document]
    for manifest in manifests:
        _only(manifest["kind"], [manifest["kind"]], KINDS)
        if manifest["kind"] == "Pod":
            _check_pod(manifest)
    return manifests


def key(manifest: Manifest) -> tuple[str, str, str]:
    """Return the identity of an object."""
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", "default"), metadata["name"]


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector matches: an empty one matches everything, and None matches nothing."""
    if selector is None:
        return False
    _only("a selector", selector, {"matchLabels", "matchExpressions"})
    wanted = selector.get("matchLabels", {}).items() <= labels.items()
    return wanted and all(_holds(rule, labels) for rule in selector.get("matchExpressions", []))


def _holds(rule: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value, values = labels.get(rule["key"]), rule.get("values", [])
    match rule["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case operator:
            raise UnplayableError(f"a selector has the operator {operator}")


def _check_pod(pod: Manifest) -> None:
    name, spec = pod["metadata"]["name"], pod["spec"]
    _only(name, spec, POD)
    _only(f"{name}: securityContext", spec.get("securityContext", {}), POD_SECURITY)
    for container in [*spec.get("initContainers", []), *spec["containers"]]:
        where = f"{name}: {container['name']}"
        _only(where, container, CONTAINER)
        _only(f"{where}: securityContext", container.get("securityContext", {}), CONTAINER_SECURITY)


def _only(where: str, found: Iterable[str], known: Collection[str]) -> None:
    unknown = sorted(set(found) - set(known))
    if unknown:
        raise UnplayableError(f"{where}: this player does not know {', '.join(unknown)}")
