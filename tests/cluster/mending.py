"""A job that is broken, and how it is mended: a refresh, and one more update that adopts objects."""

from __future__ import annotations

from tests.cluster.conftest import Changes, Manifest, Objects, Stack, changes, task

# A provider since 4.29 creates no object that exists, and a killed engine has not stored all that it has created.
ADOPT = "kubernetes:upsertExistingObjects"
PODS = [f"train-worker-{index}" for index in range(12)]


def job(replicas: int = len(PODS), annotations: dict[str, str] | None = None) -> Manifest:
    """Give a job with a key and host lists."""
    metadata = {"annotations": annotations or {}}
    return {"tasks": [task("worker", replicas, metadata)], "plugins": {"ssh": [], "svc": []}}


def mend(stack: Stack) -> Objects:
    """Do what may be needed after a fault, and give what there is then; nothing is left to do."""
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


def is_whole(found: Objects, replicas: int = len(PODS)) -> bool:
    """Tell whether a job is there, all of it and nothing else."""
    objects = {"ConfigMap train-svc", "NetworkPolicy train", "PodGroup train", "Secret train-ssh", "Service train"}
    return found.keys() == objects | {f"Pod {name}" for name in PODS[:replicas]}


def lasting(found: Changes) -> Changes:
    """Leave out that a Pod was bound to a node in between."""
    return {name: change for name, change in found.items() if change != "updated"}
