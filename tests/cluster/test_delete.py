"""What `destroy` leaves behind."""

from __future__ import annotations

from tests.cluster.conftest import Manifest, Stack, changes, task


def theirs(namespace: str) -> list[Manifest]:
    """Give objects of somebody else, with names and labels close to the job's."""
    metadata = {"namespace": namespace, "labels": {"volcano.sh/job-name": "train"}}
    pod = {"containers": [{"name": "main", "image": "example.org/image:1"}]}
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata | {"name": "train"}, "data": {"a": "b"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata | {"name": "train-worker-2"}, "spec": pod},
    ]


def test_destroy_removes_all_that_was_made_and_nothing_else(stack: Stack) -> None:
    """Pods that run, their objects and a claim go; what somebody else made stays as it was."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    stack.space.cluster.apply(theirs(stack.space.name))
    before = stack.space.seen()
    volumes = [{"mountPath": "/data", "volumeClaim": claim}]
    made = stack.make(train={"tasks": [task("worker", 2)], "plugins": {"ssh": [], "svc": []}, "volumes": volumes})
    assert {name.partition(" ")[0] for name in made} == {
        "ConfigMap",
        "NetworkPolicy",
        "PersistentVolumeClaim",
        "Pod",
        "PodGroup",
        "Secret",
        "Service",
    }
    stack.space.cluster.bind(["train-worker-0", "train-worker-1"], stack.space.name)

    stack.destroy()

    assert changes(before, stack.space.seen()) == {}
    assert stack.resources() == []


def test_a_job_taken_out_of_the_program_goes_alone(stack: Stack) -> None:
    """The other job of the stack is not touched."""
    one = {"tasks": [task("worker", 2)], "plugins": {"svc": []}}
    other = stack.make(other=one)
    both = stack.make(train=one, other=one)
    assert len(both) > len(other)

    assert changes(other, stack.make(other=one)) == {}
