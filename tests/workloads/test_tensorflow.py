"""TensorFlow finds its cluster in TF_CONFIG, and both strategies of several Pods compute with it."""

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
# Each role prints what TensorFlow has understood. The evaluator serves once it is told to.
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
    """Give a job whose roles all run one program."""
    roles = {role: task(number, "python", "-c", program, image="tensorflow") for role, number in replicas.items()}
    return job("train", {"tensorflow": [], "svc": []}, **roles)


def told(cluster: Cluster, pod: str) -> Any:
    """Give what TensorFlow reports in a Pod: its role, its index and the cluster as it sees it."""
    (line,) = [line for line in cluster.pods[pod].log().splitlines() if line.startswith(TOLD)]
    return json.loads(line.removeprefix(TOLD))


def all_have_printed(cluster: Cluster, text: str, *pods: str) -> None:
    """Wait until Pods have printed a line."""
    cluster.wait(lambda: all(text in cluster.pods[pod].log() for pod in pods), f"'{text}'", 120)


@pytest.fixture
def parameter_servers() -> dict[str, Any]:
    """Give a job of all four roles."""
    return train(PARAMETER_SERVER, chief=1, ps=1, worker=2, evaluator=1)


def test_parameter_servers(cluster: Cluster, render: Render, parameter_servers: dict[str, Any]) -> None:
    """The chief comes first and waits for the others by itself; a step runs on each worker, and its sum on the ps."""
    cluster.apply(
        render(parameter_servers, "--defaults", "recommended", "--set", "tensorflow.strategy=ParameterServerStrategy"),
        first=["train-chief-0"],
        delays={"train-ps-0": 5},
    )

    cluster.wait_for("Succeeded", "train-chief-0", timeout=180)

    assert told(cluster, "train-chief-0") == ["chief", 0, ADDRESSES]
    assert told(cluster, "train-ps-0") == ["ps", 0, ADDRESSES]
    assert told(cluster, "train-worker-0") == ["worker", 0, ADDRESSES]
    assert told(cluster, "train-worker-1") == ["worker", 1, ADDRESSES]
    all_have_printed(cluster, TOLD, "train-evaluator-0")
    assert told(cluster, "train-evaluator-0") == ["evaluator", 0, WITH_EVALUATOR]
    assert "/job:ps/replica:0/task:0/device:CPU:0 100.0\n" in cluster.pods["train-chief-0"].log()
    steps = [cluster.pods[name].log().count(STEP) for name in SERVERS]
    assert steps[0] == 0
    assert min(steps[1:]) > 0
    assert sum(steps) == 100
    assert {name: pod.phase for name, pod in cluster.pods.items() if pod.phase != "Running"} == {
        "train-chief-0": "Succeeded"
    }


def test_an_evaluator_that_all_see(cluster: Cluster, render: Render, parameter_servers: dict[str, Any]) -> None:
    """As Volcano has it the chief waits for the evaluator, which serves nobody: once it does, the chief goes on."""
    cluster.apply(render(parameter_servers))

    all_have_printed(cluster, SERVES, *SERVERS)
    all_have_printed(cluster, TOLD, "train-chief-0", "train-evaluator-0")
    assert told(cluster, "train-chief-0") == ["chief", 0, WITH_EVALUATOR]
    time.sleep(5)  # Nothing tells of one who waits.
    assert cluster.pods["train-chief-0"].phase == "Running"

    cluster.pods["train-evaluator-0"].execute("touch", "/tmp/serve")

    cluster.wait_for("Succeeded", "train-chief-0", timeout=120)


def test_mirrored_workers(cluster: Cluster, render: Render) -> None:
    """Every replica adds 1, 2 or 3, and all of them have the sum; the chief, to which others connect, comes last."""
    mirrored = train(MIRRORED, chief=1, worker=2)
    cluster.apply(
        render(mirrored, "--set", "tensorflow.strategy=MultiWorkerMirroredStrategy"), delays={"train-chief-0": 5}
    )

    cluster.wait_for("Succeeded", *cluster.pods, timeout=180)

    seen = {role: ADDRESSES[role] for role in ("worker", "chief")}
    assert [told(cluster, name) for name in sorted(cluster.pods)] == [
        ["chief", 0, seen],
        ["worker", 0, seen],
        ["worker", 1, seen],
    ]
    assert all("\n3 replicas 7.0\n" in pod.log() for pod in cluster.pods.values()), cluster.tell()
