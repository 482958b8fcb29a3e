"""The gang and its queue: PodGroup, scheduler, capability and quota."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.core.phrases import counted
from pulumi_volcano_jobs.core.resource_types import JOB, POD, POD_GROUP, QUEUE
from pulumi_volcano_jobs.core.text import cropped
from pulumi_volcano_jobs.kubernetes.quantity import Quantity
from pulumi_volcano_jobs.status.fields import Object, mapping, name_of, text
from pulumi_volcano_jobs.status.job import JobView, message_of
from pulumi_volcano_jobs.status.objects import RESOURCE_QUOTA
from pulumi_volcano_jobs.status.pods import PodView
from pulumi_volcano_jobs.status.reasons.nodes import amount
from pulumi_volcano_jobs.status.reasons.observation import Observation
from pulumi_volcano_jobs.status.reasons.scheduling import message_about

DEFAULT_SCHEDULER, VOLCANO = "default-scheduler", "volcano"
_OF_QUEUE = "wait until other jobs of the queue end, increase its capability, or set another queue"
_OF_QUOTA = "wait until other jobs end, request less, or increase the quota"
_OF_CLUSTER = "wait until other jobs end, add nodes, or request less"
_SLOW_SCHEDULER = 60
"""Seconds after which a Pod without a message of the scheduler is a problem."""


def check(job: JobView) -> Iterator[Observation]:
    """Yield the problems of a gang that has not started."""
    waiting = [pod for pod in job.pods if pod.phase == "Pending" and not pod.is_bound and not pod.is_terminating]
    for pod in waiting:
        of_group = list(_group(pod, job))
        # A scheduler does not process a Pod without its PodGroup.
        yield from of_group or _scheduler(pod, job)
    if waiting or not job.pods:
        yield from _queue(job)
    if job.group_phase in {"Pending", "Inqueue", "Unknown", ""} and job.group is not None and not _has_started(job):
        yield from _members(job)
        yield from _capability(job)
        yield from _quota(job)
        yield from _overused(job)


def _has_started(job: JobView) -> bool:
    return bool(job.pods) and all(pod.is_bound or pod.has_ended for pod in job.pods)


def _group(pod: PodView, job: JobView) -> Iterator[Observation]:
    if not pod.group:
        problem = "no annotation scheduling.k8s.io/group-name, so the Pod is not in a gang"
        yield Observation("no-pod-group", POD.kind, pod.name, problem, "run pulumi up, which sets the annotation")
    elif job.objects.lacks(POD_GROUP.kind, pod.group, job.namespace):
        problem = f"PodGroup {pod.group} does not exist in this namespace"
        again = "run pulumi up --refresh, which creates it again"
        if job.managed_by == "volcano":
            again = "check the logs of volcano-controllers, which create it"
        yield Observation("no-pod-group", POD.kind, pod.name, problem, again)


def _scheduler(pod: PodView, job: JobView) -> Iterator[Observation]:
    name = text(pod.spec, "schedulerName")
    if name == DEFAULT_SCHEDULER:
        problem = "schedulerName is default-scheduler, which ignores PodGroups"
        yield Observation(
            "scheduler", POD.kind, pod.name, problem, "remove schedulerName from the template and the job"
        )
        return
    age = (job.now - pod.created).total_seconds() if pod.created else 0
    if message_about(pod, job) or pod.scheduled or age < _SLOW_SCHEDULER:
        return
    if name == VOLCANO:
        problem = "no message from the scheduler volcano"
        fix = "check that Volcano's scheduler runs: kubectl get pods --namespace volcano-system"
    else:
        problem = f"no message from the scheduler {name}, which may not exist"
        fix = f"set schedulerName to {VOLCANO}, or start this scheduler"
    yield Observation("scheduler", POD.kind, pod.name, problem, fix)


def _queue(job: JobView) -> Iterator[Observation]:
    name = job.queue_name
    if job.objects.lacks(QUEUE.kind, name):
        yield Observation("queue", QUEUE.kind, name, "not found", "create the queue, or set queue of the job")
    if job.queue is None:
        return
    state = text(job.queue, "status", "state")
    if state in {"Closed", "Closing"}:
        fix = f"run vcctl queue operate --action open --name {name}, or set another queue"
        yield Observation("queue", QUEUE.kind, name, f"{state}: it accepts no new jobs", fix)
    elif state != "Open":
        fix = "check that Volcano's controllers run: kubectl get pods --namespace volcano-system"
        yield Observation("queue", QUEUE.kind, name, f"status.state is {state or 'empty'}, not Open", fix)


def _members(job: JobView) -> Iterator[Observation]:
    present = sum(not pod.is_terminating for pod in job.pods)
    if not job.pods or present >= job.min_member:
        return
    problem = f"minMember is {job.min_member}, but the gang has {counted(present, 'Pod')}, so no Pod starts"
    # Missing Pods are reported as such, with the way to create them again.
    fix = "create the missing Pods" if job.missing else "lower minAvailable, or increase replicas"
    yield Observation("too-few-pods", POD_GROUP.kind, job.group_name, problem, fix)


def _capability(job: JobView) -> Iterator[Observation]:
    capability, allocated = mapping(job.queue, "spec", "capability"), mapping(job.queue, "status", "allocated")
    for resource, wanted in requested(job).items():
        if resource not in capability:
            continue
        limit, used = amount(capability[resource]), amount(allocated.get(resource))
        if wanted.nano > limit.nano:
            problem = (
                f"capability of {resource} is {limit}, but the gang requests {wanted}: {_less(wanted, limit)} missing"
            )
            fix = "request less, increase capability of the queue, or set another queue"
        elif used.nano + wanted.nano > limit.nano:
            lack = _less(used + wanted, limit)
            problem = f"{used} of {limit} {resource} allocated, and the gang requests {wanted}: {lack} missing"
            fix = _OF_QUEUE
        else:
            continue
        yield Observation("capability", QUEUE.kind, job.queue_name, problem, fix)


def requested(job: JobView) -> dict[str, Quantity]:
    """Return minResources of the PodGroup."""
    return {name: amount(written) for name, written in mapping(job.group, "spec", "minResources").items()}


def _less(more: Quantity, less: Quantity) -> Quantity:
    return Quantity(more.nano - less.nano, more.style)


def _quota(job: JobView) -> Iterator[Observation]:
    for quota in job.objects.of(RESOURCE_QUOTA, job.namespace):
        yield from _of_quota(quota, job)
    for event in job.events(JOB.kind, job.name, "FailedCreate")[:1]:
        if "exceeded quota" in message_of(event) and not job.objects.of(RESOURCE_QUOTA, job.namespace):
            yield Observation(
                "quota", JOB.kind, job.name, cropped(message_of(event)), "request less, or increase the quota"
            )


def _of_quota(quota: Object, job: JobView) -> Iterator[Observation]:
    hard, used = mapping(quota, "status", "hard"), mapping(quota, "status", "used")
    # The Pods that exist are already part of `used`.
    if job.pods:
        return
    for resource, wanted in requested(job).items():
        if resource in hard and amount(used.get(resource)).nano + wanted.nano > amount(hard[resource]).nano:
            limit, present = amount(hard[resource]), amount(used.get(resource))
            lack = _less(present + wanted, limit)
            problem = f"exceeded quota: requested: {resource}={wanted}, used: {resource}={present}, limited: {limit}: "
            problem += f"{lack} missing"
            yield Observation("quota", RESOURCE_QUOTA, name_of(quota), problem, _OF_QUOTA)


def _overused(job: JobView) -> Iterator[Observation]:
    """Yield the reason why the scheduler does not enqueue the PodGroup."""
    if any(_capability(job)) or any(_quota(job)):
        return
    # The scheduler also repeats that the gang is not ready, with the same reason.
    for message in map(message_of, job.events(POD_GROUP.kind, job.group_name, "Unschedulable")):
        for text_of_cause, code, kind, name, fix in (
            ("queue resource quota insufficient", "capability", QUEUE.kind, job.queue_name, _OF_QUEUE),
            ("resource quota insufficient", "quota", POD_GROUP.kind, job.group_name, _OF_QUOTA),
            ("resource in cluster is overused", "insufficient", POD_GROUP.kind, job.group_name, _OF_CLUSTER),
        ):
            if message.startswith(text_of_cause):
                yield Observation(code, kind, name, cropped(message), fix)
                return
