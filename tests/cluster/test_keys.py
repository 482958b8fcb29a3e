"""The ssh key of a job is generated once, and again only for a new rotation token."""

from __future__ import annotations

from tests.cluster.conftest import Manifest, Stack, changes, task


def job(workers: int = 1, **options: str) -> Manifest:
    """Return a job with a key."""
    return {"tasks": [task("worker", workers)], "plugins": {"ssh": []}, **options}


def test_only_a_new_rotation_token_changes_the_key(stack: Stack) -> None:
    """Updates, scaling, refresh, and export and import of the state keep the key."""
    stack.make(train=job())
    key = stack.space.key()
    seen = {}

    stack.make(train=job(queue="research"))
    seen["an update"] = stack.space.key()
    stack.make(train=job(2, queue="research"))
    seen["scaling"] = stack.space.key()
    stack.refresh()
    stack.up()
    seen["refresh"] = stack.space.key()
    state = stack.stack.export_stack()
    stack.stack.import_stack(state)
    last = stack.up()
    seen["export and import"] = stack.space.key()

    assert seen == dict.fromkeys(seen, key)
    assert last.steps == {}


def test_rotation_replaces_running_pods(stack: Stack) -> None:
    """The Secret is also replaced, and the Pods are unscheduled; the same token changes nothing."""
    stack.make(train=job(2))
    stack.space.run()
    before, key = stack.space.seen(), stack.space.key()

    after = stack.make(train=job(2, key_rotation="2"))

    assert stack.space.key() != key
    assert changes(before, after) == {
        "Pod train-worker-0": "replaced",
        "Pod train-worker-1": "replaced",
        "Secret train-ssh": "replaced",
    }
    assert {pod["status"]["phase"] for pod in stack.space.pods().values()} == {"Pending"}
    assert stack.up().steps == {}
