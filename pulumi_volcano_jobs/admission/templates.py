"""Check the Pod templates of tasks. `kubernetes.validation` has the rules for each field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_PULUMI, Phrase
from pulumi_volcano_jobs.kubernetes import processes, schema, validation
from pulumi_volcano_jobs.kubernetes.container_lists import containers_in
from pulumi_volcano_jobs.spec.model import Job, Task
from pulumi_volcano_jobs.spec.releases import embedded_kubernetes

# Lists in which `manifest.Pod` keeps only the last entry with each key.
_MERGED = ("env", "ports")
# Lists in which the API server rejects duplicates in Pods also, with another message.
_UNIQUE = ("containers", "initContainers", "resourceClaims", "volumeDevices", "volumeMounts", "volumes")
# Actions of policies that end all Pods of the job.
_ENDING = frozenset({"AbortJob", "CompleteJob", "TerminateJob"})


def check(task: Task, path: str, *, native: bool) -> Iterator[Problem]:
    """Yield the problems of a Pod template. For a native Job, include the fields that only Volcano rejects."""
    problems = list(validation.check_template(task.pod_template, path))
    if native:
        problems += validation.check_native_template(task.pod_template, path)
        reported = {place for problem in problems for place in paths.with_parents(problem.path)}
        problems += [problem for problem in _repeated(task, path, native=True) if problem.path not in reported]
    yield from problems


def check_pods(job: Job, task: Task, path: str) -> Iterator[Problem]:
    """Yield the problems of a template for which the API server rejects or changes its Pods."""
    yield from validation.check_created_pods(_with_class(job, task), path)


def _with_class(job: Job, task: Task) -> Mapping[str, Any]:
    """Return the template of a task with the priority class that its Pods get from the job."""
    if not is_given(job.priority_class_name) or is_given(task.pod_spec.get("priorityClassName")):
        return task.pod_template
    return {**task.pod_template, "spec": {**task.pod_spec, "priorityClassName": job.priority_class_name}}


def warnings(job: Job, task: Task, path: str, *, runs_ray: bool) -> Iterator[Problem]:
    """Yield the warnings of a template.

    Args:
        job: the job.
        task: the task with the template.
        path: the path of the template.
        runs_ray: whether the plugin of Ray sets a command that runs until it is stopped.
    """
    if not is_given(task.pod_spec.get("restartPolicy")) and not (runs_ray or _is_stopped(job, task)):
        reason = "restartPolicy defaults to Always, so containers restart after they end and the job never completes"
        hint = "set restartPolicy: OnFailure or Never"
        yield Problem(f"{path}.spec", "Warning", reason, hint, code="VJ101")
    yield from _repeated(task, path, native=False)
    yield from validation.check_feature_gates(task.pod_template, path)
    yield from validation.check_kubelet(task.pod_template, path)


def _is_stopped(job: Job, task: Task) -> bool:
    """Check whether the Pods of a task run until they are stopped, so that restartPolicy Always does no harm."""
    if any(map(processes.endless_in, containers_in(task.pod_spec))):
        return True
    others = [other for other in job.tasks or () if other is not task and is_given(other.pod_spec.get("restartPolicy"))]
    completing = [other for other in others if other.pod_spec["restartPolicy"] != "Always"]
    policies = [
        *(job.policies or () if completing else ()),
        *(item for other in completing for item in other.policies or ()),
    ]
    return any(
        policy.action in _ENDING and "TaskCompleted" in (policy.event, *(policy.events or ())) for policy in policies
    )


def _repeated(task: Task, path: str, *, native: bool) -> Iterator[Problem]:
    """Yield a Problem for each repeated entry of a list whose entries have keys.

    The API server rejects it in a Job. In Pods that Pulumi manages, it is a warning.
    """
    for entry in schema.duplicate_entries(task.pod_template, schema.POD_TEMPLATE, path):
        if native:
            yield Problem(entry.path, "Duplicate", "", entry.hint, entry.value, RejectionStage.SCHEMA)
            continue
        name = entry.path.rpartition(".")[2].partition("[")[0]
        if name in _UNIQUE:
            continue
        effect = "the last entry takes precedence" if name in _MERGED else "server-side apply rejects duplicates"
        yield Problem(
            entry.path, "Warning", f"duplicates an earlier entry: {effect}", entry.hint, entry.value, code="VJ116"
        )


def unknown_fields(template: object, kubernetes_version: str, path: str) -> Iterator[Problem]:
    """Yield a Problem for each field of a Pod template that a version of Kubernetes does not have."""
    pruner = schema.SchemaPruner(kubernetes_version)
    pruner.apply(template, schema.POD_TEMPLATE, path)
    yield from (problem for problem in pruner.problems if problem.stage is RejectionStage.STRICT)


def missing_in(template: object, path: str, version: str) -> Iterator[Problem]:
    """Yield a Problem for each field of a Pod template that the CRD of a Volcano release drops."""
    kubernetes = embedded_kubernetes(version)
    for problem in unknown_fields(template, kubernetes, path):
        reason = (
            f"unknown field in Volcano {version}, which drops it, because its Job has the Pod template of"
            f" Kubernetes {kubernetes}"
        )
        hint = Phrase("remove it, upgrade Volcano, or set ", MANAGED_BY_PULUMI)
        yield Problem(problem.path, "Forbidden", reason, hint)
