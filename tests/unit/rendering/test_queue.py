"""A Volcano Queue: its manifest and its checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobError, Problem
from pulumi_volcano_jobs.admission.queues import warnings
from pulumi_volcano_jobs.core.leaf import Leaf, substitute
from pulumi_volcano_jobs.kubernetes import queue_schema
from pulumi_volcano_jobs.rendering.queue import queue
from tests.conftest import typed

DEFINITION = Path(__file__).parents[4] / "shared/volcano/scheduling.volcano.sh_queues.yaml"
EVERYTHING: dict[str, Any] = {
    "name": "research",
    "labels": {"team": "ml"},
    "annotations": {"volcano.sh/hierarchy": "root/research", "volcano.sh/hierarchy-weights": "1/2.5"},
    "weight": 4,
    "priority": 10,
    "capability": {"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": "4", "pods": 10, "hugepages-2Mi": "4Mi"},
    "deserved": {"cpu": "6", "memory": "32Gi"},
    "guarantee": {"resource": {"cpu": "500m"}},
    "reclaimable": False,
    "parent": "all",
    "dequeueStrategy": "fifo",
    "affinity": {
        "nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["gpu"]},
        "nodeGroupAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": ["spot"]},
    },
    "type": "elastic",
    "extendClusters": [{"name": "other", "weight": 1, "capacity": {"cpu": 4}}],
}


def rejected(**fields: Any) -> tuple[Problem, ...]:
    """Return the problems of a queue that is rejected."""
    with pytest.raises(JobError) as caught:
        queue({"name": "research", **fields})
    return caught.value.problems


def test_the_shortest_queue_has_the_defaults_of_volcanos_webhook_and_controller() -> None:
    """The first update of a partial queue would lose those of the webhook, and conflict with that of the controller."""
    assert queue({"name": "research"}) == {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "research"},
        "spec": {"parent": "root", "reclaimable": True, "weight": 1},
    }


@pytest.mark.parametrize(("key", "zero", "stored"), [("parent", "", "root"), ("weight", 0, 1)])
@pytest.mark.parametrize("known", [True, False])
def test_a_zero_value_is_written_as_the_default_that_volcano_stores(
    key: str, zero: Any, stored: Any, *, known: bool
) -> None:
    """The API server rejects a weight of 0 in an update: Volcano's webhook replaces it in a create only."""
    made = queue({"name": "research", key: zero if known else Leaf("value")})

    assert substitute(made, lambda _: zero)["spec"] == {"parent": "root", "reclaimable": True, "weight": 1, key: stored}


def test_a_weight_of_0_is_a_warning(snapshot: SnapshotAssertion) -> None:
    """The user may want a queue without a share."""
    (warning,) = warnings({"weight": 0})

    assert typed([warning]) == [("spec.weight", "Warning")]
    assert str(warning) == snapshot
    assert list(warnings({"name": "research"})) == []
    assert list(warnings({"weight": 1})) == []
    assert list(warnings({"weight": Leaf("value")})) == []


@pytest.mark.parametrize(
    ("names", "weights", "stored"),
    [
        ("research", "2", ("root/research", "1/2")),
        ("research/nlp", "2/3", ("root/research/nlp", "1/2/3")),
        ("root/research", "1/2", ("root/research", "1/2")),
        ("rooted", "2", ("rooted", "2")),
    ],
)
@pytest.mark.parametrize("unknown", ["", "annotations", "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"])
def test_a_hierarchy_begins_with_root_as_volcanos_webhook_stores_it(
    names: str, weights: str, stored: tuple[str, str], unknown: str
) -> None:
    """It does so in a create only: an update would remove the root."""
    annotations = {"team": "ml", "volcano.sh/hierarchy": names, "volcano.sh/hierarchy-weights": weights}
    given: Any = {**annotations, unknown: Leaf(unknown)} if unknown in annotations else annotations
    made = queue({"name": "research", "annotations": Leaf(unknown) if unknown == "annotations" else given})
    known = substitute(made, lambda leaf: annotations if leaf.path == "annotations" else annotations[leaf.path])

    assert known["metadata"]["annotations"] == {
        "team": "ml",
        "volcano.sh/hierarchy": stored[0],
        "volcano.sh/hierarchy-weights": stored[1],
    }


def test_annotations_without_a_hierarchy_stay_as_they_are() -> None:
    """Also an Output whose value is not a mapping."""
    made = queue({"name": "research", "annotations": Leaf("annotations")})

    assert substitute(made, lambda _: {"team": "ml"})["metadata"]["annotations"] == {"team": "ml"}
    assert substitute(made, lambda _: 3)["metadata"]["annotations"] == 3


def test_a_queue_with_every_field_is_written_as_it_is() -> None:
    """In the spelling of the wire, with amounts as text."""
    made = queue(EVERYTHING)

    metadata = ("name", "labels", "annotations")
    assert made["metadata"] == {key: EVERYTHING[key] for key in metadata}
    assert made["spec"] == {
        **{key: value for key, value in EVERYTHING.items() if key not in metadata},
        "capability": {**EVERYTHING["capability"], "cpu": "8", "pods": "10"},
        "extendClusters": [{**EVERYTHING["extendClusters"][0], "capacity": {"cpu": "4"}}],
    }


def test_amounts_of_a_queue_are_written_as_text() -> None:
    """Volcano's resource definition rejects 0.5; an Output becomes text when its value is known."""
    cpu = Leaf("cpu")

    spec = queue(
        {
            "name": "research",
            "capability": {"cpu": 0.5, "memory": cpu},
            "deserved": {"cpu": 0.25},
            "guarantee": {"resource": {"cpu": 0.125}},
            "extendClusters": [{"name": "other", "capacity": {"cpu": 1.5, "memory": "1Gi"}}],
        }
    )["spec"]

    assert substitute(spec, lambda _leaf: 0.1) == {
        "capability": {"cpu": "500m", "memory": "100m"},
        "deserved": {"cpu": "250m"},
        "guarantee": {"resource": {"cpu": "125m"}},
        "extendClusters": [{"name": "other", "capacity": {"cpu": "1500m", "memory": "1Gi"}}],
        "parent": "root",
        "reclaimable": True,
        "weight": 1,
    }


@pytest.mark.parametrize("key", [key for key in EVERYTHING if key != "name"])
def test_a_value_that_is_not_known_yet_passes(key: str) -> None:
    """Whole fields may be leaves."""
    made = queue({**EVERYTHING, key: Leaf("value")})

    assert repr({**made["metadata"], **made["spec"]}[key]) == "<Leaf value>"


@pytest.mark.parametrize("key", ["capability", "deserved"])
def test_an_amount_that_is_not_known_yet_is_compared_with_nothing(key: str) -> None:
    """The other amounts are compared."""
    amounts = {"cpu": Leaf("value")}

    assert queue({**EVERYTHING, key: {**EVERYTHING[key], **amounts}})
    assert queue({**EVERYTHING, "guarantee": {"resource": {"cpu": Leaf("value")}}})


@pytest.mark.parametrize("key", ["volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"])
def test_a_hierarchy_that_is_not_known_yet_passes(key: str) -> None:
    """It has nothing to be counted by."""
    assert queue({**EVERYTHING, "annotations": {**EVERYTHING["annotations"], key: Leaf("value")}})


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


@pytest.mark.skipif(not DEFINITION.exists(), reason="Volcano's resource definitions are not there")
def test_the_fields_are_those_of_volcanos_definition() -> None:
    """Each with its type, at every depth."""
    document = yaml.safe_load(DEFINITION.read_text("utf-8"))
    properties = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]

    assert shape(queue_schema.DEFINITIONS[queue_schema.SPEC]) == shape(properties["spec"])


def shape(schema: dict[str, Any]) -> Any:
    """Give the types of a schema's fields: what may be a number or text is a quantity."""
    reference = schema.get("$ref", "").rpartition("/")[2]
    if "x-kubernetes-int-or-string" in schema or reference.endswith("Quantity"):
        return "quantity"
    if reference:
        return shape(queue_schema.DEFINITIONS[reference])
    if "properties" in schema:
        return {key: shape(value) for key, value in schema["properties"].items()}
    if "items" in schema:
        return [shape(schema["items"])]
    return {"*": shape(schema["additionalProperties"])} if "additionalProperties" in schema else schema["type"]
