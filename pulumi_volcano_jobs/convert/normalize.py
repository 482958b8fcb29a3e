"""Normalize a job before it is written: typed plugins, no nulls, and only the defaults that the file sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import Unpack

from pulumi_volcano_jobs.admission.defaults import apply_defaults
from pulumi_volcano_jobs.core.errors import JobError
from pulumi_volcano_jobs.files.job_file import Document
from pulumi_volcano_jobs.rendering.renderer import Rendered, render
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.model import Job, Task, Volume
from pulumi_volcano_jobs.spec.options import RenderOptions


def render_normalized(
    document: Document,
    *,
    strict: bool = True,
    cluster: ClusterFacts | None = None,
    **options: Unpack[RenderOptions],
) -> tuple[Rendered, Job]:
    """Render a document, and return the result with the job to write, which has typed plugins and no nulls.

    Args:
        document: a document of a job file.
        strict: whether mistakes are errors. Otherwise the job is as Volcano reads it, and each mistake is a warning.
        cluster: facts about the cluster.
        options: options that are not in the job. The program must also set them.

    Raises:
        JobError: if the document has problems, or a program with this job would be rejected.
    """
    try:
        rendered = render(document.data, cluster=cluster, **options, earlier=document.problems)
    except JobError:
        if strict:
            raise
        rendered = render(document.data, strict=False, cluster=cluster, **options, earlier=document.problems)
        job = _normalized_job(document.data, templates_of=rendered.job)
        render(job, cluster=cluster, **options)
        return rendered, job
    return rendered, _normalized_job(document.data)


def _normalized_job(document: Mapping[str, Any], *, templates_of: Job | None = None) -> Job:
    job = Job.model_validate(document)
    templates_job = templates_of or job
    # Settings of the file only: the program sets `plugin_options` itself.
    plugins = {plugin.name: plugin for plugin in apply_defaults(job, {}, strict=templates_of is None).plugins}
    normalized = job.with_(
        plugins={name: plugins[name] for name, use in job.uses.items() if use is not None} or None,
        tasks=tuple(map(_task, job.tasks or (), templates_job.tasks or ())),
        volumes=None if job.volumes is None else tuple(map(_volume, job.volumes, templates_job.volumes or ())),
    )
    # `to_wire` drops unknown fields.
    return Job.model_validate(normalized.to_wire())


def _task(task: Task, template_task: Task) -> Task:
    return task.with_(template=_without_nulls(template_task.pod_template))


def _volume(volume: Volume, template_volume: Volume) -> Volume:
    return volume.with_(volume_claim=_without_nulls(template_volume.volume_claim))


def _without_nulls(tree: Any) -> Any:
    """Return a copy of a tree without nulls, which Kubernetes treats as missing values."""
    if isinstance(tree, Mapping):
        return {key: _without_nulls(value) for key, value in tree.items() if value is not None}
    if isinstance(tree, (list, tuple)):
        return [_without_nulls(item) for item in tree if item is not None]
    return tree
