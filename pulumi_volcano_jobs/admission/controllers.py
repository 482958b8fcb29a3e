"""Features that only Volcano's controllers support, and features that they do not support."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_volcano_jobs.admission import metadata, policies
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_PULUMI, MANAGED_BY_VOLCANO, Option, Phrase, counted
from pulumi_volcano_jobs.plugins import BUILT_IN, Plugin, SshPlugin
from pulumi_volcano_jobs.spec.model import Job

_REMOVE = Phrase("remove it, or set ", MANAGED_BY_PULUMI)


def controller_only_fields(job: Job) -> list[tuple[str, str]]:
    """Return the path and meaning of each field that only Volcano's controllers support."""
    return [*_of_job(job), *_of_tasks(job)]


def _of_job(job: Job) -> Iterator[tuple[str, str]]:
    for index, policy in enumerate(job.policies or ()):
        yield f"spec.policies[{index}]", policies.meaning(policy)
    if job.ttl_seconds_after_finished is not None:
        yield "spec.ttlSecondsAfterFinished", f"delete the job {job.ttl_seconds_after_finished} s after it finishes"
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
    """Yield a Problem for each feature that Volcano's controllers do not support."""
    if job.volumes:
        yield from metadata.volume_names(job.name)
    for plugin in plugins:
        if type(plugin) not in BUILT_IN:
            reason = "Volcano's controllers do not have this plugin, so they reject the job"
            yield Problem(f"spec.plugins.{plugin.name}", "Forbidden", reason, _REMOVE)
        yield from plugin.not_native()


def warnings(job: Job, plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield a warning for each feature that works differently with Volcano's controllers."""
    for plugin in plugins if _restarts_parts(job) else ():
        if isinstance(plugin, SshPlugin) and not is_given(plugin.ssh_private_key):
            yield Problem(
                "spec.plugins.ssh",
                "Warning",
                "a policy restarts a part of the job, and Volcano creates a new key pair at each restart, so Pods that"
                " keep running do not have the new key",
                "set ssh_private_key and ssh_public_key of the ssh plugin (users who can read the Job can read them), "
                "or use policies that restart the whole job",
                code="VJ117",
            )


def _restarts_parts(job: Job) -> bool:
    """Check whether a policy restarts some Pods, while others keep running."""
    lists = [job.policies, *(task.policies for task in job.tasks or ())]
    return any(policy.action in policies.RESTARTS_OF_PARTS for found in lists for policy in found or ())


def unsupported_warning(found: list[tuple[str, str]]) -> str:
    """Return one warning about all fields that only Volcano's controllers support."""
    lines = "\n".join(f"  - {meaning} ({path})" for path, meaning in found)
    return Phrase(
        "ignored with ",
        MANAGED_BY_PULUMI,
        f", because no controller manages these Pods:\n{lines}\nSet ",
        MANAGED_BY_VOLCANO,
        " to use these fields, or ",
        Option("unsupported", "ignore"),
        " to turn off this warning.",
    )


def unsupported_problems(found: list[tuple[str, str]]) -> list[Problem]:
    """Return a Problem for each field that only Volcano's controllers support (`unsupported="error"`)."""
    reason = Phrase("not supported with ", MANAGED_BY_PULUMI, ", because no controller manages these Pods: ")
    hint = Phrase("remove it, or set ", Option("unsupported", "warn"))
    return [Problem(path, "Forbidden", Phrase(reason, meaning), hint) for path, meaning in found]
