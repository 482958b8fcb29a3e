"""The NetworkPolicy of the svc plugin: members reach each other on all ports, and others only on allowed ports."""

from __future__ import annotations

from typing import Any

import yaml

from tests.workloads.conftest import Render, job, task
from tests.workloads.player import Cluster

# A server on two ports, one of which has a name.
SERVER = "cd /tmp && echo hello > index.html && (python3 -m http.server 8080 &) && exec python3 -m http.server 9090"
PORTS = {"ports": [{"name": "web", "containerPort": 8080}]}
ALLOWED = "svc.allow=[{task: web, ports: [web], namespaces: {team: tools}}]"


def served(*arguments: str) -> dict[str, Any]:
    """Return a job with two Pods that listen."""
    tasks = {name: task(1, "sh", "-ec", SERVER, container=PORTS) for name in ("web", "other")}
    return job("train", {"svc": list(arguments)}, **tasks)


def outsider(namespace: str) -> bytes:
    """Return a Pod that belongs to no job."""
    container = {"name": "main", "image": "machine", "command": ["sleep", "1000"]}
    metadata = {"name": f"outsider-{namespace}", "namespace": namespace}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
    return yaml.safe_dump(pod).encode()


def reaches(cluster: Cluster, source: str, target: str, port: int) -> bool:
    """Return whether a Pod gets a response from another one; rejected connections get none."""
    url = f"http://{target}.train.default.svc.cluster.local:{port}"
    done = cluster.pods[source].execute("curl", "-sf", "--max-time", "2", url)
    assert done.returncode in {0, 28}, done.stderr
    return done.stdout == "hello\n"


def start(cluster: Cluster, manifests: bytes) -> None:
    """Start the job and a foreign Pod in two namespaces; all Pods know all names."""
    cluster.label_namespace("tools", {"team": "tools"})
    cluster.apply(manifests)
    for namespace in ("default", "tools"):
        cluster.apply(outsider(namespace), prune=False)
    names = list(cluster.pods)
    cluster.wait_for("Ready", *names)
    for name in ("train-web-0", "train-other-0"):
        own = cluster.pods[name]
        for port in ("8080", "9090"):
            cluster.wait(lambda own=own, port=port: serves(own, port), f"{name} to serve")  # type: ignore[misc]


def serves(pod: Any, port: str) -> bool:
    """Return whether a Pod responds to itself."""
    return bool(pod.execute("curl", "-sf", f"http://localhost:{port}").returncode == 0)


def seen(cluster: Cluster) -> dict[tuple[str, int], list[str]]:
    """Return the Pods that reach each port of the first Pod."""
    sources = ("train-other-0", "outsider-default", "outsider-tools")
    return {
        ("train-web-0", port): [source for source in sources if reaches(cluster, source, "train-web-0", port)]
        for port in (8080, 9090)
    }


def test_only_members_of_the_job_are_admitted(cluster: Cluster, render: Render) -> None:
    """The policy is the one that Volcano creates."""
    start(cluster, render(served()))

    assert seen(cluster) == {("train-web-0", 8080): ["train-other-0"], ("train-web-0", 9090): ["train-other-0"]}


def test_a_namespace_can_be_admitted_to_a_port(cluster: Cluster, render: Render) -> None:
    """It reaches no other port; members keep all ports."""
    start(cluster, render(served(), "--set", ALLOWED))

    assert seen(cluster) == {
        ("train-web-0", 8080): ["train-other-0", "outsider-tools"],
        ("train-web-0", 9090): ["train-other-0"],
    }
    assert not reaches(cluster, "outsider-tools", "train-other-0", 8080)


def test_without_the_policy_all_pods_are_admitted(cluster: Cluster, render: Render) -> None:
    """This shows that the policy rejects connections above."""
    start(cluster, render(served("--disable-network-policy=true")))

    everybody = ["train-other-0", "outsider-default", "outsider-tools"]
    assert seen(cluster) == {("train-web-0", 8080): everybody, ("train-web-0", 9090): everybody}
