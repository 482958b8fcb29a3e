"""Pods that are gone, end or idle, nodes that are not ready, host lists that are old, and errors of controllers."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.core.resource_types import CONFIG_MAP, JOB, POD
from pulumi_volcano_jobs.core.text import cropped
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.status.fields import condition, mapping, name_of, number, text, time, value
from pulumi_volcano_jobs.status.job import JobView, message_of, pods_text
from pulumi_volcano_jobs.status.leaders import serving_tasks
from pulumi_volcano_jobs.status.objects import NODE
from pulumi_volcano_jobs.status.reasons.observation import Observation

_SLOW_END = 120
"""Seconds after the end of the grace period, after which a Pod that is still terminating is a problem."""
_SLOW_CONTROLLER = 10
"""Seconds after which a Job without a phase is a problem."""
_CONTROLLER_FIXES = {
    "PluginError": "correct the settings of the plugin: volcano-jobs validate",
    "PVCError": "create the claim, or correct volumeClaimName",
    "PodGroupError": "check the queue of the job",
    "JobStatusError": "check the logs of volcano-controllers",
    "FailedCreate": "correct the template of the task: volcano-jobs validate",
}
"""Fixes by the reason of an event of the job controller."""
_SIDECARS = frozenset({"istio-proxy", "linkerd-proxy"})


def check(job: JobView) -> Iterator[Observation]:
    """Yield differences between the job and the cluster."""
    yield from _gone(job)
    yield from _host_lists(job)
    yield from _terminating(job)
    yield from _nodes(job)
    yield from _idle(job)
    yield from _sidecars(job)
    if job.job is not None:
        yield from _controller(job)


def _gone(job: JobView) -> Iterator[Observation]:
    """Yield the Pods that the job has, but the cluster lacks. Volcano's controllers create them themselves."""
    if job.managed_by == "volcano" or not job.pods:
        return
    fix = "run pulumi up --refresh: it finds missing Pods and creates them again; without --refresh it does not"
    problem = "not found in the cluster, and only Pulumi creates Pods of this job"
    for name in job.missing:
        yield Observation("pods-gone", POD.kind, name, problem, fix)


def _host_lists(job: JobView) -> Iterator[Observation]:
    lists = job.host_lists()
    if lists is None:
        return
    data = mapping(lists, "data")
    made = time(lists, "metadata", "creationTimestamp")
    unlisted, older = [], []
    for task, pods in job.pods_by_task.items():
        hosts = {line.partition(".")[0] for line in text(data, naming.host_file(task)).splitlines()}
        unlisted += [pod.name for pod in pods if pod.host not in hosts]
        older += [pod.name for pod in pods if made and pod.started and pod.started < made and not pod.has_ended]
    name = name_of(lists)
    if unlisted:
        problem = f"the host lists lack {pods_text(unlisted)}"
        fix = "run pulumi up" if job.managed_by == "pulumi" else "check the logs of volcano-controllers"
        yield Observation("host-lists", CONFIG_MAP.kind, name, problem, fix)
    elif older:
        problem = f"newer than {pods_text(older)}, whose variables VC_*_HOSTS and VC_*_NUM have the old lists"
        fix = "read the lists from /etc/volcano, or restart these Pods"
        yield Observation("host-lists", CONFIG_MAP.kind, name, problem, fix)


def _terminating(job: JobView) -> Iterator[Observation]:
    for pod in job.pods:
        deleted = time(pod.manifest, "metadata", "deletionTimestamp")
        grace = number(pod.manifest, "metadata", "deletionGracePeriodSeconds")
        if deleted and (job.now - deleted).total_seconds() > grace + _SLOW_END:
            finalizers = value(pod.manifest, "metadata", "finalizers")
            problem = "Terminating after the end of its grace period"
            fix = "check its node, then kubectl delete pod --force"
            if finalizers:
                problem, fix = f"{problem}: it has finalizers", "check the controller that removes the finalizers"
            yield Observation("terminating", POD.kind, pod.name, problem, fix)


def _nodes(job: JobView) -> Iterator[Observation]:
    used: dict[str, list[str]] = {}
    for pod in job.pods:
        if pod.node and not pod.has_ended:
            used.setdefault(pod.node, []).append(pod.name)
    for node, names in used.items():
        found = job.objects.get(NODE, node)
        ready = condition(found, "Ready") if found is not None else {}
        if found is None and job.objects.lacks(NODE, node):
            yield Observation("node", NODE, node, f"not found, with {pods_text(names)}", "run the job again")
        elif ready and ready.get("status") != "True":
            reason = text(ready, "reason") or "NotReady"
            problem = f"not ready ({reason}), with {pods_text(names)}"
            yield Observation("node", NODE, node, problem, "check the kubelet of the node: kubectl describe node")


def _idle(job: JobView) -> Iterator[Observation]:
    """Yield Pods that serve other Pods, if these have ended."""
    if job.managed_by == "volcano":
        return
    serving = serving_tasks(job)
    leading = [pod for task, pods in job.pods_by_task.items() if task not in serving for pod in pods]
    if not serving or not leading or any(pod.phase != "Succeeded" for pod in leading):
        return
    fix = "remove the job from the program, and run pulumi up"
    for task in serving:
        for pod in job.pods_by_task.get(task, ()):
            if not pod.has_ended:
                problem = "idle: the job has ended, but the Pod keeps its resources"
                yield Observation("idle", POD.kind, pod.name, problem, fix)


def _sidecars(job: JobView) -> Iterator[Observation]:
    for pod in job.pods:
        mains = [item for item in pod.containers if not item.is_init]
        running = [item.name for item in mains if item.is_running]
        if running and set(running) <= _SIDECARS and any(item.ended for item in mains):
            problem = f"the program has ended, but the sidecar {', '.join(running)} keeps the Pod running"
            yield Observation("idle", POD.kind, pod.name, problem, "use presets.no_istio_sidecar()")


def _controller(job: JobView) -> Iterator[Observation]:
    if job.phase in {"Aborted", "Aborting"}:
        fix = f"run vcctl job resume --namespace {job.namespace} --name {job.name}"
        yield Observation("suspended", JOB.kind, job.name, f"{job.phase}: Volcano deleted its Pods", fix)
    made = time(job.job, "metadata", "creationTimestamp")
    if not job.phase and made and (job.now - made).total_seconds() > _SLOW_CONTROLLER:
        fix = "check that Volcano's controllers run: kubectl get pods --namespace volcano-system"
        yield Observation(
            "controller", JOB.kind, job.name, "no phase: Volcano's controllers have not processed it", fix
        )
    if job.phase not in {"", "Pending"}:
        return
    for event in job.events(JOB.kind, job.name, *_CONTROLLER_FIXES)[:1]:
        reason, message = text(event, "reason"), message_of(event)
        if "exceeded quota" not in message:
            problem = f"{reason}: {cropped(message)}"
            yield Observation("controller", JOB.kind, job.name, problem, _CONTROLLER_FIXES[reason])
