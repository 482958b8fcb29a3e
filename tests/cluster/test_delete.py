"""Objects that `destroy` keeps."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.conftest import COMPOSED, VOLUMES, Manifest, Space, Stack, changes, task

# A custom plugin that creates two ConfigMaps and retains one of them.
KEEPING = """
from tests.cluster.conftest import task

from pulumi_volcano_jobs import ObjectRef, Plugin, SvcPlugin, VolcanoJob


class KeepingPlugin(Plugin):
    name = "keeping"

    def on_job_add(self, ctx):
        return [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"{ctx.name}-{name}", "namespace": ctx.namespace},
                "data": {"name": name},
            }
            for name in ("stays", "goes")
        ]

    def on_job_delete(self, ctx):
        return super().on_job_delete(ctx) - {ObjectRef("ConfigMap", f"{ctx.name}-stays")}


VolcanoJob("train", {"plugins": [KeepingPlugin(), SvcPlugin()], "tasks": [task("worker", 2)]})
"""


def foreign_objects(namespace: str) -> list[Manifest]:
    """Create objects of another user, with names and labels similar to those of the job."""
    metadata = {"namespace": namespace, "labels": {"volcano.sh/job-name": "train"}}
    pod = {"containers": [{"name": "main", "image": "example.org/image:1"}]}
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata | {"name": "train"}, "data": {"a": "b"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata | {"name": "train-worker-2"}, "spec": pod},
    ]


def test_destroy_deletes_only_objects_of_the_stack(stack: Stack) -> None:
    """Running Pods and a claim are deleted; objects of other users stay the same."""
    stack.space.cluster.apply(foreign_objects(stack.space.name))
    before = stack.space.seen()
    made = stack.make(train={"tasks": [task("worker", 2)], "plugins": {"ssh": [], "svc": []}, "volumes": VOLUMES})
    assert {name.partition(" ")[0] for name in made} == set(COMPOSED)
    stack.space.cluster.bind(["train-worker-0", "train-worker-1"], stack.space.name)

    stack.destroy()

    assert changes(before, stack.space.seen()) == {}
    assert stack.resources() == []


def test_removing_a_job_from_the_program_deletes_only_that_job(stack: Stack) -> None:
    """The other job of the stack is unchanged."""
    one = {"tasks": [task("worker", 2)], "plugins": {"svc": []}}
    other = stack.make(other=one)
    both = stack.make(train=one, other=one)
    assert len(both) > len(other)

    assert changes(other, stack.make(other=one)) == {}


def test_a_retained_claim_can_be_mounted_by_the_next_job(stack: Stack) -> None:
    """`destroy` keeps only the claim; the next job mounts it with `volumeClaimName`."""
    args = {"tasks": [task("worker", 2)], "plugins": {"ssh": [], "svc": []}, "volumes": VOLUMES, "claims": "keep"}
    made = stack.make(train=args)
    (claim,) = (name for name in made if name.startswith("PersistentVolumeClaim "))
    # The API server keeps a deleted claim until no Pod uses it.
    assert made[claim]["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    stack.space.run()

    stack.destroy()

    left = stack.space.seen()
    assert left.keys() == {claim}
    assert changes({claim: made[claim]}, left) == {}
    assert stack.resources() == []

    existing = [{"mountPath": "/data", "volumeClaimName": claim.partition(" ")[2]}]
    again = stack.make(train={**args, "volumes": existing})
    assert again.keys() == made.keys()
    assert changes(made, again) == dict.fromkeys(made.keys() - {claim}, "replaced")
    assert stack.up().steps == {}


def test_claims_keep_has_an_effect_after_the_next_up(stack: Stack) -> None:
    """`destroy` reads the option from the state, and does not run the program."""
    args = {"tasks": [task("worker", 2)], "volumes": VOLUMES}
    (claim,) = (name for name in stack.make(train=args) if name.startswith("PersistentVolumeClaim "))

    stack.jobs(train={**args, "claims": "keep"})
    stack.destroy()
    assert stack.space.seen() == {}

    stack.make(train=args)
    stack.make(train={**args, "claims": "keep"})
    stack.destroy()
    assert stack.space.seen().keys() == {claim}


def test_objects_missing_from_on_job_delete_are_retained(space: Space, tmp_path: Path) -> None:
    """All other objects are deleted."""
    stack = Stack(tmp_path / "project", space, KEEPING)
    stack.up()
    made = space.seen()
    assert {"ConfigMap train-stays", "ConfigMap train-goes", "ConfigMap train-svc", "Pod train-worker-1"} <= made.keys()

    stack.destroy()

    left = space.seen()
    assert left.keys() == {"ConfigMap train-stays"}
    assert changes({"ConfigMap train-stays": made["ConfigMap train-stays"]}, left) == {}
    assert stack.resources() == []
