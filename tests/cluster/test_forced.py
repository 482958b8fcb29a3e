"""Forced replacement, taints and resource options of a job, and their effect on its children."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.cluster.conftest import COMPOSED, VOLUMES, Changes, Manifest, Space, Stack, changes, named, of_job, task
from tests.conftest import CLAIM
from tests.engine.conftest import Steps

PROGRAM = """
import json
from pathlib import Path

import pulumi

from pulumi_volcano_jobs import VolcanoJob

here = Path(__file__).parent
prefix, retain = json.loads((here / "options.json").read_text("utf-8"))
for name, args in json.loads((here / "jobs.json").read_text("utf-8")).items():
    aliases = [pulumi.Alias(name=name)] if prefix else None
    opts = pulumi.ResourceOptions(retain_on_delete=retain, aliases=aliases)
    VolcanoJob(f"{prefix}{name}", {"name": name, **args}, opts)
"""
EVERYTHING: Manifest = {
    "tasks": [task("head"), task("worker")],
    "plugins": {"ssh": [], "ray": ["--headContainer=main", "--workerContainer=main"]},
    "volumes": VOLUMES,
    "plugin_options": {"svc": {"allow": [{"ports": [2222], "cidrs": ["10.0.0.0/8"]}]}},
}
CHILDREN = (
    "ConfigMap svc",
    "NetworkPolicy",
    "NetworkPolicy allow",
    "PersistentVolumeClaim pvc-data",
    "Pod head-0",
    "Pod worker-0",
    "PodGroup",
    "Secret ssh",
    "Service",
    "Service head-svc",
)
"""Children of a job with `EVERYTHING`: kind and name without the name of the job."""
TAINTED = "Secret ssh"
JOBS = ("a", "b", "c", "d")


def full(child: str, job: str) -> str:
    """Return kind and name of a child of a job in the cluster."""
    kind, _, name = child.partition(" ")
    return f"{kind} {job}-{name}" if name else f"{kind} {job}"


def urns(stack: Stack) -> dict[str, str]:
    """Return the URNs of the objects by kind and name in the cluster."""
    found = {}
    for item in stack.resources():
        if item["type"].startswith("kubernetes:") and item.get("custom"):
            found[named(item["type"].rpartition(":")[2], item["outputs"])] = item["urn"]
    return found


def set_options(stack: Stack, *, prefix: str = "", retain: bool = False) -> None:
    """Set a prefix of the resource names of all jobs, and whether they are retained."""
    stack.write("options.json", json.dumps([prefix, retain]))


def taint(stack: Stack, urn: str) -> None:
    """Run `pulumi state taint`."""
    workspace = stack.stack.workspace
    workspace.pulumi_command.run(
        ["state", "taint", urn, "--yes", "--stack", stack.stack.name],
        workspace.work_dir,
        {**workspace.env_vars, "PULUMI_HOME": str(workspace.pulumi_home)},
    )


@dataclass
class Forced:
    """Effects of forced replacements."""

    changes: dict[str, Changes]
    """Changes of the objects of a job by its replaced child."""
    tainted: Changes
    """Changes of the objects of a job with a tainted child."""
    last: Steps
    """Steps of the next update."""


@pytest.fixture(scope="module")
def complete_stack(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Provide a stack whose jobs have a child of each kind."""
    stack = Stack(tmp_path_factory.mktemp("forced"), new_space(), PROGRAM)
    stack.skip_checkpoints()
    set_options(stack)
    made = stack.make(**dict.fromkeys(JOBS, EVERYTHING))
    assert made.keys() == {full(child, job) for child in CHILDREN for job in JOBS}
    return stack


@pytest.fixture(scope="module")
def forced(complete_stack: Stack) -> Forced:
    """Replace another child of each job in each update, and taint a child of the last job in the last update."""
    space, found = complete_stack.space, urns(complete_stack)
    replaced: dict[str, Changes] = {}
    batches = [CHILDREN[start : start + len(JOBS)] for start in range(0, len(CHILDREN), len(JOBS))]
    assert len(batches[-1]) < len(JOBS)
    for batch in batches:
        if batch == batches[-1]:
            taint(complete_stack, found[full(TAINTED, JOBS[-1])])
        before = space.seen()
        complete_stack.up(replace=[found[full(child, job)] for child, job in zip(batch, JOBS, strict=False)])
        differences = changes(before, space.seen())
        replaced |= {child: of_job(differences, job) for child, job in zip(batch, JOBS, strict=False)}
    return Forced(replaced, of_job(differences, JOBS[-1]), complete_stack.up().steps)


def test_each_kind_of_child_is_replaced() -> None:
    """A job has children of all kinds that the library creates."""
    assert {child.partition(" ")[0] for child in CHILDREN} == set(COMPOSED)


@pytest.mark.parametrize("child", CHILDREN)
def test_a_child_survives_a_forced_replacement(forced: Forced, child: str) -> None:
    """The cluster has a new object of the same name afterwards, and all other objects."""
    assert forced.changes[child][child] == "replaced"
    assert {"made", "deleted"}.isdisjoint(forced.changes[child].values())


def test_a_tainted_object_is_replaced(forced: Forced) -> None:
    """`pulumi state taint` is the other way to force a replacement."""
    assert forced.tainted == {TAINTED: "replaced"}


def test_the_next_update_after_forced_replacements_changes_nothing(forced: Forced) -> None:
    """The state has the new objects."""
    assert forced.last == {}


def test_renamed_and_retained_jobs_keep_every_child(complete_stack: Stack, forced: Forced) -> None:
    """An alias changes only the URNs. After `destroy` the cluster still has all objects."""
    before = complete_stack.space.seen()
    set_options(complete_stack, prefix="other-", retain=True)

    renamed = complete_stack.up()
    found = urns(complete_stack)
    complete_stack.destroy()

    assert renamed.steps == {}
    assert {urn.split("::")[-1].partition("-")[0] for urn in found.values()} == {"other"}
    assert changes(before, complete_stack.space.seen()) == {}
    assert complete_stack.resources() == []


MOUNTED: Manifest = {"tasks": [task("worker", 2)], "volumes": VOLUMES}
MODES = [{"mountPath": "/data", "volumeClaim": {**CLAIM, "accessModes": ["ReadWriteMany"]}}]


@dataclass
class Mounted:
    """Changes of the objects of jobs whose claims are replaced, and the steps of the next update."""

    changes: Changes
    left: set[str]
    """Objects in the old namespace of the moved job."""
    last: Steps


@pytest.fixture(scope="module")
def mounted(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> Mounted:
    """Replace the claims of jobs that run, each for another reason."""
    stack, other = Stack(tmp_path_factory.mktemp("mounted"), new_space()), new_space()
    before = stack.make(**dict.fromkeys(("flag", "modes", "namespace"), MOUNTED))
    stack.space.run()

    stack.jobs(flag=MOUNTED, modes={**MOUNTED, "volumes": MODES}, namespace={**MOUNTED, "namespace": other.name})
    stack.up(replace=[urns(stack)["PersistentVolumeClaim flag-pvc-data"]])

    after = stack.space.seen()
    return Mounted(
        changes(before, after | other.seen()), {*of_job(dict.fromkeys(after, ""), "namespace")}, stack.up().steps
    )


@pytest.mark.parametrize("how", ["flag", "modes", "namespace"])
def test_a_claim_is_replaced_after_the_pods_that_mount_it(mounted: Mounted, how: str) -> None:
    """Kubernetes keeps a deleted claim as long as a Pod that runs mounts it."""
    found = of_job(mounted.changes, how)
    names = {"PersistentVolumeClaim pvc-data", "Pod worker-0", "Pod worker-1"}
    assert {name: found.pop(name) for name in names} == dict.fromkeys(names, "replaced")
    assert {"made", "deleted"}.isdisjoint(found.values())
    assert mounted.left == set()
    assert mounted.last == {}


EDITS = ("label", "queue")


@pytest.fixture(scope="module")
def edited(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> tuple[Changes, Steps]:
    """Edit one field of each job in place, and return the changes, and the steps of the next update.

    A job has so many Pods that a wait for a condition that the old object meets ends too early for some of them.
    """

    def job(label: str = "a", queue: str = "a") -> Manifest:
        plugins = {"ray": ["--headContainer=main", "--workerContainer=main"]}
        tasks = [task("head"), task("worker", 20, metadata={"labels": {"team": label}})]
        labels = {"team": label}
        return {"tasks": tasks, "plugins": plugins, "queue": queue, "labels": labels, "volumes": VOLUMES}

    stack = Stack(tmp_path_factory.mktemp("edited"), new_space())
    stack.skip_checkpoints()
    before = stack.make(**{edit: job() for edit in EDITS})
    after = stack.make(label=job(label="b"), queue=job(queue="b"))
    return changes(before, after), stack.up().steps


@pytest.mark.parametrize("edit", EDITS)
def test_the_next_update_after_an_edit_in_place_changes_nothing(edited: tuple[Changes, Steps], edit: str) -> None:
    """The state has the updated objects: the Pods, the claim and both Services."""
    found, steps = edited

    assert sum(what == "updated" for what in of_job(found, edit).values()) >= 20
    assert {name for name in steps if name.split(" ")[1].startswith(edit)} == set()
