"""What of a job needs Volcano's controllers, and is not enacted on Pods that Pulumi made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pulumi_volcano_jobs.errors import Problem
from pulumi_volcano_jobs.model import Job, Policy

Unsupported = Literal["error", "warn", "ignore"]

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


def not_enacted(job: Job) -> list[tuple[str, str]]:
    """List path and meaning of each thing that the composed mode leaves undone."""
    return [*_of_job(job), *_of_tasks(job)]


def _of_job(job: Job) -> Iterator[tuple[str, str]]:
    for index, policy in enumerate(job.policies or ()):
        yield f"spec.policies[{index}]", _meaning(policy)
    if job.ttl_seconds_after_finished is not None:
        yield "spec.ttlSecondsAfterFinished", "remove the job some time after its end"
    if job.min_success is not None:
        yield "spec.minSuccess", f"complete the job once {job.min_success} Pods succeeded"


def _of_tasks(job: Job) -> Iterator[tuple[str, str]]:
    for position, task in enumerate(job.tasks or ()):
        for index, policy in enumerate(task.policies or ()):
            yield f"spec.tasks[{position}].policies[{index}]", _meaning(policy)
        if task.depends_on and task.depends_on.name:
            others = ", ".join(task.depends_on.name)
            yield f"spec.tasks[{position}].dependsOn", f"start {task.name} after {others}"


def _meaning(policy: Policy) -> str:
    cause = ", ".join(policy.events or ()) or policy.event or f"exit code {policy.exit_code}"
    return f"{_VERBS.get(policy.action or '', policy.action)} on {cause}"


def as_warning(found: list[tuple[str, str]]) -> str:
    """Say it calmly, once for a job, and what to do about it."""
    lines = "\n".join(f"  - {meaning} ({path})" for path, meaning in found)
    return (
        "the job runs, but nobody enacts this on Pods that Pulumi manages (they have no controller):\n"
        f'{lines}\nWith managed_by="volcano" Volcano\'s controllers enact it; unsupported="ignore" silences this.'
    )


def as_problems(found: list[tuple[str, str]]) -> list[Problem]:
    """Make a Problem of each, for `unsupported="error"`."""
    hint = 'remove it, or say unsupported="warn"'
    return [
        Problem(path, f"nobody enacts this on Pods that Pulumi manages: {meaning}", hint) for path, meaning in found
    ]
