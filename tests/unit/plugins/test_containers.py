"""The containers that each plugin changes, and annotations that Pods get from the job."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs import (
    EnvPlugin,
    MpiPlugin,
    Plugin,
    PytorchPlugin,
    RayPlugin,
    SshPlugin,
    SvcPlugin,
    TensorflowPlugin,
    render,
)
from tests.conftest import Wire, container, job, task


def master_of(plugin: Plugin) -> Wire:
    """Render a job whose Pods have two containers and an init container, and return the Pod spec of the master."""
    containers = [container(), container("side")]
    tasks = [task(name, 1, containers=containers, initContainers=[container("early")]) for name in ("master", "worker")]
    spec: Wire = render(job(*tasks, plugins=[plugin])).pods[0]["spec"]
    return spec


BOTH, MAIN, ONE = ["main", "side", "early"], ["main", "side"], ["main"]
TOUCHED: dict[str, tuple[Plugin, str, str, list[str]]] = {
    "env sets variables everywhere": (EnvPlugin(), "env", "VC_TASK_INDEX", BOTH),
    "svc sets variables everywhere": (SvcPlugin(), "env", "VC_WORKER_HOSTS", BOTH),
    "svc mounts everywhere": (SvcPlugin(), "volumeMounts", "/etc/volcano", BOTH),
    "ssh mounts everywhere": (SshPlugin(), "volumeMounts", "/root/.ssh", BOTH),
    "mpi sets its variable everywhere": (MpiPlugin(), "env", "MPI_HOST", BOTH),
    "mpi opens its port everywhere": (MpiPlugin(), "ports", "mpijob-port", BOTH),
    "pytorch sets variables in containers": (PytorchPlugin(), "env", "MASTER_ADDR", MAIN),
    "pytorch opens its port in containers": (PytorchPlugin(), "ports", "pytorchjob-port", MAIN),
    "tensorflow sets its variable in containers": (TensorflowPlugin(ps="master"), "env", "TF_CONFIG", MAIN),
    "ray opens ports in one container": (
        RayPlugin(head="master", head_container="main", worker_container="main"),
        "ports",
        "gcs",
        ONE,
    ),
}


@pytest.mark.parametrize(("plugin", "kind", "key", "names"), TOUCHED.values(), ids=TOUCHED)
def test_plugins_change_the_same_containers_as_volcanos(
    plugin: Plugin,
    kind: str,
    key: str,
    names: list[str],
) -> None:
    """Some plugins also change init containers."""
    spec = master_of(plugin)

    having = [
        found["name"]
        for found in spec["containers"] + spec["initContainers"]
        if key in {entry.get("mountPath") or entry["name"] for entry in found.get(kind, [])}
    ]

    assert having == names


def test_the_wait_of_a_worker_runs_after_the_init_containers_of_the_template() -> None:
    """It has no variables or mounts."""
    tasks = [task(name, 1, initContainers=[container("early")]) for name in ("master", "worker")]

    made = render(job(*tasks, plugins=[PytorchPlugin(wait_master_enabled=True)]))

    early, waiting = made.pods[1]["spec"]["initContainers"]
    assert (early["name"], waiting["name"]) == ("early", "wait-for-master")
    assert waiting.keys() == {"name", "image", "command"}


HANDED: dict[str, tuple[Wire, Wire]] = {
    "the budget's minimum": ({"volcano.sh/jdb-min-available": "1"}, {"volcano.sh/jdb-min-available": "1"}),
    "the budget's maximum": ({"volcano.sh/jdb-max-unavailable": "1"}, {"volcano.sh/jdb-max-unavailable": "1"}),
    "of both only the minimum": (
        {"volcano.sh/jdb-max-unavailable": "1", "volcano.sh/jdb-min-available": "2"},
        {"volcano.sh/jdb-min-available": "2"},
    ),
    "all others together": (
        {
            "volcano.sh/preemptable": "true",
            "volcano.sh/cooldown-time": "1s",
            "volcano.sh/revocable-zone": "*",
            "own": "x",
        },
        {"volcano.sh/preemptable": "true", "volcano.sh/cooldown-time": "1s", "volcano.sh/revocable-zone": "*"},
    ),
}


@pytest.mark.parametrize(("given", "handed"), HANDED.values(), ids=HANDED)
def test_pods_have_some_annotations_of_the_job(given: Wire, handed: Wire) -> None:
    """The PodGroup has every annotation."""
    document = job()
    plain: Any = render(document).pods[0]["metadata"]["annotations"]
    document["metadata"]["annotations"] = given

    made = render(document)

    assert made.pods[0]["metadata"]["annotations"] == plain | handed
    assert made.objects[0]["metadata"]["annotations"] == given
