"""Options without a Volcano argument, on a real API server and in both modes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cluster.conftest import Manifest, Objects, Space, Stack, changes, of_job, task
from tests.engine.conftest import Steps

ALLOW = [{"ports": [2222], "cidrs": ["10.0.0.0/8"]}]
USES: dict[str, tuple[Manifest, set[str]]] = {
    "mpi": ({"plugins": {"mpi": []}}, {"ConfigMap mpi"}),
    "svc": (
        {"plugins": {"svc": []}, "plugin_options": {"svc": {"allow": ALLOW, "own_address": True}}},
        {"NetworkPolicy allow"},
    ),
    "pytorch": (
        {"plugins": {"pytorch": []}, "plugin_options": {"pytorch": {"min_nodes": 1, "max_nodes": 4}}},
        set(),
    ),
}


def job(use: str, workers: int = 2, **fields: Any) -> Manifest:
    """Return a job with one master and workers, with recommended and other options."""
    tasks = [task("master"), task("worker", workers)]
    for one in tasks:
        one["template"]["spec"]["restartPolicy"] = "OnFailure"
    return {"tasks": tasks, "defaults": "recommended", **USES[use][0], **fields}


@dataclass
class Life:
    """Objects of the jobs after updates, and the steps of updates without an edit."""

    made: Objects
    again: Steps
    scaled: Objects
    native: Objects
    again_native: Steps
    left: Objects


@pytest.fixture(scope="module")
def life(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Create a job for each use, scale it, change its mode, and destroy it."""
    stack = Stack(tmp_path_factory.mktemp("options"), new_space())
    made = stack.make(**{use: job(use) for use in USES})
    again = stack.up().steps
    scaled = stack.make(**{use: job(use, 3, on_scale="keep") for use in USES})
    native = stack.make(**{use: job(use, managed_by="volcano") for use in USES})
    again_native = stack.up().steps
    stack.destroy()
    return Life(made, again, scaled, native, again_native, stack.space.seen())


@pytest.mark.parametrize("use", USES)
def test_options_are_kept_in_later_updates(life: Life, use: str) -> None:
    """The API server accepts them, a second up changes nothing, and scaling with "keep" keeps all Pods."""
    made = of_job(life.made, use)
    found = of_job(changes(life.made, life.scaled), use)

    assert USES[use][1] <= made.keys()
    assert life.again == {}
    assert {name: what for name, what in found.items() if name.startswith("Pod ")} == {"Pod worker-2": "made"}


@pytest.mark.parametrize("use", USES)
def test_options_are_in_the_templates_of_the_native_job(life: Life, use: str) -> None:
    """Pulumi creates the other objects; a change of modes and destroy delete all of them."""
    assert of_job(life.native, use).keys() == {"Job"} | USES[use][1]
    assert life.again_native == {}
    assert life.left == {}
