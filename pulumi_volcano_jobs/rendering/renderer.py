"""Rendering of a job to the manifests that Volcano's controller and its plugins would create.

The Pulumi component, the command line and `render` all use this module.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import Unpack

from pulumi_volcano_jobs.admission import conflicts, limits, lint
from pulumi_volcano_jobs.admission.defaults import DefaultedJob
from pulumi_volcano_jobs.admission.pipeline import admit
from pulumi_volcano_jobs.admission.plugin_paths import relocate_plugin_problem
from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.calls import checked_call
from pulumi_volcano_jobs.core.errors import Problem, as_warning, not_following, raise_if_any, wrong_type
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.core.resource_types import CLAIM
from pulumi_volcano_jobs.core.text import Sealed, redacted, redacted_arguments
from pulumi_volcano_jobs.core.tree import without_none
from pulumi_volcano_jobs.kubernetes import manifest, schema
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef, Pod
from pulumi_volcano_jobs.kubernetes.pod_log import JOB, TEMPLATE, PodLog
from pulumi_volcano_jobs.plugins import Plugin, SshPlugin
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.settings import flags_of, secret_settings
from pulumi_volcano_jobs.plugins.ssh_keys import PLACEHOLDERS, KeyFactory, KeyPair
from pulumi_volcano_jobs.rendering import pod_group
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.model import Job, Task, Volume
from pulumi_volcano_jobs.spec.options import OnConflict, RenderOptions, check_options

_Hook = Callable[[Pod, JobContext], None]
_Renderer = Callable[..., Pod]
# Annotations and labels that Pods inherit from the job. Of several keys in a group, the first one that is set.
_INHERITED_ANNOTATIONS = (
    ("volcano.sh/preemptable",),
    ("volcano.sh/cooldown-time",),
    ("volcano.sh/revocable-zone",),
    ("volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"),
)

_INHERITED_LABELS = ("volcano.sh/preemptable", "volcano.sh/cooldown-time")


@dataclass(frozen=True, eq=False, repr=False)
class Rendered(Sealed):
    """The manifests of a job, as plain dicts. Generated keys are placeholders."""

    job: Job
    """The job with its defaults, as Volcano would store it."""
    plugins: tuple[Plugin, ...]
    """The plugins in the order in which they ran, including plugins that other plugins require."""
    objects: tuple[Manifest, ...]
    """All objects except Pods, by kind and name."""
    pods: tuple[Manifest, ...]
    """The Pods by task and index. They share the entries of `env`: copy an entry before you change it."""
    first_pods: Mapping[str, Manifest]
    """Pod 0 of each task by the name of the task, also for a task with 0 replicas (not in lenient mode)."""
    warnings: tuple[Problem, ...]
    """Warnings."""
    made_by: Mapping[ObjectRef, str]
    """The plugin that created an object, by kind and name. Objects that no plugin created are not included."""
    named: frozenset[str]
    """The plugins that the job lists; other plugins in `plugins` are required by these."""
    extension_objects: frozenset[ObjectRef]
    """Kind and name of the objects that Volcano's controllers do not create: new claims, and objects of options that
    Volcano does not have. `managed_by="volcano"` creates them in addition to the Job."""
    native_job: Job
    """The Job for Volcano. With `managed_by="volcano"`, its templates include the edits of options that Volcano does
    not have, and its volumes name the new claims."""
    keep_template_values: bool
    """Whether values of the template take precedence over values of plugins (`on_conflict="user"`)."""

    def pods_of(self, task: str) -> Sequence[Manifest]:
        """Return the Pods of a task by index."""
        start, end = self._spans.get(task, (0, 0))
        return self.pods[start:end]

    @functools.cached_property
    def _spans(self) -> Mapping[str, tuple[int, int]]:
        """The positions of each task's Pods."""
        sizes = {task.name or "": task.size for task in self.job.tasks or ()}
        ends = dict(zip(sizes, itertools.accumulate(sizes.values()), strict=True))
        return {name: (end - sizes[name], end) for name, end in ends.items()}


@checked_call("render")
def render(
    job: Job | Mapping[str, Any],
    *,
    strict: bool = True,
    cluster: ClusterFacts | None = None,
    namespace: Any = "default",
    keys: KeyPair | KeyFactory = PLACEHOLDERS,
    redact: bool = False,
    earlier: Sequence[Problem] = (),
    **options: Unpack[RenderOptions],
) -> Rendered:
    """Render a job to manifests.

    Args:
        job: the job, or its document in either form.
        strict: report every error. Otherwise behave like Volcano, including its silent fallbacks, and report the
            errors that Volcano does not report as warnings.
        cluster: facts about the cluster; without them, checks that depend on a cluster are skipped.
        namespace: the namespace of a job that does not set one.
        keys: the key pair for an ssh plugin without keys, or a function that generates a pair of a type.
        redact: replace the job's keys by placeholders also.
        earlier: problems that were found before, such as in the file, to be raised with all other problems.
        options: the mode, the behavior on conflicts, and settings of plugins (see `RenderOptions`).

    Raises:
        JobError: with all problems (strict), or with the problems of Volcano's first stage that rejects the job.
    """
    raise_if_any(_wrong_arguments(job, cluster, keys))
    raise_if_any([*bounds.check_bounds(job), *check_options(options)])
    options = without_none(options)
    cluster = cluster or ClusterFacts()
    admitted = admit(job, cluster, namespace, earlier, options, strict=strict)
    redacted_job, plugins = (
        _redacted(admitted.defaulted) if redact else (admitted.defaulted.job, admitted.defaulted.plugins)
    )
    ctx = JobContext(redacted_job, _key_pair(keys, plugins))
    problems = [*admitted.problems]
    on_conflict = options.get("on_conflict") or "error"
    keep_template_values = on_conflict == "user"
    native = options.get("managed_by") == "volcano"
    renderer = functools.partial(pod_renderer, ctx, plugins, keep_template_values=keep_template_values)
    first_pods: dict[str, Manifest] = {}
    render_first_pods = functools.partial(_first_pods, ctx, renderer, first_pods, plugins, on_conflict, native=native)

    def pod_warnings(objects: Sequence[Manifest]) -> list[Problem]:
        found = lint.check_pods(ctx, plugins, first_pods, objects, native=native)
        return [relocate_plugin_problem(item, redacted_job, options) for item in found]

    if strict and admitted.is_renderable:
        conflict_problems, limit_problems = render_first_pods()
        problems += [*conflict_problems, *limit_problems]
        if not limit_problems and not all(problem.warning for problem in problems):
            objects = [item for plugin in plugins for item in plugin.on_job_add(ctx)]
            problems += not_following(pod_warnings(objects), problems)
    raise_if_any(problems)
    objects, made_by, extension_objects = _objects(ctx, plugins, cluster)
    if redact:
        # A custom plugin may create objects that contain keys.
        objects = [redacted(item) for item in objects]
    raise_if_any(limits.check_objects(objects, made_by))
    if not strict:
        # As in Volcano, plugins are not called for a task without replicas.
        conflict_problems, limit_problems = render_first_pods(skip_empty=True)
        problems += conflict_problems
        raise_if_any(limit_problems)
    pods = tuple(_pods(ctx, renderer, first_pods))
    hint = limits.hosts_hint(native=native, version=cluster.volcano_version)
    problems += limits.variables(ctx.tasks, pods, first_pods, objects, made_by, hint)
    problems += pod_warnings(objects)
    problems = problems if strict else [as_warning(problem) for problem in problems]
    raise_if_any(problems)
    return Rendered(
        job=redacted_job,
        plugins=plugins,
        objects=tuple(objects),
        pods=pods,
        first_pods=first_pods,
        warnings=tuple(problem for problem in problems if problem.warning),
        made_by=made_by,
        named=admitted.defaulted.named,
        extension_objects=extension_objects,
        keep_template_values=keep_template_values,
        native_job=_native_job(ctx, plugins) if native else redacted_job,
    )


def _wrong_arguments(job: object, cluster: object, keys: object) -> Iterator[Problem]:
    if not isinstance(job, (Job, Mapping)):
        yield wrong_type("job", "a Job or a mapping", "")
    if cluster is not None and not isinstance(cluster, ClusterFacts):
        yield wrong_type("cluster", "ClusterFacts", 'for example ClusterFacts(volcano_version="1.15")')
    if not isinstance(keys, KeyPair) and not callable(keys):
        yield wrong_type("keys", "a KeyPair, or a function that returns one", "")


def _key_pair(keys: KeyPair | KeyFactory, plugins: Sequence[Plugin]) -> KeyPair:
    if isinstance(keys, KeyPair):
        return keys
    key_type = next((plugin.key_type for plugin in plugins if isinstance(plugin, SshPlugin)), None)
    return keys(key_type) if key_type else PLACEHOLDERS


def _redacted(defaulted: DefaultedJob) -> tuple[Job, tuple[Plugin, ...]]:
    plugins = tuple(plugin.redacted() for plugin in defaulted.plugins)
    changed = {new.name: new for old, new in zip(defaulted.plugins, plugins, strict=True) if _may_show_key(old, new)}
    flags = {
        plugin.name: flags_of(type(plugin)).keys() - flags_of(type(plugin), of="placeholder") for plugin in plugins
    }
    uses = {name: _without_keys(use, flags.get(name, ())) for name, use in defaulted.job.uses.items()}
    job = defaulted.job.with_(plugins={**uses, **changed}) if defaulted.job.uses else defaulted.job
    return _template_redacted(job), plugins


def _without_keys(use: Any, known: Collection[str]) -> Any:
    return tuple(redacted_arguments(use, known)) if isinstance(use, (list, tuple)) else use


def _template_redacted(job: Job) -> Job:
    """Replace the private keys in templates, and in the annotations and labels of the job, by placeholders."""
    tasks = tuple(task.with_(template=redacted(task.template)) for task in job.tasks or ())
    changes: dict[str, Any] = {"tasks": tasks} if job.tasks else {}
    changes |= {name: redacted(getattr(job, name)) for name in ("annotations", "labels") if getattr(job, name)}
    return job.with_(**changes)


def _may_show_key(original: Plugin, redacted: Plugin) -> bool:
    """Check whether the original plugin may contain a key, as a setting or as an argument that Volcano ignores."""
    return original != redacted or bool(secret_settings(type(original)))


def _objects(
    ctx: JobContext,
    plugins: Sequence[Plugin],
    cluster: ClusterFacts,
) -> tuple[list[Manifest], dict[ObjectRef, str], frozenset[ObjectRef]]:
    claims = [
        manifest.build(CLAIM, name, ctx.namespace, spec=spec)
        for volume, name in _claims(ctx.job)
        if (spec := manifest.copy_tree(volume.volume_claim)) is not None
    ]
    objects = [pod_group.pod_group(ctx, cluster.priority_classes), *claims]
    made_by, extension_objects = {}, set(map(ObjectRef.of, claims))
    for plugin in plugins:
        extended = plugin.extend_objects(ctx)
        extension_objects |= set(map(ObjectRef.of, extended))
        for item in (*plugin.on_job_add(ctx), *extended):
            made_by[ObjectRef.of(item)] = plugin.name
            objects.append(item)
    return manifest.canonical(objects), made_by, frozenset(extension_objects)


def _native_job(ctx: JobContext, plugins: Sequence[Plugin]) -> Job:
    """Return the Job for Volcano.

    Its templates include the edits of our own options, its quantities are strings, and the newest flags of each plugin
    come last. It names its new claims: Volcano's controller writes the name of a claim that it creates into the Job
    with a PUT, and then owns `spec.volumes` and `spec.tasks`. Every later server-side apply would conflict with it.
    """
    job, pruner = ctx.job, schema.SchemaPruner(quantities_as_text=True)
    ordered = {plugin.name: type(plugin).newest_last(job.arguments(plugin.name)) for plugin in plugins}
    tasks = [_with_extensions(ctx, plugins, task) for task in ctx.tasks]
    return job.with_(
        tasks=tuple(task.with_(template=pruner.apply(task.pod_template, schema.POD_TEMPLATE, "")) for task in tasks),
        plugins=job.plugins and {**job.uses, **ordered},
        volumes=job.volumes and tuple(_with_existing_claim(job.name, volume) for volume in job.volumes),
    )


def _with_existing_claim(job: str, volume: Volume) -> Volume:
    if volume.volume_claim_name or volume.volume_claim is None:
        return volume
    return volume.with_(volume_claim=None, volume_claim_name=naming.claim(job, volume.mount_path))


def _with_extensions(ctx: JobContext, plugins: Sequence[Plugin], task: Task) -> Task:
    pod = Pod("", task.name or "", 0, task.pod_template)
    template = pod.to_template()
    for plugin in plugins:
        plugin.extend_pod(pod, ctx)
    extended = pod.to_template()
    if extended == template:
        return task
    metadata = task.pod_template.get("metadata") or {}
    return task.with_(template={**extended, "metadata": {**metadata, **extended["metadata"]}})


def _first_pods(
    ctx: JobContext,
    renderer: Callable[[Task], _Renderer],
    firsts: dict[str, Manifest],
    plugins: Sequence[Plugin],
    on_conflict: OnConflict,
    *,
    native: bool,
    skip_empty: bool = False,
) -> tuple[list[Problem], list[Problem]]:
    """Render Pod 0 of each task into `firsts`, and return its conflicts, and the Problem of an exceeded limit.

    Stop at the first exceeded limit. With `skip_empty`, tasks without replicas are not rendered.
    """
    sizes = limits.ManifestSizes()
    found: list[Problem] = []
    for position, task in enumerate(ctx.tasks):
        if skip_empty and not task.size:
            continue
        log = PodLog(conflicts.entries, id)
        pod = renderer(task)(0, log)
        path = f"spec.tasks[{position}].template"
        found += conflicts.check(log, task, path, plugins, on_conflict, native=native)
        first = firsts[task.name or ""] = pod.to_manifest(ctx.namespace)
        if exceeded := list(sizes.add(task, position, first)):
            return found, exceeded
    return found, []


def _pods(
    ctx: JobContext, renderer: Callable[[Task], _Renderer], first_pods: Mapping[str, Manifest]
) -> Iterator[Manifest]:
    for task in ctx.tasks:
        render_pod = renderer(task)
        if task.size:
            yield first_pods[task.name or ""]
        for index in range(1, task.size):
            yield render_pod(index).to_manifest(ctx.namespace)


def pod_renderer(
    ctx: JobContext, plugins: Sequence[Plugin], task: Task, *, keep_template_values: bool = False
) -> _Renderer:
    """Return a function that renders the Pod of an index, and records the writers of its fields in an optional log.

    The writers are `TEMPLATE`, `JOB` and the names of the plugins.
    """
    name = task.name or ""
    hooks: list[tuple[str, _Hook]] = [(plugin.name, plugin.extend_pod) for plugin in plugins]
    hooks += [(JOB, _task_editor(ctx, task)), *((plugin.name, plugin.on_pod_create) for plugin in plugins)]

    def render_pod(index: int, log: PodLog | None = None) -> Pod:
        pod = Pod(
            naming.pod(ctx.name, name, index), name, index, task.pod_template, keep_template_values=keep_template_values
        )
        if log:
            log.add(TEMPLATE, pod)
        for writer, hook in hooks:
            hook(pod, ctx)
            if log:
                log.add(writer, pod)
        return pod

    return render_pod


def _task_editor(ctx: JobContext, task: Task) -> _Hook:
    """Return a hook that applies the controller's own edits. Values that all Pods share are computed once."""
    job, spec = ctx.job, task.pod_spec
    fields = {"schedulerName": spec.get("schedulerName") or job.scheduler_name}
    priority = spec.get("priorityClassName")
    if is_given(job.priority_class_name) and not is_given(priority):
        fields["priorityClassName"] = job.priority_class_name
    labels, annotations = _labels(ctx, task), _annotations(ctx, task)
    mounts = [(volume.mount_path, naming.volume(ctx.name, volume.mount_path), claim) for volume, claim in _claims(job)]
    partition = task.partition_policy

    def edit(pod: Pod, _ctx: JobContext) -> None:
        pod.fields.update(fields)
        index = str(pod.index)
        pod.labels.update(labels, **{manifest.TASK_INDEX: index})
        pod.annotations.update(annotations, **{manifest.TASK_INDEX: index})
        if partition:
            pod.labels[manifest.PARTITION_ID] = str(pod.index // partition.partition_size)
        for path, volume, claim in mounts:
            pod.set_volume(volume, {"persistentVolumeClaim": {"claimName": claim}})
            for container in pod.containers:
                container.mount(path, volume)

    return edit


def _labels(ctx: JobContext, task: Task) -> Manifest:
    labels = {
        manifest.JOB_NAME: ctx.name,
        manifest.JOB_NAMESPACE: ctx.namespace,
        manifest.TASK_SPEC: task.name,
        manifest.QUEUE_NAME: ctx.job.queue,
    }
    job_labels = ctx.job.labels or {}
    return labels | {key: job_labels[key] for key in _INHERITED_LABELS if key in job_labels}


def _annotations(ctx: JobContext, task: Task) -> Manifest:
    annotations = {
        manifest.GROUP_ANNOTATION: naming.pod_group(ctx.name),
        manifest.JOB_NAME: ctx.name,
        manifest.JOB_RETRY_COUNT: "0",
        manifest.JOB_VERSION: "0",
        manifest.QUEUE_NAME: ctx.job.queue,
        manifest.TASK_SPEC: task.name,
        manifest.TEMPLATE_UID: f"{ctx.name}-{task.name}",
    }
    if task.topology_policy:
        annotations[manifest.NUMA_POLICY] = task.topology_policy
    job_annotations = ctx.job.annotations or {}
    for keys in _INHERITED_ANNOTATIONS:
        annotations |= {key: job_annotations[key] for key in [key for key in keys if key in job_annotations][:1]}
    return annotations


def _claims(job: Job) -> list[tuple[Volume, str]]:
    """Return each volume with its claim. A claim that is named twice is mounted once, at its first path."""
    pairs: dict[str, Volume] = {}
    for volume in job.volumes or ():
        pairs.setdefault(volume.volume_claim_name or naming.claim(job.name, volume.mount_path), volume)
    return [(volume, name) for name, volume in pairs.items()]
