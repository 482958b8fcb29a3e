"""Containers of a Pod spec, with their paths."""

from __future__ import annotations

from pulumi_volcano_jobs.kubernetes.container_lists import (
    CONTAINERS,
    INIT_CONTAINERS,
    PlacedContainer,
    all_containers,
    placed_containers,
)

MAIN, SETUP = {"name": "main"}, {"name": "setup"}


def test_init_containers_precede_containers() -> None:
    """Containers are listed in the order in which they start, with their paths."""
    spec = {"containers": [MAIN], "initContainers": [SETUP]}
    assert all_containers(spec) == [SETUP, MAIN]
    assert list(placed_containers(spec, "spec")) == [
        PlacedContainer(INIT_CONTAINERS, "spec.initContainers[0]", SETUP),
        PlacedContainer(CONTAINERS, "spec.containers[0]", MAIN),
    ]


def test_a_missing_or_null_list_is_empty() -> None:
    """The API server treats a null as a missing list."""
    assert all_containers({}) == all_containers({"containers": None, "initContainers": None}) == []
