"""Queues: the fields of a Queue, and the queue that a job names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import ClusterFacts, JobError, Problem, Queue, render
from pulumi_volcano_jobs.admission.queues import warnings
from pulumi_volcano_jobs.core.errors import RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.resource_types import QUEUE as QUEUE_TYPE
from pulumi_volcano_jobs.rendering.queue import check_document, queue
from tests.conftest import QUEUE, Wire, job, problems, typed


def rejected(**fields: Any) -> tuple[Problem, ...]:
    """Return the problems of a queue that is rejected."""
    with pytest.raises(JobError) as caught:
        queue({"name": "research", **fields})
    return caught.value.problems


def test_a_weight_of_0_is_a_warning(snapshot: SnapshotAssertion) -> None:
    """The user may want a queue without a share."""
    (warning,) = warnings({"weight": 0})

    assert typed([warning]) == [("spec.weight", "Warning")]
    assert str(warning) == snapshot
    assert list(warnings({"name": "research"})) == []
    assert list(warnings({"weight": 1})) == []
    assert list(warnings({"weight": Leaf("value")})) == []


@pytest.mark.parametrize("key", [key for key in QUEUE if key != "name"])
def test_a_value_that_is_not_known_yet_passes(key: str) -> None:
    """Whole fields may be leaves."""
    made = queue({**QUEUE, key: Leaf("value")})

    assert repr({**made["metadata"], **made["spec"]}[key]) == "<Leaf value>"


@pytest.mark.parametrize("key", ["capability", "deserved"])
def test_an_amount_that_is_not_known_yet_is_compared_with_nothing(key: str) -> None:
    """The other amounts are compared."""
    amounts = {"cpu": Leaf("value")}

    assert queue({**QUEUE, key: {**QUEUE[key], **amounts}})
    assert queue({**QUEUE, "guarantee": {"resource": {"cpu": Leaf("value")}}})


@pytest.mark.parametrize("key", ["volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"])
def test_a_hierarchy_that_is_not_known_yet_passes(key: str) -> None:
    """It has nothing to be counted by."""
    assert queue({**QUEUE, "annotations": {**QUEUE["annotations"], key: Leaf("value")}})


def test_all_problems_are_reported_at_once() -> None:
    """Problems of the metadata, the schema and the webhook."""
    found = rejected(name="Research", wieght=1, reclaimable="yes", priority=-1, capability={"cpu": "many"})

    assert typed(found) == [
        ("spec.wieght", "Forbidden"),
        ("spec.reclaimable", "TypeInvalid"),
        ("metadata.name", "Invalid"),
        ("spec.priority", "Invalid"),
        ("spec.capability.cpu", "Invalid"),
    ]


MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    ({"name": "root"}, "metadata.name", "Forbidden"),
    ({"name": "default"}, "metadata.name", "Forbidden"),
    ({"name": "A"}, "metadata.name", "Invalid"),
    ({"name": ""}, "metadata.name", "Required"),
    ({"name": 3}, "metadata.name", "TypeInvalid"),
    (
        {"name": Leaf("name")},
        "metadata.name",
        "TypeInvalid",
    ),
    ({"labels": []}, "metadata.labels", "TypeInvalid"),
    ({"labels": {"a": 1}}, "metadata.labels.a", "TypeInvalid"),
    ({"labels": {1: "a"}}, "metadata.labels.1", "TypeInvalid"),
    ({"annotations": {1: "a"}}, "metadata.annotations.1", "TypeInvalid"),
    (
        {"labels": {"a": "b c"}},
        "metadata.labels.a",
        "Invalid",
    ),
    (
        {"annotations": {"a b": "c"}},
        "metadata.annotations.a b",
        "Invalid",
    ),
    (
        {"annotations": {"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1"}},
        "metadata.annotations.volcano.sh/hierarchy-weights",
        "Invalid",
    ),
    (
        {"annotations": {"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/0"}},
        "metadata.annotations.volcano.sh/hierarchy-weights",
        "Invalid",
    ),
    (
        {"annotations": {"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/b"}},
        "metadata.annotations.volcano.sh/hierarchy-weights",
        "Invalid",
    ),
    ({"namespace": "a"}, "namespace", "Forbidden"),
    (
        {"state": "Closed"},
        "state",
        "Forbidden",
    ),
    (
        {"spec": {"weight": 2}},
        "spec",
        "Forbidden",
    ),
    (
        {"metadata": {"name": "other"}},
        "metadata",
        "Forbidden",
    ),
    ({"status": {}}, "status", "Forbidden"),
    ({"weights": 1}, "spec.weights", "Forbidden"),
    ({"weight": "1"}, "spec.weight", "TypeInvalid"),
    ({"weight": -1}, "spec.weight", "Invalid"),
    ({"weight": 65536}, "spec.weight", "Invalid"),
    ({"priority": -1}, "spec.priority", "Invalid"),
    (
        {"dequeueStrategy": "Fifo"},
        "spec.dequeueStrategy",
        "NotSupported",
    ),
    ({"parent": "All"}, "spec.parent", "Invalid"),
    (
        {"parent": "research"},
        "spec.parent",
        "Invalid",
    ),
    (
        {"type": "a" * 254},
        "spec.type",
        "TooLong",
    ),
    (
        {"affinity": {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["a", "b c"]}}},
        "spec.affinity.nodeGroupAffinity.requiredDuringSchedulingIgnoredDuringExecution[1]",
        "Invalid",
    ),
    (
        {"extendClusters": [{"weight": 2**31}]},
        "spec.extendClusters[0].weight",
        "Invalid",
    ),
    (
        {"extendClusters": [{"capacity": {"cpu": "-1"}}]},
        "spec.extendClusters[0].capacity.cpu",
        "Invalid",
    ),
    (
        {"capability": {"cpu": "many"}},
        "spec.capability.cpu",
        "Invalid",
    ),
    (
        {"capability": {"a b": 1}},
        "spec.capability.a b",
        "Invalid",
    ),
    (
        {"capability": {"gpu": 1}},
        "spec.capability.gpu",
        "NotSupported",
    ),
    (
        {"capability": {"nvidia.com/gpu": "500m"}},
        "spec.capability.nvidia.com/gpu",
        "Invalid",
    ),
    (
        {"capability": {"cpu": 1}, "deserved": {"cpu": 2}},
        "spec.deserved.cpu",
        "Invalid",
    ),
    (
        {"capability": {"cpu": 1}, "guarantee": {"resource": {"cpu": 2}}},
        "spec.guarantee.resource.cpu",
        "Invalid",
    ),
    (
        {"deserved": {"cpu": 1}, "guarantee": {"resource": {"cpu": 2}}},
        "spec.guarantee.resource.cpu",
        "Invalid",
    ),
    (
        {"guarantee": {"resource": {"cpu": 2}}},
        "spec.guarantee.resource.cpu",
        "Invalid",
    ),
    (
        {"deserved": {"memory": "1Gi"}, "guarantee": {"resource": {"cpu": 0}}},
        "spec.guarantee.resource.cpu",
        "Invalid",
    ),
    (
        {"deserved": {"memory": Leaf("value")}, "guarantee": {"resource": {"cpu": 2}}},
        "spec.guarantee.resource.cpu",
        "Invalid",
    ),
    (
        {"capability": {"cpu": 1, "memory": Leaf("value")}, "deserved": {"cpu": 2}},
        "spec.deserved.cpu",
        "Invalid",
    ),
    (
        {"capability": {"cpu": 1}, "deserved": Leaf("value"), "guarantee": {"resource": {"cpu": 2}}},
        "spec.guarantee.resource.cpu",
        "Invalid",
    ),
]


@pytest.mark.parametrize(("fields", "path", "error_type"), MISTAKES, ids=[str(fields) for fields, *_ in MISTAKES])
def test_a_wrong_field_of_a_queue_is_rejected(
    fields: dict[str, Any], path: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """There is one error, with its path."""
    found = rejected(**fields)

    assert typed(found) == [(path, error_type)]
    assert str(found[0]) == snapshot


@pytest.mark.parametrize(
    "fields",
    [
        {"capability": {"cpu": 64}, "deserved": {"nvidia.com/gpu": 8}},
        {"capability": {"cpu": 64}, "deserved": {"memory": "1Gi"}, "guarantee": {"resource": {"memory": "1Gi"}}},
        {"capability": {}, "deserved": {"cpu": 1}},
        {"capability": {"cpu": "1"}, "deserved": {"cpu": "1000m"}, "guarantee": {"resource": {"cpu": 1}}},
        {"guarantee": {"resource": {}}},
        {"guarantee": {"resource": {"cpu": 1}}, "deserved": Leaf("value")},
        {"guarantee": {"resource": {"cpu": 1}}, "deserved": {"cpu": Leaf("value")}},
    ],
    ids=str,
)
def test_a_resource_that_capability_does_not_name_is_unlimited(fields: dict[str, Any]) -> None:
    """Volcano's webhook compares deserved with capability only where both name a resource."""
    made = queue({"name": "research", **fields})

    # The queue's amounts are written as text.
    said = {key: repr(value).replace("'", "") for key, value in fields.items()}
    assert {key: repr(made["spec"][key]).replace("'", "") for key in fields} == said


def test_a_misspelt_resource_is_an_error_with_the_right_one(snapshot: SnapshotAssertion) -> None:
    """Names in another case and abbreviations are recognized."""
    found = rejected(capability={"Cpu": "20", "mem": "400Gi", "ephemeral": "1Gi", "ram": 1})

    assert [problem.path for problem in found] == [
        "spec.capability.Cpu",
        "spec.capability.mem",
        "spec.capability.ephemeral",
        "spec.capability.ram",
    ]
    assert [problem.hint for problem in found] == snapshot


MISPLACED = [
    ({"cpu": 4}, "move it to spec.capability.cpu"),
    ({"guarantee": {"cpu": 1}}, "move it to spec.guarantee.resource.cpu"),
    ({"resource": {}}, "move it to spec.guarantee.resource"),
    ({"clusters": []}, "did you mean extendClusters?"),
    ({"capacity": {"cpu": 1}}, "did you mean capability?"),
]


@pytest.mark.parametrize(("fields", "hint"), MISPLACED)
def test_the_hint_of_a_field_at_the_wrong_level_is_its_place(fields: dict[str, Any], hint: str) -> None:
    """A queue has amounts in three fields."""
    (problem,) = rejected(**fields)

    assert (problem.type, problem.hint) == ("Forbidden", hint)


@pytest.mark.parametrize(
    ("changes", "path", "hint"),
    [
        ({"weight": 2}, "weight", "move it to spec.weight"),
        ({"labels": {}}, "labels", "move it to metadata.labels"),
        ({"metadata": {"name": "research", "weight": 2}}, "metadata.weight", "move it to spec.weight"),
        ({"sepc": {}}, "sepc", "did you mean spec?"),
    ],
    ids=["of the spec", "of the metadata", "of the spec in the metadata", "a typo"],
)
def test_a_field_outside_of_the_spec_has_its_place(changes: Wire, path: str, hint: str) -> None:
    """Volcano drops it."""
    document = {"apiVersion": QUEUE_TYPE.api_version, "kind": "Queue", "metadata": {"name": "research"}, "spec": {}}

    (problem,) = check_document(document | changes)

    assert (problem.path, problem.hint) == (path, hint)


def lenient_problems(document: Wire, **options: Any) -> list[Problem]:
    """Return the problems of a job in lenient mode; the webhook is the first to reject each of them."""
    found = problems(document, strict=False, **options)
    assert {problem.stage for problem in found} == {RejectionStage.WEBHOOK}
    return found


QUEUES = {
    "open": Queue(),
    "closed": Queue("Closed"),
    "closing": Queue("Closing"),
    "new": Queue(""),
    "parent": Queue(children=2),
}


@pytest.mark.parametrize(
    ("queue", "error_type"),
    [
        ("closed", "Forbidden"),
        ("closing", "Forbidden"),
        ("new", "Forbidden"),
        ("parent", "Forbidden"),
        ("elsewhere", "NotFound"),
        ("root", "Forbidden"),
    ],
)
def test_a_queue_must_be_an_open_leaf(queue: str, error_type: str, snapshot: SnapshotAssertion) -> None:
    """The queues of the cluster are known."""
    (problem,) = lenient_problems(job(queue=queue), cluster=ClusterFacts(queues=QUEUES))

    assert typed([problem]) == [("spec.queue", error_type)]
    assert problem.value == json.dumps(queue)
    assert str(problem) == snapshot


@pytest.mark.parametrize("cluster", [ClusterFacts(), ClusterFacts(queues=QUEUES)], ids=["unknown", "known"])
def test_an_open_queue_is_taken(cluster: ClusterFacts) -> None:
    """And any, if nothing is known."""
    assert render(job(queue="open"), cluster=cluster).job.queue == "open"


def test_a_job_without_a_queue_is_checked_for_the_default_one() -> None:
    """The mutating webhook has filled it in before."""
    assert typed(lenient_problems(job(), cluster=ClusterFacts(queues=QUEUES))) == [("spec.queue", "NotFound")]


def test_an_unknown_queue_passes() -> None:
    """Its name is only known when the program has run."""
    made = render(job(queue=Leaf("queue")), cluster=ClusterFacts(queues={}))

    assert repr(made.objects[0]["spec"]["queue"]) == "<Leaf queue>"
