"""Check a job against the release of Volcano that runs it.

An older release drops most unknown fields without an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_volcano_jobs.admission import policies, templates
from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.spec.model import Job, Model
from pulumi_volcano_jobs.spec.releases import Since, is_older


def check(job: Job, plugins: Sequence[Plugin], version: str, *, strict: bool, native: bool) -> Iterator[Problem]:
    """Yield a Problem for each part of a job that a release of Volcano does not support.

    Args:
        job: the job with its defaults.
        plugins: its plugins.
        version: the release, such as 1.15. If it is empty, nothing is checked.
        strict: whether to check plugin arguments that follow a mistake, which Volcano does not read.
        native: whether Volcano's controllers run the job. Otherwise, the job only uses its scheduler and a PodGroup.
    """
    if not version:
        return
    yield from _fields(job, "spec", version)
    if native:
        for plugin in plugins:
            yield from plugin.missing_in(version, job, job.arguments(plugin.name), strict=strict)
        yield from policies.missing_in(job.policies or (), "spec.policies", version)
        for index, task in enumerate(job.tasks or ()):
            yield from policies.missing_in(task.policies or (), f"spec.tasks[{index}].policies", version)
            yield from templates.missing_in(task.pod_template, f"spec.tasks[{index}].template", version)


def _fields(model: Model, path: str, version: str) -> Iterator[Problem]:
    """Yield a Problem for each field of a Job or a PodGroup that a release drops."""
    for name, field in type(model).model_fields.items():
        value, place = getattr(model, name), paths.join(path, field.alias or name)
        since = next((since_mark.version for since_mark in field.metadata if isinstance(since_mark, Since)), "")
        if value is not None and is_older(version, since):
            reason = f"unknown field in Volcano {version}, which drops it (added in {since})"
            yield Problem(place, "Forbidden", reason, f"remove it, or upgrade Volcano to {since} or later")
            continue
        for item_path, item in _parts(value, place):
            yield from _fields(item, item_path, version)


def _parts(value: object, path: str) -> Iterator[tuple[str, Model]]:
    if isinstance(value, Model):
        yield path, value
    elif isinstance(value, tuple):
        yield from ((paths.join(path, index), item) for index, item in enumerate(value) if isinstance(item, Model))


def unknown_to_kubernetes(job: Job, version: str) -> Iterator[Problem]:
    """Yield a Problem for each field of the Pod templates that a version of Kubernetes does not have.

    If the version is empty, nothing is checked.
    """
    for index, task in enumerate(job.tasks or ()) if version else ():
        yield from templates.unknown_fields(task.pod_template, version, f"spec.tasks[{index}].template")
