"""What `--replace`, a taint, and resource options of the job do to its children."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.conftest import COMPOSED, VOLUMES, Manifest, Space, Stack, changes, named, task
from tests.conftest import CLAIM

PROGRAM = """
import json
from pathlib import Path

import pulumi

from pulumi_volcano_jobs import VolcanoJob

config = pulumi.Config()
before = config.get("before")
opts = pulumi.ResourceOptions(
    retain_on_delete=config.get_bool("retain"),
    aliases=[pulumi.Alias(name=before)] if before else None,
)
args = json.loads((Path(__file__).parent / "jobs.json").read_text("utf-8"))["train"]
VolcanoJob(config.get("resource") or "train", {"name": "train", **args}, opts)
"""
EVERYTHING: Manifest = {
    "tasks": [task("head"), task("worker")],
    "plugins": {"ssh": [], "ray": ["--headContainer=main", "--workerContainer=main"]},
    "volumes": VOLUMES,
    "plugin_options": {"svc": {"allow": [{"ports": [2222], "cidrs": ["10.0.0.0/8"]}]}},
}


@pytest.fixture
def whole(space: Space, tmp_path: Path) -> Stack:
    """Provide a stack whose job has a child of every kind."""
    stack = Stack(tmp_path / "project", space, PROGRAM)
    stack.make(train=EVERYTHING)
    return stack


def urns(stack: Stack) -> dict[str, str]:
    """Return the URNs of the objects by kind and name in the cluster."""
    found = {}
    for item in stack.resources():
        if item["type"].startswith("kubernetes:") and item.get("custom"):
            found[named(item["type"].rpartition(":")[2], item["outputs"])] = item["urn"]
    return found


def test_every_child_survives_a_forced_replacement(whole: Stack) -> None:
    """The cluster has a new object of the same name afterwards, and the next update changes nothing."""
    found = urns(whole)
    assert {name.partition(" ")[0] for name in found} == set(COMPOSED)

    for name, urn in found.items():
        before = whole.space.seen()
        whole.up(replace=[urn])
        after = whole.space.seen()
        assert changes(before, after).pop(name, None) == "replaced", name
        assert after.keys() == before.keys(), name

    assert whole.up().steps == {}


@pytest.mark.parametrize("how", ["--replace", "access modes", "namespace"])
def test_a_claim_is_replaced_after_the_pods_that_mount_it(
    stack: Stack, new_space: Callable[..., Space], how: str
) -> None:
    """Kubernetes keeps a deleted claim as long as a Pod that runs mounts it."""
    args: Manifest = {"tasks": [task("worker", 2)], "volumes": VOLUMES}
    before, other = stack.make(train=args), new_space()
    names = {"PersistentVolumeClaim train-pvc-data", "Pod train-worker-0", "Pod train-worker-1"}
    stack.space.run()

    if how == "--replace":
        stack.up(replace=[urns(stack)["PersistentVolumeClaim train-pvc-data"]])
    elif how == "access modes":
        claim = {**CLAIM, "accessModes": ["ReadWriteMany"]}
        stack.make(train={**args, "volumes": [{"mountPath": "/data", "volumeClaim": claim}]})
    else:
        stack.make(train={**args, "namespace": other.name})

    after = (other if how == "namespace" else stack.space).seen()
    assert after.keys() == before.keys()
    found = {name: change for name, change in changes(before, after).items() if name in names}
    assert found == dict.fromkeys(names, "replaced")
    assert stack.space.seen() == ({} if how == "namespace" else after)
    assert stack.up().steps == {}


def test_a_tainted_object_is_replaced(whole: Stack) -> None:
    """`pulumi state taint` is the other way to force a replacement."""
    urn = urns(whole)["Secret train-ssh"]
    before = whole.space.seen()

    whole.stack.workspace.pulumi_command.run(
        ["state", "taint", urn, "--yes", "--stack", whole.stack.name],
        whole.stack.workspace.work_dir,
        {**whole.stack.workspace.env_vars, "PULUMI_HOME": str(whole.stack.workspace.pulumi_home)},
    )
    whole.up()

    assert changes(before, whole.space.seen()) == {"Secret train-ssh": "replaced"}
    assert whole.up().steps == {}


def test_retain_on_delete_of_the_job_retains_every_child(whole: Stack) -> None:
    """After `destroy` the cluster still has all objects."""
    before = whole.space.seen()
    whole.configure(retain="true")
    whole.up()

    whole.destroy()

    assert changes(before, whole.space.seen()) == {}


def test_a_job_that_is_renamed_with_an_alias_keeps_every_child(whole: Stack) -> None:
    """Only the URNs change."""
    before = whole.space.seen()
    whole.configure(resource="other", before="train")

    renamed = whole.up()

    assert renamed.steps == {}
    assert changes(before, whole.space.seen()) == {}
    assert {urn.split("::")[-1].partition("-")[0] for urn in urns(whole).values()} == {"other"}


@pytest.mark.parametrize(("label", "queue"), [("b", "a"), ("a", "b")], ids=["label", "queue"])
def test_the_next_update_after_an_edit_in_place_changes_nothing(stack: Stack, label: str, queue: str) -> None:
    """The state has the objects as the edit left them, for each of 100 Pods, the claim and both Services."""

    def job(label: str, queue: str) -> Manifest:
        plugins = {"ray": ["--headContainer=main", "--workerContainer=main"]}
        tasks = [task("head"), task("worker", 100, metadata={"labels": {"team": label}})]
        labels = {"team": label}
        return {"tasks": tasks, "plugins": plugins, "queue": queue, "labels": labels, "volumes": VOLUMES}

    before = stack.make(train=job("a", "a"))
    after = stack.make(train=job(label, queue))

    assert sum(what == "updated" for what in changes(before, after).values()) >= 100
    assert stack.up().steps == {}
