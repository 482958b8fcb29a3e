"""Head and workers form a Ray cluster, which runs tasks, jobs and a program, and admits allowed clients."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import yaml

from tests.deadlines import DEADLINE
from tests.workloads.conftest import Render, job, task
from tests.workloads.player import Cluster

DASHBOARD = "http://cluster-head-svc.default.svc:8265"
PORTS = {"gcs": 6379, "dashboard": 8265, "client-server": 10001}
RAY = ("cluster-head-0", "cluster-worker-0", "cluster-worker-1")
HEAD = RAY[0]
# One task on each node, which prints its host.
NODES = """
import json, socket, sys
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

@ray.remote
def name():
    return socket.gethostname()

ray.init(sys.argv[1], log_to_driver=False)
found = {}
for node in ray.nodes():
    if node["Alive"]:
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ran = ray.get(name.options(scheduling_strategy=there).remote())
        found[node["NodeManagerHostname"]] = [ran, node["Resources"]["CPU"], node["Resources"]["memory"]]
print(json.dumps(found, sort_keys=True))
"""
# The head has no CPUs for tasks, so they wait for workers. The program contains "$HOME", 'this' and `that`.
DRIVER = """
import socket, sys
import ray

@ray.remote
def name():
    return socket.gethostname()

ray.init()
print("ran on", set(ray.get([name.remote() for _ in range(20)])))
sys.exit(3)
"""
ALLOW = """[
  {task: head, ports: [dashboard], namespaces: {kubernetes.io/metadata.name: ingress-nginx}},
  {task: head, ports: [client-server], namespaces: {kubernetes.io/metadata.name: notebooks}, pods: {app: jupyter}},
]"""
OUTSIDERS = {"ingress": "ingress-nginx", "jupyter": "notebooks", "other": "notebooks", "neighbour": "default"}


def pods(replicas: int, name: str, *command: str, policy: str = "OnFailure", **env: str) -> dict[str, Any]:
    """Return the Pods of a role, which run Ray in a container with the role's name."""
    variables = {"RAY_USAGE_STATS_ENABLED": "0", **env}
    container = {
        "name": name,
        "resources": {"requests": {"cpu": 1, "memory": "1Gi"}},
        "env": [{"name": key, "value": value} for key, value in variables.items()],
    }
    return task(replicas, *command, image="ray", policy=policy, container=container)


def workers(**options: str) -> dict[str, Any]:
    """Return the Pods of two workers. By default, Ray retries a lost head for a minute, which takes much CPU time."""
    return pods(2, "worker", RAY_gcs_rpc_server_reconnect_timeout_s="5", **options)


def outsiders() -> bytes:
    """Return Pods that do not belong to the job."""
    return yaml.safe_dump_all(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
            "spec": {"containers": [{"name": "main", "image": "ray", "command": ["sleep", "infinity"]}]},
        }
        for name, namespace in OUTSIDERS.items()
    ).encode()


def run(cluster: Cluster, pod: str, *command: str) -> str:
    """Run a command in a Pod, and return its output."""
    done = cluster.pods[pod].execute(*command, timeout=DEADLINE)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{cluster.describe()}"
    return done.stdout


def nodes(cluster: Cluster) -> Any:
    """Return Ray's nodes: by host name, where its task ran, its CPUs and its memory."""
    return json.loads(run(cluster, HEAD, "python", "-c", NODES, "auto").splitlines()[-1])


def reached(cluster: Cluster, *names: str) -> list[set[str]]:
    """Return the ports of the head Service that each of some Pods can reach."""
    connect = "{{ timeout 3 bash -c '</dev/tcp/cluster-head-svc.default.svc/{}' 2> /dev/null && echo {}; }} &"
    commands = "\n".join([*(connect.format(number, name) for name, number in PORTS.items()), "wait"])
    with ThreadPoolExecutor() as pool:
        return [set(found.split()) for found in pool.map(lambda name: run(cluster, name, "sh", "-c", commands), names)]


def test_a_cluster_runs_tasks_and_survives_a_killed_head(cluster: Cluster, render: Render) -> None:
    """Its three nodes have the requested resources."""
    manifest = job("cluster", {"ray": [], "svc": []}, head=pods(1, "head"), worker=workers())
    options = ("--defaults", "recommended", "--set", "ray.requested_resources=true", "--set", "ray.probes=true")
    cluster.apply(render(manifest, *options))
    cluster.apply(outsiders(), prune=False)
    cluster.wait_for("Ready", *cluster.pods)
    expected = {name: [name, 1.0, float(2**30)] for name in RAY}
    assert nodes(cluster) == expected
    assert reached(cluster, RAY[1], *OUTSIDERS) == [set(PORTS), set(), set(), set(), set()]

    started = {name: cluster.pods[name] for name in RAY}
    cluster.apply(render(manifest, *options, "--set", f"svc.allow={ALLOW}"), prune=False)
    assert {name: cluster.pods[name] for name in RAY} == started
    assert reached(cluster, *OUTSIDERS) == [{"dashboard"}, {"client-server"}, set(), set()]
    submit = ["ray", "job", "submit", f"--address={DASHBOARD}", "--", "python", "-c", NODES, "auto"]
    assert json.dumps(expected) in run(cluster, "ingress", *submit)

    cluster.pods[HEAD].kill()
    cluster.wait(lambda: all(pod.is_ready and pod.containers[0].restarts for pod in started.values()), "cluster again")
    assert nodes(cluster) == expected


def test_the_job_ends_with_the_program_of_the_head(cluster: Cluster, render: Render) -> None:
    """The head ends with the exit code of the program, and workers end after they lose the head."""
    manifest = job(
        "batch",
        {"ray": [], "svc": []},
        head=pods(1, "head", "python", "-c", DRIVER, policy="Never"),
        worker=workers(policy="Never"),
    )
    options = ("ray.keep_command=true", "ray.head_start_args=[--num-cpus=0]", "ray.requested_resources=true")
    cluster.apply(render(manifest, *(part for option in options for part in ("--set", option))))

    cluster.wait_for("Failed", "batch-head-0")

    head = cluster.pods["batch-head-0"]
    assert head.containers[0].exit_codes == [3]
    (ran,) = [line for line in head.log().splitlines() if line.startswith("ran on")]
    assert "batch-worker-" in ran
    assert "batch-head" not in ran
    cluster.wait_for("Failed", "batch-worker-0", "batch-worker-1")
