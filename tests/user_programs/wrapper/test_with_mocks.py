"""Tests of `TrainingJob` with Pulumi's own mocks."""

# Pulumi's mocks and its decorator of tests have incomplete types.
# mypy: allow-untyped-decorators
# pyright: strict, reportUntypedFunctionDecorator=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import pulumi
import pytest
from training_job import TrainingJob


class Recorder(pulumi.runtime.Mocks):
    """Mocks that record the inputs of each resource, and return them as its outputs."""

    def __init__(self) -> None:
        """Create an empty record."""
        self.inputs: dict[tuple[str, str], dict[str, Any]] = {}

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        """Record a resource by type and name."""
        self.inputs[args.typ, args.name] = args.inputs
        return f"{args.name}-id", args.inputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[str, Any], None]:
        """Reject functions: the component calls none."""
        raise NotImplementedError(args.token)


@pytest.fixture(autouse=True)
def recorder() -> Recorder:
    """Set mocks for each test."""
    mocks = Recorder()
    pulumi.runtime.set_mocks(mocks)
    return mocks


def train() -> TrainingJob:
    """Create a job with 2 nodes."""
    return TrainingJob("train", image="train:1", script=["train.py"], nodes=2, queue="research")


@pulumi.runtime.test
def test_torchrun_starts_a_process_for_each_gpu() -> pulumi.Output[None]:
    """Each node has its rank."""

    def check(spec: dict[str, Any]) -> None:
        (container,) = spec["containers"]
        env = {entry["name"]: entry.get("value") for entry in container["env"]}
        assert container["command"] == ["torchrun", "train.py"]
        assert (env["PET_NNODES"], env["PET_NODE_RANK"], env["PET_NPROC_PER_NODE"]) == ("2", "1", "8")

    return train().job.tasks["worker"].pods[0].spec.apply(check)


@pulumi.runtime.test
def test_the_job_is_in_the_queue(recorder: Recorder) -> pulumi.Output[None]:
    """The PodGroup has the queue and all Pods."""

    def check(name: str) -> None:
        spec = recorder.inputs["kubernetes:scheduling.volcano.sh/v1beta1:PodGroup", name]["spec"]
        assert (spec["queue"], spec["minMember"]) == ("research", 2)

    return train().job.name.apply(check)


@pulumi.runtime.test
def test_the_address_of_the_master_is_known_after_its_pod_is_registered(recorder: Recorder) -> pulumi.Output[None]:
    """A resource that uses the address is created after the Pod."""

    def check(address: str) -> None:
        assert address == "train-master-0.train"
        assert ("kubernetes:core/v1:Pod", "train-master-0") in recorder.inputs

    return train().master_address.apply(check)
