"""`VolcanoQueue`: what it registers, what its name carries to jobs, and what it refuses."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from pulumi_volcano_jobs import VolcanoQueue
from pulumi_volcano_jobs.testing import UNKNOWN, SecretValue, computed, failed, run
from tests.component.programs import new_job
from tests.conftest import task

QUEUE = "Queue research"


def new_queue(name: str, arguments: Any, opts: pulumi.ResourceOptions | None = None) -> VolcanoQueue:
    """Make a queue of arguments that are put together, which type checkers cannot follow."""
    return VolcanoQueue(name, arguments, opts)


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
def test_a_queue_is_one_object_below_a_component(*, preview: bool) -> None:
    """It is in no namespace, whatever the stack's is; its fields may have either spelling."""

    def program() -> dict[str, Any]:
        queue = new_queue(
            "research",
            {
                "weight": 4,
                "dequeue_strategy": "fifo",
                "affinity": {"node_group_affinity": {"required_during_scheduling_ignored_during_execution": ["gpu"]}},
                "extendClusters": [{"name": "other"}],
            },
        )
        return {"name": queue.name}

    done = run(program, preview=preview, config={"volcano-jobs:namespace": "elsewhere"})

    assert done.tree() == {"VolcanoQueue research": "", QUEUE: "VolcanoQueue research"}
    assert done.manifests() == {
        QUEUE: {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": "research"},
            "spec": {
                "affinity": {
                    "nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["gpu"]},
                },
                "dequeueStrategy": "fifo",
                "extendClusters": [{"name": "other"}],
                "reclaimable": True,
                "weight": 4,
            },
        },
    }
    assert done.resources["VolcanoQueue research"].outputs == {"name": "research"}
    assert done.outputs["name"] == "research"


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
def test_a_job_in_a_queue_waits_for_it(mode: str) -> None:
    """Its name is known in a preview, and whatever has the name in it depends on the Queue."""

    def program() -> None:
        queue = VolcanoQueue("research", {"name": "team-research"})
        new_job("train", {"tasks": [task()], "queue": queue.name, "managed_by": mode})

    done = run(program, preview=True)

    kind = "PodGroup train" if mode == "pulumi" else "Job train"
    assert done.resources[kind].inputs["spec"]["queue"] == "team-research"
    (queue,) = [urn for urn in done.resources[kind].request.dependencies if "Queue::research" in urn]
    assert queue.endswith("scheduling.volcano.sh/v1beta1:Queue::research")


def test_a_queue_below_another_waits_for_it() -> None:
    """So it is deleted first, too."""

    def program() -> None:
        parent = VolcanoQueue("all")
        VolcanoQueue("research", {"parent": parent.name})

    done = run(program)

    assert done.resources[QUEUE].inputs["spec"]["parent"] == "all"
    assert [urn for urn in done.resources[QUEUE].request.dependencies if urn.endswith("Queue::all")]


def test_outputs_stay_what_they_are() -> None:
    """An amount that is unknown is the only unknown; a secret stays one."""

    def program() -> None:
        VolcanoQueue(
            "research",
            {
                "weight": pulumi.Output.secret(3),
                "capability": {"cpu": computed("8"), "memory": "1Gi"},
            },
        )

    done = run(program, preview=True)

    spec = done.manifests()[QUEUE]["spec"]
    assert spec["capability"] == {"cpu": UNKNOWN, "memory": "1Gi"}
    assert spec["weight"] == SecretValue(3)
    assert done.unknown() == {f"{QUEUE}: spec.capability.cpu"}


def test_options_reach_the_queue() -> None:
    """Protection and staying in the cluster are of the Queue itself, and so is the provider."""

    def program() -> None:
        import pulumi_kubernetes as kubernetes  # noqa: PLC0415  # as in children.py

        provider = kubernetes.Provider("other", kubeconfig="")
        opts = pulumi.ResourceOptions(protect=True, retain_on_delete=True, provider=provider)
        VolcanoQueue("research", {}, opts)

    request = run(program).resources[QUEUE].request

    assert (request.protect, request.retainOnDelete) == (True, True)
    assert "kubernetes::other" in request.provider


def test_two_queues_of_one_name_are_refused() -> None:
    """They would overwrite each other."""

    def program() -> None:
        VolcanoQueue("one", {"name": "research"})
        VolcanoQueue("other", {"name": "research"})

    error, _ = failed(program)

    assert str(error) == (
        "the VolcanoQueue other has a problem:\n"
        "  metadata.name: the VolcanoQueues one and other both make the Queue research: give one of them another name"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"weight": 0, "parent": "research"},
            (
                "the VolcanoQueue research has 2 problems:\n"
                "  spec.weight: this must be from 1 to 65535 (given: 0)\n"
                "  spec.parent: a queue cannot be below itself (given: 'research'): name another one, or none: then it "
                "is root"
            ),
        ),
        (
            [3],
            (
                "the VolcanoQueue research has a problem:\n"
                '  the arguments are a list; they must be a dict: write VolcanoQueue("research", {"weight": 2})'
            ),
        ),
    ],
)
def test_mistakes_are_said_before_anything_is_made(arguments: Any, message: str) -> None:
    """All of them, and without a traceback."""
    error, done = failed(lambda: new_queue("research", arguments) and None)

    assert isinstance(error, pulumi.RunError)
    assert str(error) == message
    assert done.resources == {}


def test_a_job_and_a_queue_may_have_one_name() -> None:
    """They are of different types."""

    def program() -> None:
        VolcanoQueue("train", {})
        new_job("train", {"tasks": [task()]})

    assert run(program).names("Queue") == ["train"]
