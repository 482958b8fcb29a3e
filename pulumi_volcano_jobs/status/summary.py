"""Build the status of a job from its objects."""

from __future__ import annotations

from itertools import chain

from pulumi_volcano_jobs.core.resource_types import JOB
from pulumi_volcano_jobs.status.fields import mapping, number, text
from pulumi_volcano_jobs.status.job import JobView
from pulumi_volcano_jobs.status.leaders import serving_tasks
from pulumi_volcano_jobs.status.model import GangState, QueueState, State, Status, TaskState
from pulumi_volcano_jobs.status.reasons import drift, failures, gang, network, scheduling, startup, waits
from pulumi_volcano_jobs.status.reasons.observation import Observation, as_reasons

_STATES: dict[str, State] = {
    "Completed": "done",
    "Completing": "running",
    "Failed": "failed",
    "Terminated": "failed",
    "Terminating": "running",
    "Aborted": "failed",
    "Aborting": "running",
    "Running": "running",
}
"""The state of a job that Volcano's controllers manage. In every other phase it waits."""
# Of reasons with one code, the amount that is missing precedes the message of the scheduler.
_CHECKS = (failures, startup, scheduling, gang, waits, drift, network)


def exists(job: JobView) -> bool:
    """Check whether the cluster has a Job, a PodGroup or a Pod of the job."""
    return job.job is not None or job.group is not None or bool(job.pods)


def status_of(job: JobView) -> Status:
    """Return the status of a job."""
    state = state_of(job)
    checks = () if state == "done" and job.managed_by == "volcano" else _CHECKS
    observations = list(chain.from_iterable(module.check(job) for module in checks))
    if state == "waiting" and not observations:
        observations = [_no_reason(job)]
    return Status(
        job=job.name,
        namespace=job.namespace,
        managed_by=job.managed_by,
        state=state,
        phase=job.phase,
        tasks=_tasks(job),
        gang=_gang(job),
        queue=_queue(job),
        reasons=as_reasons(observations),
        read_at=job.now,
    )


def _no_reason(job: JobView) -> Observation:
    fix = f"wait for the scheduler and the kubelet, or run kubectl describe podgroup {job.group_name}"
    return Observation("gang", JOB.kind, job.name, "not all Pods run yet, and no object shows a problem", fix)


def state_of(job: JobView) -> State:
    """Return whether a job is done, failed, running or waiting.

    Volcano's controllers decide it for their Jobs. Without them, the Pods of the leading tasks decide: a job has failed
    if one of its Pods has failed, and it runs if the minimum of its gang runs.
    """
    if job.phase:
        return _STATES.get(job.phase, "waiting")
    serving = serving_tasks(job)
    leading = [pod for pod in job.pods if pod.task not in serving]
    missing = [name for name in job.missing if not any(name.startswith(f"{job.name}-{task}-") for task in serving)]
    if leading and not missing and all(pod.phase == "Succeeded" for pod in leading):
        return "done"
    if any(pod.phase == "Failed" for pod in job.pods):
        return "failed"
    running = sum(pod.runs or pod.phase == "Succeeded" for pod in job.pods)
    return "running" if running and running >= job.min_member else "waiting"


def _tasks(job: JobView) -> tuple[TaskState, ...]:
    names = dict.fromkeys([*job.replicas, *job.pods_by_task])
    return tuple(
        TaskState(name, job.replicas.get(name, 0), tuple(pod.state() for pod in job.pods_by_task.get(name, ())))
        for name in names
    )


def _gang(job: JobView) -> GangState | None:
    if job.group is None:
        return None
    return GangState(job.group_name, job.group_phase, job.min_member, len(job.pods), scheduling.gang_message(job))


def _queue(job: JobView) -> QueueState | None:
    if job.queue is None:
        return None
    spec, allocated = mapping(job.queue, "spec"), mapping(job.queue, "status", "allocated")
    deserved, capability = mapping(spec, "deserved"), mapping(spec, "capability")
    amounts = {
        resource: (_amount(allocated, resource), _amount(deserved, resource), _amount(capability, resource))
        for resource in sorted({*allocated, *deserved, *capability})
    }
    state = text(job.queue, "status", "state")
    return QueueState(job.queue_name, state, number(spec, "weight"), text(spec, "parent"), amounts)


def _amount(amounts: object, resource: str) -> str:
    found = mapping(amounts).get(resource)
    return str(found) if isinstance(found, (str, int, float)) else ""


def failed_first(job: JobView) -> list[failures.FailedContainer]:
    """Return the failed containers of a job, in the order of their ends."""
    return failures.failures(job.pods)


def waiting_init_containers(job: JobView) -> list[tuple[str, str]]:
    """Return the first Pod of each task with an init container that still runs, and the name of the container."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for pod in job.pods:
        init = pod.init_in_progress if pod.is_bound else None
        if init and init.is_running:
            found.setdefault((pod.task, init.name), (pod.name, init.name))
    return list(found.values())
