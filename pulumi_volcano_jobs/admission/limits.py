"""Limits on the size of a job: its Pods, its objects, and the variables of its containers.

The limits on Pods and objects are from Kubernetes. The limit on variables is from Linux: Volcano creates Pods that
exceed it, but their containers do not start. A value that is not known yet (a leaf) has the size 0.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_PULUMI, Option, Phrase
from pulumi_volcano_jobs.kubernetes.container_lists import placed_containers
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef, Placeholder
from pulumi_volcano_jobs.plugins import SvcPlugin
from pulumi_volcano_jobs.plugins.settings import since_of
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Job, Task
from pulumi_volcano_jobs.spec.releases import is_older

MOST_PODS = 150_000
"""Maximum number of Pods in a cluster (kubernetes.io, Considerations for large clusters)."""
_GROWS = "use fewer Pods, or shorten the names of the job and its tasks"
_MIB = 1 << 20
# The API server limits the data of a ConfigMap or Secret. etcd limits the size of an object.
_LARGEST_DATA, _LARGEST_OBJECT = _MIB, 3 * _MIB // 2
_LARGEST_PODS = 1024 * _MIB  # the manifests of all Pods of a job: Pulumi's engine cannot process more
MAX_VARIABLE = 128 * 1024
"""Maximum size of a variable in bytes: NAME=value and the final NUL (Linux: MAX_ARG_STRLEN)."""
MAX_ENVIRONMENT = 2 * 1024 * 1024
"""Maximum size of all variables and arguments of a program in bytes (Linux: a quarter of the usual 8 MiB stack)."""
_FLAG = "inject-hosts-env"
_HOSTS = (
    f"set --{_FLAG}=false of svc (in Python: SvcPlugin(inject_hosts_env=False)), and read the addresses from"
    f" {naming.HOSTS_PATH}"
)


def check_pod_count(job: Job) -> Iterator[Problem]:
    """Yield a Problem at the first task with which a job has too many Pods.

    For such a job, do not compute values that grow with the replicas.
    """
    total = 0
    for index, task in enumerate(job.tasks or ()):
        total += task.size
        if total > MOST_PODS:
            reason = f"a cluster must have at most {MOST_PODS} Pods, but with this task the job has {total}"
            value = str(task.size)
            yield Problem(
                f"spec.tasks[{index}].replicas",
                "TooMany",
                reason,
                "lower replicas",
                value=value,
                stage=RejectionStage.API,
            )
            return


def check_objects(manifests: Iterable[Manifest], made_by: Mapping[ObjectRef, str]) -> Iterator[Problem]:
    """Yield a Problem for each ConfigMap and Secret that is too large, because host lists grow with the job."""
    for item in manifests:
        kind, name = ref = ObjectRef.of(item)
        size = sum(_decoded(value) if kind == "Secret" else _length(value) for value in item.get("data", {}).values())
        if size > _LARGEST_DATA:
            reason = f"may not be more than {_LARGEST_DATA} bytes, but the {kind} {name} has {size} bytes"
            yield Problem(f"spec.plugins.{made_by[ref]}", "TooLong", reason, _GROWS, stage=RejectionStage.API)


def _length(value: Any) -> int:
    """Return the size of a text in bytes, or 0 if it is not known yet."""
    if not isinstance(value, str):
        return 0
    return len(value) if value.isascii() else len(value.encode())


def _decoded(value: Any) -> int:
    """Return the size of decoded base64 in bytes. A placeholder is not encoded."""
    if not isinstance(value, str) or isinstance(value, Placeholder):
        return _length(value)
    return len(value) * 3 // 4 - value[-2:].count("=")


class ManifestSizes:
    """The total size of the manifests of a job's Pods, added task by task."""

    def __init__(self) -> None:
        """Start with size 0."""
        self._total = 0

    def add(self, task: Task, index: int, first: Manifest) -> Iterator[Problem]:
        """Add the Pods of a task, and yield a Problem if a Pod or the Pods of the job exceed their limit.

        Args:
            task: the task.
            index: its position in the job.
            first: the manifest of its first Pod.
        """
        # The size of a leaf is not known yet.
        size = len(json.dumps(first, default=lambda _leaf: None))
        # Strict mode also renders the first Pod of a task without replicas.
        self._total += size * max(task.size, 1)
        place = f"spec.tasks[{index}]"
        if size > _LARGEST_OBJECT:
            reason = f"each Pod may not be more than {_in_mib(_LARGEST_OBJECT)}, but has {_in_mib(size)}"
            hint = "shorten the template, or use fewer Pods if a plugin adds a list of Pods to each Pod"
            yield Problem(place, "TooLong", reason, hint, stage=RejectionStage.API)
        elif self._total > _LARGEST_PODS:
            subject = "the Pods of the job up to this task" if index else "the Pods of the task"
            reason = (
                f"{subject} may not be more than {_in_mib(_LARGEST_PODS)} in total, but have {_in_mib(self._total)}"
            )
            hint = "use fewer replicas or tasks" if index else "use fewer replicas"
            yield Problem(f"{place}.replicas", "TooLong", reason, hint, value=str(task.size), stage=RejectionStage.API)


def _in_mib(size: int) -> str:
    return f"{size / _MIB:.1f} MiB"


@dataclass(frozen=True)
class _VariableSizes:
    """Sizes of variables, including values from the plugins' ConfigMaps."""

    sizes: Mapping[tuple[str, str], int]
    made_by: Mapping[ObjectRef, str]
    hosts_hint: str
    _known: dict[int, int] = field(default_factory=dict)

    def variables(self, entries: Sequence[Manifest]) -> list[int]:
        """Return the size of each variable in bytes, including its name. An entry that Pods share is measured once."""
        by_id = dict(zip(map(id, entries), entries, strict=True))
        for key in by_id.keys() - self._known.keys():
            name, (value, _) = by_id[key]["name"], self.size(by_id[key])
            self._known[key] = _length(name) + len("=") + value + len("\0")
        return list(map(self._known.__getitem__, map(id, entries)))

    def size(self, entry: Manifest) -> tuple[int, str]:
        """Return the size of a variable's value in bytes, and the plugin that created its ConfigMap."""
        reference = _mapping(_mapping(entry.get("valueFrom")).get("configMapKeyRef"))
        name, key = reference.get("name"), reference.get("key")
        if isinstance(name, str) and isinstance(key, str) and (name, key) in self.sizes:
            return self.sizes[name, key], self.made_by.get(ObjectRef("ConfigMap", name), "")
        return _length(entry.get("value")), ""


def hosts_hint(*, native: bool, version: str) -> str:
    """Return the fix for a host list that is too long.

    Volcano's controllers need a release with the flag: an older release ignores it and all flags after it.
    """
    since = since_of(SvcPlugin, _FLAG)
    if not native or (version and not is_older(version, since)):
        return _HOSTS
    flag = Phrase("set ", MANAGED_BY_PULUMI, f", and {_HOSTS}")
    if version:
        return flag
    return Phrase(flag, f"; if the cluster runs Volcano {since} or later, set ", Option("volcano_version"), " instead")


def variables(
    tasks: Sequence[Task],
    pods: Sequence[Manifest],
    firsts: Mapping[str, Manifest],
    objects: Sequence[Manifest],
    made_by: Mapping[ObjectRef, str],
    hosts_hint: str,
) -> list[Problem]:
    """Return a Problem for each variable or environment that is larger than Linux allows.

    Args:
        tasks: the tasks of the job.
        pods: its Pods, sorted by task and index.
        firsts: the first Pod of each task; lenient mode has none for a task without replicas.
        objects: the other objects.
        made_by: the plugin that created each of these objects.
        hosts_hint: the fix for a host list that is too long (see the function `hosts_hint`).
    """
    found: list[Problem] = []
    maps = [item for item in objects if item["kind"] == "ConfigMap"]
    sizes = {
        (item["metadata"]["name"], key): _length(value)
        for item in maps
        for key, value in _mapping(item.get("data")).items()
    }
    shared, end = _VariableSizes(sizes, made_by, hosts_hint), 0
    for index, task in enumerate(tasks):
        end += task.size
        # The last Pod of a task has the longest numbers, and the first may be a master.
        rendered = [firsts[task.name or ""]] if task.name in firsts else []
        samples = [*rendered, *(pods[end - 1 : end] if task.size > 1 else ())]
        found += _task(task, f"spec.tasks[{index}].template.spec", samples, shared)
    return list({(problem.path, problem.reason.partition(" takes ")[0]): problem for problem in found}.values())


def _task(task: Task, path: str, samples: Iterable[Manifest], shared: _VariableSizes) -> Iterator[Problem]:
    for pod in samples:
        for kind, _, container in placed_containers(pod["spec"], path):
            template_variables = functools.partial(_template_variables, task, kind, container.get("name", ""), path)
            yield from _container(container, template_variables, shared)


def _template_variables(task: Task, kind: str, name: str, path: str) -> tuple[str, list[str]]:
    """Return the path of a container's variables in the template, and their names."""
    for template_kind, place, container in placed_containers(task.pod_spec, path):
        if (template_kind, container.get("name")) == (kind, name):
            return f"{place}.env", [entry["name"] for entry in container.get("env") or ()]
    return path, []


def _container(
    container: Mapping[str, Any], template_variables: Callable[[], tuple[str, list[str]]], shared: _VariableSizes
) -> Iterator[Problem]:
    entries = container.get("env", ())
    sizes = shared.variables(entries)
    if max(sizes, default=0) > MAX_VARIABLE:
        place = template_variables()
        for entry, size in zip(entries, sizes, strict=True):
            if size > MAX_VARIABLE:
                yield _variable(entry["name"], size, *place, shared.size(entry)[1], shared.hosts_hint)
    elif sum(sizes) > MAX_ENVIRONMENT:
        reason = (
            f"may not be more than {MAX_ENVIRONMENT} bytes on Linux, but the environment of the container"
            f" {container.get('name')} takes {sum(sizes)} bytes"
        )
        yield Problem(template_variables()[0], "TooLong", reason, "move large values to files in a volume")


def _variable(
    name: str, size: int, path: str, template_variables: Sequence[str], plugin: str, hosts_hint: str
) -> Problem:
    reason = (
        f"may not be more than {MAX_VARIABLE} bytes on Linux, but the variable {name} takes {size} bytes, including its"
        " name"
    )
    if plugin:
        return Problem(f"spec.plugins.{plugin}", "TooLong", reason, hosts_hint if plugin == SvcPlugin.name else _GROWS)
    if name in template_variables:
        # Kubernetes uses the last variable with a name.
        place = len(template_variables) - 1 - template_variables[::-1].index(name)
        return Problem(f"{path}[{place}]", "TooLong", reason, "move the value to a file in a volume")
    return Problem(path, "TooLong", f"a variable of a plugin {reason}", _GROWS)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
