"""What is in all Pods of a job beside their templates: one row for what is the same in several of them."""

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
from pulumi_volcano_jobs.kubernetes.pod_log import JOB, TEMPLATE
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Task

Traces = Mapping[str, tuple[Ownerships, Ownerships]]
"""What is in the first and in the last Pod of each task that has Pods, by the task's name."""

_Row = tuple[str, str, str, str]
# Each Pod of any job has these: they tell nothing of this one.
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
    """Trace the first and the last Pod of each task: those between differ by their index only."""

    def of(task: Task, index: int) -> Ownerships:
        ownerships = trace(rendered, task, index)
        return as_volcano_names(ownerships, rendered.job) if native else ownerships

    tasks = [task for task in rendered.job.tasks or () if task.size]
    return {task.name or "": (of(task, 0), of(task, task.size - 1)) for task in tasks}


def pod_rows(rendered: Rendered, traces: Traces) -> Iterator[_Row]:
    """Give who set what in which tasks, by who set it; fields of one name stand together."""
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
    """Tell whether a field is more than the template, than what each Pod has, and than a part of something added."""
    if ownership.manager == TEMPLATE or (field.kind in {LABEL, ANNOTATION} and field.name in _ON_EVERY_POD):
        return False
    return field.kind in {CONTAINER, INIT_CONTAINER} or not _is_added(field.container, ownerships)


def _is_added(container: str, ownerships: Ownerships) -> bool:
    candidates = (ownerships.get(FieldRef(kind, container, container)) for kind in (CONTAINER, INIT_CONTAINER))
    return any(ownership is not None and ownership.managers[0] != TEMPLATE for ownership in candidates)


def _place(containers: Iterable[str], task: Task) -> str:
    """Name the containers, unless they are all those that work, or the Pod itself, or one that was added."""
    template_containers = {
        item["name"] for kind in ("containers", "initContainers") for item in task.pod_spec.get(kind) or ()
    }
    working = {item["name"] for item in task.pod_spec.get("containers") or ()}
    named = [name for name in containers if name in template_containers]
    return "" if working <= set(named) else ", ".join(named)


def _value(first: Ownership | None, last: Ownership | None) -> str:
    if first and last:
        return crop(span(first.value, last.value))
    return (
        f"{crop(first.value)} (the first Pod)" if first else f"{crop(last.value) if last else ''} (not the first Pod)"
    )
