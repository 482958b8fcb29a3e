"""A job's topology as a Mermaid flowchart: its Pods, the addresses that they receive, and the objects that they use."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core.phrases import counted, span
from pulumi_volcano_jobs.core.text import escaped, without_keys
from pulumi_volcano_jobs.explain.provenance import (
    NOUNS,
    OF_ADDED_CONTAINERS,
    VARIABLE,
    FieldRef,
    fields_of_container,
)
from pulumi_volcano_jobs.kubernetes.container_lists import all_containers, placed_containers
from pulumi_volcano_jobs.kubernetes.manifest import GROUP_ANNOTATION, Manifest, ObjectRef
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Task

# The fields that refer to objects, and the kinds of the objects: in volumes, projected volumes and variables.
_VOLUMES = (
    ("configMap", "name", "ConfigMap"),
    ("secret", "secretName", "Secret"),
    ("persistentVolumeClaim", "claimName", "PersistentVolumeClaim"),
)
_PROJECTED = (("configMap", "name", "ConfigMap"), ("secret", "name", "Secret"))
_VARIABLES = (
    ("configMapKeyRef", "name", "ConfigMap"),
    ("configMapRef", "name", "ConfigMap"),
    ("secretKeyRef", "name", "Secret"),
    ("secretRef", "name", "Secret"),
)
_NAME = re.compile(r"[\w.-]+")
# Characters that end a quoted label or have a meaning in Mermaid.
_ESCAPES = {ord(mark): f"#{ord(mark)};" for mark in '"#&<>`\\'}
_STYLES = (
    "classDef box fill:#f8fafc,stroke:#94a3b8,color:#0f172a",
    "classDef pods fill:#dbeafe,stroke:#2563eb,color:#0f172a",
    "classDef gang fill:#fef3c7,stroke:#d97706,color:#0f172a",
    "classDef secret fill:#fee2e2,stroke:#dc2626,color:#0f172a",
    "classDef object fill:#ffffff,stroke:#64748b,color:#0f172a",
    "classDef elsewhere fill:#ffffff,stroke:#64748b,color:#0f172a,stroke-dasharray:4",
)


_STYLES_OF_KINDS = {"PodGroup": "gang", "Secret": "secret"}


def graph(jobs: Iterable[Rendered]) -> str:
    """Return a Mermaid flowchart with a box for each job.

    Args:
        jobs: jobs without leaves and without secrets (`render(..., redact=True)`).
    """
    lines = ["flowchart LR"]
    for number, rendered in enumerate(jobs):
        lines += [f"  {line}" for line in _JobDiagram(rendered, f"job{number}").lines()]
    return "\n".join([*lines, *(f"  {style}" for style in _STYLES)]) + "\n"


class _JobDiagram:
    """The part of the flowchart for one job."""

    def __init__(self, rendered: Rendered, node: str) -> None:
        """Choose the names of the nodes."""
        self._rendered, self._node, self._pods = rendered, node, f"{node}_pods"
        tasks = rendered.job.tasks or ()
        self._tasks = {task.name or "": f"{node}_task{index}" for index, task in enumerate(tasks)}
        first_pods = {task.name or "": rendered.first_pods[task.name or ""] for task in tasks if task.size}
        uses = _ObjectUses(rendered.objects)
        self._uses = {name: uses.of(pod) for name, pod in first_pods.items()}
        own_objects = list(map(ObjectRef.of, rendered.objects))
        named = {key for uses in self._uses.values() for key, _ in uses}
        self._objects = {
            key: f"{node}_object{index}" for index, key in enumerate([*own_objects, *sorted(named - {*own_objects})])
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines for the job."""
        job, plugins = self._rendered.job, ", ".join(plugin.name for plugin in self._rendered.plugins)
        yield f"subgraph {self._node}[{_quoted(f'Job {job.name} in {job.namespace}')}]"
        yield "  direction LR"
        yield f"  subgraph {self._pods}[{_quoted(f'Pods with {plugins}' if plugins else 'Pods')}]"
        yield "    direction TB"
        yield from (f"    {line}" for line in (*self._pods_of_tasks(), *self._addresses()))
        yield "  end"
        yield from (f"  {line}" for line in (*self._boxes_of_objects(), *self._links()))
        yield "end"
        yield f"class {self._node},{self._pods} box"

    def _pods_of_tasks(self) -> Iterator[str]:
        job = self._rendered.job
        for task in job.tasks or ():
            name = task.name or ""
            lines = [f"{name}: {counted(task.size, 'Pod')}"]
            if task.size:
                lines.append(span(naming.pod(job.name, name, 0), naming.pod(job.name, name, task.size - 1)))
            yield f"{self._tasks[name]}({_quoted(*lines)}):::pods"

    def _addresses(self) -> Iterator[str]:
        """Link each task to the tasks whose address its Pods receive."""
        job = self._rendered.job
        tasks = [task for task in job.tasks or () if task.size]
        search = _AddressSearch({naming.address(job.name, task, 0): task.name or "" for task in reversed(tasks)})
        addressed = {
            task.name or "": search.tasks_addressed(self._rendered.first_pods[task.name or ""], task) for task in tasks
        }
        order = {name: position for position, name in enumerate(addressed)}
        for name, fields_by_task in addressed.items():
            for other in sorted(fields_by_task, key=order.__getitem__):
                field_names = fields_by_task[other]
                is_mutual = addressed[other].get(name) == field_names
                if not is_mutual or order[name] < order[other]:
                    arrow = "<-->" if is_mutual else "-->"
                    yield f"{self._tasks[name]} {arrow}|{_quoted(*field_names)}| {self._tasks[other]}"

    def _boxes_of_objects(self) -> Iterator[str]:
        own_objects = set(map(ObjectRef.of, self._rendered.objects))
        for key, node in self._objects.items():
            kind, name = key
            plugin = self._rendered.made_by.get(key)
            style = _STYLES_OF_KINDS.get(kind, "object") if key in own_objects else "elsewhere"
            source = [f"by {plugin}"] if plugin else [] if key in own_objects else ["not created by this job"]
            yield f"{node}[{_quoted(kind, name, *source)}]:::{style}"

    def _links(self) -> Iterator[str]:
        """Link the box of all Pods to the objects that they use.

        The links do not start at tasks, because Mermaid would also draw them from this box.
        """
        uses_by_object: dict[ObjectRef, dict[str, list[str]]] = {}
        for task, uses in self._uses.items():
            for key, label in uses:
                uses_by_object.setdefault(key, {}).setdefault(task, []).append(label)
        for key, by_task in uses_by_object.items():
            first, *others = by_task.values()
            is_same = len(by_task) == len(self._uses) and all(other == first for other in others)
            labels = (
                first if is_same else [f"{task}: {', '.join(task_labels)}" for task, task_labels in by_task.items()]
            )
            yield f"{self._pods} -.-|{_quoted(*labels)}| {self._objects[key]}"


class _ObjectUses:
    """Finder of the objects that Pods use. A variable that several Pods share is read once."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        """Keep the Services and NetworkPolicies of the job, which select Pods by label."""
        self._selecting = [item for item in objects if item["kind"] in {"Service", "NetworkPolicy"}]
        self._variables: dict[int, tuple[ObjectRef, ...]] = {}

    def of(self, pod: Manifest) -> list[tuple[ObjectRef, str]]:
        """Return the objects that a Pod refers to and the objects that select it, each with a label for the link."""
        spec, metadata = pod["spec"], pod["metadata"]
        containers = all_containers(spec)
        uses = [(ObjectRef("PodGroup", metadata["annotations"][GROUP_ANNOTATION]), "gang")]
        paths: dict[str, set[str]] = {}
        for mount in (mount for container in containers for mount in container.get("volumeMounts", ())):
            paths.setdefault(mount["name"], set()).add(mount["mountPath"])
        for volume in spec.get("volumes", ()):
            uses += [
                (key, path) for key in _objects_of_volume(volume) for path in sorted(paths.get(volume["name"], ()))
            ]
        from_variables = itertools.chain.from_iterable(self._of_variables(container) for container in containers)
        uses += [(key, "variables") for key in dict.fromkeys(from_variables)]
        labels = metadata["labels"]
        return uses + [(ObjectRef.of(item), label) for item in self._selecting for label in _selections(item, labels)]

    def _of_variables(self, container: Mapping[str, Any]) -> list[ObjectRef]:
        """Return the objects that the variables of a container refer to, without duplicates."""
        entries = container.get("env") or ()
        by_id = dict(zip(map(id, entries), entries, strict=True))
        for key in by_id.keys() - self._variables.keys():
            self._variables[key] = tuple(_referenced_objects(by_id[key].get("valueFrom") or {}, _VARIABLES))
        of_env = itertools.chain.from_iterable(map(self._variables.__getitem__, by_id))
        of_all = (key for source in container.get("envFrom", ()) for key in _referenced_objects(source, _VARIABLES))
        return list(dict.fromkeys(itertools.chain(of_env, of_all)))


def _objects_of_volume(volume: Manifest) -> Iterator[ObjectRef]:
    """Yield the objects that a volume refers to."""
    yield from _referenced_objects(volume, _VOLUMES)
    for source in volume.get("projected", {}).get("sources") or ():
        yield from _referenced_objects(source, _PROJECTED)


def _referenced_objects(holder: Manifest, fields: Iterable[tuple[str, str, str]]) -> Iterator[ObjectRef]:
    return (ObjectRef(kind, holder[field].get(name, "")) for field, name, kind in fields if field in holder)


def _selections(item: Manifest, labels: Mapping[str, Any]) -> Iterator[str]:
    spec, kind = item.get("spec", {}), item["kind"]
    # A Service without a selector selects no Pods. A NetworkPolicy without one selects all Pods.
    if kind == "Service" and spec.get("selector") and spec["selector"].items() <= labels.items():
        yield "host names" if spec.get("clusterIP") == "None" else "cluster IP"
    if kind == "NetworkPolicy" and spec["podSelector"].get("matchLabels", {}).items() <= labels.items():
        yield "selected by"


class _AddressSearch:
    """Search for addresses of tasks in Pods. A variable without an address that Pods share is searched once."""

    def __init__(self, tasks: Mapping[str, str]) -> None:
        """Set the addresses to find, each with the name of its task."""
        self._tasks = tasks
        self._longest = max(map(len, tasks), default=0)
        self._plain: dict[int, Any] = {}

    def tasks_addressed(self, pod: Manifest, own_task: Task) -> dict[str, list[str]]:
        """Return the other tasks whose address is in a container of a Pod, each with the fields that contain it."""
        fields_by_task: dict[str, dict[str, None]] = {}
        wires = {(kind, wire["name"]): wire for kind, _, wire in placed_containers(own_task.pod_spec, "")}
        for kind, _, container in placed_containers(pod["spec"], ""):
            for field, text in self._fields(NOUNS[kind], container, wires.get((kind, container["name"]))):
                for task in self._tasks_in(text):
                    fields_by_task.setdefault(task, {})[field.name or field.kind] = None
        fields_by_task.pop(own_task.name or "", None)
        return {task: list(field_names) for task, field_names in fields_by_task.items()}

    def _fields(
        self, noun: str, container: Mapping[str, Any], wire: Mapping[str, Any] | None
    ) -> Iterator[tuple[FieldRef, str]]:
        """Yield the fields of a container, with the fields of its template first."""
        entries = container.get("env") or ()
        order = dict(zip(map(id, entries), itertools.count(), strict=False))
        # Set operations instead of a loop: svc sets two variables for each task.
        unsearched = sorted(order.keys() - self._plain.keys(), key=order.__getitem__)
        fields = fields_of_container(noun, {**container, "env": [entries[order[key]] for key in unsearched]})
        for key in unsearched:
            entry = entries[order[key]]
            if not any(self._tasks_in(fields[FieldRef(VARIABLE, entry["name"], container["name"])])):
                self._plain[key] = entry
        template_fields = fields_of_container(noun, wire) if wire else {}
        for field in sorted(fields, key=lambda field: field not in template_fields):
            if wire is not None or field.kind in OF_ADDED_CONTAINERS:
                yield field, fields[field]

    def _tasks_in(self, text: str) -> Iterator[str]:
        """Yield the tasks whose address is in a text, as a whole host name or as the first labels of one."""
        for match in _NAME.finditer(text):
            name = match[0][: self._longest + 1]
            ends = (place for place, character in enumerate(name) if character == ".")
            for end in (*ends, len(name)):
                if end <= self._longest and name[:end] in self._tasks:
                    yield self._tasks[name[:end]]


def _quoted(*lines: str) -> str:
    """Return lines as a quoted Mermaid label."""
    return '"{}"'.format("<br/>".join(escaped(without_keys(line)).translate(_ESCAPES) for line in lines))
