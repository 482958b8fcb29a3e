"""Check the references of a job to objects that its file may define, such as ConfigMaps, claims and queues.

A file without ConfigMaps may refer to any ConfigMap of the cluster. A file that defines some probably defines all of
them, so a name that it does not define is probably misspelt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pulumi_volcano_jobs.admission.defaults import QUEUE
from pulumi_volcano_jobs.core.errors import Problem, value_text
from pulumi_volcano_jobs.core.phrases import some
from pulumi_volcano_jobs.core.suggestions import closest
from pulumi_volcano_jobs.kubernetes.manifest import ObjectRef
from pulumi_volcano_jobs.spec.cluster import ROOT_QUEUE
from pulumi_volcano_jobs.spec.model import Job

_PULL_SECRET = "image pull Secret"  # noqa: S105  # a kind of object
"""A Secret with credentials of a registry. Other Secrets of a file are no reason to expect it there."""
_PULL_SECRET_TYPES = frozenset({"kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg"})
_NAMESPACED = frozenset({"ConfigMap", "Secret", _PULL_SECRET, "PersistentVolumeClaim", "ServiceAccount"})
_KINDS = _NAMESPACED | {"PriorityClass", "Queue"}
# Objects that every cluster has.
_PRESENT = {
    "ConfigMap": frozenset({"kube-root-ca.crt"}),
    "PriorityClass": frozenset({"system-cluster-critical", "system-node-critical"}),
    "Queue": frozenset({QUEUE, ROOT_QUEUE}),
    "ServiceAccount": frozenset({"default"}),
}
# The key of a volume source and of its name, by the kind to which it refers.
_VOLUMES = {
    "ConfigMap": ("configMap", "name"),
    "Secret": ("secret", "secretName"),
    "PersistentVolumeClaim": ("persistentVolumeClaim", "claimName"),
}
_PROJECTED = {"ConfigMap": "configMap", "Secret": "secret"}
_DATA = ("data", "binaryData", "stringData")
_ENV = {"ConfigMap": "configMapKeyRef", "Secret": "secretKeyRef"}
_ENV_FROM = {"ConfigMap": "configMapRef", "Secret": "secretRef"}


class _Reference(NamedTuple):
    kind: str
    name: Any
    path: str
    keys: tuple[tuple[str, str], ...] = ()
    """The keys of the object that the job reads, with their paths."""


class DefinedObjects:
    """The objects of files that jobs refer to, by kind and namespace."""

    def __init__(self, objects: Iterable[Mapping[str, Any]], namespace: str = "default") -> None:
        """Collect the objects.

        Args:
            objects: the objects of a file, of any kind.
            namespace: the namespace of objects that do not set one.
        """
        self._names: dict[tuple[str, str], set[str]] = {}
        self._keys: dict[tuple[str, str, str], set[str]] = {}
        for item in objects:
            kind, metadata = item.get("kind"), item.get("metadata")
            name = metadata.get("name") if isinstance(metadata, Mapping) else None
            if kind in _KINDS and isinstance(metadata, Mapping) and isinstance(name, str):
                place = metadata.get("namespace") or namespace
                self._names.setdefault(_key(kind, place), set()).add(name)
                self._keys.setdefault((*_key(kind, place), name), set()).update(_keys_in(item))
                if kind == "Secret" and item.get("type") in _PULL_SECRET_TYPES:
                    self._names.setdefault(_key(_PULL_SECRET, place), set()).add(name)

    def of(self, kind: str, namespace: Any) -> set[str]:
        """Return the names of a kind; a namespace that is not known yet has none."""
        is_unknown = kind in _NAMESPACED and not isinstance(namespace, str)
        return set() if is_unknown else self._names.get(_key(kind, namespace), set())

    def keys(self, kind: str, namespace: Any, name: str) -> set[str]:
        """Return the keys of a ConfigMap or a Secret."""
        return self._keys.get((*_key(kind, namespace), name), set())


def _keys_in(item: Mapping[str, Any]) -> Iterator[str]:
    for field in _DATA:
        data = item.get(field)
        yield from (key for key in data if isinstance(key, str)) if isinstance(data, Mapping) else ()


def _key(kind: str, namespace: Any) -> tuple[str, str]:
    return kind, str(namespace) if kind in _NAMESPACED else ""


def check(
    job: Job, created: Iterable[ObjectRef], in_file: DefinedObjects, defined: DefinedObjects | None = None
) -> Iterator[Problem]:
    """Yield a warning for each reference to an object that is not defined, although its file defines others.

    Args:
        job: a job with its namespace.
        created: the objects that the job itself creates.
        in_file: the objects of the job's file.
        defined: the objects of all files, with those of the job's file, which are the default.
    """
    created = frozenset(created)
    defined = defined or in_file
    for kind, name, path, keys in _references(job):
        siblings = in_file.of(kind, job.namespace)
        if not siblings or not isinstance(name, str) or not name:
            continue
        of_kind = "Secret" if kind == _PULL_SECRET else kind
        is_known = name in defined.of(of_kind, job.namespace) or name in _PRESENT.get(kind, ())
        if not is_known and ObjectRef(kind, name) not in created:
            reason = f"the file defines {kind} {some(siblings)}, but not this one"
            similar = closest(name, siblings)
            hint = f"did you mean {similar}?" if similar else "define it in the file, or create it before the job"
            yield Problem(path, "Warning", reason, hint, value_text(name), code="VJ150")
        known_keys = defined.keys(kind, job.namespace, name)
        # Another tool may fill in an object without keys.
        for key, place in keys if known_keys else ():
            if key not in known_keys:
                reason = f"the {kind} {name} of the file does not have this key"
                hint = f"use {some(known_keys)}, or add the key"
                yield Problem(place, "Warning", reason, hint, value_text(key), code="VJ150")


def _references(job: Job) -> Iterator[_Reference]:
    yield _Reference("Queue", job.queue, "spec.queue")
    yield _Reference("PriorityClass", job.priority_class_name, "spec.priorityClassName")
    for index, volume in enumerate(job.volumes or ()):
        if volume.volume_claim is None:
            yield _Reference(
                "PersistentVolumeClaim", volume.volume_claim_name, f"spec.volumes[{index}].volumeClaimName"
            )
    for index, task in enumerate(job.tasks or ()):
        yield from _of_pod(task.pod_spec, f"spec.tasks[{index}].template.spec")


def _of_pod(spec: Mapping[str, Any], path: str) -> Iterator[_Reference]:
    yield _Reference("PriorityClass", spec.get("priorityClassName"), f"{path}.priorityClassName")
    yield _Reference("ServiceAccount", spec.get("serviceAccountName"), f"{path}.serviceAccountName")
    for place, secret in _entries(spec, "imagePullSecrets", path):
        yield _Reference(_PULL_SECRET, secret.get("name"), f"{place}.name")
    for place, volume in _entries(spec, "volumes", path):
        yield from _of_volume(volume, place)
    for key in ("initContainers", "containers"):
        for place, container in _entries(spec, key, path):
            yield from _of_container(container, place)


def _of_volume(volume: Mapping[str, Any], path: str) -> Iterator[_Reference]:
    for kind, (key, name) in _VOLUMES.items():
        yield from _of_source(volume, key, name, path, kind)
    projected = volume.get("projected")
    if isinstance(projected, Mapping):
        for place, source in _entries(projected, "sources", f"{path}.projected"):
            for kind, key in _PROJECTED.items():
                yield from _of_source(source, key, "name", place, kind)


def _of_container(container: Mapping[str, Any], path: str) -> Iterator[_Reference]:
    for place, variable in _entries(container, "env", path):
        source = variable.get("valueFrom")
        for kind, key in _ENV.items():
            if isinstance(source, Mapping):
                yield from _of_source(source, key, "name", f"{place}.valueFrom", kind)
    for place, source in _entries(container, "envFrom", path):
        for kind, key in _ENV_FROM.items():
            yield from _of_source(source, key, "name", place, kind)


def _of_source(holder: Mapping[str, Any], key: str, name: str, path: str, kind: str) -> Iterator[_Reference]:
    source = holder.get(key)
    if isinstance(source, Mapping) and source.get("optional") is not True:
        place = f"{path}.{key}"
        entries = [(place, source), *_entries(source, "items", place)]
        keys = [(entry["key"], f"{at}.key") for at, entry in entries if isinstance(entry.get("key"), str)]
        yield _Reference(kind, source.get(name), f"{place}.{name}", tuple(keys))


def _entries(holder: Mapping[str, Any], key: str, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    entries = holder.get(key)
    for index, entry in enumerate(entries if isinstance(entries, (list, tuple)) else ()):
        if isinstance(entry, Mapping):
            yield f"{path}.{key}[{index}]", entry
