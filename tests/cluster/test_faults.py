"""Recovery from faults: a refresh and one more update restore all objects, without duplicates or a new key."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from pulumi import automation

from tests.cluster.conftest import Changes, Manifest, Space, Stack, changes, failed
from tests.cluster.mending import PODS, is_complete, job, recover, without_scheduling


def some_pods(space: Space, number: int) -> None:
    """Wait until there are some Pods."""
    space.cluster.wait(lambda: len(space.pods()) >= number, f"{number} Pods")


def is_terminating(pod: Manifest) -> bool:
    """Return whether a Pod is being deleted."""
    return "deletionTimestamp" in pod["metadata"]


def test_a_job_recovers_from_an_engine_killed_in_an_update(stack: Stack) -> None:
    """The next update creates the missing objects, and all Pods have the same key."""
    stack.jobs(train=job())
    # One object at a time, so that most Pods are missing when the engine is killed.
    run = stack.apart("up", parallel=1)
    some_pods(stack.space, 2)
    run.kill()
    key, killed = stack.space.key(), stack.space.seen()
    assert not is_complete(killed)

    recovered = recover(stack)

    assert is_complete(recovered)
    assert set(changes(killed, recovered).values()) == {"made"}
    assert stack.space.key() == key


def test_a_job_recovers_from_an_engine_killed_in_a_destroy(stack: Stack) -> None:
    """The job can be restored with its key, and the remaining objects can be destroyed."""
    jobs = {"train": job(3, {"test/deletion-delay": "4s"})}
    whole = stack.make(**jobs)
    stack.space.cluster.bind(PODS[1:3], stack.space.name)
    key = stack.space.key()
    run = stack.apart("destroy")
    stack.space.cluster.wait(lambda: PODS[0] not in stack.space.pods(), "a Pod to be deleted")
    run.kill()
    stack.space.cluster.wait(lambda: not any(is_terminating(pod) for pod in stack.space.pods().values()), "Pods to go")

    recovered = recover(stack)

    assert recovered.keys() == whole.keys()
    assert stack.space.key() == key
    stack.destroy()
    assert stack.space.seen() == {}


def test_a_job_recovers_from_an_api_server_restart(stack: Stack) -> None:
    """The next update completes the interrupted one."""
    cluster = stack.space.cluster
    stack.jobs(train=job())
    run = stack.begin()
    some_pods(stack.space, 2)
    key, seen = stack.space.key(), stack.space.seen()
    cluster.stop_program("kube-apiserver")
    cluster.start_api_server()
    with suppress(automation.CommandError):
        run.wait()

    recovered = recover(stack)

    assert is_complete(recovered)
    assert "replaced" not in changes(seen, recovered).values()
    assert stack.space.key() == key


def test_an_existing_object_of_another_owner_is_kept(stack: Stack) -> None:
    """After that object is deleted, one more update creates the job."""
    cluster, name = stack.space.cluster, stack.space.name
    metadata = {"name": "train-svc", "namespace": name}
    cluster.apply([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"worker.host": "theirs"}}])
    before = stack.space.seen()["ConfigMap train-svc"]
    stack.jobs(train=job(2))

    output = failed(stack.up)

    assert "train-svc" in output
    assert stack.space.seen()["ConfigMap train-svc"] == before
    assert stack.space.pods() == {}
    cluster.delete("ConfigMap", "train-svc", name)
    stack.up()
    assert is_complete(stack.space.seen(), 2)


REMOVED = {"by hand": PODS[0], "by eviction": PODS[1]}


@pytest.fixture(scope="module")
def recreated(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> Changes:
    """Remove running Pods, check that an update alone does not notice, recover, and return the changes."""
    stack = Stack(tmp_path_factory.mktemp("removed"), new_space())
    space, cluster = stack.space, stack.space.cluster
    before, key = stack.make(train=job(3)), space.key()
    space.run()
    cluster.delete("Pod", REMOVED["by hand"], space.name)
    evicted = REMOVED["by eviction"]
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": evicted, "namespace": space.name},
    }
    cluster.request("POST", f"/api/v1/namespaces/{space.name}/pods/{evicted}/eviction", eviction)
    cluster.wait(lambda: {*REMOVED.values()}.isdisjoint(space.pods()), "the Pods to go")
    assert stack.up().steps == {}

    recovered = recover(stack)

    assert space.key() == key
    return without_scheduling(changes(before, recovered))


@pytest.mark.parametrize("how", REMOVED)
def test_a_pod_deleted_outside_pulumi_is_recreated_after_a_refresh(recreated: Changes, how: str) -> None:
    """Other Pods are unchanged."""
    assert recreated[f"Pod {REMOVED[how]}"] == "replaced"
    assert recreated.keys() == {f"Pod {name}" for name in REMOVED.values()}
