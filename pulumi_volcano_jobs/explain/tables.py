"""What a job becomes and who made what of it, as tables: data only, the command line prints them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pulumi_volcano_jobs.admission import controllers
from pulumi_volcano_jobs.core.phrases import counted, span
from pulumi_volcano_jobs.explain.pod_table import Traces, pod_rows, trace_tasks
from pulumi_volcano_jobs.explain.provenance import (
    ANNOTATION,
    CONTAINER,
    INIT_CONTAINER,
    LABEL,
    VOLUME,
    Fact,
    Origin,
    Origins,
    as_text,
    as_volcano_names,
    native_names,
    trace,
)
from pulumi_volcano_jobs.kubernetes.manifest import ObjectRef
from pulumi_volcano_jobs.kubernetes.pod_log import JOB
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec import names
from pulumi_volcano_jobs.spec.model import Job, Task

_APART = (VOLUME, LABEL, ANNOTATION)


@dataclass(frozen=True)
class Section:
    """A table with a title."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Explanation:
    """All that is to be said of one job, or of one Pod; no table is empty."""

    title: str
    sections: tuple[Section, ...]


def explain(rendered: Rendered, *, native: bool = False) -> Explanation:
    """Explain a job.

    Args:
        rendered: the job without leaves, and without its secrets (`render(..., redact=True)`).
        native: whether Volcano makes the Pods, out of one Job.
    """
    ctx, traces = JobContext(rendered.job), trace_tasks(rendered, native=native)
    return _explanation(
        _title(rendered, native=native),
        Section("Tasks", ("task", "Pods", "their names", "their hosts"), tuple(_tasks(ctx, traces))),
        Section(
            "Plugins, in the order in which they run", ("plugin", "named by", "settings"), tuple(_plugins(rendered))
        ),
        Section("Objects beside the Pods", ("made by", "kind", "name"), tuple(_objects(rendered, native=native))),
        Section("Gang: what the scheduler is told", ("field", "value"), tuple(_gang(rendered))),
        Section(
            "Pods: what is in them beside their templates",
            ("set by", "what", "tasks", "value"),
            tuple(pod_rows(rendered, traces)),
        ),
        Section("Another number of replicas", ("what", "then"), tuple(_scaling(rendered, ctx, native=native))),
        _enacted(rendered.job, native=native),
    )


def pods(rendered: Rendered) -> dict[str, tuple[Task, int]]:
    """Give the task and the index of each Pod, by its name."""
    job = rendered.job
    return {
        names.pod(job.name, task.name or "", index): (task, index)
        for task in job.tasks or ()
        for index in range(task.size)
    }


def explain_pod(rendered: Rendered, task: Task, index: int, *, native: bool = False) -> Explanation:
    """Explain one Pod in full: everything in it, and who set it.

    Args:
        rendered: as for `explain`.
        task: one of the job's tasks.
        index: the Pod's replica index.
        native: whether Volcano makes the Pods, out of one Job.
    """
    origins = trace(rendered, task, index)
    origins = as_volcano_names(origins, rendered.job) if native else origins
    job, columns = rendered.job, ("set by", "what", "value")
    own = [(fact, origin) for fact, origin in origins.items() if not fact.container]
    containers = [fact for fact in origins if fact.kind in {CONTAINER, INIT_CONTAINER}]
    host = f", host {names.address(job.name, task, index)}" if Fact("subdomain") in origins else ""
    return _explanation(
        f"Pod {names.pod(job.name, task.name or '', index)} in the namespace {job.namespace}: task {task.name}{host}",
        Section("Pod", columns, tuple(_row(*item) for item in own if item[0].kind not in _APART)),
        *(_container(fact, origins, columns) for fact in containers),
        *(
            Section(f"{kind.capitalize()}s", columns, tuple(_row(*item) for item in own if item[0].kind == kind))
            for kind in _APART
        ),
    )


def _explanation(title: str, *sections: Section) -> Explanation:
    return Explanation(title, tuple(section for section in sections if section.rows))


def _container(container: Fact, origins: Origins, columns: tuple[str, ...]) -> Section:
    facts = [(fact, origin) for fact, origin in origins.items() if fact.container == container.name]
    title = f"{container.kind.capitalize()} {container.name}"
    return Section(title, columns, tuple(_row(*item) for item in facts))


def _row(fact: Fact, origin: Origin) -> tuple[str, str, str]:
    maker = origin.maker + (f", over {origin.makers[-2]}" if len(origin.makers) > 1 else "")
    if fact.kind in {CONTAINER, INIT_CONTAINER}:
        return maker, "image", origin.value
    what = fact.name if fact.kind in _APART else f"{fact.kind} {fact.name}".rstrip()
    return maker, what, origin.value


def _title(rendered: Rendered, *, native: bool) -> str:
    beyond = len(rendered.beyond) if native else 0
    ours = f"one Job and {counted(beyond, 'other object')}" if beyond else "one Job"
    made = f"{counted(len(rendered.pods), 'Pod')} and {counted(len(rendered.objects) - beyond, 'other object')}"
    makers = f"Pulumi makes {ours}, Volcano its {made}" if native else f"Pulumi makes its {made}"
    return f"Job {rendered.job.name} in the namespace {rendered.job.namespace}: {makers}"


def _tasks(ctx: JobContext, traces: Traces) -> Iterator[tuple[str, str, str, str]]:
    for task in ctx.tasks:
        name, last = task.name or "", max(task.size - 1, 0)
        is_reached = name in traces and Fact("subdomain") in traces[name][0]
        yield (
            name,
            str(task.size),
            span(names.pod(ctx.name, name, 0), names.pod(ctx.name, name, last)) if task.size else "",
            span(names.address(ctx.name, task, 0), names.address(ctx.name, task, last)) if is_reached else "",
        )


def _plugins(rendered: Rendered) -> Iterator[tuple[str, str, str]]:
    for plugin in rendered.plugins:
        others = [other.name for other in rendered.plugins if plugin.name in other.requires]
        named_by = JOB if plugin.name in rendered.named else ", ".join(others)
        options = (f"{name}={as_text(value)}" for name, value in plugin.beyond().items())
        yield plugin.name, named_by, " ".join([*map(str, plugin.to_args()), *options]) or "Volcano's defaults"


def _objects(rendered: Rendered, *, native: bool) -> Iterator[tuple[str, str, str]]:
    known = native_names(rendered.job) if native else {}
    keys = list(map(ObjectRef.of, rendered.objects))
    for maker in (JOB, *(plugin.name for plugin in rendered.plugins)):
        yield from (
            (maker, key.kind, known.get(key, key.name)) for key in keys if rendered.made_by.get(key, JOB) == maker
        )


def _gang(rendered: Rendered) -> Iterator[tuple[str, str]]:
    (group,) = (item for item in rendered.objects if item["kind"] == "PodGroup")
    # The PodGroup does not set the default queue.
    for field, value in {"queue": rendered.job.queue, **group["spec"]}.items():
        if field == "minMember":
            yield field, f"{value} of {len(rendered.pods)} Pods: none starts before so many fit"
        elif value:
            yield field, as_text(value)


def _scaling(rendered: Rendered, ctx: JobContext, *, native: bool) -> Iterator[tuple[str, str]]:
    updates = [(plugin.name, plugin.on_job_update(ctx)) for plugin in rendered.plugins]
    static = [f"{', '.join(sorted(update.scaled_env))} ({name})" for name, update in updates if update.is_static]
    told = " and ".join(static)
    if native:
        yield (
            "Pods",
            f"Volcano adds or removes some; the others {f'keep their {told}' if static else 'stay as they are'}",
        )
        return
    if static:
        yield "Pods", f'all are replaced, since {told} tells them how many they are: on_scale is "restart" by default'
    else:
        elastic = ", ".join(name for name, update in updates if update.is_elastic)
        reason = f"they take others in ({elastic})" if elastic else "no plugin tells them how many they are"
        yield "Pods", f'are added or removed; the others stay, since {reason}: on_scale is "keep" by default'
    for name, update in updates:
        for reference in sorted(update.follows):
            yield f"{reference.kind} {reference.name}", f"follows ({name})"


def _enacted(job: Job, *, native: bool) -> Section:
    found = [(meaning, path) for path, meaning in controllers.enacted(job)]
    if not native:
        return Section("Not enacted: Pods that Pulumi makes have no controller", ("what", "field"), tuple(found))
    rows = [*found, (f"fail after {counted(job.max_retry or 0, 'restart')}", "spec.maxRetry")]
    return Section("What Volcano's controllers do", ("what", "field"), tuple(rows))
