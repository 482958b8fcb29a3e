"""The manifest of a Volcano Queue."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs.core.leaf import Leaf, substitute
from pulumi_volcano_jobs.rendering.queue import queue
from tests.conftest import QUEUE


def test_the_shortest_queue_has_the_defaults_of_volcanos_webhook_and_controller() -> None:
    """A later partial update would remove the webhook's values, and conflict with the controller's."""
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
    """In API names, with amounts as text."""
    made = queue(QUEUE)

    metadata = ("name", "labels", "annotations")
    assert made["metadata"] == {key: QUEUE[key] for key in metadata}
    assert made["spec"] == {
        **{key: value for key, value in QUEUE.items() if key not in metadata},
        "capability": {**QUEUE["capability"], "cpu": "8", "pods": "10"},
        "extendClusters": [{**QUEUE["extendClusters"][0], "capacity": {"cpu": "4"}}],
    }


def test_amounts_of_a_queue_are_written_as_text() -> None:
    """Volcano's CRD rejects 0.5; an Output becomes text when its value is known."""
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
