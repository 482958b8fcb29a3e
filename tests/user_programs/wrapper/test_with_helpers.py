"""Tests of `TrainingJob` with the helpers of the library."""

from __future__ import annotations

import pulumi
import pytest
from training_job import TrainingJob

from pulumi_volcano_jobs.testing import UNKNOWN, Result, SecretValue, computed, failed, run


@pytest.fixture
def result() -> Result:
    """Provide a job with 2 nodes."""
    return run(lambda: TrainingJob("train", image="train:1", script=["train.py"], nodes=2, queue="research"))


def test_torchrun_starts_a_process_for_each_gpu(result: Result) -> None:
    """Each node has its rank."""
    pod = result.job("train").pod("worker", 0)

    assert pod.command == ["torchrun", "train.py"]
    assert (pod.env["PET_NNODES"], pod.env["PET_NODE_RANK"], pod.env["PET_NPROC_PER_NODE"]) == ("2", "1", "8")


def test_the_job_is_in_the_queue(result: Result) -> None:
    """The PodGroup has the queue and all Pods."""
    spec = result.job("train").pod_group.spec

    assert (spec["queue"], spec["minMember"]) == ("research", 2)


def test_an_argument_that_is_not_given_has_the_default_of_the_stack() -> None:
    """The component passes None."""
    result = run(
        lambda: TrainingJob("train", image="train:1", script=["train.py"]), config={"volcano-jobs:queue": "shared"}
    )

    assert result.job("train").pod_group.spec["queue"] == "shared"
    assert result.job("train").pod("master", 0).env["MASTER_PORT"] == "23456"


def test_one_node_has_no_workers() -> None:
    """The master is the only Pod."""
    result = run(lambda: TrainingJob("train", image="train:1", script=["train.py"]))

    assert [pod.name for pod in result.job("train").pods] == ["train-master-0"]


def test_the_job_is_a_child_of_the_component(result: Result) -> None:
    """It inherits the options of the component."""
    assert str(result.job("train").parent) == "TrainingJob train"


def test_a_secret_argument_stays_secret() -> None:
    """Pulumi encrypts it in the state."""

    def program() -> None:
        TrainingJob("train", image="train:1", script=["train.py", pulumi.Output.secret("hunter2")])

    assert run(program).job("train").pod("master", 0).command[2] == SecretValue("hunter2")


def test_an_image_of_the_same_update_is_the_only_unknown_in_a_preview() -> None:
    """The preview shows everything else."""

    def program() -> None:
        TrainingJob("train", image=computed("train:built"), script=["train.py"], nodes=2)

    pod = run(program, preview=True).job("train").pod("worker", 0)

    assert pod.image is UNKNOWN
    assert pod.env["PET_NODE_RANK"] == "1"


def test_a_name_that_cannot_be_is_rejected() -> None:
    """The error has the path of the field."""
    failure = failed(lambda: TrainingJob("my_job", image="train:1", script=["train.py"]))

    assert [problem.path for problem in failure.problems] == ["metadata.name"]
