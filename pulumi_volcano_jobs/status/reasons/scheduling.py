"""Pods without a node: the messages of the scheduler, and how much of a resource is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from pulumi_volcano_jobs.core.phrases import counted, some
from pulumi_volcano_jobs.core.resource_types import POD, POD_GROUP
from pulumi_volcano_jobs.core.text import cropped
from pulumi_volcano_jobs.kubernetes.quantity import Quantity
from pulumi_volcano_jobs.rendering.min_resources import effective_amounts
from pulumi_volcano_jobs.status.fields import Object, listed, mapping, text
from pulumi_volcano_jobs.status.job import JobView, message_of
from pulumi_volcano_jobs.status.objects import NODE
from pulumi_volcano_jobs.status.pods import PodView
from pulumi_volcano_jobs.status.reasons import nodes
from pulumi_volcano_jobs.status.reasons.observation import Observation

# Messages of Volcano that do not name the cause: other Pods of the gang or of the task have it.
_GANG = re.compile(r"pod group is (?:not )?ready|has already predicated failed, skip")
_INSUFFICIENT = re.compile(r"(?:(\d+) )?Insufficient ([\w./-]*\w)")
_TAINT = re.compile(r"untolerated taint|had taints that the pod didn't tolerate")
_SELECTOR = re.compile(r"didn't match (?:Pod's node affinity(?:/selector)?|node selector)")
_OTHER = tuple(
    (re.compile(pattern), problem, fix)
    for pattern, problem, fix in (
        (r"Too many pods|pod number exceeded", "Too many pods", "add nodes, or increase maxPods of the kubelet"),
        (r"were unschedulable", "node(s) were unschedulable", "kubectl uncordon the nodes, or add nodes"),
        (
            r"volume node affinity conflict",
            "node(s) had volume node affinity conflict",
            "the volume of the claim is in another zone: add a node there, or use another claim",
        ),
        (
            r"free ports",
            "node(s) didn't have free ports for the requested pod ports",
            "change hostPort, or start fewer Pods with hostNetwork than nodes",
        ),
        (r"anti-affinity rules", "node(s) didn't match pod anti-affinity rules", "add nodes, or relax podAntiAffinity"),
        (r"pod affinity rules", "node(s) didn't match pod affinity rules", "relax podAffinity"),
        (
            r"topology spread constraints",
            "node(s) didn't match pod topology spread constraints",
            "add nodes, or set whenUnsatisfiable: ScheduleAnyway",
        ),
        (r"NUMA|topology manager", "no node meets topologyPolicy", "relax topologyPolicy of the task"),
        (r"hyperNode|HyperNode", "no hypernode fits the gang", "increase highestTierAllowed of networkTopology"),
    )
)
_CLAIM = re.compile(r"unbound immediate PersistentVolumeClaims|persistentvolumeclaim \"")


class Demand(NamedTuple):
    """The requests of Pods that wait for a node."""

    each: Quantity
    total: Quantity
    pods: int


def check(job: JobView) -> Iterator[Observation]:
    """Yield the problems in the messages of the scheduler about Pods without a node."""
    waiting = [pod for pod in job.pods if not pod.is_bound and not pod.has_ended and not pod.is_terminating]
    # The Pods of a task differ only by their names, so that one of them represents all with the same message.
    alike: dict[tuple[str, str], list[PodView]] = {}
    for pod in waiting:
        alike.setdefault((pod.task, _anonymous(message_about(pod, job), pod)), []).append(pod)
    causes = [message for _, message in alike if message and not _GANG.search(message)]
    for pods in alike.values():
        for observation in _of_pod(pods[0], waiting, job):
            yield from (replace(observation, name=pod.name) for pod in pods)
    if waiting and not causes:
        for observation in _of_gang(waiting, job):
            names = [pod.name for pod in waiting] if observation.kind == POD.kind else [observation.name]
            yield from (replace(observation, name=name) for name in names)


def _of_pod(pod: PodView, waiting: list[PodView], job: JobView) -> Iterator[Observation]:
    message = message_about(pod, job)
    if pod.scheduled.get("reason") == "SchedulingGated":
        yield _gated(pod)
    elif message and not _GANG.search(message):
        yield from _of_message(message, pod, waiting, job)


def message_about(pod: PodView, job: JobView) -> str:
    """Return the newest message of the scheduler about a Pod."""
    condition = pod.scheduled
    events = job.events(POD.kind, pod.name, "FailedScheduling") if not condition else []
    return text(condition, "message") or next(map(message_of, events), "")


def _gated(pod: PodView) -> Observation:
    gates = ", ".join(text(gate, "name") for gate in listed(pod.spec, "schedulingGates"))
    return Observation(
        "unschedulable",
        POD.kind,
        pod.name,
        f"SchedulingGated: {gates or 'scheduling gates'}",
        "wait for the controller that removes the gate, or remove schedulingGates",
    )


def _of_gang(waiting: list[PodView], job: JobView) -> Iterator[Observation]:
    """Yield the cause in the message about the gang, which quotes one of its Pods, or that the gang waits."""
    message = gang_message(job)
    if not message:
        return
    cause = message.partition("Origin reason is")[2]
    observations = list(_of_message(cause, waiting[0], waiting, job)) if cause else list(_too_large(waiting, job))
    yield from observations
    if not observations:
        fix = "wait until other jobs end, request less, or lower minAvailable if the program can run with fewer Pods"
        yield Observation("gang", POD_GROUP.kind, job.group_name, cropped(message), fix)


def _too_large(waiting: list[PodView], job: JobView) -> Iterator[Observation]:
    """Yield why the nodes cannot run the gang: no node accepts a Pod, or they have less than the gang requests.

    The scheduler does not report it, because it does not try to schedule a gang that it does not admit.
    """
    known = job.objects.of(NODE)
    found: dict[str, Observation] = {}
    for pod in {pod.task: pod for pod in reversed(waiting)}.values() if known else ():
        usable = nodes.usable(known, pod.spec)
        if not nodes.matching(known, pod.spec):
            found["selector"] = _selector(pod, known)
        elif not usable:
            found["taint"] = _taint("", pod, known)
        for resource in _requests(pod.spec) if usable else ():
            wanted = demand(resource, pod, waiting)
            amounts = [nodes.allocatable(node, resource).nano for node in usable]
            if max(amounts) < wanted.each.nano or sum(amounts) < wanted.total.nano:
                found[resource] = _insufficient(resource, pod, waiting, job)
    yield from found.values()


def gang_message(job: JobView) -> str:
    """Return the newest message about the PodGroup that is not a success."""
    conditions = [item for item in listed(job.group, "status", "conditions") if item.get("status") == "True"]
    newest = max(conditions, key=lambda item: text(item, "lastTransitionTime"), default={})
    if text(newest, "type") == "Unschedulable":
        return text(newest, "message")
    events = job.events(POD_GROUP.kind, job.group_name, "Unschedulable") if not newest else []
    return next(map(message_of, events), "")


def _of_message(message: str, pod: PodView, waiting: list[PodView], job: JobView) -> Iterator[Observation]:
    """Yield the causes in a message of the scheduler, which lists the reasons of all nodes."""
    known = job.objects.of(NODE)
    is_tainted = _TAINT.search(message) is not None
    scarce = [match[2] for match in _INSUFFICIENT.finditer(message)]
    # If only nodes with a taint have the resource, the taint is the cause.
    causes = [
        _insufficient(name, pod, waiting, job)
        for name in scarce
        if not (is_tainted and _is_behind_taint(name, pod, known))
    ]
    causes += [
        Observation("unschedulable", POD.kind, pod.name, problem, fix)
        for pattern, problem, fix in _OTHER
        if pattern.search(message)
    ]
    # Node selectors and taints keep Pods from some nodes on purpose. They are the cause if they leave no node.
    selector = [_selector(pod, known)] if _SELECTOR.search(message) else []
    taint = [_taint(message, pod, known)] if is_tainted else []
    if selector and not nodes.matching(known, pod.spec) and (known or not causes):
        causes += selector
    elif taint and (len(causes) < len(scarce) or not nodes.usable(known, pod.spec)) and (known or not causes):
        causes += taint
    yield from causes or selector or taint
    if not causes and not selector and not taint and not _CLAIM.search(message):
        yield Observation("unschedulable", POD.kind, pod.name, _anonymous(message, pod), "kubectl describe pod")


def _is_behind_taint(resource: str, pod: PodView, known: list[Object]) -> bool:
    """Check whether only nodes with a taint that the Pod does not tolerate have enough of a resource."""
    wanted = _request(resource, pod.spec).nano
    large = [node for node in nodes.matching(known, pod.spec) if nodes.allocatable(node, resource).nano >= wanted]
    return bool(large) and all(nodes.untolerated(node, pod.spec) for node in large)


def _anonymous(message: str, pod: PodView) -> str:
    """Return a message without the name of the Pod, so that the messages of several Pods are equal."""
    return cropped(message.strip().replace(pod.name, "the Pod"))


def demand(resource: str, pod: PodView, waiting: list[PodView]) -> Demand:
    """Return the requests of a Pod and of all Pods without a node."""
    each = _request(resource, pod.spec)
    of_task: dict[str, Quantity] = {}
    total, pods = Quantity(0), 0
    for other in waiting:
        # All Pods of a task have the template of the task.
        requested = of_task.setdefault(other.task, _request(resource, other.spec))
        total, pods = total + requested, pods + bool(requested.nano)
    return Demand(each, total, pods)


def _request(resource: str, spec: Object) -> Quantity:
    return _requests(spec).get(resource, Quantity(0))


def _requests(spec: Object) -> dict[str, Quantity]:
    try:
        return effective_amounts(spec, "requests")
    except (AttributeError, KeyError, TypeError, ValueError):
        # The file does not have the Pod as the API server stores it.
        return {}


def _insufficient(resource: str, pod: PodView, waiting: list[PodView], job: JobView) -> Observation:
    wanted = demand(resource, pod, waiting)
    requested = f"the Pod requests {wanted.each}"
    if wanted.pods > 1:
        requested = f"each Pod requests {wanted.each}, and {wanted.pods} Pods request {wanted.total}"
    known = job.objects.of(NODE)
    detail, fix = _missing(resource, wanted, nodes.usable(known, pod.spec)) if known else ("", "")
    problem = f"Insufficient {resource}: {requested}{detail}"
    return Observation("insufficient", POD.kind, pod.name, problem, fix or "add nodes, request less, or wait")


def _missing(resource: str, wanted: Demand, usable: list[Object]) -> tuple[str, str]:
    """Return how much of a resource the usable nodes lack, and the fix."""
    amounts = [nodes.allocatable(node, resource) for node in usable]
    largest = max(amounts, key=lambda item: item.nano, default=Quantity(0))
    total = sum(amounts, start=Quantity(0))
    of_nodes = f"the {counted(len(usable), 'node')} that can run it"
    if not largest.nano:
        plugin = ", and check its device plugin" if "/" in resource else ""
        return f"; no node that can run it has {resource}", f"add nodes with {resource}{plugin}"
    if largest.nano < wanted.each.nano:
        lack = Quantity(wanted.each.nano - largest.nano, wanted.each.style)
        detail = f"; the largest of {of_nodes} has {largest} allocatable, {lack} less than one Pod requests"
        return detail, "request less for each Pod, or add larger nodes"
    if total.nano < wanted.total.nano:
        lack = Quantity(wanted.total.nano - total.nano, wanted.total.style)
        return f"; {of_nodes} have {total} allocatable: {lack} missing", "add nodes, request less, or reduce replicas"
    return (
        f"; other Pods use {of_nodes}, with {total} allocatable",
        "wait until other jobs end, add nodes, or request less",
    )


def _selector(pod: PodView, known: list[Object]) -> Observation:
    problem = "node(s) didn't match Pod's node affinity/selector"
    wanted = mapping(pod.spec, "nodeSelector")
    parts = []
    for key, label in wanted.items():
        present = nodes.labels(known, key)
        if known and label not in present:
            parts.append(f"no node has {key}={label}" + (f" (nodes have {some(present)})" if present else ""))
    detail = f": {', '.join(parts)}" if parts else f": nodeSelector {_labels(wanted)}" if wanted else ""
    return Observation(
        "node-selector", POD.kind, pod.name, problem + detail, "correct the node selector or affinity, or label a node"
    )


def _labels(wanted: Object) -> str:
    return ",".join(f"{key}={label}" for key, label in wanted.items())


def _taint(message: str, pod: PodView, known: list[Object]) -> Observation:
    taints = sorted({taint for node in nodes.matching(known, pod.spec) for taint in nodes.untolerated(node, pod.spec)})
    quoted = sorted(set(re.findall(r"untolerated taint \{([^}]*)\}", message)))
    shown = some(taints) if taints else some([item.strip().rstrip(":") for item in quoted])
    problem = "node(s) had untolerated taint" + (f" {shown}" if shown else "")
    fix = "add a toleration to the template"
    if "nvidia.com/gpu" in shown:
        fix += ", such as presets.gpu_tolerations()"
    elif "node.kubernetes.io/" in shown:
        fix = "check the node: Kubernetes sets this taint on a node with a problem"
    return Observation("taint", POD.kind, pod.name, problem, fix)
