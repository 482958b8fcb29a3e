"""What strict mode says of a job as a whole: nobody refuses it, or only when half of it is there."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs import limits, names, podcheck, traps
from pulumi_volcano_jobs.errors import Problem, Stage
from pulumi_volcano_jobs.fields import MAX_LABEL
from pulumi_volcano_jobs.leaf import is_given
from pulumi_volcano_jobs.model import Job, Task, Volume
from pulumi_volcano_jobs.plugins import Plugin, RayPlugin, SvcPlugin


def check(job: Job, plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield the problems of a job with its defaults, and its warnings."""
    for plugin in plugins:
        yield from plugin.validate(job)
    yield from _whole(job, {plugin.name for plugin in plugins})
    # Warnings ask plugins about all Pods.
    if not any(limits.pods(job)):
        yield from traps.check(job, plugins)


def _whole(job: Job, used: set[str]) -> Iterator[Problem]:
    if SvcPlugin.name in used:
        yield from podcheck.dns_label(job.name, "metadata.name")
    for index, task in enumerate(job.tasks or ()):
        yield from podcheck.once_made(_with_class(job, task), f"spec.tasks[{index}].template")
        grace = task.pod_spec.get("terminationGracePeriodSeconds")
        if isinstance(grace, int) and grace < 0:
            # Kubernetes takes it for 1.
            path = f"spec.tasks[{index}].template.spec.terminationGracePeriodSeconds"
            yield Problem(path, "this must be at least 0", "0 kills at once; left out, it is 30", repr(grace))
        last = names.pod(job.name, task.name or "", max(task.size - 1, 0))
        if len(last) > MAX_LABEL:
            reason = f"the last Pod's name {last} has {len(last)} characters; a host name has at most {MAX_LABEL}"
            yield Problem(f"spec.tasks[{index}].name", reason, "shorten the job's or the task's name", stage=Stage.API)
    for index, volume in enumerate(job.volumes or ()):
        if volume.volume_claim is not None:
            yield from podcheck.claim(volume.volume_claim, f"spec.volumes[{index}].volumeClaim")
    yield from _mounted_twice(job.volumes or ())
    service = names.head_service(job.name)
    if RayPlugin.name in used and len(service) > MAX_LABEL:
        reason = f"the head's Service {service} has {len(service)} characters; a Service has at most {MAX_LABEL}"
        yield Problem("metadata.name", reason, "shorten the job's name", stage=Stage.API)


def _with_class(job: Job, task: Task) -> Mapping[str, Any]:
    """Return the template of a task with the priority class that its Pods get from the job."""
    if not is_given(job.priority_class_name) or is_given(task.pod_spec.get("priorityClassName")):
        return task.pod_template
    return {**task.pod_template, "spec": {**task.pod_spec, "priorityClassName": job.priority_class_name}}


def _mounted_twice(volumes: Sequence[Volume]) -> Iterator[Problem]:
    """Yield paths that are the same in another spelling: the later volume would hide the earlier one."""
    seen = set()
    for index, volume in enumerate(volumes):
        # Two slashes in front are not one to posixpath.
        path = posixpath.normpath(f"/{volume.mount_path.lstrip('/')}")
        if path in seen:
            place, value = f"spec.volumes[{index}].mountPath", repr(volume.mount_path)
            yield Problem(place, "this path is mounted twice", "remove one", value)
        seen.add(path)
