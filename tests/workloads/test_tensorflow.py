"""TensorFlow reads its cluster from TF_CONFIG, and both multi-worker strategies compute with it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.workloads.conftest import Render, job, task
from tests.workloads.player import Cluster

TOLD = "TF_CONFIG says "
SERVES = "serves"
STEP = "a step is computed here"
# Each role prints the configuration that TensorFlow has read. The evaluator starts a server on request.
ROLES = f"""
import json, pathlib, time
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
role, index, cluster = resolver.task_type, resolver.task_id, resolver.cluster_spec()
print("{TOLD}" + json.dumps([role, index, cluster.as_dict()]), flush=True)
"""
PARAMETER_SERVER = f"""{ROLES}
def serve():
    server = tf.distribute.Server(cluster, job_name=role, task_index=index)
    print("{SERVES}", flush=True)
    server.join()

def coordinate():
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        total = tf.Variable(0.0)

    @tf.function
    def step():
        tf.print("{STEP}")
        total.assign_add(1.0)

    for _ in range(100):
        coordinator.schedule(step)
    coordinator.join()
    print(total.device, total.numpy())

def evaluate():
    while not pathlib.Path("/tmp/serve").exists():
        time.sleep(0.1)
    serve()

{{"chief": coordinate, "evaluator": evaluate}}.get(role, serve)()
"""
MIRRORED = f"""{ROLES}
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    weight = tf.Variable(1.0)

@tf.function
def step():
    def replica():
        context = tf.distribute.get_replica_context()
        weight.assign_add(context.all_reduce("sum", tf.constant(index + {{"chief": 1.0, "worker": 2.0}}[role])))
    strategy.run(replica)

step()
print(strategy.num_replicas_in_sync, "replicas", weight.numpy())
"""
ADDRESSES = {
    "ps": ["train-ps-0.train:2222"],
    "worker": ["train-worker-0.train:2222", "train-worker-1.train:2222"],
    "chief": ["train-chief-0.train:2222"],
}
WITH_EVALUATOR = ADDRESSES | {"evaluator": ["train-evaluator-0.train:2222"]}
SERVERS = ("train-ps-0", "train-worker-0", "train-worker-1")


def train(program: str, **replicas: int) -> dict[str, Any]:
    """Return a job whose roles all run one program."""
    roles = {role: task(number, "python", "-c", program, image="tensorflow") for role, number in replicas.items()}
    return job("train", {"tensorflow": [], "svc": []}, **roles)


def reported(cluster: Cluster, pod: str) -> Any:
    """Return the role, the index and the cluster that TensorFlow reports in a Pod."""
    (line,) = [line for line in cluster.pods[pod].log().splitlines() if line.startswith(TOLD)]
    return json.loads(line.removeprefix(TOLD))


def all_have_printed(cluster: Cluster, text: str, *pods: str) -> None:
    """Wait until Pods have printed a line."""
    cluster.wait(lambda: all(text in cluster.pods[pod].log() for pod in pods), f"'{text}'")


@pytest.fixture
def parameter_servers() -> dict[str, Any]:
    """Return a job with all four roles."""
    return train(PARAMETER_SERVER, chief=1, ps=1, worker=2, evaluator=1)


def test_parameter_servers_sum_a_step_of_each_worker(
    cluster: Cluster, render: Render, parameter_servers: dict[str, Any]
) -> None:
    """The chief starts first and waits for the others; each worker runs a step, and the sum is on the ps."""
    strategy = ("--set", "tensorflow.strategy=ParameterServerStrategy")
    cluster.apply(
        render(parameter_servers, "--defaults", "recommended", *strategy),
        first=["train-chief-0"],
        delays={"train-ps-0": 5},
    )

    cluster.wait_for("Succeeded", "train-chief-0")

    assert reported(cluster, "train-chief-0") == ["chief", 0, ADDRESSES]
    assert reported(cluster, "train-ps-0") == ["ps", 0, ADDRESSES]
    assert reported(cluster, "train-worker-0") == ["worker", 0, ADDRESSES]
    assert reported(cluster, "train-worker-1") == ["worker", 1, ADDRESSES]
    all_have_printed(cluster, TOLD, "train-evaluator-0")
    assert reported(cluster, "train-evaluator-0") == ["evaluator", 0, WITH_EVALUATOR]
    assert "/job:ps/replica:0/task:0/device:CPU:0 100.0\n" in cluster.pods["train-chief-0"].log()
    steps = [cluster.pods[name].log().count(STEP) for name in SERVERS]
    assert steps[0] == 0
    assert min(steps[1:]) > 0
    assert sum(steps) == 100
    assert {name: pod.phase for name, pod in cluster.pods.items() if pod.phase != "Running"} == {
        "train-chief-0": "Succeeded"
    }

    # With the arguments for managed_by="volcano", only the evaluator has other variables.
    before = dict(cluster.pods)
    cluster.apply(render(parameter_servers, "--set", "tensorflow.evaluator=", *strategy))
    assert [name for name, pod in cluster.pods.items() if pod is not before[name]] == ["train-evaluator-0"]
    all_have_printed(cluster, TOLD, "train-evaluator-0")
    assert reported(cluster, "train-evaluator-0") == ["evaluator", 0, ADDRESSES]


def test_the_chief_waits_for_the_evaluator(cluster: Cluster, render: Render, parameter_servers: dict[str, Any]) -> None:
    """Volcano's TF_CONFIG lists the evaluator, which starts no server; once it does, the chief continues."""
    cluster.apply(render(parameter_servers))

    all_have_printed(cluster, SERVES, *SERVERS)
    all_have_printed(cluster, TOLD, "train-chief-0", "train-evaluator-0")
    assert reported(cluster, "train-chief-0") == ["chief", 0, WITH_EVALUATOR]
    time.sleep(5)  # A waiting process prints nothing.
    assert cluster.pods["train-chief-0"].phase == "Running"

    assert cluster.pods["train-evaluator-0"].execute("touch", "/tmp/serve").returncode == 0

    cluster.wait_for("Succeeded", "train-chief-0")


def test_mirrored_workers_share_the_sum(cluster: Cluster, render: Render) -> None:
    """Each replica adds 1, 2 or 3, and all have the sum; the chief, to which others connect, starts last."""
    mirrored = train(MIRRORED, chief=1, worker=2)
    cluster.apply(
        render(mirrored, "--set", "tensorflow.strategy=MultiWorkerMirroredStrategy"), delays={"train-chief-0": 5}
    )

    cluster.wait_for("Succeeded", *cluster.pods)

    seen = {role: ADDRESSES[role] for role in ("worker", "chief")}
    assert [reported(cluster, name) for name in sorted(cluster.pods)] == [
        ["chief", 0, seen],
        ["worker", 0, seen],
        ["worker", 1, seen],
    ]
    assert all("\n3 replicas 7.0\n" in pod.log() for pod in cluster.pods.values()), cluster.describe()
