"""What is in all Pods of a job beside their templates: one row for what is the same in several of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pulumi_volcano_jobs.core.phrases import crop, span
from pulumi_volcano_jobs.explain.provenance import (
    ANNOTATION,
    CONTAINER,
    INIT_CONTAINER,
    LABEL,
    Fact,
    Origin,
    Origins,
    as_volcano_names,
    trace,
)
from pulumi_volcano_jobs.kubernetes import manifest
from pulumi_volcano_jobs.kubernetes.pod_log import JOB, TEMPLATE
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec import names
from pulumi_volcano_jobs.spec.model import Task

Traces = Mapping[str, tuple[Origins, Origins]]
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

    def of(task: Task, index: int) -> Origins:
        origins = trace(rendered, task, index)
        return as_volcano_names(origins, rendered.job) if native else origins

    tasks = [task for task in rendered.job.tasks or () if task.size]
    return {task.name or "": (of(task, 0), of(task, task.size - 1)) for task in tasks}


def pod_rows(rendered: Rendered, traces: Traces) -> Iterator[_Row]:
    """Give who set what in which tasks, by who set it; facts of one name stand together."""
    told: dict[tuple[str, str], dict[tuple[str, str], list[str]]] = {}
    for task in (task for task in rendered.job.tasks or () if task.size):
        name = task.name or ""
        for maker, what, place, value in _of_task(rendered, task, *traces[name]):
            told.setdefault((maker, what), {}).setdefault((place, value), []).append(name)
    order = [JOB, *(plugin.name for plugin in rendered.plugins)]
    for (maker, what), values in sorted(told.items(), key=lambda item: order.index(item[0][0])):
        for (place, value), tasks in values.items():
            where = "all" if len(tasks) == len(traces) else ", ".join(tasks)
            yield maker, what, f"{where}: {place}" if place else where, value


def _of_task(rendered: Rendered, task: Task, first: Origins, last: Origins) -> Iterator[_Row]:
    ends = [names.pod(rendered.job.name, task.name or "", index) for index in (0, task.size - 1)]
    of_containers: dict[tuple[str, str, str], list[str]] = {}
    for fact, origin in {**last, **first}.items():
        if _tells(fact, origin, first):
            both = [first.get(fact), last.get(fact)]
            value = "the Pod's name" if [end and end.value for end in both] == ends else _value(*both)
            key = (origin.maker, f"{fact.kind} {fact.name}".rstrip(), value)
            of_containers.setdefault(key, []).append(fact.container)
    for (maker, what, value), containers in of_containers.items():
        yield maker, what, _place(containers, task), value


def _tells(fact: Fact, origin: Origin, origins: Origins) -> bool:
    """Tell whether a fact is more than the template, than what each Pod has, and than a part of something added."""
    if origin.maker == TEMPLATE or (fact.kind in {LABEL, ANNOTATION} and fact.name in _ON_EVERY_POD):
        return False
    return fact.kind in {CONTAINER, INIT_CONTAINER} or not _is_added(fact.container, origins)


def _is_added(container: str, origins: Origins) -> bool:
    made = (origins.get(Fact(kind, container, container)) for kind in (CONTAINER, INIT_CONTAINER))
    return any(origin is not None and origin.makers[0] != TEMPLATE for origin in made)


def _place(containers: Iterable[str], task: Task) -> str:
    """Name the containers, unless they are all those that work, or the Pod itself, or one that was added."""
    own = {item["name"] for kind in ("containers", "initContainers") for item in task.pod_spec.get(kind) or ()}
    working = {item["name"] for item in task.pod_spec.get("containers") or ()}
    named = [name for name in containers if name in own]
    return "" if working <= set(named) else ", ".join(named)


def _value(first: Origin | None, last: Origin | None) -> str:
    if first and last:
        return crop(span(first.value, last.value))
    return (
        f"{crop(first.value)} (the first Pod)" if first else f"{crop(last.value) if last else ''} (not the first Pod)"
    )
