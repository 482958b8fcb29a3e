"""From a job to manifests: what Volcano's controller and its plugins would create, as plain dicts.

Every way out of this library (the Pulumi component, the command line, `render` itself) goes through here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pulumi_volcano_jobs import limits, manifest, names, podcheck, podgroup, webhook
from pulumi_volcano_jobs.cluster import ClusterFacts
from pulumi_volcano_jobs.context import JobContext
from pulumi_volcano_jobs.defaults import Stored, plugin_place, store
from pulumi_volcano_jobs.errors import JobError, Problem, Stage, raise_if_any
from pulumi_volcano_jobs.keys import PLACEHOLDERS, KeyPair
from pulumi_volcano_jobs.leaf import Leaf, is_given
from pulumi_volcano_jobs.manifest import Manifest, Pod
from pulumi_volcano_jobs.model import MAX_LABEL, Job, Task, Volume
from pulumi_volcano_jobs.parse import parse_what_fits
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.plugins.base import secret_settings

# Annotations and labels of a job that its Pods get too; of a pair, the first that is there.
_HANDED_DOWN = (
    ("volcano.sh/preemptable",),
    ("volcano.sh/cooldown-time",),
    ("volcano.sh/revocable-zone",),
    ("volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"),
)
_HANDED_DOWN_LABELS = ("volcano.sh/preemptable", "volcano.sh/cooldown-time")


_JOINT = re.compile(r"[.\[]")


@dataclass(frozen=True)
class Rendered:
    """What a job is made of. Manifests are plain dicts; keys that nobody gave are placeholders."""

    job: Job
    """The job with its defaults, as Volcano would store it."""
    plugins: tuple[Plugin, ...]
    """Its plugins, those brought in by others too, in the order in which they ran."""
    objects: tuple[Manifest, ...]
    """All objects but Pods, by kind and name."""
    pods: tuple[Manifest, ...]
    """The Pods by task and index."""
    first_pods: Mapping[str, Manifest]
    """What Pod 0 of each task is, or would be in a task of 0 replicas, by the task's name."""
    warnings: tuple[Problem, ...]
    """What is odd and still done."""
    made_by: Mapping[tuple[str, str], str]
    """The plugin that made an object, by the object's kind and name; what no plugin made is not in it."""


def render(
    job: Job | Mapping[str, Any],
    *,
    strict: bool = True,
    cluster: ClusterFacts | None = None,
    namespace: Any = "default",
    keys: KeyPair = PLACEHOLDERS,
    redact: bool = False,
    earlier: Sequence[Problem] = (),
) -> Rendered:
    """Render a job.

    Args:
        job: the job, or its document in either form.
        strict: report every mistake; without it, do what Volcano does with the same input, silent fall-backs included.
        cluster: what only a cluster knows; nothing is assumed without it.
        namespace: the namespace of a job that names none.
        keys: the pair for an ssh plugin without a given key.
        redact: put placeholders in the place of given keys too.
        earlier: problems that were found before, as in reading the file, to be raised with the others.

    Raises:
        JobError: with all problems at once (strict), or with those of the first stage of Volcano's that refuses.
    """
    cluster = cluster or ClusterFacts()
    stored, warnings = _examine(job, cluster, namespace, earlier, strict=strict)
    shown, plugins = _redacted(stored) if redact else (stored.job, stored.plugins)
    ctx = JobContext(shown, keys)
    objects, made_by = _objects(ctx, plugins, cluster)
    raise_if_any(limits.objects(objects))
    pods, firsts, clashes = _pods(ctx, plugins, strict=strict)
    raise_if_any(clashes)
    return Rendered(shown, plugins, tuple(objects), tuple(pods), firsts, warnings, made_by)


def _examine(
    job: Job | Mapping[str, Any],
    cluster: ClusterFacts,
    namespace: Any,
    earlier: Sequence[Problem],
    *,
    strict: bool,
) -> tuple[Stored, tuple[Problem, ...]]:
    """Fill in the defaults of a job and check it; give it with what is merely odd."""
    model, malformed = (job, []) if isinstance(job, Job) else parse_what_fits(job)
    malformed = [*earlier, *_not_following(malformed, earlier)]
    if model is None or not strict:
        raise_if_any(malformed)
    if model is None:
        raise JobError(malformed)
    if not is_given(model.namespace):
        model = model.with_(namespace=namespace)
        malformed += podcheck.dns_label(namespace, "metadata.namespace")
    stored = store(model, strict=strict)
    problems = [*malformed, *_not_following([plugin_place(item, model) for item in stored.problems], malformed)]
    if not strict:
        # Volcano asks one after the other.
        raise_if_any(problem for problem in problems if problem.stage <= Stage.SCHEMA)
    is_whole = all(problem.stage > Stage.SCHEMA for problem in malformed)
    found = _all_problems(stored, cluster, strict=strict) if is_whole else _local_problems(stored)
    problems += _not_following([plugin_place(problem, model) for problem in found], problems)
    raise_if_any(problems)
    raise_if_any(_missing_claims(stored.job, cluster))
    return stored, tuple(problem for problem in problems if problem.warning)


def _all_problems(stored: Stored, cluster: ClusterFacts, *, strict: bool) -> list[Problem]:
    found = list(webhook.check(stored.job, stored.plugins, cluster))
    if not stored.job.tasks:
        return found
    said = {problem.path for problem in found}
    return [*found, *(p for p in _strict_problems(stored) if p.path not in said)] if strict else found


def _local_problems(stored: Stored) -> list[Problem]:
    """Look at each template by itself: with parts of the job left out, nothing can be said of it as a whole."""
    return [
        problem
        for index, task in enumerate(stored.job.tasks or ())
        for problem in podcheck.check(task.pod_template, f"spec.tasks[{index}].template")
    ]


def _not_following(problems: Sequence[Problem], reported: Sequence[Problem]) -> list[Problem]:
    """Leave out what is about a place of which something is said already, or about what stands below it."""
    places = {problem.path for problem in reported if not problem.warning}
    return [problem for problem in problems if places.isdisjoint(_around(problem.path))]


def _around(path: str) -> Iterator[str]:
    """Yield a path and those of all that it stands in."""
    yield path
    yield from (path[: match.start()] for match in _JOINT.finditer(path))


def _redacted(stored: Stored) -> tuple[Job, tuple[Plugin, ...]]:
    plugins = tuple(plugin.redacted() for plugin in stored.plugins)
    changed = {new.name: new for old, new in zip(stored.plugins, plugins, strict=True) if _shows(old, new)}
    job: Job = stored.job.with_(plugins={**stored.job.uses, **changed}) if changed else stored.job
    return job, plugins


def _shows(given: Plugin, redacted: Plugin) -> bool:
    """Tell whether what was given may show a key: be it a setting or an argument that Volcano passes over."""
    return given != redacted or bool(secret_settings(type(given)))


def _strict_problems(stored: Stored) -> Iterator[Problem]:
    job = stored.job
    for plugin in stored.plugins:
        yield from plugin.validate(job)
    names_used = {plugin.name for plugin in stored.plugins}
    if "ssh" in names_used and "svc" not in names_used:
        reason = "without the svc plugin there is no Service, and the names in the ssh configuration do not resolve"
        yield Problem("spec.plugins.ssh", reason, "add svc: []", warning=True)
    if "svc" in names_used:
        yield from podcheck.dns_label(job.name, "metadata.name")
    for index, task in enumerate(job.tasks or ()):
        yield from podcheck.repeated(task.pod_template, f"spec.tasks[{index}].template")
        last = names.pod(job.name, task.name or "", max(task.size - 1, 0))
        if len(last) > MAX_LABEL:
            reason = f"the last Pod's name {last} has {len(last)} characters; a host name has at most {MAX_LABEL}"
            yield Problem(f"spec.tasks[{index}].name", reason, "shorten the job's or the task's name", stage=Stage.API)
    service = names.head_service(job.name)
    if "ray" in names_used and len(service) > MAX_LABEL:
        reason = f"the head's Service {service} has {len(service)} characters; a Service has at most {MAX_LABEL}"
        yield Problem("metadata.name", reason, "shorten the job's name", stage=Stage.API)


def _missing_claims(job: Job, cluster: ClusterFacts) -> Iterator[Problem]:
    if cluster.claims is None or isinstance(job.namespace, Leaf):
        return
    for index, volume in enumerate(job.volumes or ()):
        name = volume.volume_claim_name
        if name and (job.namespace, name) not in cluster.claims:
            reason = f"the namespace {job.namespace} has no claim of this name; the job would stay pending"
            path = f"spec.volumes[{index}].volumeClaimName"
            yield Problem(path, reason, "create it first", value=name, stage=Stage.CONTROLLER)


def _objects(
    ctx: JobContext,
    plugins: Sequence[Plugin],
    cluster: ClusterFacts,
) -> tuple[list[Manifest], dict[tuple[str, str], str]]:
    objects = [podgroup.pod_group(ctx, cluster.priority_classes)]
    objects += [
        manifest.build("v1", "PersistentVolumeClaim", claim_name(ctx.name, volume), ctx.namespace, spec=spec)
        for volume in ctx.job.volumes or ()
        if (spec := manifest.copy_tree(volume.volume_claim)) is not None
    ]
    made_by = {}
    for plugin in plugins:
        for item in plugin.on_job_add(ctx):
            made_by[item["kind"], item["metadata"]["name"]] = plugin.name
            objects.append(item)
    return manifest.canonical(objects), made_by


def _pods(
    ctx: JobContext,
    plugins: Sequence[Plugin],
    *,
    strict: bool,
) -> tuple[list[Manifest], dict[str, Manifest], list[Problem]]:
    pods: list[Manifest] = []
    firsts: dict[str, Manifest] = {}
    clashes: list[Problem] = []
    for position, task in enumerate(ctx.tasks):
        add_own, name = _task_editor(ctx, task), task.name or ""
        # Volcano, and so the lenient mode, asks the plugins of no Pod that there is not.
        for index in range(max(task.size, 1) if strict else task.size):
            pod = Pod(names.pod(ctx.name, name, index), name, index, task.pod_template)
            add_own(pod)
            for plugin in plugins:
                # All Pods of a task clash in the same places.
                before = _written(pod) if strict and index == 0 else {}
                plugin.on_pod_create(pod, ctx)
                clashes += _clashes(before, pod, plugin, f"spec.tasks[{position}].template.spec") if before else ()
            made = pod.to_manifest(ctx.namespace)
            if index == 0:
                raise_if_any(limits.task(made, task.size, f"spec.tasks[{position}].replicas"))
            firsts.setdefault(name, made)
            pods += [made] if index < task.size else []
    return pods, firsts, clashes


def _task_editor(ctx: JobContext, task: Task) -> Any:
    """Give the edit that the controller itself makes to each Pod of a task; what is the same is made once."""
    job, spec = ctx.job, task.pod_spec
    fields = {"schedulerName": spec.get("schedulerName") or job.scheduler_name}
    priority = spec.get("priorityClassName")
    if is_given(job.priority_class_name) and not is_given(priority):
        fields["priorityClassName"] = job.priority_class_name
    labels, annotations = _labels(ctx, task), _annotations(ctx, task)
    # The Pods' volume is called after the path too, be the claim new or not.
    mounts = [(volume.mount_path, claim_name(ctx.name, volume), claim) for volume, claim in _claims(job)]
    partition = task.partition_policy

    def edit(pod: Pod) -> None:
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
    handed = ctx.job.labels or {}
    return labels | {key: handed[key] for key in _HANDED_DOWN_LABELS if key in handed}


def _annotations(ctx: JobContext, task: Task) -> Manifest:
    annotations = {
        manifest.GROUP_ANNOTATION: ctx.name,
        manifest.JOB_NAME: ctx.name,
        manifest.JOB_RETRY_COUNT: "0",
        manifest.JOB_VERSION: "0",
        manifest.QUEUE_NAME: ctx.job.queue,
        manifest.TASK_SPEC: task.name,
        manifest.TEMPLATE_UID: f"{ctx.name}-{task.name}",
    }
    if task.topology_policy:
        annotations[manifest.NUMA_POLICY] = task.topology_policy
    handed = ctx.job.annotations or {}
    for keys in _HANDED_DOWN:
        annotations |= {key: handed[key] for key in [key for key in keys if key in handed][:1]}
    return annotations


def _claims(job: Job) -> list[tuple[Volume, str]]:
    """Pair each volume with its claim; a claim that is named twice counts once, at its first path."""
    pairs: dict[str, Volume] = {}
    for volume in job.volumes or ():
        pairs.setdefault(volume.volume_claim_name or claim_name(job.name, volume), volume)
    return [(volume, name) for name, volume in pairs.items()]


def claim_name(job: str, volume: Volume) -> str:
    """Name a new claim after its path, so that it stays the same when the list of volumes changes."""
    plain = volume.mount_path.strip("/")
    readable = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    if readable == plain:
        return f"{job}-pvc-{readable}"
    digest = sha256(volume.mount_path.encode()).hexdigest()[:8]
    return f"{job}-pvc-{readable[:20].strip('-')}-{digest}".replace("--", "-")


_Written = dict[tuple[str, str, str], Any]


def _written(pod: Pod) -> _Written:
    """List what is in a Pod under the keys that are written once."""
    found: _Written = {}
    for container in pod.all_containers:
        wire = container.to_wire()
        found |= {(container.name, "env", entry["name"]): entry for entry in wire.get("env", ())}
        found |= {(container.name, "volumeMounts", entry["mountPath"]): entry for entry in wire.get("volumeMounts", ())}
        found |= {
            (container.name, "ports", entry["name"]): entry for entry in wire.get("ports", ()) if entry.get("name")
        }
    found |= {("", "volumes", entry["name"]): entry for entry in pod.to_manifest("")["spec"].get("volumes", ())}
    return found


def _clashes(before: _Written, pod: Pod, plugin: Plugin, path: str) -> Iterator[Problem]:
    """Yield what a plugin wrote over, be it the template's or another plugin's."""
    after = _written(pod)
    for key, entry in before.items():
        # Equal entries clash too, unless they are still the same one.
        if after.get(key) is not None and after[key] is not entry:
            container, kind, name = key
            where = f" of the container {container}" if container else ""
            reason = f"{kind} {name}{where} is set here and by the plugin {plugin.name}"
            yield Problem(f"{path}.{kind}", reason, f"remove it, or rename it, or do without {plugin.name}")
