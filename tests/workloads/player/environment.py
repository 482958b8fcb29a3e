"""The environment of a container, as the kubelet resolves it."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from tests.workloads.player.manifests import Manifest, UnplayableError

REFERENCE = re.compile(r"\$(\$|\((?P<name>[^)]*)\))")
LABEL = re.compile(r"metadata\.(?P<kind>labels|annotations)\['(?P<key>[^']+)'\]")


def expand(text: str, known: Mapping[str, str]) -> str:
    """Expand `$(NAME)` references; an unknown variable is not expanded, and `$$` is a dollar sign."""

    def put(found: re.Match[str]) -> str:
        name = found["name"]
        return "$" if name is None else known.get(name, found[0])

    return REFERENCE.sub(put, text)


def data_of(manifest: Manifest) -> dict[str, bytes]:
    """Return the data of a Secret or ConfigMap."""
    if manifest["kind"] == "Secret":
        plain = {name: text.encode() for name, text in (manifest.get("stringData") or {}).items()}
        return {name: b64decode(text) for name, text in (manifest.get("data") or {}).items()} | plain
    if "binaryData" in manifest:
        raise UnplayableError("a ConfigMap has binaryData")
    return {name: text.encode() for name, text in (manifest.get("data") or {}).items()}


def resolve(
    container: Mapping[str, Any],
    pod: Manifest,
    objects: Mapping[tuple[str, str, str], Manifest],
    status: Mapping[str, str],
) -> dict[str, str]:
    """Return the variables in the manifest of a container.

    `status` has values that are known only at run time: `status.podIP`, `status.hostIP`, `spec.nodeName`. A missing
    object or key raises KeyError, because a kubelet would wait for it.
    """
    namespace = pod["metadata"].get("namespace", "default")
    found: dict[str, str] = {}
    for source in container.get("envFrom", []):
        kind, reference = _source(source)
        for name, value in data_of(objects[kind, namespace, reference["name"]]).items():
            found[source.get("prefix", "") + name] = value.decode()
    for variable in container.get("env", []):
        if "valueFrom" in variable:
            found[variable["name"]] = _value_from(variable["valueFrom"], pod, objects, status)
        else:
            found[variable["name"]] = expand(variable.get("value", ""), found)
    return found


def _source(source: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    if "secretRef" in source:
        return "Secret", source["secretRef"]
    return "ConfigMap", source["configMapRef"]


def _value_from(
    source: Mapping[str, Any],
    pod: Manifest,
    objects: Mapping[tuple[str, str, str], Manifest],
    status: Mapping[str, str],
) -> str:
    (name, reference), *_ = source.items()
    namespace = pod["metadata"].get("namespace", "default")
    match name:
        case "fieldRef":
            return field_of(reference["fieldPath"], pod, status)
        case "secretKeyRef":
            return data_of(objects["Secret", namespace, reference["name"]])[reference["key"]].decode()
        case "configMapKeyRef":
            return data_of(objects["ConfigMap", namespace, reference["name"]])[reference["key"]].decode()
        case _:
            raise UnplayableError(f"a variable comes from {name}")


def field_of(path: str, pod: Manifest, status: Mapping[str, str]) -> str:
    """Return a field of a Pod for the downward API."""
    if path in status:
        return status[path]
    if path in {"metadata.name", "metadata.namespace"}:
        return str(pod["metadata"].get(path.partition(".")[2], "default"))
    found = LABEL.fullmatch(path)
    if found is None:
        raise UnplayableError(f"a variable comes from the field {path}")
    return str(pod["metadata"].get(found["kind"], {}).get(found["key"], ""))
