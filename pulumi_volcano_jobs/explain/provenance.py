"""The source of each field of a Pod: its template, the job, or a plugin."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pulumi_volcano_jobs.kubernetes.container_lists import (
    CONTAINER_LISTS,
    CONTAINERS,
    INIT_CONTAINERS,
    all_containers,
    placed_containers,
)
from pulumi_volcano_jobs.kubernetes.manifest import GROUP_ANNOTATION, Manifest
from pulumi_volcano_jobs.kubernetes.pod_log import JOB, PodLog
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.rendering.renderer import Rendered, pod_renderer
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Job, Task

CONTAINER, INIT_CONTAINER = "container", "init container"
VARIABLE, MOUNT, PORT, VOLUME, LABEL, ANNOTATION = "variable", "mount", "port", "volume", "label", "annotation"
REMOVED = "removed"
NOUNS: Mapping[str, str] = {INIT_CONTAINERS: INIT_CONTAINER, CONTAINERS: CONTAINER}
"""The word for a container of each list of a Pod."""

# Kinds of fields that are listed for a container that a plugin added.
OF_ADDED_CONTAINERS = frozenset({CONTAINER, INIT_CONTAINER, VARIABLE, MOUNT, PORT})
_APART_IN_POD = frozenset({*CONTAINER_LISTS, "volumes"})
_APART_IN_CONTAINER = frozenset({"name", "image", "env", "volumeMounts", "ports"})
_SOURCES_OF_VARIABLES = {"configMapKeyRef": "ConfigMap", "secretKeyRef": "Secret"}
_SOURCES_OF_PROJECTIONS = {"configMap": "ConfigMap", "secret": "Secret"}
_SOURCES_OF_VOLUMES = {
    "configMap": ("ConfigMap", "name"),
    "secret": ("Secret", "secretName"),
    "persistentVolumeClaim": ("claim", "claimName"),
}


@dataclass(frozen=True)
class FieldRef:
    """A field of a Pod, such as a variable of a container. `container` is empty for fields of the Pod itself."""

    kind: str
    name: str = ""
    container: str = ""


@dataclass(frozen=True)
class Ownership:
    """The final value of a field and its managers. The last manager set the value and overrode the ones before it."""

    value: str
    managers: tuple[str, ...]

    @property
    def manager(self) -> str:
        """The manager that set the final value."""
        return self.managers[-1]


Ownerships = dict[FieldRef, Ownership]


def trace(rendered: Rendered, task: Task, index: int) -> Ownerships:
    """Render one Pod again, and return the managers of each field.

    Args:
        rendered: the job without leaves. The result shows the settings of plugins, so render it with `redact=True`.
        task: one of its tasks.
        index: the Pod's replica index.
    """
    ctx = JobContext(rendered.job)
    log = PodLog(lambda pod: {"": _fields_of_pod(pod.to_manifest(ctx.namespace))}, str)
    pod_renderer(ctx, rendered.plugins, task, keep_template_values=rendered.keep_template_values)(index, log)
    template_containers = {"", *(item["name"] for item in all_containers(task.pod_spec))}
    ownerships: Ownerships = {}
    for writer, changes in log.steps:
        for field, value in changes.get("", {}).items():
            if field.container in template_containers or field.kind in OF_ADDED_CONTAINERS:
                makers = ownerships[field].managers if field in ownerships else ()
                ownerships[field] = Ownership(REMOVED if value is None else value, (*makers, writer))
    return ownerships


def _fields_of_pod(pod: Manifest) -> dict[FieldRef, str]:
    """Return the fields of a Pod."""
    spec, metadata = pod["spec"], pod["metadata"]
    fields = {FieldRef(key): as_text(value) for key, value in spec.items() if key not in _APART_IN_POD}
    for kind, _, container in placed_containers(spec, ""):
        fields |= fields_of_container(NOUNS[kind], container)
    fields |= {FieldRef(VOLUME, item["name"]): _source(item) for item in spec.get("volumes", ())}
    fields |= {FieldRef(LABEL, key): as_text(value) for key, value in metadata["labels"].items()}
    return fields | {FieldRef(ANNOTATION, key): as_text(value) for key, value in metadata["annotations"].items()}


def fields_of_container(noun: str, item: Mapping[str, Any]) -> dict[FieldRef, str]:
    """Return the fields of a container. `noun` is a value of `NOUNS`."""
    name = item["name"]
    fields = {FieldRef(noun, name, name): item.get("image", "")}
    fields |= {FieldRef(VARIABLE, entry["name"], name): _variable(entry) for entry in item.get("env", ())}
    fields |= {FieldRef(MOUNT, mount["mountPath"], name): _mounted(mount) for mount in item.get("volumeMounts", ())}
    fields |= {FieldRef(PORT, _number(port), name): port.get("name", "") for port in item.get("ports", ())}
    return fields | {
        FieldRef(key, "", name): as_text(value) for key, value in item.items() if key not in _APART_IN_CONTAINER
    }


def _variable(entry: Mapping[str, Any]) -> str:
    source = entry.get("valueFrom")
    if not source:
        return as_text(entry.get("value", ""))
    kind, reference = next(iter(source.items()))
    if kind not in _SOURCES_OF_VARIABLES:
        return f"{kind} {as_text(reference)}"
    key = "" if reference["key"] == entry["name"] else f", key {reference['key']}"
    return f"{_SOURCES_OF_VARIABLES[kind]} {reference.get('name', '')}{key}"


def _mounted(mount: Mapping[str, Any]) -> str:
    parts = [
        f"volume {mount['name']}",
        *(f"{key} {mount[key]}" for key in ("subPath", "subPathExpr") if mount.get(key)),
    ]
    return ", ".join([*parts, *(["read-only"] if mount.get("readOnly") else [])])


def _number(port: Mapping[str, Any]) -> str:
    protocol = port.get("protocol", "TCP")
    return str(port["containerPort"]) + (f"/{protocol}" if protocol != "TCP" else "")


def _source(volume: Mapping[str, Any]) -> str:
    """Return the objects that a volume refers to, or its source if it refers to none."""
    source = {key: value for key, value in volume.items() if key != "name"}
    kind = next(iter(source), "")
    if kind == "projected":
        return ", ".join(map(_projected, source[kind].get("sources") or ()))
    if kind not in _SOURCES_OF_VOLUMES:
        return as_text(source)
    object_kind, key = _SOURCES_OF_VOLUMES[kind]
    return f"{object_kind} {source[kind].get(key, '')}"


def _projected(source: Mapping[str, Any]) -> str:
    for kind, object_kind in _SOURCES_OF_PROJECTIONS.items():
        if source.get(kind):
            return f"{object_kind} {source[kind].get('name', '')}"
    return as_text(source)


def as_text(value: Any) -> str:
    """Return a value of a manifest as one line. Flat mappings have no braces and quotes."""
    if isinstance(value, dict) and value and not any(isinstance(item, (dict, list)) for item in value.values()):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def native_names(job: Job) -> dict[tuple[str, str], str]:
    """Return Volcano's names of the PodGroup and the volumes, by their kind and their name in this library."""
    volcano_names = {("PodGroup", naming.pod_group(job.name)): f"{job.name}-<uid>"}
    for number, volume in enumerate(job.volumes or (), 1):
        pulumi_name = naming.volume(job.name, volume.mount_path)
        volcano_names[VOLUME, pulumi_name] = f"{job.name}-<suffix-{number}>"
    return volcano_names


def as_volcano_names(ownerships: Ownerships, job: Job) -> Ownerships:
    """Replace the names in fields that the job itself set by the names that Volcano uses."""
    volcano_names = native_names(job)

    def named(field: FieldRef, ownership: Ownership) -> tuple[FieldRef, Ownership]:
        if field == FieldRef(ANNOTATION, GROUP_ANNOTATION):
            return field, replace(ownership, value=volcano_names["PodGroup", naming.pod_group(job.name)])
        kind, _, name = ownership.value.partition(" ")
        value = (
            f"{kind} {volcano_names[VOLUME, name]}"
            if kind == VOLUME and (VOLUME, name) in volcano_names
            else ownership.value
        )
        return replace(field, name=volcano_names.get((field.kind, field.name), field.name)), replace(
            ownership, value=value
        )

    return dict(
        named(field, ownership) if ownership.manager == JOB else (field, ownership)
        for field, ownership in ownerships.items()
    )
