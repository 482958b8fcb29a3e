"""Manifests as plain dicts: a Pod whose lists are edited by key, and the other objects of a job.

Lists in a Pod are edited by Kubernetes' merge key: the name of a variable, the path of a mount, the number and protocol
of a port, the name of a volume. Each key occurs once, because server-side apply rejects duplicates. The last entry with
a key takes precedence, as it does in a container.
"""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pulumi_volcano_jobs.core.leaf import Leaf, derive, is_given
from pulumi_volcano_jobs.core.resource_types import CONFIG_MAP, NETWORK_POLICY, POD, SECRET, SERVICE, ObjectType
from pulumi_volcano_jobs.kubernetes.container_lists import CONTAINER_LISTS, CONTAINERS, INIT_CONTAINERS

Manifest = dict[str, Any]
"""An object of Kubernetes, with fields as Kubernetes spells them."""
PortKey = tuple[int, str]

GROUP_ANNOTATION = "scheduling.k8s.io/group-name"
JOB_NAME = "volcano.sh/job-name"
JOB_NAMESPACE = "volcano.sh/job-namespace"
JOB_VERSION = "volcano.sh/job-version"
JOB_RETRY_COUNT = "volcano.sh/job-retry-count"
TASK_SPEC = "volcano.sh/task-spec"
TASK_INDEX = "volcano.sh/task-index"
TEMPLATE_UID = "volcano.sh/template-uid"
QUEUE_NAME = "volcano.sh/queue-name"
PARTITION_ID = "volcano.sh/partition-id"
NUMA_POLICY = "volcano.sh/numa-topology-policy"
REPLICAS = "pulumi.com/volcano-replicas"
"""The annotation of each Pod with the replicas of all tasks at the time when it was created."""


class Placeholder(str):
    """Text in place of a hidden key. It is not encoded as base64, so that no cluster accepts it as a key."""

    __slots__ = ()


def copy_tree(tree: Any) -> Any:
    """Return a copy of the dicts and lists of a tree, which shares immutable values and leaves."""
    if isinstance(tree, dict):
        return {key: copy_tree(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [copy_tree(value) for value in tree]
    return tree


class Container:
    """A container of a Pod that plugins edit. Its lists are edited by key.

    With `keep_template_values`, an edit of a variable, path or port of the template changes `lists` only, and the
    manifest has the template's command if the edited command does not run it.
    """

    __slots__ = ("_env", "_mounts", "_ports", "_template_keys", "_template_program", "fields", "name")

    def __init__(self, wire: Mapping[str, Any], *, keep_template_values: bool = False) -> None:
        """Copy a container in wire form."""
        self.fields: Manifest = {k: copy_tree(v) for k, v in wire.items() if k not in _CONTAINER_LISTS}
        """All other fields of the container, under their names in YAML. You can change them."""
        self.name: str = wire.get("name", "")
        """The container's name."""
        self._env: dict[str, Manifest] = _keyed(wire.get("env"), lambda entry: entry["name"])
        self._mounts: dict[str, Manifest] = _keyed(wire.get("volumeMounts"), lambda entry: entry["mountPath"])
        self._ports: dict[PortKey, Manifest] = _keyed(wire.get("ports"), _port_key)
        self._template_keys: Mapping[str, dict[str, Manifest]] = _NOTHING_KEPT
        self._template_program: Manifest = {}
        if keep_template_values:
            self._template_program = {key: wire[key] for key in ("command", "args") if is_given(wire.get(key))}
            self._template_keys = {kind: dict(entries) for kind, entries in self.lists()}

    def env(self, name: str) -> Manifest | None:
        """Return the entry of a variable, or None."""
        return self._env.get(name)

    def set_env(self, name: str, value: Any) -> None:
        """Set a variable to a literal value; this replaces a variable of that name."""
        _set(self._env, self._template_keys["env"], name, {"name": name, "value": value})

    def set_env_from(self, name: str, source: Manifest) -> None:
        """Set a variable from a `valueFrom` source; this replaces a variable of that name."""
        _set(self._env, self._template_keys["env"], name, {"name": name, "valueFrom": source})

    def set_env_entries(self, entries: Mapping[str, Manifest]) -> None:
        """Set variables from entries, by name. Containers share the entries, so do not change them.

        One call sets all variables, because svc sets two for each task in each Pod.
        """
        if ignored := self._template_keys["env"].keys() & entries.keys():
            self._template_keys["env"].update((name, entries[name]) for name in ignored)
            entries = {name: entry for name, entry in entries.items() if name not in ignored}
        for name in self._env.keys() & entries.keys():
            del self._env[name]
        self._env.update(entries)

    def mount(self, path: str, volume: str, sub_path: str = "") -> None:
        """Mount a volume, or one directory of it, at a path; this replaces a mount at that path."""
        mount = {"mountPath": path, "name": volume} | ({"subPath": sub_path} if sub_path else {})
        _set(self._mounts, self._template_keys["volumeMounts"], path, mount)

    def declares_port(self, number: int) -> bool:
        """Return whether a port of that number is declared, with any name or protocol."""
        return any(declared == number for declared, _ in self._ports)

    def set_port(self, number: int, name: str) -> None:
        """Declare a TCP port; this replaces ports of that number or name."""
        port, kept = {"name": name, "containerPort": number}, self._template_keys["ports"]
        same_number = self._ports.get((number, "TCP"), {}).get("name")
        if taken := [known for known in (name, same_number) if known in kept]:
            kept.update(dict.fromkeys(taken, port))
            return
        for key in [key for key, declared in self._ports.items() if declared.get("name") == name]:
            del self._ports[key]
        self._ports[number, "TCP"] = port

    def lists(self) -> Iterator[tuple[str, Mapping[str, Manifest]]]:
        """Yield the lists that are edited by key: variables, mounts, named ports.

        They contain the entries as they were last set, even if `keep_template_values` ignores an edit.
        """
        ports = {entry["name"]: entry for entry in self._ports.values() if entry.get("name")}
        for kind, entries in (("env", self._env), ("volumeMounts", self._mounts), ("ports", ports)):
            yield kind, entries | self._template_keys[kind] if self._template_keys[kind] else entries

    def to_wire(self) -> Manifest:
        """Return the container as a plain dict."""
        wire = dict(self.fields)
        for key, entries in (("env", self._env), ("ports", self._ports), ("volumeMounts", self._mounts)):
            if entries:
                wire[key] = list(entries.values())
        if self._template_program and replaces_program(wire.get("command"), self._template_program):
            del wire["command"]
            wire |= self._template_program
        return wire


def replaces_program(command: Any, template: Mapping[str, Any]) -> bool:
    """Check whether a command does not run the command of a template, or its args if the template has no command.

    A command that contains the other one, such as `["nice", "python", "train.py"]`, runs it. A leaf is not compared.
    """
    if not is_given(command) or isinstance(command, Leaf):
        return False
    program: Any = template.get("command")
    if not is_given(program):
        # Args are written for the command of the image.
        return is_given(template.get("args"))
    if isinstance(program, Leaf):
        return True
    parts = [command[start : start + len(program)] for start in range(len(command) - len(program) + 1)]
    return not (any(_are_equal(part, program) for part in parts) or _quotes(command, program))


def _are_equal(items: list[Any], others: list[Any]) -> bool:
    # Comparing a leaf with == raises an error.
    return all(
        item is other or not (isinstance(item, Leaf) or isinstance(other, Leaf) or item != other)
        for item, other in zip(items, others, strict=True)
    )


def _quotes(command: list[Any], program: list[Any]) -> bool:
    """Check whether a script in the command contains the program."""
    if not all(isinstance(item, str) for item in program):
        return False
    texts = "|".join(map(re.escape, (" ".join(program), shlex.join(program))))
    return any(
        isinstance(item, str) and re.search(rf"(?<![^\s;&|(])(?:{texts})(?![^\s;&|)])", item) for item in command
    )


_CONTAINER_LISTS = frozenset({"env", "ports", "volumeMounts"})
_POD_LISTS = frozenset({*CONTAINER_LISTS, "volumes"})
_NOTHING_KEPT: Mapping[str, dict[str, Manifest]] = {kind: {} for kind in _CONTAINER_LISTS}


def _port_key(port: Mapping[str, Any]) -> PortKey:
    return port["containerPort"], port.get("protocol", "TCP")


def _keyed(entries: Any, key: Any) -> dict[Any, Manifest]:
    keyed: dict[Any, Manifest] = {}
    for entry in entries or ():
        keyed.pop(key(entry), None)
        keyed[key(entry)] = copy_tree(entry)
    return keyed


def _set(entries: dict[str, Manifest], kept: dict[str, Manifest], name: str, entry: Manifest) -> None:
    """Set an entry at the end of the list. If the entry of that name is kept, set it in `kept` only."""
    changed = kept if name in kept else entries
    changed.pop(name, None)
    changed[name] = entry


class Pod:
    """One Pod of a job that plugins edit: a copy of the template of its task.

    With `keep_template_values`, the template's variables, mounts, named ports and volumes do not change.
    """

    __slots__ = (
        "_template_volumes",
        "_volumes",
        "annotations",
        "containers",
        "fields",
        "index",
        "init_containers",
        "labels",
        "name",
        "task",
    )

    def __init__(
        self, name: str, task: str, index: int, template: Mapping[str, Any], *, keep_template_values: bool = False
    ) -> None:
        """Copy a PodTemplateSpec in wire form for the replica `index` of `task`."""
        metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
        self.name = name
        """The name of the Pod; empty for a template of all Pods of a task."""
        self.task = task
        """The name of its task."""
        self.index = index
        """Its index in the task, from 0."""
        self.labels: Manifest = dict(metadata.get("labels") or {})
        """The labels. You can change them."""
        self.annotations: Manifest = dict(metadata.get("annotations") or {})
        """The annotations. You can change them."""
        self.fields: Manifest = {k: copy_tree(v) for k, v in spec.items() if k not in _POD_LISTS}
        """All other fields of the spec, under their names in YAML. You can change them."""
        self.containers = [
            Container(wire, keep_template_values=keep_template_values) for wire in spec.get(CONTAINERS) or ()
        ]
        """The containers."""
        self.init_containers = [
            Container(wire, keep_template_values=keep_template_values) for wire in spec.get(INIT_CONTAINERS) or ()
        ]
        """The init containers."""
        self._volumes: dict[str, Manifest] = _keyed(spec.get("volumes"), lambda entry: entry["name"])
        self._template_volumes = dict(self._volumes) if keep_template_values else {}

    @property
    def all_containers(self) -> list[Container]:
        """The containers and the init containers."""
        return [*self.containers, *self.init_containers]

    def set_volume(self, name: str, source: Manifest) -> None:
        """Set a volume with its source; this replaces a volume of that name."""
        _set(self._volumes, self._template_volumes, name, {"name": name, **source})

    def volumes(self) -> Iterator[tuple[str, Manifest]]:
        """Yield the volumes by name."""
        yield from self._volumes.items()

    def lists(self) -> Iterator[tuple[tuple[str, str], Mapping[str, Manifest]]]:
        """Yield the lists of the containers, and the volumes, each with its kind and the name of its container."""
        for container in self.all_containers:
            yield from (((kind, container.name), entries) for kind, entries in container.lists())
        yield ("volumes", ""), self._volumes | self._template_volumes

    def to_template(self) -> Manifest:
        """Return the Pod as a PodTemplateSpec."""
        metadata = {"labels": self.labels, "annotations": self.annotations}
        return {"metadata": {key: value for key, value in metadata.items() if value}, "spec": self._spec()}

    def to_manifest(self, namespace: Any) -> Manifest:
        """Return the Pod as a manifest."""
        pod = build(POD, self.name, namespace, spec=self._spec())
        pod["metadata"] |= {"labels": self.labels, "annotations": self.annotations}
        return pod

    def _spec(self) -> Manifest:
        spec = dict(self.fields)
        spec[CONTAINERS] = [container.to_wire() for container in self.containers]
        if self.init_containers:
            spec[INIT_CONTAINERS] = [container.to_wire() for container in self.init_containers]
        if self._volumes:
            spec["volumes"] = list(self._volumes.values())
        return spec


def build(object_type: ObjectType, name: str, namespace: Any, **fields: Any) -> Manifest:
    """Build a manifest with an explicit namespace."""
    return {
        "apiVersion": object_type.api_version,
        "kind": object_type.kind,
        "metadata": {"name": name, "namespace": namespace},
        **fields,
    }


def secret(name: str, namespace: Any, contents: Mapping[str, Any]) -> Manifest:
    """Build a Secret from text, as base64 in `data`. With stringData, the live object would always show a diff."""
    return build(SECRET, name, namespace, data={key: derive(_base64, text) for key, text in contents.items()})


def _base64(text: str) -> str:
    return text if isinstance(text, Placeholder) else base64.b64encode(text.encode()).decode()


def config_map(name: str, namespace: Any, data: Mapping[str, Any]) -> Manifest:
    """Build a ConfigMap."""
    return build(CONFIG_MAP, name, namespace, data=dict(data))


def service(name: str, namespace: Any, spec: Manifest) -> Manifest:
    """Build a Service."""
    return build(SERVICE, name, namespace, spec=spec)


def network_policy(name: str, namespace: Any, pods: Manifest, ingress: list[Manifest]) -> Manifest:
    """Build a NetworkPolicy for the ingress traffic of Pods with these labels."""
    spec = {"podSelector": {"matchLabels": pods}, "ingress": ingress, "policyTypes": ["Ingress"]}
    return build(NETWORK_POLICY, name, namespace, spec=spec)


def pod_selector(job: str, namespace: Any) -> Manifest:
    """Return the labels that select all Pods of a job."""
    return {JOB_NAME: job, JOB_NAMESPACE: namespace}


class ObjectRef(NamedTuple):
    """An object of a job, in the job's namespace."""

    kind: str
    """The kind, such as `Service`."""
    name: str
    """The name in the cluster."""

    @classmethod
    def of(cls, item: Manifest) -> ObjectRef:
        """Return the reference to the object of a manifest."""
        return cls(item["kind"], item["metadata"]["name"])


def identity(manifest: Manifest) -> tuple[str, str, str]:
    """Return the kind, namespace and name, which identify an object in a cluster."""
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", "default"), metadata["name"]


def canonical(objects: Iterable[Manifest]) -> list[Manifest]:
    """Sort objects by kind and name."""
    return sorted(objects, key=ObjectRef.of)
