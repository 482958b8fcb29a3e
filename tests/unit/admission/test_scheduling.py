"""minAvailable, partitions, topologies and whole CPUs."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import ClusterFacts, PytorchPlugin, render
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, container, job, problems, task, typed


def job_with_topology(resources: Wire, policy: str = "restricted") -> Wire:
    """Build a job whose task has a topologyPolicy."""
    return job({**task(containers=[container(resources=resources)]), "topologyPolicy": policy})


@pytest.mark.parametrize(
    "resources",
    [Leaf("r"), {"requests": Leaf("r")}, {"limits": Leaf("r")}, {"requests": {"cpu": Leaf("r")}}],
    ids=["all", "requests", "limits", "the CPUs"],
)
def test_unknown_cpus_are_accepted(resources: Any) -> None:
    """A topologyPolicy needs whole CPUs."""
    assert render(job_with_topology(resources)).pods


PARTITIONS = {"totalPartitions": 2, "partitionSize": 4, "minPartitions": 3}
DERIVED: dict[str, tuple[Wire, str]] = {
    "minAvailable of a task and the job": (
        job(task(replicas=8) | {"partitionPolicy": PARTITIONS}),
        "spec.tasks[0].partitionPolicy.minPartitions",
    ),
    "minAvailable of the job": (job({**task(replicas=1), "minAvailable": 2}), "spec.tasks[0].minAvailable"),
    "the name of a task": (job({**task(), "name": ""}, name="a" * 60), "metadata.name"),
    "the name of the last Pod": (job({**task(replicas=1001), "name": ""}, name="a" * 51), "metadata.name"),
}


@pytest.mark.parametrize("name", DERIVED)
def test_a_value_that_follows_from_another_field_is_reported_there(name: str, snapshot: SnapshotAssertion) -> None:
    """The user wrote only the other field."""
    document, path = DERIVED[name]

    (problem,) = problems(document)

    assert problem.path == path
    assert str(problem) == snapshot


def test_a_gang_that_follows_from_partitions_has_its_warning_there() -> None:
    """The task has no minAvailable."""
    worker = task(replicas=8) | {"partitionPolicy": {**PARTITIONS, "minPartitions": 1}}

    (warning,) = render(job(task("master"), worker, plugins=[PytorchPlugin()])).warnings

    assert typed([warning]) == [("spec.tasks[1].partitionPolicy.minPartitions", "VJ103")]
    assert warning.hint == "set minPartitions: 2, or remove it"


def test_a_priority_that_differs_from_its_class_is_rejected() -> None:
    """The API server computes it from the class."""
    cluster = ClusterFacts(priority_classes={"high": 1000})
    of_task = job(task(priority=5, priorityClassName="high"))
    of_job = job(task(priority=5), priorityClassName="high")

    for document in (of_task, of_job):
        assert typed(problems(document, cluster=cluster)) == [("spec.tasks[0].template.spec.priority", "Forbidden")]
    same = job(task(priority=1000, priorityClassName="high"))
    assert render(same, cluster=cluster).warnings == render(of_task).warnings == ()


def test_a_task_that_depends_on_itself_is_only_a_cycle() -> None:
    """The fix of a gang that never starts would not help."""
    document = job(task("a"), {**task("b"), "dependsOn": {"name": ["b"]}})

    assert typed(problems(document)) == [("spec.tasks", "Invalid")]
