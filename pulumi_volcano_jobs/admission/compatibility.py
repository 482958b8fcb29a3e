"""Check a job against the release of Volcano that runs it.

An older release drops most of what it does not know, without an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, Stage
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.spec.model import Job, Model, Policy
from pulumi_volcano_jobs.spec.releases import Since, embedded_kubernetes, lacks

_EVENTS = {"PodPending": "1.11"}
_ACTIONS = {"RestartPod": "1.11", "RestartPartition": "1.14"}
_UPGRADE = "upgrade Volcano"


def check(job: Job, plugins: Sequence[Plugin], version: str, *, strict: bool, native: bool) -> Iterator[Problem]:
    """Yield a Problem for each part of a job that a release of Volcano does not support.

    Args:
        job: the job with its defaults.
        plugins: its plugins.
        version: the release, such as 1.15. If it is empty, there are no problems.
        strict: whether to check plugin arguments that Volcano does not read, because they follow a mistake.
        native: whether Volcano's controllers run the job. Otherwise only its scheduler and PodGroups take part.
    """
    if not version:
        return
    yield from _fields(job, "spec", version)
    if native:
        for plugin in plugins:
            yield from plugin.missing_in(version, job, job.arguments(plugin.name), strict=strict)
        yield from _policies(job.policies or (), "spec.policies", version)
        for index, task in enumerate(job.tasks or ()):
            yield from _policies(task.policies or (), f"spec.tasks[{index}].policies", version)
            yield from _template(task.pod_template, f"spec.tasks[{index}].template", version)


def _fields(model: Model, path: str, version: str) -> Iterator[Problem]:
    """Yield a Problem for each field that a release does not store in a Job or a PodGroup."""
    for name, field in type(model).model_fields.items():
        value, place = getattr(model, name), paths.join(path, field.alias or name)
        since = next((mark.version for mark in field.metadata if isinstance(mark, Since)), "")
        if value is not None and lacks(version, since):
            reason = f"Forbidden: Volcano {version} does not know this field (added in {since}), and drops it"
            yield Problem(place, "Forbidden", reason, f"remove it, or {_UPGRADE}")
            continue
        for at, item in _parts(value, place):
            yield from _fields(item, at, version)


def _parts(value: object, path: str) -> Iterator[tuple[str, Model]]:
    if isinstance(value, Model):
        yield path, value
    elif isinstance(value, tuple):
        yield from ((paths.join(path, index), item) for index, item in enumerate(value) if isinstance(item, Model))


def _policies(policies: Sequence[Policy], path: str, version: str) -> Iterator[Problem]:
    """Yield a Problem for each event or action that the webhook of a release rejects."""
    for index, policy in enumerate(policies):
        used = [("event", policy.event, _EVENTS), ("action", policy.action, _ACTIONS)]
        used += [(f"events[{position}]", event, _EVENTS) for position, event in enumerate(policy.events or ())]
        for key, value, known in used:
            since = known.get(value or "", "")
            if lacks(version, since):
                reason = f'Unsupported value: "{value}": Volcano {version} does not know it (added in {since})'
                yield Problem(
                    f"{path}[{index}].{key}",
                    "NotSupported",
                    reason,
                    f"use another one, or {_UPGRADE}",
                    stage=Stage.WEBHOOK,
                )


def _template(template: object, path: str, version: str) -> Iterator[Problem]:
    """Yield a Problem for each field that the resource definition of a release drops from a Pod template."""
    kubernetes = embedded_kubernetes(version)
    for problem in unknown_fields(template, kubernetes, path):
        reason = (
            f"Forbidden: Volcano {version} does not know this field, and drops it: its Job has the Pod template of"
            f" Kubernetes {kubernetes}"
        )
        yield Problem(problem.path, "Forbidden", reason, f'remove it, {_UPGRADE}, or set managed_by="pulumi"')


def unknown_fields(template: object, kubernetes_version: str, path: str) -> Iterator[Problem]:
    """Yield a Problem for each field of a Pod template that a version of Kubernetes does not have."""
    walk = schema.Walk(kubernetes_version)
    walk.conform(template, schema.POD_TEMPLATE, path)
    yield from (problem for problem in walk.problems if problem.stage is Stage.STRICT)
