"""Tables that explain a job: its objects, and the source of each field. The command line formats them."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.admission import controllers
from pulumi_volcano_jobs.core.phrases import counted, span
from pulumi_volcano_jobs.core.sections import Explanation, Section
from pulumi_volcano_jobs.explain.pod_table import Traces, pod_rows, trace_tasks
from pulumi_volcano_jobs.explain.provenance import (
    ANNOTATION,
    CONTAINER,
    INIT_CONTAINER,
    LABEL,
    VOLUME,
    FieldRef,
    Ownership,
    Ownerships,
    as_text,
    as_volcano_names,
    native_names,
    trace,
)
from pulumi_volcano_jobs.kubernetes.manifest import ObjectRef
from pulumi_volcano_jobs.kubernetes.pod_log import JOB
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Job, Task

_APART = (VOLUME, LABEL, ANNOTATION)


def explain(rendered: Rendered, *, native: bool = False) -> Explanation:
    """Explain a job.

    Args:
        rendered: the job without leaves and without secrets (`render(..., redact=True)`).
        native: whether Volcano's controllers create the Pods.
    """
    ctx, traces = JobContext(rendered.job), trace_tasks(rendered, native=native)
    return _explanation(
        _title(rendered, native=native),
        Section("Tasks", ("task", "Pods", "Pod names", "host names"), tuple(_tasks(ctx, traces))),
        Section("Plugins", ("plugin", "enabled by", "settings"), tuple(_plugins(rendered))),
        Section("Other objects", ("created by", "kind", "name"), tuple(_objects(rendered, native=native))),
        Section("PodGroup", ("field", "value"), tuple(_gang(rendered))),
        Section("Injected into Pods", ("set by", "field", "tasks", "value"), tuple(pod_rows(rendered, traces))),
        Section("On scale", ("object", "effect"), tuple(_scaling(rendered, ctx, native=native))),
        _controller_only_fields(rendered.job, native=native),
    )


def pods(rendered: Rendered) -> dict[str, tuple[Task, int]]:
    """Return the task and the index of each Pod, by Pod name."""
    job = rendered.job
    return {
        naming.pod(job.name, task.name or "", index): (task, index)
        for task in job.tasks or ()
        for index in range(task.size)
    }


def explain_pod(rendered: Rendered, task: Task, index: int, *, native: bool = False) -> Explanation:
    """Explain one Pod: all its fields, and the source of each.

    Args:
        rendered: as for `explain`.
        task: one of the job's tasks.
        index: the Pod's replica index.
        native: whether Volcano's controllers create the Pods.
    """
    ownerships = trace(rendered, task, index)
    ownerships = as_volcano_names(ownerships, rendered.job) if native else ownerships
    job, columns = rendered.job, ("set by", "field", "value")
    pod_fields = [(field, ownership) for field, ownership in ownerships.items() if not field.container]
    containers = [field for field in ownerships if field.kind in {CONTAINER, INIT_CONTAINER}]
    host = f", host {naming.address(job.name, task, index)}" if FieldRef("subdomain") in ownerships else ""
    return _explanation(
        f"Pod {naming.pod(job.name, task.name or '', index)} in namespace {job.namespace}: task {task.name}{host}",
        Section("Pod", columns, tuple(_row(*item) for item in pod_fields if item[0].kind not in _APART)),
        *(_container(field, ownerships, columns) for field in containers),
        *(
            Section(f"{kind.capitalize()}s", columns, tuple(_row(*item) for item in pod_fields if item[0].kind == kind))
            for kind in _APART
        ),
    )


def _explanation(title: str, *sections: Section) -> Explanation:
    return Explanation(title, tuple(section for section in sections if section.rows))


def _container(container: FieldRef, ownerships: Ownerships, columns: tuple[str, ...]) -> Section:
    fields = [(field, ownership) for field, ownership in ownerships.items() if field.container == container.name]
    title = f"{container.kind.capitalize()} {container.name}"
    return Section(title, columns, tuple(_row(*item) for item in fields))


def _row(field: FieldRef, ownership: Ownership) -> tuple[str, str, str]:
    manager = ownership.manager + (f", overrides {ownership.managers[-2]}" if len(ownership.managers) > 1 else "")
    if field.kind in {CONTAINER, INIT_CONTAINER}:
        return manager, "image", ownership.value
    name = field.name if field.kind in _APART else f"{field.kind} {field.name}".rstrip()
    return manager, name, ownership.value


def _title(rendered: Rendered, *, native: bool) -> str:
    extension_count = len(rendered.extension_objects) if native else 0
    pulumi_objects = f"one Job and {counted(extension_count, 'other object')}" if extension_count else "one Job"
    pods_and_objects = (
        f"{counted(len(rendered.pods), 'Pod')} and {counted(len(rendered.objects) - extension_count, 'other object')}"
    )
    summary = (
        f"Pulumi creates {pulumi_objects}, Volcano creates {pods_and_objects}"
        if native
        else f"Pulumi creates {pods_and_objects}"
    )
    return f"Job {rendered.job.name} in namespace {rendered.job.namespace}: {summary}"


def _tasks(ctx: JobContext, traces: Traces) -> Iterator[tuple[str, str, str, str]]:
    for task in ctx.tasks:
        name, last = task.name or "", max(task.size - 1, 0)
        is_reached = name in traces and FieldRef("subdomain") in traces[name][0]
        yield (
            name,
            str(task.size),
            span(naming.pod(ctx.name, name, 0), naming.pod(ctx.name, name, last)) if task.size else "",
            span(naming.address(ctx.name, task, 0), naming.address(ctx.name, task, last)) if is_reached else "",
        )


def _plugins(rendered: Rendered) -> Iterator[tuple[str, str, str]]:
    for plugin in rendered.plugins:
        requiring = [other.name for other in rendered.plugins if plugin.name in other.requires]
        named_by = JOB if plugin.name in rendered.named else ", ".join(requiring)
        options = (f"{name}={as_text(value)}" for name, value in plugin.beyond().items())
        yield plugin.name, named_by, " ".join([*map(str, plugin.to_args()), *options]) or "Volcano's defaults"


def _objects(rendered: Rendered, *, native: bool) -> Iterator[tuple[str, str, str]]:
    known = native_names(rendered.job) if native else {}
    keys = list(map(ObjectRef.of, rendered.objects))
    for manager in (JOB, *(plugin.name for plugin in rendered.plugins)):
        yield from (
            (manager, key.kind, known.get(key, key.name)) for key in keys if rendered.made_by.get(key, JOB) == manager
        )


def _gang(rendered: Rendered) -> Iterator[tuple[str, str]]:
    (group,) = (item for item in rendered.objects if item["kind"] == "PodGroup")
    # The PodGroup does not set the default queue.
    for field, value in {"queue": rendered.job.queue, **group["spec"]}.items():
        if field == "minMember":
            yield field, f"{value} of {len(rendered.pods)} Pods: no Pod starts until {value} can be scheduled"
        elif value:
            yield field, as_text(value)


def _scaling(rendered: Rendered, ctx: JobContext, *, native: bool) -> Iterator[tuple[str, str]]:
    updates = [(plugin.name, plugin.on_job_update(ctx)) for plugin in rendered.plugins]
    static = [f"{', '.join(sorted(update.scaled_env))} ({name})" for name, update in updates if update.is_static]
    causes = " and ".join(static)
    if native:
        yield (
            "Pods",
            f"Volcano adds or removes Pods; other Pods {f'keep the old {causes}' if static else 'do not change'}",
        )
        return
    if static:
        yield "Pods", f'all replaced, because the number of Pods changes {causes}: on_scale defaults to "restart"'
    else:
        elastic = ", ".join(name for name, update in updates if update.is_elastic)
        reason = f"new Pods join the running job ({elastic})" if elastic else "no plugin passes them the number of Pods"
        yield "Pods", f'added or removed; other Pods keep running, because {reason}: on_scale defaults to "keep"'
    for name, update in updates:
        for reference in sorted(update.follows):
            yield f"{reference.kind} {reference.name}", f"updated by {name}"


def _controller_only_fields(job: Job, *, native: bool) -> Section:
    field_rows = [(meaning, path) for path, meaning in controllers.controller_only_fields(job)]
    if not native:
        return Section("Ignored without Volcano's controllers", ("effect", "field"), tuple(field_rows))
    rows = [*field_rows, (f"fail after {counted(job.max_retry or 0, 'restart')}", "spec.maxRetry")]
    return Section("Applied by Volcano's controllers", ("effect", "field"), tuple(rows))
