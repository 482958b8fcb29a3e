"""The digest of a Pod or a Job. It changes exactly when an edit must replace them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.component.outputs import Outputs
from pulumi_volcano_jobs.kubernetes.container_lists import CONTAINER_LISTS
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from pulumi_volcano_jobs.plugins.base import JobUpdate
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.rendering.renderer import Rendered, pod_renderer

# Not 1: Volcano does not configure a cluster for a job of one Pod.
_FIXED_SIZE = 2


def digests(
    rendered: Rendered,
    updates: Sequence[JobUpdate],
    options: JobOptions,
    outputs: Outputs,
) -> dict[str, Any]:
    """Return the digest of each task's Pods, by the task's name: a string, or an Output if the spec has a leaf.

    Pods of a task differ only by their index, so the first Pod represents all. The digest does not depend on replica
    counts: see `replicas`.
    """
    parts: dict[str, Any] = {"tokens": tokens(options)}
    if values := [value for update in updates for value in update.restart_triggers]:
        parts["values"] = values
    scaled = frozenset().union(*(update.scaled_env for update in updates))
    specs = {task: pod["spec"] for task, pod in rendered.first_pods.items()}
    if scaled:
        fixed_size_specs = _of_fixed_size(rendered)
        specs = {task: _with_env(spec, fixed_size_specs[task], scaled) for task, spec in specs.items()}
    if options.get("restart", "gang") == "gang":
        task_digests = outputs.apply(digest, parts | {"specs": specs})
        return dict.fromkeys(specs, task_digests)
    return {task: outputs.apply(digest, parts | {"specs": {task: spec}}) for task, spec in specs.items()}


def tokens(options: JobOptions) -> dict[str, str]:
    """Return the user's tokens that are part of a digest."""
    user_tokens = {"run": options.get("run"), "key_rotation": options.get("key_rotation")}
    return {key: token for key, token in user_tokens.items() if token}


def replicas(ctx: JobContext) -> str:
    """Return the replicas of all tasks as text for the annotation of each Pod.

    They are not part of the digest, so that each update can decide whether scaling replaces Pods: the annotation is
    either compared or ignored.
    """
    return json.dumps({task.name: task.size for task in ctx.tasks}, sort_keys=True, separators=(",", ":"))


def on_scale(updates: Sequence[JobUpdate], options: JobOptions) -> str:
    """Return whether scaling replaces Pods: as `on_scale` sets it, or if a plugin passes the number of Pods to them."""
    is_static = any(update.is_static for update in updates)
    return options.get("on_scale") or ("restart" if is_static else "keep")


def _of_fixed_size(rendered: Rendered) -> dict[str, Manifest]:
    """Return the spec of each task's first Pod, by the task's name, rendered with the same replicas for every task."""
    tasks = tuple(task.with_(replicas=_FIXED_SIZE) for task in rendered.job.tasks or ())
    ctx = JobContext(rendered.job.with_(tasks=tasks))
    pods = [
        pod_renderer(ctx, rendered.plugins, task, keep_template_values=rendered.keep_template_values)(0)
        for task in tasks
    ]
    return {pod.task: pod.to_template()["spec"] for pod in pods}


def _with_env(spec: Manifest, other_spec: Manifest, variables: frozenset[str]) -> Manifest:
    """Copy some variables from another spec, so that only changes other than scaling affect the digest."""
    result = dict(spec)
    for kind in CONTAINER_LISTS:
        other_containers = {container["name"]: container for container in other_spec.get(kind, ())}
        if kind in spec:
            result[kind] = [
                _with_env_of(other_containers.get(item["name"], {}), item, variables) for item in spec[kind]
            ]
    return result


def _with_env_of(other: Manifest, container: Manifest, variables: frozenset[str]) -> Manifest:
    kept_entries = [entry for entry in container.get("env", ()) if entry["name"] not in variables]
    return container | {
        "env": [*kept_entries, *(entry for entry in other.get("env", ()) if entry["name"] in variables)]
    }


def digest(parts: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return the digest of plain data."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
