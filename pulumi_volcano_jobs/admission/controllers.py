"""What Volcano's controllers do beyond making Pods, and what is otherwise when they make them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pulumi_volcano_jobs.core.errors import Problem, Stage
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.core.phrases import counted
from pulumi_volcano_jobs.kubernetes.dns import DNS_LABEL, MAX_LABEL
from pulumi_volcano_jobs.plugins import BUILT_IN, Plugin, SshPlugin
from pulumi_volcano_jobs.spec.model import Job, Policy

_SUFFIX = 12  # random characters that Volcano's controller appends to the names of volumes
_OTHER_NAME = 'rename the job, or use managed_by="pulumi"'
_VERBS = {
    "AbortJob": "abort the job",
    "CompleteJob": "complete the job",
    "RestartJob": "restart the job",
    "RestartPartition": "restart the partition",
    "RestartPod": "restart the Pod",
    "RestartTask": "restart the task",
    "ResumeJob": "resume the job",
    "TerminateJob": "terminate the job",
}


def enacted(job: Job) -> list[tuple[str, str]]:
    """List path and meaning of each thing that only Volcano does, so that Pods of Pulumi's are left without it."""
    return [*_of_job(job), *_of_tasks(job)]


def _of_job(job: Job) -> Iterator[tuple[str, str]]:
    for index, policy in enumerate(job.policies or ()):
        yield f"spec.policies[{index}]", _meaning(policy)
    if job.ttl_seconds_after_finished is not None:
        yield "spec.ttlSecondsAfterFinished", f"remove the job {job.ttl_seconds_after_finished} s after its end"
    if job.min_success is not None:
        yield "spec.minSuccess", f"complete the job once {counted(job.min_success, 'Pod')} succeeded"


def _of_tasks(job: Job) -> Iterator[tuple[str, str]]:
    for position, task in enumerate(job.tasks or ()):
        for index, policy in enumerate(task.policies or ()):
            yield f"spec.tasks[{position}].policies[{index}]", f"{_meaning(policy)} of {task.name}"
        if task.depends_on and task.depends_on.name:
            others = ", ".join(task.depends_on.name)
            yield f"spec.tasks[{position}].dependsOn", f"start {task.name} after {others}"


def _meaning(policy: Policy) -> str:
    cause = ", ".join(policy.events or ()) or policy.event or f"exit code {policy.exit_code}"
    return f"{_VERBS.get(policy.action or '', policy.action)} on {cause}"


def problems(job: Job, plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield what only Pods that Pulumi manages can have."""
    if job.volumes:
        yield from _volume_names(job.name)
    for plugin in plugins:
        if type(plugin) not in BUILT_IN:
            reason = "Volcano's controllers do not know this plugin, and would refuse the job"
            yield Problem(f"spec.plugins.{plugin.name}", "Forbidden", reason, 'remove it, or use managed_by="pulumi"')
        yield from plugin.not_native()


def _volume_names(job: str) -> Iterator[Problem]:
    """Yield a Problem if the API server rejects the names that Volcano derives for the volumes of Pods."""
    longest = MAX_LABEL - len("-") - _SUFFIX
    if len(job) <= longest and re.fullmatch(DNS_LABEL, job):
        return
    reason = (
        f'Invalid value: "{job}": must be a lowercase RFC 1123 label of at most {longest} characters, without dots:'
        " Volcano adds a random suffix to this name for the volumes of Pods"
    )
    yield Problem("metadata.name", "Invalid", reason, _OTHER_NAME, stage=Stage.API)


def warnings(plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield what is done, and yet not as with Pods that Pulumi manages."""
    for plugin in plugins:
        if isinstance(plugin, SshPlugin) and not is_given(plugin.ssh_private_key):
            yield Problem(
                "spec.plugins.ssh",
                "Warning",
                "Volcano makes the key pair, and another one with each restart of the job, a task or a Pod, so that "
                "Pods which keep running do not know the new key",
                "give the ssh plugin ssh_private_key and ssh_public_key (they stand in the Job, for all who may read "
                "it), or let policies restart the whole job only",
                code="VJ117",
            )
