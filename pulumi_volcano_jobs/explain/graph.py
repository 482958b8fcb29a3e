"""A job's topology as a Mermaid flowchart: its Pods, who of them knows whose address, and the objects that they use."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core.phrases import counted, span
from pulumi_volcano_jobs.core.text import escaped, without_keys
from pulumi_volcano_jobs.explain.provenance import CONTAINERS, OF_ADDED_CONTAINERS, VARIABLE, Fact, facts_of_container
from pulumi_volcano_jobs.kubernetes.manifest import GROUP_ANNOTATION, Manifest, ObjectRef
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec import names
from pulumi_volcano_jobs.spec.model import Task

# Kinds of objects by the fields that name them: of volumes, of what several bring in one, and of variables' sources.
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
# What would end a label in quotes, or mean something in it.
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
    """Draw jobs: a Mermaid flowchart with a box for each.

    Args:
        jobs: without leaves, and without their secrets (`render(..., redact=True)`).
    """
    lines = ["flowchart LR"]
    for number, rendered in enumerate(jobs):
        lines += [f"  {line}" for line in _Drawing(rendered, f"job{number}").lines()]
    return "\n".join([*lines, *(f"  {style}" for style in _STYLES)]) + "\n"


class _Drawing:
    """One job: the names of its nodes, and what is drawn of it."""

    def __init__(self, rendered: Rendered, node: str) -> None:
        """Name the nodes."""
        self._rendered, self._node, self._pods = rendered, node, f"{node}_pods"
        tasks = rendered.job.tasks or ()
        self._tasks = {task.name or "": f"{node}_task{index}" for index, task in enumerate(tasks)}
        firsts = {task.name or "": rendered.first_pods[task.name or ""] for task in tasks if task.size}
        uses = _Uses(rendered.objects)
        self._uses = {name: uses.of(pod) for name, pod in firsts.items()}
        made = list(map(ObjectRef.of, rendered.objects))
        named = {key for uses in self._uses.values() for key, _ in uses}
        self._objects = {key: f"{node}_object{index}" for index, key in enumerate([*made, *sorted(named - {*made})])}

    def lines(self) -> Iterator[str]:
        """Give the job's part of the flowchart."""
        job, plugins = self._rendered.job, ", ".join(plugin.name for plugin in self._rendered.plugins)
        yield f"subgraph {self._node}[{_quoted(f'Job {job.name} in {job.namespace}')}]"
        yield "  direction LR"
        yield f"  subgraph {self._pods}[{_quoted(f'Pods, with {plugins}' if plugins else 'Pods')}]"
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
                lines.append(span(names.pod(job.name, name, 0), names.pod(job.name, name, task.size - 1)))
            yield f"{self._tasks[name]}({_quoted(*lines)}):::pods"

    def _addresses(self) -> Iterator[str]:
        """Link tasks to those whose address they are told."""
        job = self._rendered.job
        tasks = [task for task in job.tasks or () if task.size]
        search = _Search({names.address(job.name, task, 0): task.name or "" for task in reversed(tasks)})
        told = {task.name or "": search.told(self._rendered.first_pods[task.name or ""], task) for task in tasks}
        order = {name: position for position, name in enumerate(told)}
        for name, others in told.items():
            for other in sorted(others, key=order.__getitem__):
                ways = others[other]
                is_mutual = told[other].get(name) == ways
                if not is_mutual or order[name] < order[other]:
                    arrow = "<-->" if is_mutual else "-->"
                    yield f"{self._tasks[name]} {arrow}|{_quoted(*ways)}| {self._tasks[other]}"

    def _boxes_of_objects(self) -> Iterator[str]:
        made = set(map(ObjectRef.of, self._rendered.objects))
        for key, node in self._objects.items():
            kind, name = key
            maker = self._rendered.made_by.get(key)
            style = _STYLES_OF_KINDS.get(kind, "object") if key in made else "elsewhere"
            origin = [f"by {maker}"] if maker else [] if key in made else ["not of this job"]
            yield f"{node}[{_quoted(kind, name, *origin)}]:::{style}"

    def _links(self) -> Iterator[str]:
        """Link the Pods to what they use; a link from a single task would be drawn from the box of all Pods anyway."""
        ways: dict[ObjectRef, dict[str, list[str]]] = {}
        for task, uses in self._uses.items():
            for key, way in uses:
                ways.setdefault(key, {}).setdefault(task, []).append(way)
        for key, by_task in ways.items():
            first, *others = by_task.values()
            is_same = len(by_task) == len(self._uses) and all(other == first for other in others)
            labels = first if is_same else [f"{task}: {', '.join(words)}" for task, words in by_task.items()]
            yield f"{self._pods} -.-|{_quoted(*labels)}| {self._objects[key]}"


class _Uses:
    """Finds the objects that Pods use. A variable that Pods share is read once."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        """Keep the objects of the job that select Pods."""
        self._selecting = [item for item in objects if item["kind"] in {"Service", "NetworkPolicy"}]
        self._variables: dict[int, tuple[ObjectRef, ...]] = {}

    def of(self, pod: Manifest) -> list[tuple[ObjectRef, str]]:
        """List the objects that a Pod names, and those that name it by its labels, with how they are used."""
        spec, metadata = pod["spec"], pod["metadata"]
        containers = [*spec["containers"], *spec.get("initContainers", ())]
        uses = [(ObjectRef("PodGroup", metadata["annotations"][GROUP_ANNOTATION]), "gang")]
        paths: dict[str, set[str]] = {}
        for mount in (mount for container in containers for mount in container.get("volumeMounts", ())):
            paths.setdefault(mount["name"], set()).add(mount["mountPath"])
        for volume in spec.get("volumes", ()):
            uses += [(key, path) for key in _brought(volume) for path in sorted(paths.get(volume["name"], ()))]
        found = itertools.chain.from_iterable(self._of_variables(container) for container in containers)
        uses += [(key, "variables") for key in dict.fromkeys(found)]
        labels = metadata["labels"]
        return uses + [(ObjectRef.of(item), way) for item in self._selecting for way in _selected(item, labels)]

    def _of_variables(self, container: Manifest) -> list[ObjectRef]:
        """Return the objects that the variables of a container refer to, each once."""
        entries = container.get("env") or ()
        by_id = dict(zip(map(id, entries), entries, strict=True))
        for key in by_id.keys() - self._variables.keys():
            self._variables[key] = tuple(_named(by_id[key].get("valueFrom") or {}, _VARIABLES))
        of_env = itertools.chain.from_iterable(map(self._variables.__getitem__, by_id))
        of_all = (key for source in container.get("envFrom", ()) for key in _named(source, _VARIABLES))
        return list(dict.fromkeys(itertools.chain(of_env, of_all)))


def _brought(volume: Manifest) -> Iterator[ObjectRef]:
    """Give the objects whose contents a volume has."""
    yield from _named(volume, _VOLUMES)
    for source in volume.get("projected", {}).get("sources") or ():
        yield from _named(source, _PROJECTED)


def _named(holder: Manifest, fields: Iterable[tuple[str, str, str]]) -> Iterator[ObjectRef]:
    return (ObjectRef(kind, holder[field].get(name, "")) for field, name, kind in fields if field in holder)


def _selected(item: Manifest, labels: Mapping[str, Any]) -> Iterator[str]:
    spec, kind = item.get("spec", {}), item["kind"]
    # A Service without a selector is of no Pod, a policy without one of all.
    if kind == "Service" and spec.get("selector") and spec["selector"].items() <= labels.items():
        yield "host names" if spec.get("clusterIP") == "None" else "one address"
    if kind == "NetworkPolicy" and spec["podSelector"].get("matchLabels", {}).items() <= labels.items():
        yield "guarded by"


class _Search:
    """Finds the addresses of tasks in Pods. An entry that Pods share and that has no address is searched once."""

    def __init__(self, tasks: Mapping[str, str]) -> None:
        """Set the addresses to find, each with the name of its task."""
        self._tasks = tasks
        self._longest = max(map(len, tasks), default=0)
        self._plain: dict[int, Any] = {}

    def told(self, pod: Manifest, own: Task) -> dict[str, list[str]]:
        """Return the other tasks whose address is in a container of a Pod, each with the fields that contain it."""
        ways: dict[str, dict[str, None]] = {}
        for kind, word in CONTAINERS.items():
            wires = {item["name"]: item for item in own.pod_spec.get(kind) or ()}
            for container in pod["spec"].get(kind) or ():
                for fact, text in self._facts(word, container, wires.get(container["name"])):
                    for task in self._found(text):
                        ways.setdefault(task, {})[fact.name or fact.kind] = None
        ways.pop(own.name or "", None)
        return {task: list(found) for task, found in ways.items()}

    def _facts(self, word: str, container: Manifest, wire: Mapping[str, Any] | None) -> Iterator[tuple[Fact, str]]:
        """Yield the facts of a container, those of its template first."""
        entries = container.get("env") or ()
        order = dict(zip(map(id, entries), itertools.count(), strict=False))
        # In bulk and not in a loop: svc sets two variables for each task.
        rest = sorted(order.keys() - self._plain.keys(), key=order.__getitem__)
        facts = facts_of_container(word, {**container, "env": [entries[order[key]] for key in rest]})
        for key in rest:
            entry = entries[order[key]]
            if not any(self._found(facts[Fact(VARIABLE, entry["name"], container["name"])])):
                self._plain[key] = entry
        own = facts_of_container(word, wire) if wire else {}
        for fact in sorted(facts, key=lambda fact: fact not in own):
            if wire is not None or fact.kind in OF_ADDED_CONTAINERS:
                yield fact, facts[fact]

    def _found(self, text: str) -> Iterator[str]:
        """Yield the tasks whose address is in a text, as a whole host name or as the first labels of one."""
        for match in _NAME.finditer(text):
            name = match[0][: self._longest + 1]
            ends = (place for place, sign in enumerate(name) if sign == ".")
            for end in (*ends, len(name)):
                if end <= self._longest and name[:end] in self._tasks:
                    yield self._tasks[name[:end]]


def _quoted(*lines: str) -> str:
    """Quote a label of some lines for Mermaid."""
    return '"{}"'.format("<br/>".join(escaped(without_keys(line)).translate(_ESCAPES) for line in lines))
