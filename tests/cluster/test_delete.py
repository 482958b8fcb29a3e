"""What `destroy` leaves behind."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.conftest import COMPOSED, VOLUMES, Manifest, Space, Stack, changes, task

# A plugin of the user's own that makes two ConfigMaps, one of which outlives the job.
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
    stack.space.cluster.apply(theirs(stack.space.name))
    before = stack.space.seen()
    made = stack.make(train={"tasks": [task("worker", 2)], "plugins": {"ssh": [], "svc": []}, "volumes": VOLUMES})
    assert {name.partition(" ")[0] for name in made} == set(COMPOSED)
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


def test_a_claim_that_is_kept_outlives_the_job_and_is_mounted_by_its_name(stack: Stack) -> None:
    """It is all that `destroy` leaves, unchanged; the next job mounts it with `volumeClaimName`."""
    args = {"tasks": [task("worker", 2)], "plugins": {"ssh": [], "svc": []}, "volumes": VOLUMES, "claims": "keep"}
    made = stack.make(train=args)
    (claim,) = (name for name in made if name.startswith("PersistentVolumeClaim "))
    # The API server would keep it from going before the Pods that use it, deleted or not.
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


def test_what_a_plugin_does_not_let_go_outlives_the_job(space: Space, tmp_path: Path) -> None:
    """What its `on_job_delete` leaves out stays as it was; its other objects and all else go."""
    stack = Stack(tmp_path / "project", space, KEEPING)
    stack.up()
    made = space.seen()
    assert {"ConfigMap train-stays", "ConfigMap train-goes", "ConfigMap train-svc", "Pod train-worker-1"} <= made.keys()

    stack.destroy()

    left = space.seen()
    assert left.keys() == {"ConfigMap train-stays"}
    assert changes({"ConfigMap train-stays": made["ConfigMap train-stays"]}, left) == {}
    assert stack.resources() == []
