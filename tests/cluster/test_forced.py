"""Forced replacement, taints and resource options of a job, and their effect on its children."""

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
def complete_stack(space: Space, tmp_path: Path) -> Stack:
    """Provide a stack whose job has a child of each kind."""
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


def test_every_child_survives_a_forced_replacement(complete_stack: Stack) -> None:
    """The cluster has a new object of the same name afterwards, and the next update changes nothing."""
    found = urns(complete_stack)
    assert {name.partition(" ")[0] for name in found} == set(COMPOSED)

    for name, urn in found.items():
        before = complete_stack.space.seen()
        complete_stack.up(replace=[urn])
        after = complete_stack.space.seen()
        assert changes(before, after).pop(name, None) == "replaced", name
        assert after.keys() == before.keys(), name

    assert complete_stack.up().steps == {}


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


def test_a_tainted_object_is_replaced(complete_stack: Stack) -> None:
    """`pulumi state taint` is the other way to force a replacement."""
    urn = urns(complete_stack)["Secret train-ssh"]
    before = complete_stack.space.seen()

    complete_stack.stack.workspace.pulumi_command.run(
        ["state", "taint", urn, "--yes", "--stack", complete_stack.stack.name],
        complete_stack.stack.workspace.work_dir,
        {**complete_stack.stack.workspace.env_vars, "PULUMI_HOME": str(complete_stack.stack.workspace.pulumi_home)},
    )
    complete_stack.up()

    assert changes(before, complete_stack.space.seen()) == {"Secret train-ssh": "replaced"}
    assert complete_stack.up().steps == {}


def test_retain_on_delete_of_the_job_retains_every_child(complete_stack: Stack) -> None:
    """After `destroy` the cluster still has all objects."""
    before = complete_stack.space.seen()
    complete_stack.configure(retain="true")
    complete_stack.up()

    complete_stack.destroy()

    assert changes(before, complete_stack.space.seen()) == {}


def test_a_job_that_is_renamed_with_an_alias_keeps_every_child(complete_stack: Stack) -> None:
    """Only the URNs change."""
    before = complete_stack.space.seen()
    complete_stack.configure(resource="other", before="train")

    renamed = complete_stack.up()

    assert renamed.steps == {}
    assert changes(before, complete_stack.space.seen()) == {}
    assert {urn.split("::")[-1].partition("-")[0] for urn in urns(complete_stack).values()} == {"other"}


@pytest.mark.parametrize(("label", "queue"), [("b", "a"), ("a", "b")], ids=["label", "queue"])
def test_the_next_update_after_an_edit_in_place_changes_nothing(stack: Stack, label: str, queue: str) -> None:
    """The state has the updated objects: 100 Pods, the claim and both Services."""

    def job(label: str, queue: str) -> Manifest:
        plugins = {"ray": ["--headContainer=main", "--workerContainer=main"]}
        tasks = [task("head"), task("worker", 100, metadata={"labels": {"team": label}})]
        labels = {"team": label}
        return {"tasks": tasks, "plugins": plugins, "queue": queue, "labels": labels, "volumes": VOLUMES}

    before = stack.make(train=job("a", "a"))
    after = stack.make(train=job(label, queue))

    assert sum(what == "updated" for what in changes(before, after).values()) >= 100
    assert stack.up().steps == {}
