"""`volcano-jobs status` and `logs` on the real API server, through the real kubectl; kwok sets the states of Pods."""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.status.kubectl import Kubectl
from tests.cli.states import GPU, gang_message, mpi, pytorch
from tests.cluster.conftest import Manifest, Space
from tests.commands import run_command

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
Prepare = Callable[["Job"], None]
STATES: dict[str, tuple[Prepare, int, list[str]]] = {}


class Job:
    """A job whose rendered objects are on the API server."""

    def __init__(self, space: Space, document: Manifest | None = None) -> None:
        """Create the objects of a job in a namespace."""
        self.space = space
        self.document = document or pytorch()
        self.name = self.document["metadata"]["name"]

    def create(self, document: Manifest | None = None, **annotations: dict[str, str]) -> None:
        """Create the objects. The keywords are the annotations of the Pods of a task."""
        self.document = document or self.document
        self.name = self.document["metadata"]["name"]
        self.document["metadata"]["namespace"] = self.space.name
        rendered = render(self.document, strict=False)
        for item in [*rendered.objects, *rendered.pods]:
            if item["kind"] == "Pod":
                task = item["metadata"]["labels"]["volcano.sh/task-spec"]
                item["metadata"]["annotations"] |= annotations.get(task, {})
        # Without keys, the Secret has placeholders, which the API server rejects.
        objects = [item for item in rendered.objects if item["kind"] != "Secret"]
        self.space.cluster.apply([*objects, *rendered.pods])

    @property
    def group(self) -> str:
        """The name of the PodGroup."""
        (name,) = self.space.cluster.list("PodGroup", self.space.name)
        return name

    def bind(self, *tasks: str) -> None:
        """Bind the Pods of tasks, or all Pods."""
        names = [name for name in self.space.pods() if not tasks or name.split("-")[1] in tasks]
        self.space.cluster.bind(names, self.space.name)

    def wait(self, condition: Callable[[Manifest], object], *names: str) -> None:
        """Wait until Pods meet a condition."""
        self.space.cluster.wait(
            lambda: all(condition(pod) for name, pod in self.space.pods().items() if not names or name in names),
            "the states of Pods",
        )

    def started(self, *tasks: str) -> None:
        """Bind Pods, and wait until kwok has processed them."""
        self.bind(*tasks)
        self.wait(lambda pod: not pod["spec"].get("nodeName") or pod["status"].get("startTime"))

    def set_status(self, name: str, **status: Any) -> None:
        """Set fields of the status of a Pod."""
        self.space.cluster.set_status("Pod", name, self.space.name, **status)

    def unschedulable(self, message: str) -> None:
        """Act as Volcano's scheduler."""
        entry = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        for name in self.space.pods():
            self.set_status(name, conditions=[{**entry, "lastTransitionTime": "2026-11-29T09:00:00Z"}])
        gang = {"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources"}
        gang |= {"message": gang_message(4, 4, 4, message), "lastTransitionTime": "2026-11-29T09:00:00Z"}
        group = {"phase": "Inqueue", "conditions": [gang]}
        # The definition of PodGroups has no subresource `status`.
        path = f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{self.space.name}/podgroups/{self.group}"
        self.space.cluster.request("PATCH", path, {"status": group}, "application/merge-patch+json")

    def queue(self, state: str, **spec: Any) -> str:
        """Create a queue with a state, and return its name."""
        name = f"{self.space.name}-queue"
        queue = {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": name},
            "spec": spec,
        }
        self.space.cluster.apply([queue])
        self.space.cluster.set_status("Queue", name, state=state, allocated={})
        return name

    def event(self, kind: str, name: str, reason: str, message: str) -> None:
        """Record an event."""
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{name}.", "namespace": self.space.name},
            "involvedObject": {"kind": kind, "name": name, "namespace": self.space.name},
            "type": "Warning",
            "reason": reason,
            "message": message,
            "lastTimestamp": "2026-11-29T09:00:00Z",
        }
        self.space.cluster.request("POST", f"/api/v1/namespaces/{self.space.name}/events", body)

    def run(self, command: str, *arguments: str) -> Any:
        """Run a command of volcano-jobs."""
        options = ["-n", self.space.name, "--kubeconfig", str(self.space.cluster.kubeconfig)]
        return run_command(command, self.name, *options, *arguments, env={"COLUMNS": "100"})


def state(code: int, *reasons: str) -> Callable[[Prepare], Prepare]:
    """Register a state with the exit code of `status` and the codes of its reasons."""

    def register(prepare: Prepare) -> Prepare:
        STATES[prepare.__name__] = prepare, code, list(reasons)
        return prepare

    return register


@state(4)
def running(job: Job) -> None:
    """All Pods run."""
    job.create()
    job.started()


@state(0)
def done(job: Job) -> None:
    """All Pods have succeeded."""
    job.create()
    job.space.run()
    job.space.end()


@state(3, "insufficient")
def no_gpus(job: Job) -> None:
    """The node has no GPUs."""
    job.create()
    job.unschedulable(f"0/1 nodes are unavailable: 1 Insufficient {GPU}.")


@state(3, "queue")
def closed_queue(job: Job) -> None:
    """The queue is closed."""
    job.create(pytorch(queue=job.queue("Closed")))


@state(3, "capability")
def small_queue(job: Job) -> None:
    """The queue has fewer GPUs than the gang requests."""
    job.create(pytorch(queue=job.queue("Open", capability={GPU: "16"})))


@state(3, "image")
def missing_image(job: Job) -> None:
    """The workers' image does not exist."""
    image = 'failed to resolve reference "ghcr.io/team/train:1.4": ghcr.io/team/train:1.4: not found'
    message = f'Back-off pulling image "ghcr.io/team/train:1.4": ErrImagePull: {image}'
    job.create(worker={"test/waiting": "ImagePullBackOff", "test/message": message})
    job.started()


@state(3, "configuration")
def missing_secret(job: Job) -> None:
    """A Secret does not exist."""
    waiting = {"test/waiting": "CreateContainerConfigError", "test/message": 'secret "wandb" not found'}
    job.create(master=waiting, worker=waiting)
    job.started()


@state(3, "volume")
def missing_config_map(job: Job) -> None:
    """A ConfigMap that the Pods mount does not exist."""
    waiting = {"test/waiting": "ContainerCreating", "test/message": ""}
    job.create(master=waiting, worker=waiting)
    job.started()
    message = 'MountVolume.SetUp failed for volume "config" : configmap "hyper" not found'
    for name in job.space.pods():
        job.event("Pod", name, "FailedMount", message)


@state(3, "claim")
def pending_claim(job: Job) -> None:
    """No provisioner creates the volume of a claim."""
    document = pytorch()
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "fast",
    }
    document["spec"]["volumes"] = [{"mountPath": "/data", "volumeClaim": claim}]
    job.create(document)
    (name,) = job.space.cluster.list("PersistentVolumeClaim", job.space.name)
    job.event("PersistentVolumeClaim", name, "ProvisioningFailed", 'storageclass.storage.k8s.io "fast" not found')
    job.unschedulable("pod has unbound immediate PersistentVolumeClaims")


@state(3, "init")
def waiting_workers(job: Job) -> None:
    """The workers wait for a master whose image is pulled."""
    waiting = {"test/waiting": "ContainerCreating", "test/message": ""}
    job.create(master=waiting, worker={"test/init": "yes"})
    job.started()


@state(1, "failed")
def out_of_memory(job: Job) -> None:
    """A worker exceeds its memory limit."""
    job.create()
    job.started()
    job.wait(lambda pod: pod["status"]["phase"] == "Running")
    failure = {"test_exit-code": "137", "test_reason": "OOMKilled", "test_fail": "yes"}
    job.space.cluster.annotate("Pod", "train-worker-1", job.space.name, **failure)
    job.wait(lambda pod: pod["status"]["phase"] == "Failed", "train-worker-1")


@state(1, "failed")
def evicted(job: Job) -> None:
    """The kubelet evicts a Pod."""
    job.create()
    job.started()
    job.wait(lambda pod: pod["status"]["phase"] == "Running")
    message = "The node was low on resource: memory. Threshold quantity: 2Gi, available: 1500Mi. "
    job.set_status("train-worker-1", phase="Failed", reason="Evicted", message=message, containerStatuses=None)


@state(3, "pods-gone")
def deleted_pod(job: Job) -> None:
    """A Pod in the middle was deleted."""
    job.create()
    job.started()
    job.space.cluster.delete("Pod", "train-worker-1", job.space.name)
    job.space.cluster.wait(lambda: "train-worker-1" not in job.space.pods(), "the Pod to be gone")


@state(3, "no-pod-group")
def deleted_group(job: Job) -> None:
    """The PodGroup was deleted."""
    job.create()
    job.space.cluster.delete("PodGroup", job.group, job.space.name)


@state(0, "idle")
def idle_workers(job: Job) -> None:
    """The master of MPI has succeeded, and its workers keep running."""
    job.create(mpi())
    job.started()
    job.wait(lambda pod: pod["status"]["phase"] == "Running")
    job.space.cluster.annotate("Pod", "solve-master-0", job.space.name, test_succeed="yes")
    job.wait(lambda pod: pod["status"]["phase"] == "Succeeded", "solve-master-0")


@state(4, "network-policy")
def denied_traffic(job: Job) -> None:
    """A policy denies all traffic to other Pods."""
    job.create()
    job.started()
    spec = {"podSelector": {}, "policyTypes": ["Egress"]}
    metadata = {"name": "deny-egress", "namespace": job.space.name}
    policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}
    job.space.cluster.apply([policy])


@state(1, "suspended")
def aborted_job(job: Job) -> None:
    """A Job that Volcano manages was suspended."""
    job.document["metadata"]["namespace"] = job.space.name
    job.space.cluster.apply([job.document])
    job.space.cluster.set_status("Job", "train", job.space.name, state={"phase": "Aborted"})


@pytest.mark.parametrize("name", STATES)
def test_the_status_of_a_state(space: Space, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The exit code and the reasons are those of the state, and nothing is written to standard error."""
    prepare, code, reasons = STATES[name]
    job = Job(space)
    prepare(job)
    if "queue" not in name:
        space.cluster.apply([DEFAULT_QUEUE])
        space.cluster.set_status("Queue", "default", state="Open", allocated={})

    # Both formats show what kubectl printed once.
    monkeypatch.setattr(Kubectl, "_run", functools.cache(Kubectl._run))
    answer = job.run("status", "--format", "json")

    assert answer.stderr == ""
    found = json.loads(answer.stdout)
    assert ([reason["code"] for reason in found["reasons"]], answer.exit_code) == (reasons, code)
    assert job.run("status").exit_code == code


DEFAULT_QUEUE = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "Queue",
    "metadata": {"name": "default"},
    "spec": {},
}


def test_a_job_that_does_not_exist(space: Space) -> None:
    """The message has the namespace."""
    answer = Job(space).run("status")

    message = f"volcano-jobs: job train: not found in namespace {space.name}: check the name and the namespace\n"
    assert (answer.exit_code, answer.stderr) == (2, message)


def test_pods_are_read_in_pages(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gang of 40 Pods in pages of 7 is whole."""
    monkeypatch.setattr("pulumi_volcano_jobs.status.kubectl._PAGE", 7)
    job = Job(space, pytorch(workers=39))
    job.create()
    job.bind("worker")

    found = json.loads(job.run("status", "--format", "json").stdout)

    assert [len(task["pods"]) for task in found["tasks"]] == [1, 39]


def test_the_logs_of_a_kubelet_that_does_not_answer(space: Space) -> None:
    """The message of kubectl is a note, and the next Pod follows."""
    job = Job(space, pytorch(workers=1))
    job.create()
    job.started()

    answer = job.run("logs")

    assert (answer.exit_code, answer.stdout) == (0, "")
    assert [line.split(": ")[1] for line in answer.stderr.splitlines()] == ["master-0", "worker-0"]
