"""Helpers to break a job and recover it: a refresh, and one more update that adopts objects."""

from __future__ import annotations

from tests.cluster.conftest import Changes, Manifest, Objects, Stack, changes, task

# Providers since 4.29 create no object that exists, and a killed engine has not stored all created objects.
ADOPT = "kubernetes:upsertExistingObjects"
PODS = [f"train-worker-{index}" for index in range(12)]


def job(replicas: int = len(PODS), annotations: dict[str, str] | None = None) -> Manifest:
    """Return a job with a key and host lists."""
    metadata = {"annotations": annotations or {}}
    return {"tasks": [task("worker", replicas, metadata)], "plugins": {"ssh": [], "svc": []}}


def recover(stack: Stack) -> Objects:
    """Run a refresh and an update after a fault, check that nothing is left to do, and return the objects."""
    stack.stack.cancel()
    stack.refresh()
    stack.configure(**{ADOPT: "true"})
    stack.up()
    found = stack.space.seen()
    stack.stack.remove_config(ADOPT)
    # The provider itself is updated.
    assert [name for name in stack.up().steps if not name.startswith("kubernetes ")] == []
    assert stack.up().steps == {}
    assert changes(found, stack.space.seen()) == {}
    return found


def is_complete(found: Objects, replicas: int = len(PODS)) -> bool:
    """Return whether exactly the objects of the job exist."""
    objects = {"ConfigMap train-svc", "NetworkPolicy train", "PodGroup train", "Secret train-ssh", "Service train"}
    return found.keys() == objects | {f"Pod {name}" for name in PODS[:replicas]}


def without_scheduling(found: Changes) -> Changes:
    """Return an object without the changes of scheduling a Pod."""
    return {name: change for name, change in found.items() if change != "updated"}
