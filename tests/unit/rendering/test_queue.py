"""A Volcano Queue: its manifest, and all that is refused in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs import JobError
from pulumi_volcano_jobs.core.leaf import Leaf, substitute
from pulumi_volcano_jobs.kubernetes import queue_schema
from pulumi_volcano_jobs.rendering.queue import queue, warnings

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


def said(**fields: Any) -> list[str]:
    """Give what is said of a queue that is refused."""
    with pytest.raises(JobError) as caught:
        queue({"name": "research", **fields})
    return [str(problem) for problem in caught.value.problems]


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


def test_a_weight_of_0_is_a_warning() -> None:
    """The user may want a queue without a share."""
    (warning,) = warnings({"weight": 0})

    assert str(warning) == (
        "spec.weight: Volcano stores weight 1, because 0 means that no weight is set (given: 0): set weight to 1 or"
        " more, or remove it"
    )
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


def test_all_problems_are_said_at_once() -> None:
    """Of the metadata, the schema and the webhook."""
    found = said(name="Research", wieght=1, reclaimable="yes", priority=-1, capability={"cpu": "many"})

    assert [text.partition(": ")[0] for text in found] == [
        "spec.wieght",
        "spec.reclaimable",
        "metadata.name",
        "spec.priority",
        "spec.capability.cpu",
    ]


OWN = (
    "Volcano makes this queue itself, and lets nobody delete it (given: '{}'): name another one; pulumi_kubernetes' "
    "apiextensions.CustomResourcePatch edits one that is there"
)
SUBDOMAIN = (
    "this must be at most 253 lower-case letters, digits, '-' and '.', each part between dots beginning and ending with"
    " a letter or digit (given: {})"
)
LIMIT = "this must not be above the queue's {0} (given: {1}): raise {0}, or lower this"
UNNAMED = "must be less than or equal to deserved, which does not name {0} (given: {1}): add {0} to deserved"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "root"}, f"metadata.name: {OWN.format('root')}"),
        ({"name": "default"}, f"metadata.name: {OWN.format('default')}"),
        ({"name": "A"}, f"metadata.name: {SUBDOMAIN.format(repr('A'))}"),
        ({"name": ""}, "metadata.name: a queue needs a name, which is text: for example research"),
        ({"name": 3}, "metadata.name: a queue needs a name, which is text: for example research"),
        (
            {"name": Leaf("name")},
            (
                "metadata.name: this must be a plain value, not an Output: it decides what the queue is called: take "
                "it from pulumi.Config, or from StackReference.get_output_details, which gives plain values"
            ),
        ),
        ({"labels": []}, "metadata.labels: this must be a mapping: write it as key: value lines"),
        ({"labels": {"a": 1}}, "metadata.labels.a: this must be a string: put it in quotes"),
        ({"labels": {1: "a"}}, "metadata.labels.1: each key must be a string: put it in quotes"),
        ({"annotations": {1: "a"}}, "metadata.annotations.1: each key must be a string: put it in quotes"),
        (
            {"labels": {"a": "b c"}},
            (
                "metadata.labels.a: a label's value is at most 63 letters, digits, '-', '_' and '.', beginning and "
                "ending with the former (given: 'b c')"
            ),
        ),
        (
            {"annotations": {"a b": "c"}},
            (
                "metadata.annotations.a b: a key is at most 63 letters, digits, '-', '_' and '.', beginning and ending "
                "with a letter or digit, perhaps behind a DNS name and a '/' (given: 'a b'): for example "
                "example.org/team"
            ),
        ),
        (
            {"annotations": {"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1"}},
            (
                "metadata.annotations.volcano.sh/hierarchy-weights: this must have as many parts as "
                "volcano.sh/hierarchy, which has 2 (given: '1'): give one weight for each part, such as root/research "
                "and 1/2"
            ),
        ),
        (
            {"annotations": {"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/0"}},
            (
                "metadata.annotations.volcano.sh/hierarchy-weights: each part must be a number above 0 (given: '1/0'): "
                "for example 1/2"
            ),
        ),
        (
            {"annotations": {"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/b"}},
            (
                "metadata.annotations.volcano.sh/hierarchy-weights: each part must be a number above 0 (given: '1/b'): "
                "for example 1/2"
            ),
        ),
        ({"namespace": "a"}, "namespace: a queue is of the whole cluster and in no namespace: remove it"),
        (
            {"state": "Closed"},
            (
                "state: whether a queue is open is no part of what it should be: Volcano keeps it in its status: "
                "`vcctl queue operate --action close --name NAME` closes it"
            ),
        ),
        (
            {"spec": {"weight": 2}},
            "spec: the fields of a Queue's metadata and spec stand beside each other here: move them up",
        ),
        (
            {"metadata": {"name": "other"}},
            "metadata: the fields of a Queue's metadata and spec stand beside each other here: move them up",
        ),
        ({"status": {}}, "status: Volcano keeps the status itself: remove it"),
        ({"weights": 1}, "spec.weights: unknown field; Volcano drops it: did you mean weight?"),
        ({"weight": "1"}, "spec.weight: this must be a whole number: write it without quotes"),
        ({"weight": -1}, "spec.weight: this must be from 1 to 65535 (given: -1)"),
        ({"weight": 65536}, "spec.weight: this must be from 1 to 65535 (given: 65536)"),
        ({"priority": -1}, "spec.priority: this must be from 0 to 2147483647 (given: -1)"),
        (
            {"dequeueStrategy": "Fifo"},
            "spec.dequeueStrategy: this must be one of fifo, traverse (given: 'Fifo'): did you mean fifo?",
        ),
        ({"parent": "All"}, f"spec.parent: {SUBDOMAIN.format(repr('All'))}"),
        (
            {"parent": "research"},
            (
                "spec.parent: a queue cannot be below itself (given: 'research'): name another one, or none: then it "
                "is root"
            ),
        ),
        (
            {"type": "a" * 254},
            f"spec.type: this must be at most 253 characters long (given: '{'a' * 99}… (256 characters)): shorten it",
        ),
        (
            {"affinity": {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["a", "b c"]}}},
            (
                "spec.affinity.nodeGroupAffinity.requiredDuringSchedulingIgnoredDuringExecution[1]: a group of nodes "
                "is the value of their label volcano.sh/nodegroup-name (given: 'b c'): for example gpu"
            ),
        ),
        (
            {"extendClusters": [{"weight": 2**31}]},
            "spec.extendClusters[0].weight: this must be from -2147483648 to 2147483647 (given: 2147483648)",
        ),
        (
            {"extendClusters": [{"capacity": {"cpu": "-1"}}]},
            (
                "spec.extendClusters[0].capacity.cpu: this must be a quantity, at least 0, such as 500m, 2 or 4Gi "
                "(given: '-1')"
            ),
        ),
        (
            {"capability": {"cpu": "many"}},
            "spec.capability.cpu: this must be a quantity, at least 0, such as 500m, 2 or 4Gi (given: 'many')",
        ),
        (
            {"capability": {"a b": 1}},
            (
                "spec.capability.a b: this is no name of a resource (given: 'a b'): it is cpu, memory or such as "
                "nvidia.com/gpu"
            ),
        ),
        (
            {"capability": {"gpu": 1}},
            (
                "spec.capability.gpu: Volcano's scheduler counts cpu, memory, pods, ephemeral-storage and what has a "
                "domain, and passes over this (given: 'gpu'): write its domain too, such as nvidia.com/gpu"
            ),
        ),
        (
            {"capability": {"nvidia.com/gpu": "500m"}},
            "spec.capability.nvidia.com/gpu: this is counted in whole numbers (given: '500m'): give one",
        ),
        (
            {"capability": {"cpu": 1}, "deserved": {"cpu": 2}},
            f"spec.deserved.cpu: {LIMIT.format('capability', 2)}",
        ),
        (
            {"capability": {"cpu": 1}, "guarantee": {"resource": {"cpu": 2}}},
            f"spec.guarantee.resource.cpu: {LIMIT.format('capability', 2)}",
        ),
        (
            {"deserved": {"cpu": 1}, "guarantee": {"resource": {"cpu": 2}}},
            f"spec.guarantee.resource.cpu: {LIMIT.format('deserved', 2)}",
        ),
        (
            {"guarantee": {"resource": {"cpu": 2}}},
            f"spec.guarantee.resource.cpu: {UNNAMED.format('cpu', 2)}",
        ),
        (
            {"deserved": {"memory": "1Gi"}, "guarantee": {"resource": {"cpu": 0}}},
            f"spec.guarantee.resource.cpu: {UNNAMED.format('cpu', 0)}",
        ),
        (
            {"deserved": {"memory": Leaf("value")}, "guarantee": {"resource": {"cpu": 2}}},
            f"spec.guarantee.resource.cpu: {UNNAMED.format('cpu', 2)}",
        ),
        (
            {"capability": {"cpu": 1, "memory": Leaf("value")}, "deserved": {"cpu": 2}},
            f"spec.deserved.cpu: {LIMIT.format('capability', 2)}",
        ),
        (
            {"capability": {"cpu": 1}, "deserved": Leaf("value"), "guarantee": {"resource": {"cpu": 2}}},
            f"spec.guarantee.resource.cpu: {LIMIT.format('capability', 2)}",
        ),
    ],
    ids=str,
)
def test_a_mistake_is_said_with_the_way_out(fields: dict[str, Any], message: str) -> None:
    """Place, rule and remedy; nothing else is said."""
    assert said(**fields) == [message]


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


def test_a_misspelt_resource_is_met_with_the_right_one() -> None:
    """In upper or lower case, and abbreviated."""
    found = said(capability={"Cpu": "20", "mem": "400Gi", "ephemeral": "1Gi", "ram": 1})

    assert [(text.partition(": ")[0], text.rpartition(": ")[2]) for text in found] == [
        ("spec.capability.Cpu", "did you mean cpu?"),
        ("spec.capability.mem", "did you mean memory?"),
        ("spec.capability.ephemeral", "did you mean ephemeral-storage?"),
        ("spec.capability.ram", "write its domain too, such as nvidia.com/gpu"),
    ]


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
