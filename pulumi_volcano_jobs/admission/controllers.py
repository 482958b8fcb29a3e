"""What Volcano's controllers do beyond making Pods, and what is otherwise when they make them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_volcano_jobs.admission import metadata, policies
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.core.phrases import counted
from pulumi_volcano_jobs.plugins import BUILT_IN, Plugin, SshPlugin
from pulumi_volcano_jobs.spec.model import Job


def controller_only_fields(job: Job) -> list[tuple[str, str]]:
    """List path and meaning of each thing that only Volcano does, so that Pods of Pulumi's are left without it."""
    return [*_of_job(job), *_of_tasks(job)]


def _of_job(job: Job) -> Iterator[tuple[str, str]]:
    for index, policy in enumerate(job.policies or ()):
        yield f"spec.policies[{index}]", policies.meaning(policy)
    if job.ttl_seconds_after_finished is not None:
        yield "spec.ttlSecondsAfterFinished", f"remove the job {job.ttl_seconds_after_finished} s after its end"
    if job.min_success is not None:
        yield "spec.minSuccess", f"complete the job once {counted(job.min_success, 'Pod')} succeeded"


def _of_tasks(job: Job) -> Iterator[tuple[str, str]]:
    for position, task in enumerate(job.tasks or ()):
        for index, policy in enumerate(task.policies or ()):
            yield f"spec.tasks[{position}].policies[{index}]", f"{policies.meaning(policy)} of {task.name}"
        if task.depends_on and task.depends_on.name:
            dependencies = ", ".join(task.depends_on.name)
            yield f"spec.tasks[{position}].dependsOn", f"start {task.name} after {dependencies}"


def problems(job: Job, plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield what only Pods that Pulumi manages can have."""
    if job.volumes:
        yield from metadata.volume_names(job.name)
    for plugin in plugins:
        if type(plugin) not in BUILT_IN:
            reason = "Volcano's controllers do not know this plugin, and would refuse the job"
            yield Problem(f"spec.plugins.{plugin.name}", "Forbidden", reason, 'remove it, or use managed_by="pulumi"')
        yield from plugin.not_native()


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


def unsupported_warning(found: list[tuple[str, str]]) -> str:
    """Return one warning about all parts of a job that only Volcano's controllers support."""
    lines = "\n".join(f"  - {meaning} ({path})" for path, meaning in found)
    return (
        "the job runs, but nobody enacts this on Pods that Pulumi manages (they have no controller):\n"
        f'{lines}\nWith managed_by="volcano" Volcano\'s controllers enact it; unsupported="ignore" silences this.'
    )


def unsupported_problems(found: list[tuple[str, str]]) -> list[Problem]:
    """Return a Problem for each part of a job that only Volcano's controllers support (`unsupported="error"`)."""
    hint = 'remove it, or say unsupported="warn"'
    return [
        Problem(path, "Forbidden", f"nobody enacts this on Pods that Pulumi manages: {meaning}", hint)
        for path, meaning in found
    ]
