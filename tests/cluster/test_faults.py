"""What breaks on the way, and that at most a refresh and one more update mend it: nothing lost or doubled, one key."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cluster.conftest import Manifest, Space, Stack, changes
from tests.cluster.mending import PODS, is_whole, job, lasting, mend


def some_pods(space: Space, number: int) -> None:
    """Wait until there are some Pods."""
    space.cluster.wait(lambda: len(space.pods()) >= number, f"{number} Pods", 60)


def is_going(pod: Manifest) -> bool:
    """Tell whether a Pod is being deleted."""
    return "deletionTimestamp" in pod["metadata"]


def test_an_engine_killed_in_an_update(stack: Stack) -> None:
    """The next update makes what is missing, and all Pods have the key that the first ones have."""
    stack.jobs(train=job())
    run = stack.apart("up")
    some_pods(stack.space, 3)
    run.kill()
    key, killed = stack.space.key(), stack.space.seen()
    assert not is_whole(killed)

    mended = mend(stack)

    assert is_whole(mended)
    assert set(changes(killed, mended).values()) == {"made"}
    assert stack.space.key() == key


def test_an_engine_killed_in_a_destroy(stack: Stack) -> None:
    """The job can be brought up again as it was, with its key; and what is left can be destroyed."""
    jobs = {"train": job(3, {"test/deletion-delay": "4s"})}
    whole = stack.make(**jobs)
    stack.space.cluster.bind(PODS[1:3], stack.space.name)
    key = stack.space.key()
    run = stack.apart("destroy")
    stack.space.cluster.wait(lambda: PODS[0] not in stack.space.pods(), "a Pod to be deleted", 60)
    run.kill()
    stack.space.cluster.wait(lambda: not any(is_going(pod) for pod in stack.space.pods().values()), "Pods to go", 60)

    mended = mend(stack)

    assert mended.keys() == whole.keys()
    assert stack.space.key() == key
    stack.destroy()
    assert stack.space.seen() == {}


def test_an_api_server_that_goes_and_comes_back(stack: Stack) -> None:
    """An update that it interrupts is finished by the next one."""
    cluster = stack.space.cluster
    stack.jobs(train=job())
    run = stack.apart("up")
    some_pods(stack.space, 2)
    key, seen = stack.space.key(), stack.space.seen()
    cluster.stop_program("kube-apiserver")
    cluster.start_api_server()
    run.wait()

    mended = mend(stack)

    assert is_whole(mended)
    assert "replaced" not in changes(seen, mended).values()
    assert stack.space.key() == key


def test_a_name_that_a_stranger_has_taken(stack: Stack) -> None:
    """The stranger's object stays as it is; once it has gone, one more update makes the job."""
    cluster, name = stack.space.cluster, stack.space.name
    metadata = {"name": "train-svc", "namespace": name}
    cluster.apply([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"worker.host": "theirs"}}])
    before = stack.space.seen()["ConfigMap train-svc"]
    stack.jobs(train=job(2))

    code, output = stack.apart("up").wait()

    assert code != 0
    assert "train-svc" in output
    assert stack.space.seen()["ConfigMap train-svc"] == before
    assert stack.space.pods() == {}
    cluster.delete("ConfigMap", "train-svc", name)
    stack.up()
    assert is_whole(stack.space.seen(), 2)


def by_hand(space: Space) -> None:
    """Delete a Pod."""
    space.cluster.delete("Pod", PODS[0], space.name)


def by_eviction(space: Space) -> None:
    """Evict a Pod by the API."""
    metadata = {"name": PODS[0], "namespace": space.name}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    space.cluster.request("POST", f"/api/v1/namespaces/{space.name}/pods/{PODS[0]}/eviction", eviction)


@pytest.mark.parametrize("remove", [by_hand, by_eviction], ids=["by hand", "by eviction"])
def test_a_pod_that_somebody_deletes(stack: Stack, remove: Callable[[Space], None]) -> None:
    """An update alone sees nothing; after a refresh one more makes that Pod again, and leaves the others alone."""
    before, key = stack.make(train=job(3)), stack.space.key()
    stack.space.run()
    remove(stack.space)
    stack.space.cluster.wait(lambda: PODS[0] not in stack.space.pods(), "the Pod to go", 30)
    assert stack.up().steps == {}

    assert lasting(changes(before, mend(stack))) == {f"Pod {PODS[0]}": "replaced"}
    assert stack.space.key() == key
