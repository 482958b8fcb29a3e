"""What strict mode says of a job as a whole: nobody refuses it, or only when half of it is there."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.admission import limits, lint
from pulumi_volcano_jobs.core.errors import Problem, Stage, shown
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.kubernetes import validation
from pulumi_volcano_jobs.kubernetes.dns import MAX_LABEL
from pulumi_volcano_jobs.plugins import Plugin, RayPlugin, SshPlugin, SvcPlugin
from pulumi_volcano_jobs.spec import names, releases
from pulumi_volcano_jobs.spec.model import Job, Task, Volume

_SERVICES_SINCE = "1.36"
"""The release of Kubernetes in which names of Services may begin with a digit (RelaxedServiceNameValidation)."""
_DNS_1035 = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character,"
    " and end with an alphanumeric character"
)


def check(job: Job, plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield the problems of a job with its defaults, and its warnings."""
    for plugin in plugins:
        yield from plugin.validate(job)
    yield from _whole(job, {plugin.name for plugin in plugins})
    # For some warnings, plugins compute values that grow with the number of Pods.
    if not any(limits.pods(job)):
        yield from lint.check(job, plugins)


def _whole(job: Job, used: set[str]) -> Iterator[Problem]:
    if used & {SvcPlugin.name, SshPlugin.name}:
        # The names of their volumes and of the Service begin with the job's name.
        yield from validation.dns_label(job.name, "metadata.name")
    if isinstance(job.queue, str) and len(job.queue) > MAX_LABEL:
        reason = f"Too long: may not be more than {MAX_LABEL} bytes: the queue becomes a label value of each Pod"
        yield Problem("spec.queue", "TooLong", reason, "use a queue with a shorter name", shown(job.queue), Stage.API)
    for index, task in enumerate(job.tasks or ()):
        yield from validation.once_made(_with_class(job, task), f"spec.tasks[{index}].template")
        grace = task.pod_spec.get("terminationGracePeriodSeconds")
        if isinstance(grace, int) and grace < 0:
            # Kubernetes takes it for 1.
            path = f"spec.tasks[{index}].template.spec.terminationGracePeriodSeconds"
            yield Problem(
                path, "Invalid", "this must be at least 0", "0 kills at once; left out, it is 30", repr(grace)
            )
        last = names.pod(job.name, task.name or "", max(task.size - 1, 0))
        if len(last) > MAX_LABEL:
            reason = f"the last Pod's name {last} has {len(last)} characters; a host name has at most {MAX_LABEL}"
            yield Problem(
                f"spec.tasks[{index}].name", "TooLong", reason, "shorten the job's or the task's name", stage=Stage.API
            )
    for index, volume in enumerate(job.volumes or ()):
        if volume.volume_claim is not None:
            yield from validation.claim(volume.volume_claim, f"spec.volumes[{index}].volumeClaim")
    yield from _mounted_twice(job.volumes or ())
    service = names.head_service(job.name)
    if RayPlugin.name in used and len(service) > MAX_LABEL:
        reason = f"the head's Service {service} has {len(service)} characters; a Service has at most {MAX_LABEL}"
        yield Problem("metadata.name", "TooLong", reason, "shorten the job's name", stage=Stage.API)


def services(job: Job, plugins: Sequence[Plugin], kubernetes_version: str) -> Iterator[Problem]:
    """Yield a Problem if the cluster's version of Kubernetes rejects the name of the job's Service."""
    is_older = releases.lacks(kubernetes_version, _SERVICES_SINCE)
    has_services = any(isinstance(plugin, (SvcPlugin, RayPlugin)) for plugin in plugins)
    if is_older and has_services and job.name[0].isdigit():
        reason = f'Invalid value: "{job.name}": Kubernetes {kubernetes_version} rejects the Service: {_DNS_1035}'
        yield Problem("metadata.name", "Invalid", reason, "begin the name with a letter", stage=Stage.API)


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
            yield Problem(place, "Duplicate", "this path is mounted twice", "remove one", value)
        seen.add(path)
