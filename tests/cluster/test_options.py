"""Options without a Volcano argument, on a real API server and in both modes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster.conftest import Manifest, Stack, changes, task

ALLOW = [{"ports": [2222], "cidrs": ["10.0.0.0/8"]}]
USES: dict[str, tuple[Manifest, set[str]]] = {
    "mpi": ({"plugins": {"mpi": []}}, {"ConfigMap train-mpi"}),
    "svc": (
        {"plugins": {"svc": []}, "plugin_options": {"svc": {"allow": ALLOW, "own_address": True}}},
        {"NetworkPolicy train-allow"},
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


@pytest.mark.parametrize("use", USES)
def test_options_are_kept_in_later_updates(stack: Stack, use: str) -> None:
    """The API server accepts them, a second up changes nothing, and scaling with "keep" keeps all Pods."""
    added = USES[use][1]

    made = stack.make(train=job(use))
    again = stack.up().steps
    scaled = stack.make(train=job(use, 3, on_scale="keep"))

    assert added <= made.keys()
    assert again == {}
    assert {
        name for name, what in changes(made, scaled).items() if name.startswith("Pod ") and what == "replaced"
    } == set()
    assert "Pod train-worker-2" in scaled


@pytest.mark.parametrize("use", USES)
def test_options_are_in_the_templates_of_the_native_job(stack: Stack, use: str) -> None:
    """Pulumi creates the other objects; a change of modes and destroy delete all of them."""
    native = job(use, managed_by="volcano")

    stack.make(train=job(use))
    as_job = stack.make(train=native)
    again = stack.up().steps
    stack.destroy()

    assert as_job.keys() == {"Job train"} | USES[use][1]
    assert again == {}
    assert stack.space.seen() == {}
