"""States of jobs in a cluster, as `kubectl get -o json` prints their objects.

The objects are those that the library renders. The statuses and events have the texts of Kubernetes 1.36, containerd 2
and Volcano's scheduler of August 2026.
"""

from __future__ import annotations

import copy
import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pulumi_volcano_jobs import render
from tests.conftest import Wire, job

NAMESPACE = "research"
BEGIN = dt.datetime(2026, 11, 29, 9, 0, tzinfo=dt.timezone.utc)
IMAGE = "ghcr.io/team/train:1.4"
GPU = "nvidia.com/gpu"
SECRET_VALUE = "hunter2-hunter2"
State = Callable[[], list[Wire]]
STATES: dict[str, State] = {}


def state(function: State) -> State:
    """Register a state under the name of its function."""
    STATES[function.__name__.replace("_", "-")] = function
    return function


def at(seconds: float) -> str:
    """Return a time after the begin, as the API server writes it."""
    return (BEGIN + dt.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def task(name: str, replicas: int, *, gpus: int = 0, **fields: Any) -> Wire:
    """Return a task whose container has these fields."""
    resources = {"resources": {"requests": {GPU: gpus}, "limits": {GPU: gpus}}} if gpus else {}
    container = {"name": "main", "image": IMAGE, **resources, **fields}
    return {
        "name": name,
        "replicas": replicas,
        "template": {"spec": {"containers": [container], "restartPolicy": "Never"}},
    }


def pytorch(workers: int = 3, name: str = "train", **spec: Any) -> Wire:
    """Return a job of PyTorch with eight GPUs for each Pod, whose workers wait for the master."""
    plugins = {"pytorch": ["--wait-master-enabled=true"]}
    document = job(task("master", 1, gpus=8), task("worker", workers, gpus=8), name=name, plugins=plugins, **spec)
    document["metadata"]["namespace"] = NAMESPACE
    return document


def mpi() -> Wire:
    """Return a job of MPI."""
    document = job(task("master", 1), task("worker", 2), name="solve", plugins={"mpi": []})
    document["metadata"]["namespace"] = NAMESPACE
    return document


class Recorded:
    """The stored objects of a job. The methods do what the scheduler, the kubelet and the controllers do."""

    def __init__(self, document: Wire) -> None:
        """Render the job, and store its objects as the API server does."""
        rendered = render(document, strict=False)
        self.name = document["metadata"]["name"]
        self.objects: list[Wire] = []
        counts = {task["name"]: task["replicas"] for task in document["spec"]["tasks"]}
        for item in copy.deepcopy([*rendered.objects, *rendered.pods]):
            if item["kind"] == "Secret":
                continue
            item["metadata"] |= {"creationTimestamp": at(0), "uid": f"uid-{len(self.objects)}"}
            if item["kind"] == "Pod":
                replicas = str(counts).replace("'", '"').replace(" ", "")
                item["metadata"]["annotations"]["pulumi.com/volcano-replicas"] = replicas
                item["status"] = {"phase": "Pending", "qosClass": "BestEffort"}
            self.objects.append(item)
        self.queue()
        self.group("Inqueue")

    def of(self, kind: str) -> list[Wire]:
        """Return the objects of a kind."""
        return [item for item in self.objects if item["kind"] == kind]

    def pods(self, *names: str) -> list[Wire]:
        """Return Pods by the ends of their names, such as `worker-0`; all Pods without a name."""
        found = [pod for pod in self.of("Pod") if not names or pod["metadata"]["name"].endswith(names)]
        assert found
        return found

    def queue(self, name: str = "default", state: str = "Open", **spec: Any) -> None:
        """Set the queue."""
        self.objects = [item for item in self.objects if item["kind"] != "Queue"]
        allocated = spec.pop("allocated", {})
        self.objects.append(
            {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "Queue",
                "metadata": {"name": name, "creationTimestamp": at(-86400)},
                "spec": {"weight": 1, "reclaimable": True, **spec},
                "status": {"state": state, "allocated": allocated},
            }
        )

    def group(self, phase: str, message: str = "") -> None:
        """Set the phase of the PodGroup, and the message of the scheduler."""
        (group,) = self.of("PodGroup")
        entry = {
            "type": "Unschedulable" if message else "Scheduled",
            "status": "True",
            "reason": "NotEnoughResources" if message else "tasks in gang are ready to be scheduled",
            "message": message,
            "lastTransitionTime": at(60),
            "transitionID": "4a6b1d3e-0a3c-4b1e-9e53-0c3f6f1f4f3e",
        }
        group["status"] = {"phase": phase, "conditions": [entry] if message or phase == "Running" else []}

    def unschedulable(self, message: str, *names: str) -> None:
        """Set the message of the scheduler about Pods."""
        for pod in self.pods(*names):
            pod["status"]["conditions"] = [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": message,
                    "lastTransitionTime": at(60),
                }
            ]

    def bind(self, *names: str, phase: str = "Pending", **waiting: str) -> None:
        """Bind Pods to nodes; the keywords are the reason and the message why their containers wait."""
        for number, pod in enumerate(self.pods(*names)):
            pod["spec"].setdefault("nodeName", f"gpu-{number}")
            inits = pod["spec"].get("initContainers", [])
            ready = "False"
            pod["status"] |= {
                "phase": phase,
                "startTime": at(70),
                "conditions": [
                    {"type": "PodScheduled", "status": "True", "lastTransitionTime": at(70)},
                    {"type": "Ready", "status": ready, "lastTransitionTime": at(70)},
                ],
                "containerStatuses": [
                    _status(item, waiting={"reason": "ContainerCreating", **waiting})
                    for item in pod["spec"]["containers"]
                ],
            }
            if inits:
                ended = {
                    "terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": at(80), "startedAt": at(75)}
                }
                pod["status"]["initContainerStatuses"] = [_status(item, **ended) for item in inits]

    def run(self, *names: str) -> None:
        """Run the containers of Pods."""
        self.bind(*names, phase="Running")
        for pod in self.pods(*names):
            pod["status"]["conditions"][1]["status"] = "True"
            pod["status"]["containerStatuses"] = [
                _status(item, ready=True, running={"startedAt": at(90)}) for item in pod["spec"]["containers"]
            ]

    def end(self, *names: str, code: int = 0, reason: str = "", seconds: float = 600, message: str = "") -> None:
        """End the containers of Pods."""
        self.run(*names)
        shown = reason or ("Error" if code else "Completed")
        for pod in self.pods(*names):
            ended = {"exitCode": code, "reason": shown, "startedAt": at(90), "finishedAt": at(seconds)}
            ended |= {"message": message} if message else {}
            pod["status"]["phase"] = "Failed" if code else "Succeeded"
            pod["status"]["conditions"][1] |= {"status": "False", "reason": "PodCompleted"}
            pod["status"]["containerStatuses"] = [_status(item, terminated=ended) for item in pod["spec"]["containers"]]

    def event(
        self, kind: str, name: str, reason: str, message: str, kind_of_event: str = "Warning", seconds: float = 300
    ) -> None:
        """Record an event."""
        number = len(self.of("Event"))
        self.objects.append(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": f"{name}.{number:x}", "namespace": NAMESPACE, "creationTimestamp": at(seconds)},
                "involvedObject": {"kind": kind, "name": name, "namespace": NAMESPACE},
                "type": kind_of_event,
                "reason": reason,
                "message": message,
                "lastTimestamp": at(seconds),
            }
        )

    def nodes(
        self, count: int, *, taints: Iterable[Wire] = (), labels: Mapping[str, str] = {}, **amounts: str
    ) -> None:  # it is not changed
        """Add nodes with allocatable amounts."""
        for number in range(len(self.of("Node")), len(self.of("Node")) + count):
            allocatable = {"cpu": "63920m", "memory": "515Gi", "pods": "110", **amounts}
            self.objects.append(
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {
                        "name": f"gpu-{number}",
                        "labels": {"kubernetes.io/hostname": f"gpu-{number}", **(labels or {})},
                        "creationTimestamp": at(-86400),
                    },
                    "spec": {"taints": list(taints)} if taints else {},
                    "status": {
                        "allocatable": allocatable,
                        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": at(-86400)}],
                    },
                }
            )

    def native(self, phase: str, document: Wire) -> None:
        """Add the Job that Volcano's controllers manage, and rename the PodGroup as they do."""
        uid = "0f3a1c52-7d2e-4b7e-9f2b-0d6f4b1f8a11"
        owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": self.name, "uid": uid}
        (group,) = self.of("PodGroup")
        group["metadata"]["name"] = f"{self.name}-{uid}"
        for pod in self.of("Pod"):
            pod["metadata"]["ownerReferences"] = [owner]
            pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = group["metadata"]["name"]
            pod["metadata"]["annotations"].pop("pulumi.com/volcano-replicas")
        stored = copy.deepcopy(document)
        stored["metadata"] |= {"uid": uid, "creationTimestamp": at(0)}
        stored["spec"].setdefault("queue", "default")
        stored["status"] = {"state": {"phase": phase, "lastTransitionTime": at(5)}}
        self.objects.append(stored)

    def without(self, kind: str, *names: str) -> None:
        """Delete objects by the ends of their names."""
        self.objects = [
            item
            for item in self.objects
            if item["kind"] != kind or (names and not item["metadata"]["name"].endswith(names))
        ]


def _status(
    container: Wire, *, ready: bool = False, restarts: int = 0, last: Wire | None = None, **state: Wire
) -> Wire:
    status = {
        "name": container["name"],
        "image": container["image"],
        "ready": ready,
        "started": "running" in state,
        "restartCount": restarts,
        "state": state,
    }
    return status | ({"lastState": last} if last else {})


def gang_message(pods: int, pending: int, minimum: int, origin: str = "") -> str:
    """Return Volcano's message about a gang that does not start."""
    cause = f". Origin reason is {origin}" if origin else ""
    return (
        f"{pending}/{pods} tasks in gang unschedulable: pod group is not ready, {pending} Pending, {minimum} "
        f"minAvailable; Pending: {pending} Unschedulable{cause}"
    )


@state
def running() -> list[Wire]:
    """All Pods run."""
    recorded = Recorded(pytorch())
    recorded.run()
    recorded.group("Running")
    return recorded.objects


@state
def quickstart() -> list[Wire]:
    """The job of docs/start.md runs on the node of a cluster of kind."""
    document = job(task("master", 1), task("worker", 2), name="train", plugins={"pytorch": []})
    recorded = Recorded(document)
    for pod in recorded.pods():
        pod["spec"]["nodeName"] = "volcano-control-plane"
    recorded.run()
    recorded.group("Running")
    return recorded.objects


@state
def done() -> list[Wire]:
    """All Pods have succeeded."""
    recorded = Recorded(pytorch())
    recorded.end()
    recorded.group("Completed")
    return recorded.objects


@state
def not_enough_gpus() -> list[Wire]:
    """The nodes that the Pods can use have fewer GPUs than the gang requests."""
    recorded = Recorded(pytorch())
    recorded.nodes(2, **{GPU: "8"})
    recorded.nodes(1)
    message = f"0/3 nodes are unavailable: 3 Insufficient {GPU}."
    recorded.unschedulable(message)
    skipped = "Task train-worker-2 with role spec worker has already predicated failed, skip"
    recorded.unschedulable(skipped, "worker-2")
    recorded.group("Inqueue", gang_message(4, 2, 4, f"train-worker-2: {message}"))
    return recorded.objects


@state
def no_node_is_large_enough() -> list[Wire]:
    """Each Pod requests more GPUs than a node has."""
    recorded = Recorded(pytorch())
    recorded.nodes(4, **{GPU: "4"})
    message = f"0/4 nodes are unavailable: 4 Insufficient {GPU}."
    recorded.unschedulable(message)
    recorded.group("Inqueue", gang_message(4, 4, 4, f"train-worker-0: {message}"))
    return recorded.objects


@state
def taints_and_selectors() -> list[Wire]:
    """Some nodes have a taint, and the others lack the label."""
    document = pytorch()
    for each in document["spec"]["tasks"]:
        each["template"]["spec"]["nodeSelector"] = {"gpu-type": "h100"}
    recorded = Recorded(document)
    taint = {"key": GPU, "value": "present", "effect": "NoSchedule"}
    recorded.nodes(2, labels={"gpu-type": "h100"}, taints=[taint], **{GPU: "8"})
    recorded.nodes(3, labels={"gpu-type": "a100"}, **{GPU: "8"})
    message = (
        "0/5 nodes are unavailable: 2 node(s) had untolerated taint(s), 3 node(s) didn't match Pod's node "
        "affinity/selector."
    )
    recorded.unschedulable(message)
    recorded.group("Inqueue", gang_message(4, 4, 4, f"train-worker-0: {message}"))
    return recorded.objects


@state
def queue_closed() -> list[Wire]:
    """The queue does not accept jobs."""
    recorded = Recorded(pytorch(queue="vision"))
    recorded.queue("vision", "Closed")
    recorded.group("Pending")
    return recorded.objects


@state
def queue_full() -> list[Wire]:
    """Other jobs use most of the capability of the queue."""
    document = pytorch(queue="vision")
    recorded = Recorded(document)
    recorded.native("Pending", document)
    recorded.without("Pod")
    amounts = {"cpu": "256", GPU: "48"}
    recorded.queue(
        "vision", capability=amounts, deserved={GPU: "32"}, parent="root", allocated={"cpu": "40", GPU: "24"}
    )
    recorded.group("Pending")
    (group,) = recorded.of("PodGroup")
    message = f"queue resource quota insufficient: insufficient {GPU}"
    recorded.event("PodGroup", group["metadata"]["name"], "Unschedulable", message, "Normal")
    return recorded.objects


@state
def image_not_found() -> list[Wire]:
    """The registry does not have the tag."""
    recorded = Recorded(pytorch())
    recorded.run("master-0")
    error = (
        f'rpc error: code = NotFound desc = failed to pull and unpack image "{IMAGE}": failed to resolve reference '
        f'"{IMAGE}": {IMAGE}: not found'
    )
    message = f'Back-off pulling image "{IMAGE}": ErrImagePull: {error}'
    recorded.bind("worker-0", "worker-1", "worker-2", reason="ImagePullBackOff", message=message)
    recorded.group("Running")
    return recorded.objects


def _unauthorized() -> Recorded:
    recorded = Recorded(pytorch())
    error = (
        f'rpc error: code = Unknown desc = failed to pull and unpack image "{IMAGE}": failed to resolve reference '
        f'"{IMAGE}": failed to authorize: failed to fetch anonymous token: unexpected status from GET request to '
        "https://ghcr.io/token?scope=repository%3Ateam%2Ftrain%3Apull&service=ghcr.io: 401 Unauthorized"
    )
    recorded.bind(reason="ErrImagePull", message=error)
    recorded.group("Running")
    return recorded


@state
def image_without_credentials() -> list[Wire]:
    """The registry asks for credentials."""
    return _unauthorized().objects


@state
def pull_secret_missing() -> list[Wire]:
    """The Secret in imagePullSecrets does not exist, so the kubelet pulled without credentials."""
    recorded = _unauthorized()
    for pod in recorded.pods():
        message = "Unable to retrieve some image pull secrets (registry); attempting to pull the image may not succeed."
        recorded.event("Pod", pod["metadata"]["name"], "FailedToRetrieveImagePullSecret", message)
    return recorded.objects


@state
def secret_missing() -> list[Wire]:
    """A variable refers to a Secret that does not exist."""
    recorded = Recorded(pytorch())
    recorded.bind(reason="CreateContainerConfigError", message='secret "wandb" not found')
    recorded.group("Running")
    return recorded.objects


@state
def config_map_missing() -> list[Wire]:
    """A volume refers to a ConfigMap that does not exist."""
    recorded = Recorded(pytorch())
    recorded.bind()
    for pod in recorded.pods():
        name = pod["metadata"]["name"]
        pod["status"].pop("initContainerStatuses", None)
        recorded.event(
            "Pod", name, "FailedMount", 'MountVolume.SetUp failed for volume "config" : configmap "hyper" not found'
        )
    recorded.group("Running")
    return recorded.objects


@state
def claim_pending() -> list[Wire]:
    """The storage class of a claim does not exist."""
    document = pytorch()
    for each in document["spec"]["tasks"]:
        spec = each["template"]["spec"]
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "imagenet"}}]
    recorded = Recorded(document)
    recorded.objects.append(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "imagenet", "namespace": NAMESPACE, "creationTimestamp": at(-60)},
            "spec": {"storageClassName": "fast", "accessModes": ["ReadWriteMany"]},
            "status": {"phase": "Pending"},
        }
    )
    recorded.event(
        "PersistentVolumeClaim", "imagenet", "ProvisioningFailed", 'storageclass.storage.k8s.io "fast" not found'
    )
    recorded.unschedulable("pod has unbound immediate PersistentVolumeClaims")
    return recorded.objects


@state
def waits_for_the_master() -> list[Wire]:
    """The init containers of the workers wait for a master whose image is pulled."""
    recorded = Recorded(pytorch())
    recorded.run("worker-0", "worker-1", "worker-2")
    recorded.bind("master-0")
    for pod in recorded.pods("worker-0", "worker-1", "worker-2"):
        pod["status"]["phase"] = "Pending"
        pod["status"]["conditions"][1]["status"] = "False"
        pod["status"]["containerStatuses"] = [
            _status(item, waiting={"reason": "PodInitializing"}) for item in pod["spec"]["containers"]
        ]
        pod["status"]["initContainerStatuses"] = [
            _status(item, running={"startedAt": at(75)}) for item in pod["spec"]["initContainers"]
        ]
    recorded.group("Running")
    return recorded.objects


@state
def out_of_memory() -> list[Wire]:
    """A worker exceeds its memory limit, and then the others fail."""
    document = pytorch()
    for each in document["spec"]["tasks"]:
        each["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"] = "64Gi"
    recorded = Recorded(document)
    recorded.end("worker-1", code=137, reason="OOMKilled", seconds=3600)
    recorded.end("master-0", "worker-0", "worker-2", code=1, seconds=3614)
    recorded.group("Unknown")
    return recorded.objects


@state
def a_rank_failed_first() -> list[Wire]:
    """A worker fails with a traceback that contains the value of a variable, and then the others fail."""
    document = pytorch()
    for each in document["spec"]["tasks"]:
        container = each["template"]["spec"]["containers"][0]
        container |= {
            "env": [{"name": "WANDB_API_KEY", "value": SECRET_VALUE}],
            "terminationMessagePolicy": "FallbackToLogsOnError",
        }
    recorded = Recorded(document)
    message = (
        "Traceback (most recent call last):\n"
        '  File "/workspace/train.py", line 12, in <module>\n'
        f"    login(key='{SECRET_VALUE}')\n"
        "ModuleNotFoundError: No module named 'wandb'\n"
    )
    recorded.end("worker-2", code=1, seconds=100, message=message)
    recorded.end("master-0", "worker-0", "worker-1", code=1, seconds=130)
    recorded.group("Unknown")
    return recorded.objects


@state
def crash_loop() -> list[Wire]:
    """The master of MPI fails because the workers' host names do not resolve, and is restarted."""
    recorded = Recorded(mpi())
    recorded.run()
    (master,) = recorded.pods("master-0")
    message = "ssh: Could not resolve hostname solve-worker-0.solve: Name or service not known\n"
    ended = {"exitCode": 255, "reason": "Error", "startedAt": at(200), "finishedAt": at(201), "message": message}
    waiting = {
        "reason": "CrashLoopBackOff",
        "message": "back-off 1m20s restarting failed container=main pod=solve-master-0",
    }
    master["status"]["conditions"][1]["status"] = "False"
    master["status"]["containerStatuses"] = [
        _status(item, restarts=4, last={"terminated": ended}, waiting=waiting) for item in master["spec"]["containers"]
    ]
    recorded.group("Running")
    return recorded.objects


@state
def workers_of_mpi_are_idle() -> list[Wire]:
    """The master has succeeded, and sshd of the workers still runs."""
    recorded = Recorded(mpi())
    recorded.run()
    recorded.end("master-0")
    recorded.group("Running")
    return recorded.objects


@state
def evicted() -> list[Wire]:
    """The kubelet evicts a Pod."""
    recorded = Recorded(pytorch())
    recorded.run()
    (pod,) = recorded.pods("worker-1")
    pod["status"] = {
        "phase": "Failed",
        "reason": "Evicted",
        "message": "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 2Gi. ",
        "startTime": at(70),
    }
    recorded.group("Unknown")
    return recorded.objects


@state
def pods_are_gone() -> list[Wire]:
    """Two Pods were deleted with kubectl."""
    recorded = Recorded(pytorch())
    recorded.run()
    recorded.without("Pod", "worker-1", "worker-2")
    recorded.group("Unknown")
    return recorded.objects


@state
def no_pod_group() -> list[Wire]:
    """The PodGroup was deleted, and the scheduler ignores the Pods."""
    recorded = Recorded(pytorch())
    (group,) = recorded.of("PodGroup")
    other = copy.deepcopy(group)
    other["metadata"]["name"] = "other-5ba1e6b0"
    recorded.without("PodGroup")
    recorded.objects.append(other)
    recorded.event("Node", "gpu-0", "Starting", "", "Normal", seconds=600)
    return recorded.objects


@state
def unknown_scheduler() -> list[Wire]:
    """No scheduler has this name."""
    recorded = Recorded(pytorch(schedulerName="volcanoo"))
    recorded.event("Node", "gpu-0", "Starting", "", "Normal", seconds=600)
    return recorded.objects


@state
def policy_denies_all() -> list[Wire]:
    """A policy of the namespace denies all traffic, and the policy of svc is off."""
    recorded = Recorded(pytorch())
    recorded.without("NetworkPolicy")
    recorded.objects.append(
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "deny-all", "namespace": NAMESPACE, "creationTimestamp": at(-86400)},
            "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
        }
    )
    recorded.run()
    recorded.group("Running")
    return recorded.objects


@state
def host_lists_are_older() -> list[Wire]:
    """The job was scaled, but the ConfigMap has the old lists."""
    recorded = Recorded(pytorch())
    (config_map,) = recorded.of("ConfigMap")
    config_map["data"] |= {"worker.host": "train-worker-0.train", "VC_WORKER_NUM": "1"}
    recorded.run()
    recorded.group("Running")
    return recorded.objects


@state
def stored_job_failed() -> list[Wire]:
    """A Job that Volcano manages has failed."""
    document = pytorch(name="train")
    recorded = Recorded(document)
    recorded.native("Failed", document)
    recorded.end("worker-0", code=139, seconds=100)
    recorded.end("master-0", "worker-1", "worker-2", code=143, seconds=110)
    recorded.group("Unknown")
    return recorded.objects


@state
def quota_exceeded() -> list[Wire]:
    """A ResourceQuota of the namespace leaves too little for the gang."""
    document = pytorch()
    recorded = Recorded(document)
    recorded.native("Pending", document)
    recorded.without("Pod")
    recorded.objects.append(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "team", "namespace": NAMESPACE, "creationTimestamp": at(-86400)},
            "status": {"hard": {f"requests.{GPU}": "40"}, "used": {f"requests.{GPU}": "16"}},
        }
    )
    recorded.group("Pending")
    return recorded.objects


@state
def many_pods() -> list[Wire]:
    """A gang of 200 workers, one of which cannot start."""
    recorded = Recorded(pytorch(200))
    recorded.run()
    recorded.bind("worker-117", reason="CreateContainerConfigError", message='configmap "hyper" not found')
    for number, pod in zip(itertools.count(), recorded.pods(), strict=False):
        pod["spec"]["nodeName"] = f"gpu-{number}"
    recorded.group("Running")
    return recorded.objects


@state
def label_of_no_node() -> list[Wire]:
    """No node has the label that the Pods select."""
    document = pytorch()
    for each in document["spec"]["tasks"]:
        each["template"]["spec"]["nodeSelector"] = {"gpu-type": "b200"}
    recorded = Recorded(document)
    recorded.nodes(3, labels={"gpu-type": "a100"}, **{GPU: "8"})
    recorded.unschedulable("0/3 nodes are unavailable: 3 node(s) didn't match Pod's node affinity/selector.")
    return recorded.objects


@state
def queue_missing() -> list[Wire]:
    """The queue was deleted."""
    recorded = Recorded(pytorch(queue="vision"))
    recorded.queue("default")
    recorded.group("Pending")
    return recorded.objects


@state
def queue_too_small() -> list[Wire]:
    """The capability of the queue is less than the gang requests."""
    recorded = Recorded(pytorch(queue="vision"))
    recorded.queue("vision", capability={GPU: "16"})
    recorded.group("Pending")
    return recorded.objects


@state
def claim_missing() -> list[Wire]:
    """The claim was deleted."""
    recorded = Recorded(pytorch())
    for pod in recorded.pods():
        pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "imagenet"}}]
    recorded.objects.append(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "other", "namespace": NAMESPACE, "creationTimestamp": at(-60)},
            "status": {"phase": "Bound"},
        }
    )
    recorded.unschedulable('persistentvolumeclaim "imagenet" not found')
    return recorded.objects


@state
def always_restarted() -> list[Wire]:
    """The program ends well, and the default restart policy starts it again."""
    recorded = Recorded(mpi())
    recorded.run()
    (master,) = recorded.pods("master-0")
    ended = {"exitCode": 0, "reason": "Completed", "startedAt": at(200), "finishedAt": at(300)}
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container=main"}
    master["status"]["containerStatuses"] = [
        _status(item, restarts=7, last={"terminated": ended}, waiting=waiting) for item in master["spec"]["containers"]
    ]
    recorded.group("Running")
    return recorded.objects


@state
def too_few_pods() -> list[Wire]:
    """The gang needs more Pods than the job has."""
    recorded = Recorded(pytorch(workers=1))
    (group,) = recorded.of("PodGroup")
    group["spec"]["minMember"] = 4
    recorded.unschedulable("pod group is not ready, 2 Pending, 4 minAvailable")
    return recorded.objects


@state
def clients_are_kept_out() -> list[Wire]:
    """The policy of svc admits only the Pods of a cluster of Ray."""
    head = task("head", 1)
    head["template"]["spec"]["containers"][0]["name"] = "head"
    document = job(head, task("worker", 2), name="ray", plugins={"ray": []})
    document["metadata"]["namespace"] = NAMESPACE
    recorded = Recorded(document)
    recorded.run()
    recorded.group("Running")
    return recorded.objects


@state
def node_not_ready() -> list[Wire]:
    """The kubelet of a node does not report."""
    recorded = Recorded(pytorch())
    recorded.run()
    recorded.nodes(4, **{GPU: "8"})
    node = recorded.of("Node")[1]
    node["status"]["conditions"][0] |= {"status": "Unknown", "reason": "NodeStatusUnknown"}
    recorded.group("Running")
    return recorded.objects


@state
def stored_job_aborted() -> list[Wire]:
    """A Job was suspended with vcctl."""
    document = pytorch()
    recorded = Recorded(document)
    recorded.native("Aborted", document)
    recorded.without("Pod")
    recorded.without("PodGroup")
    return recorded.objects


@state
def stored_job_with_an_error() -> list[Wire]:
    """Volcano's controller cannot create the Pods."""
    document = pytorch()
    recorded = Recorded(document)
    recorded.native("Pending", document)
    recorded.without("Pod")
    recorded.without("PodGroup")
    message = "Failed to create PVC, err: pvc imagenet is not found, the job will be in the Pending state"
    recorded.event("Job", "train", "PVCError", message)
    return recorded.objects


@state
def depends_on() -> list[Wire]:
    """The Pods of a task are created when those of another task run."""
    document = mpi()
    document["spec"] |= {"minAvailable": 2}
    document["spec"]["tasks"][0]["dependsOn"] = {"name": ["worker"]}
    recorded = Recorded(document)
    recorded.native("Running", document)
    recorded.without("Pod", "master-0")
    recorded.run()
    recorded.group("Running")
    return recorded.objects


@state
def gang_waits() -> list[Wire]:
    """The message of the scheduler does not have a cause."""
    recorded = Recorded(pytorch())
    recorded.unschedulable("pod group is not ready, 4 Pending, 4 minAvailable")
    recorded.group("Inqueue", gang_message(4, 4, 4))
    return recorded.objects


@state
def just_created() -> list[Wire]:
    """The scheduler has not processed the Pods yet."""
    return Recorded(pytorch()).objects


@state
def scheduling_gate() -> list[Wire]:
    """A controller has not removed its gate from the Pods."""
    recorded = Recorded(pytorch())
    for pod in recorded.pods():
        pod["spec"]["schedulingGates"] = [{"name": "kueue.x-k8s.io/admission"}]
        pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]
    return recorded.objects


@state
def sandbox_fails() -> list[Wire]:
    """The network plugin of a node fails."""
    recorded = Recorded(mpi())
    recorded.run()
    recorded.bind("worker-1")
    message = 'Failed to create pod sandbox: rpc error: code = Unknown desc = plugin type="calico" failed (add)'
    recorded.event("Pod", "solve-worker-1", "FailedCreatePodSandBox", message, seconds=400)
    return recorded.objects


@state
def pod_does_not_end() -> list[Wire]:
    """A Pod was deleted, and its node does not answer."""
    recorded = Recorded(pytorch())
    recorded.run()
    (pod,) = recorded.pods("worker-1")
    pod["metadata"] |= {"deletionTimestamp": at(130), "deletionGracePeriodSeconds": 30}
    recorded.event("Pod", "train-worker-1", "Killing", "Stopping container main", "Normal", seconds=700)
    return recorded.objects


@state
def probe_fails() -> list[Wire]:
    """The readiness probe of the master fails."""
    recorded = Recorded(pytorch())
    recorded.run()
    (master,) = recorded.pods("master-0")
    master["spec"]["containers"][0]["readinessProbe"] = {"tcpSocket": {"port": 23456}}
    master["status"]["conditions"][1]["status"] = "False"
    message = "Readiness probe failed: dial tcp 10.0.1.7:23456: connect: connection refused"
    recorded.event("Pod", "train-master-0", "Unhealthy", message, seconds=400)
    recorded.group("Running")
    return recorded.objects


@state
def controllers_do_not_run() -> list[Wire]:
    """Volcano's controllers do not process a Job."""
    document = pytorch()
    recorded = Recorded(document)
    recorded.native("Pending", document)
    recorded.without("Pod")
    recorded.without("PodGroup")
    (stored,) = recorded.of("Job")
    del stored["status"]
    recorded.event("Node", "gpu-0", "Starting", "", "Normal", seconds=600)
    return recorded.objects


@state
def gang_is_not_admitted() -> list[Wire]:
    """The nodes have less than the gang requests, so that the scheduler does not try to schedule it."""
    recorded = Recorded(pytorch())
    recorded.nodes(2, **{GPU: "8"})
    recorded.unschedulable("pod group is not ready, 4 Pending, 4 minAvailable; Pending: 4 Unschedulable")
    recorded.group("Pending", gang_message(4, 4, 4))
    return recorded.objects


@state
def cluster_is_overused() -> list[Wire]:
    """Other jobs use the nodes, so that the scheduler does not admit the gang."""
    recorded = Recorded(pytorch())
    (group,) = recorded.of("PodGroup")
    name = group["metadata"]["name"]
    recorded.unschedulable("pod group is not ready, 4 Pending, 4 minAvailable; Pending: 4 Unschedulable")
    recorded.group("Pending", gang_message(4, 4, 4))
    message = f"resource in cluster is overused: overused {GPU}"
    recorded.event("PodGroup", name, "Unschedulable", message, "Normal")
    recorded.event("PodGroup", name, "Unschedulable", gang_message(4, 4, 4), seconds=301)
    return recorded.objects


@state
def gpus_behind_a_taint() -> list[Wire]:
    """Only nodes with a taint have GPUs."""
    recorded = Recorded(pytorch())
    recorded.nodes(4, taints=[{"key": GPU, "value": "present", "effect": "NoSchedule"}], **{GPU: "8"})
    recorded.nodes(2)
    recorded.unschedulable(f"0/6 nodes are unavailable: 2 Insufficient {GPU}, 4 node(s) had untolerated taint(s).")
    return recorded.objects


@state
def selector_of_a_gang_that_is_not_admitted() -> list[Wire]:
    """No node has the label, and the scheduler reports only that the cluster is overused."""
    recorded = Recorded(pytorch())
    for pod in recorded.pods():
        pod["spec"]["nodeSelector"] = {"gpu-type": "b200"}
    recorded.nodes(8, labels={"gpu-type": "h100"}, **{GPU: "8"})
    recorded.unschedulable("pod group is not ready, 4 Pending, 4 minAvailable; Pending: 4 Unschedulable")
    recorded.group("Pending", gang_message(4, 4, 4))
    return recorded.objects
