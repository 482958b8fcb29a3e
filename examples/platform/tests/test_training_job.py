"""`TrainingJob` alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pulumi
import pytest

from platform_jobs import TrainingJob, TrainingJobArgs
from pulumi_volcano_jobs.testing import UNKNOWN, Result, SecretValue, computed, failed, run

ARGS = TrainingJobArgs(team="vision", queue="team-vision", image="train:1", script="train.py", nodes=2, gpus=4)


def made(args: TrainingJobArgs, **surroundings: Any) -> Result:
    """Make a job of the arguments."""

    def program() -> None:
        TrainingJob("train", args)

    return run(program, **surroundings)


def test_torchrun_starts_a_process_for_each_gpu() -> None:
    """Nodes and ranks are the platform's business, not the script's."""
    pod = made(replace(ARGS, arguments=["--lr=0.1"])).job("train").pod("worker", 0)

    assert pod.command == ["torchrun", "train.py", "--lr=0.1"]
    assert {name: pod.env[f"PET_{name}"] for name in ("NNODES", "NODE_RANK", "NPROC_PER_NODE")} == {
        "NNODES": "2",
        "NODE_RANK": "1",
        "NPROC_PER_NODE": "4",
    }


def test_a_gpu_comes_with_its_share_of_the_node() -> None:
    """CPUs, memory, and memory that processes share."""
    pod = made(ARGS).job("train").pod("worker", 0)

    amounts = {"cpu": "32", "memory": "256Gi", "nvidia.com/gpu": "4"}
    assert pod.containers["train"].spec["resources"] == {"requests": amounts, "limits": amounts}
    assert pod.mounts["/dev/shm"]["name"] == "shm"  # noqa: S108  # where torch looks for it
    assert pod.volumes["shm"]["emptyDir"] == {"medium": "Memory", "sizeLimit": "64Gi"}
    assert pod.env["NCCL_SOCKET_IFNAME"] == "eth"


def test_the_team_pays() -> None:
    """The labels are those of the team, on the PodGroup too."""
    job = made(ARGS).job("train")

    for labels in (job.pod_group.labels, job.pod("master", 0).labels):
        assert (labels["team"], labels["cost-centre"]) == ("vision", "4711")


def test_one_node_needs_no_workers() -> None:
    """It is the master."""
    job = made(replace(ARGS, nodes=1)).job("train")

    assert [pod.name for pod in job.pods] == ["train-master-0"]
    assert job.pod_group.spec["minMember"] == 1


def test_secrets_stay_secret() -> None:
    """A token is none of the state's readers' business."""

    def program() -> None:
        TrainingJob("train", replace(ARGS, env={"TOKEN": pulumi.Output.secret("hunter2")}))

    assert run(program).job("train").pod("master", 0).env["TOKEN"] == SecretValue("hunter2")


def test_an_image_of_the_same_update_is_the_only_unknown() -> None:
    """A preview tells all else."""

    def program() -> None:
        TrainingJob("train", replace(ARGS, image=computed("train:built")))

    pod = run(program, preview=True).job("train").pod("worker", 0)

    assert pod.image is UNKNOWN
    assert pod.env["PET_NNODES"] == "2"


def test_another_argument_replaces_the_pods_and_nothing_else() -> None:
    """An update of a script's arguments is a new run of the gang."""
    before = made(ARGS)

    after = made(replace(ARGS, arguments=["--lr=0.1"]), state=before)

    assert after.changes.replaced == ["Pod train-master-0", "Pod train-worker-0"]
    # The components of the tasks show what is new in the Pods; they are no objects of the cluster.
    assert after.changes.changed == ["Task train-master", "Task train-worker"]
    assert after.changes.made + after.changes.deleted == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            replace(ARGS, team="visoin"),
            (
                'train.team: Unsupported value: "visoin": supported values: "language", "vision":'
                " use one of them, or add the team to platform_jobs/teams.py"
            ),
        ),
        (
            replace(ARGS, arguments="--epochs=3 --fast"),
            "train.arguments: Invalid value: must be a list: write ['--epochs=3', '--fast']",
        ),
        (replace(ARGS, nodes=0), "train.nodes: Invalid value: 0: must be at least 1"),
        (
            replace(ARGS, gpus=3),
            (
                "train.gpus: Unsupported value: 3: supported values: 1, 2, 4, 8,"
                " because other numbers leave GPUs of a node unused"
            ),
        ),
        (
            replace(ARGS, nodes=5),
            "train.nodes: Invalid value: 5: the job needs 20 GPUs, but the queue of vision has 16: use fewer nodes",
        ),
    ],
    ids=["team", "arguments", "nodes", "gpus", "more than the queue has"],
)
def test_errors_of_the_platform_have_no_traceback(args: TrainingJobArgs, message: str) -> None:
    """No resource is registered."""
    failure = failed(lambda: TrainingJob("train", args))

    assert str(failure.error) == message
    assert isinstance(failure.error, pulumi.RunError)
    assert failure.result.jobs == {}


def test_all_is_refused_at_once() -> None:
    """Nobody wants to hear of the next mistake after the last."""
    failure = failed(lambda: TrainingJob("train", replace(ARGS, team="", nodes=0, gpus=3)))

    assert [problem.path for problem in failure.problems] == ["train.team", "train.nodes", "train.gpus"]
