"""A Volcano Queue: its manifest, and all that is refused in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs import JobError, queueschema
from pulumi_volcano_jobs.leaf import Leaf
from pulumi_volcano_jobs.queues import queue

DEFINITION = Path(__file__).parents[3] / "shared/volcano/scheduling.volcano.sh_queues.yaml"
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


def test_the_shortest_queue_has_the_defaults_of_volcanos_webhook() -> None:
    """Its first update would lose them otherwise."""
    assert queue({"name": "research"}) == {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "research"},
        "spec": {"reclaimable": True, "weight": 1},
    }


def test_a_queue_with_every_field_is_written_as_it_is() -> None:
    """In the spelling of the wire."""
    made = queue(EVERYTHING)

    metadata = ("name", "labels", "annotations")
    assert made["metadata"] == {key: EVERYTHING[key] for key in metadata}
    assert made["spec"] == {key: value for key, value in EVERYTHING.items() if key not in metadata}


@pytest.mark.parametrize("key", [key for key in EVERYTHING if key != "name"])
def test_a_value_that_is_not_known_yet_passes(key: str) -> None:
    """Whole fields may be leaves."""
    made = queue({**EVERYTHING, key: Leaf("value")})

    assert repr({**made["metadata"], **made["spec"]}[key]) == "<Leaf value>"


@pytest.mark.parametrize("key", ["capability", "deserved"])
def test_an_amount_that_is_not_known_yet_is_compared_with_nothing(key: str) -> None:
    """Nor are the others of its field."""
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
UNNAMED = (
    "this must not be above the queue's {0}, which does not name {1}: that counts as 0 (given: {2}): raise {0}, or"
    " lower this"
)


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
        ({"weight": 0}, "spec.weight: this must be from 1 to 65535 (given: 0)"),
        ({"weight": 65536}, "spec.weight: this must be from 1 to 65535 (given: 65536)"),
        ({"priority": -1}, "spec.priority: this must be from 0 to 2147483647 (given: -1)"),
        (
            {"dequeueStrategy": "Fifo"},
            "spec.dequeueStrategy: this must be one of fifo, traverse (given: 'Fifo'): did you mean fifo?",
        ),
        ({"parent": ""}, f"spec.parent: {SUBDOMAIN.format(repr(''))}"),
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
            {"capability": {"cpu": 1}, "deserved": {"memory": "1Gi"}},
            f"spec.deserved.memory: {UNNAMED.format('capability', 'memory', repr('1Gi'))}",
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
            f"spec.guarantee.resource.cpu: {UNNAMED.format('deserved', 'cpu', 2)}",
        ),
    ],
    ids=str,
)
def test_a_mistake_is_said_with_the_way_out(fields: dict[str, Any], message: str) -> None:
    """Place, rule and remedy; nothing else is said."""
    assert said(**fields) == [message]


@pytest.mark.skipif(not DEFINITION.exists(), reason="Volcano's resource definitions are not there")
def test_the_fields_are_those_of_volcanos_definition() -> None:
    """Each with its type, at every depth."""
    document = yaml.safe_load(DEFINITION.read_text("utf-8"))
    properties = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]

    assert shape(queueschema.DEFINITIONS[queueschema.SPEC]) == shape(properties["spec"])


def shape(schema: dict[str, Any]) -> Any:
    """Give the types of a schema's fields: what may be a number or text is a quantity."""
    reference = schema.get("$ref", "").rpartition("/")[2]
    if "x-kubernetes-int-or-string" in schema or reference.endswith("Quantity"):
        return "quantity"
    if reference:
        return shape(queueschema.DEFINITIONS[reference])
    if "properties" in schema:
        return {key: shape(value) for key, value in schema["properties"].items()}
    if "items" in schema:
        return [shape(schema["items"])]
    return {"*": shape(schema["additionalProperties"])} if "additionalProperties" in schema else schema["type"]
