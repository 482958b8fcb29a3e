"""The digest of Pods, or of the Job: it changes when, and only when, an edit must replace them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.component.args import JobOptions
from pulumi_volcano_jobs.component.lift import Outputs
from pulumi_volcano_jobs.context import JobContext
from pulumi_volcano_jobs.manifest import Manifest
from pulumi_volcano_jobs.plugins.base import JobUpdate
from pulumi_volcano_jobs.rendering import Rendered


def digests(
    rendered: Rendered,
    updates: Sequence[JobUpdate],
    options: JobOptions,
    outputs: Outputs,
) -> dict[str, Any]:
    """Compute the digest of each task's Pods, by the task's name: text, or an Output where a leaf is in it.

    A task's Pods differ only by their index, so the first stands for all. How many there are is no part of it: see
    `replicas`.
    """
    parts: dict[str, Any] = {"tokens": tokens(options)}
    if values := [value for update in updates for value in update.restarts_on]:
        parts["values"] = values
    scaled = frozenset().union(*(update.scaled_env for update in updates))
    specs = {task: _without(pod["spec"], scaled) for task, pod in rendered.first_pods.items()}
    if options.get("restart", "gang") == "gang":
        whole = outputs.apply(digest, parts | {"specs": specs})
        return dict.fromkeys(specs, whole)
    return {task: outputs.apply(digest, parts | {"specs": {task: spec}}) for task, spec in specs.items()}


def tokens(options: JobOptions) -> dict[str, str]:
    """Give the tokens of the user that are part of a digest."""
    given = {"run": options.get("run"), "key_rotation": options.get("key_rotation")}
    return {key: token for key, token in given.items() if token}


def replicas(ctx: JobContext) -> str:
    """Spell the replicas of all tasks for the annotation that tells a Pod of which world it is.

    It is apart from the digest so that whether scaling replaces Pods can be decided at each update anew: the annotation
    is looked at or ignored.
    """
    return json.dumps({task.name: task.size for task in ctx.tasks}, sort_keys=True, separators=(",", ":"))


def on_scale(updates: Sequence[JobUpdate], options: JobOptions) -> str:
    """Tell whether scaling replaces Pods: if asked, or if a plugin tells its Pods how many they are."""
    is_static = any(update.is_static for update in updates)
    return options.get("on_scale") or ("restart" if is_static else "keep")


def _without(spec: Manifest, variables: frozenset[str]) -> Manifest:
    """Leave out the variables whose values follow the replicas: scaling is told apart from edits."""
    kept = dict(spec)
    for kind in ("containers", "initContainers"):
        if kind in spec:
            kept[kind] = [_without_env(container, variables) for container in spec[kind]]
    return kept


def _without_env(container: Manifest, variables: frozenset[str]) -> Manifest:
    if "env" not in container:
        return container
    return container | {"env": [entry for entry in container["env"] if entry["name"] not in variables]}


def digest(parts: Mapping[str, Any] | Sequence[Any]) -> str:
    """Compute the digest of plain data."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
