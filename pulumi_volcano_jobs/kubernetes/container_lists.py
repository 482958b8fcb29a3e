"""The lists of containers of a Pod spec in wire form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pulumi_volcano_jobs.core import paths

CONTAINERS, INIT_CONTAINERS, EPHEMERAL_CONTAINERS = "containers", "initContainers", "ephemeralContainers"
CONTAINER_LISTS = (INIT_CONTAINERS, CONTAINERS)
"""The lists of containers that a Pod template can have."""


class PlacedContainer(NamedTuple):
    """A container in wire form, with its place."""

    kind: str
    """The list, one of `CONTAINER_LISTS`."""
    path: str
    """The path, such as `spec.tasks[0].template.spec.containers[1]`."""
    wire: Mapping[str, Any]


def containers_in(spec: Mapping[str, Any], kind: str = CONTAINERS) -> Sequence[Mapping[str, Any]]:
    """Return one list of containers of a Pod spec; empty if it is not set."""
    return spec.get(kind) or ()


def all_containers(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the containers of a Pod spec, init containers first."""
    return [container for kind in CONTAINER_LISTS for container in containers_in(spec, kind)]


def rendered_containers(
    template: Mapping[str, Any], rendered: Mapping[str, Any], path: str
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the path of each container of the template's Pod spec at `path`, the container, and the rendered container.

    The rendered container is empty if a plugin removed it.
    """
    by_name = {(kind, wire["name"]): wire for kind, _, wire in placed_containers(rendered, "")}
    for kind, place, wire in placed_containers(template, path):
        yield place, wire, by_name.get((kind, wire["name"]), {})


def placed_containers(spec: Mapping[str, Any], path: str) -> Iterator[PlacedContainer]:
    """Yield the containers of the Pod spec at `path`, init containers first."""
    for kind in CONTAINER_LISTS:
        for index, container in enumerate(containers_in(spec, kind)):
            yield PlacedContainer(kind, paths.join(path, kind, index), container)
