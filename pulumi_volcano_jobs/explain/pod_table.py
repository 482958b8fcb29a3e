"""The table of fields that the job and its plugins add to Pods. Tasks with the same value share a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pulumi_volcano_jobs.core.phrases import crop, span
from pulumi_volcano_jobs.explain.provenance import (
    ANNOTATION,
    CONTAINER,
    INIT_CONTAINER,
    LABEL,
    FieldRef,
    Ownership,
    Ownerships,
    as_volcano_names,
    trace,
)
from pulumi_volcano_jobs.kubernetes import manifest
from pulumi_volcano_jobs.kubernetes.container_lists import all_containers, containers_in
from pulumi_volcano_jobs.kubernetes.pod_log import JOB, TEMPLATE
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Task

Traces = Mapping[str, tuple[Ownerships, Ownerships]]
"""The fields of the first and of the last Pod of each task with Pods, by task name."""

_Row = tuple[str, str, str, str]
# Every Pod of every job has these labels and annotations.
_ON_EVERY_POD = frozenset(
    {
        manifest.GROUP_ANNOTATION,
        manifest.JOB_NAME,
        manifest.JOB_NAMESPACE,
        manifest.JOB_RETRY_COUNT,
        manifest.JOB_VERSION,
        manifest.QUEUE_NAME,
        manifest.TASK_INDEX,
        manifest.TASK_SPEC,
        manifest.TEMPLATE_UID,
    }
)


def trace_tasks(rendered: Rendered, *, native: bool) -> Traces:
    """Trace the first and the last Pod of each task. The Pods between them differ only in their index."""

    def of(task: Task, index: int) -> Ownerships:
        ownerships = trace(rendered, task, index)
        return as_volcano_names(ownerships, rendered.job) if native else ownerships

    tasks = [task for task in rendered.job.tasks or () if task.size]
    return {task.name or "": (of(task, 0), of(task, task.size - 1)) for task in tasks}


def pod_rows(rendered: Rendered, traces: Traces) -> Iterator[_Row]:
    """Yield the rows of the table, grouped by the manager that set the field, and then by field."""
    tasks_by_field: dict[tuple[str, str], dict[tuple[str, str], list[str]]] = {}
    for task in (task for task in rendered.job.tasks or () if task.size):
        name = task.name or ""
        for manager, field, place, value in _of_task(rendered, task, *traces[name]):
            tasks_by_field.setdefault((manager, field), {}).setdefault((place, value), []).append(name)
    order = [JOB, *(plugin.name for plugin in rendered.plugins)]
    for (manager, field), values in sorted(tasks_by_field.items(), key=lambda item: order.index(item[0][0])):
        for (place, value), tasks in values.items():
            task_names = "all" if len(tasks) == len(traces) else ", ".join(tasks)
            yield manager, field, f"{task_names}: {place}" if place else task_names, value


def _of_task(rendered: Rendered, task: Task, first: Ownerships, last: Ownerships) -> Iterator[_Row]:
    ends = [naming.pod(rendered.job.name, task.name or "", index) for index in (0, task.size - 1)]
    of_containers: dict[tuple[str, str, str], list[str]] = {}
    for field, ownership in {**last, **first}.items():
        if _is_notable(field, ownership, first):
            first_and_last = [first.get(field), last.get(field)]
            value = (
                "the Pod's name" if [end and end.value for end in first_and_last] == ends else _value(*first_and_last)
            )
            key = (ownership.manager, f"{field.kind} {field.name}".rstrip(), value)
            of_containers.setdefault(key, []).append(field.container)
    for (manager, text, value), containers in of_containers.items():
        yield manager, text, _place(containers, task), value


def _is_notable(field: FieldRef, ownership: Ownership, ownerships: Ownerships) -> bool:
    """Check whether a field gets a row.

    Fields of the template, fields that every Pod has, and parts of an added container get none.
    """
    if ownership.manager == TEMPLATE or (field.kind in {LABEL, ANNOTATION} and field.name in _ON_EVERY_POD):
        return False
    return field.kind in {CONTAINER, INIT_CONTAINER} or not _is_added(field.container, ownerships)


def _is_added(container: str, ownerships: Ownerships) -> bool:
    candidates = (ownerships.get(FieldRef(kind, container, container)) for kind in (CONTAINER, INIT_CONTAINER))
    return any(ownership is not None and ownership.managers[0] != TEMPLATE for ownership in candidates)


def _place(containers: Iterable[str], task: Task) -> str:
    """Return the names of the template's containers that have the field.

    The result is empty if all main containers have it, and for fields of the Pod or of an added container.
    """
    template_containers = {container["name"] for container in all_containers(task.pod_spec)}
    working = {container["name"] for container in containers_in(task.pod_spec)}
    named = [name for name in containers if name in template_containers]
    return "" if working <= set(named) else ", ".join(named)


def _value(first: Ownership | None, last: Ownership | None) -> str:
    if first and last:
        return crop(span(first.value, last.value))
    return (
        f"{crop(first.value)} (first Pod only)"
        if first
        else f"{crop(last.value) if last else ''} (not in the first Pod)"
    )
