"""Queues on the real API server: created, updated without an edit, edited in place, deleted and retained."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pulumi import automation

from pulumi_volcano_jobs.component.error_hooks import missing_controllers
from pulumi_volcano_jobs.spec.naming import pod_group
from tests.cluster.conftest import Space, Stack, content, task
from tests.cluster.volcano import QueueController, QueueWebhook
from tests.engine.conftest import Steps, short

PROGRAM = """
import json
from pathlib import Path

import pulumi

from pulumi_volcano_jobs import VolcanoJob, VolcanoQueue

given = json.loads((Path(__file__).parent / "queues.json").read_text("utf-8"))
queues = {}
for name, args in given["queues"].items():
    parent = {"parent": queues[args["parent"]].name} if "parent" in args else {}
    queues[name] = VolcanoQueue(name, {**args, **parent}, pulumi.ResourceOptions(**given["options"]))
for name, args in given["jobs"].items():
    VolcanoJob(name, {**args, "queue": queues[args["queue"]].name})
"""
SOON = 'custom_timeouts=pulumi.CustomTimeouts(create="5s", update="60s")'


class Queues(Stack):
    """A stack with queues and jobs in them."""

    def bring_up(self, *, jobs: Any = None, options: Any = None, **queues: Any) -> dict[str, str]:
        """Run `up` with queues and jobs, and return the steps of the engine."""
        self.put(jobs=jobs, options=options, **queues)
        preview, up = self.preview(), self.up()
        assert preview.urns == up.urns
        return up.steps

    def put(self, *, jobs: Any = None, options: Any = None, **queues: Any) -> None:
        """Write the program with the queues and jobs; parent queues come first."""
        self.write("queues.json", json.dumps({"queues": queues, "jobs": jobs or {}, "options": options or {}}))

    def seen(self) -> dict[str, Any]:
        """Return the queues of this stack as stored by the API server."""
        return {
            name: item for name, item in self.space.cluster.list("Queue").items() if name.startswith(self.space.name)
        }


@pytest.fixture
def unopened(space: Space, tmp_path: Path) -> Queues:
    """Provide a stack for one test, with no controller for its queues."""
    return Queues(tmp_path / "project", space, PROGRAM)


@pytest.fixture
def queues(unopened: Queues) -> Iterator[Queues]:
    """Provide a stack for one test."""
    with QueueController(unopened.space.cluster, unopened.space.name):
        yield unopened


@dataclass
class Life:
    """Queues and jobs after each update, and the steps of the updates."""

    name: str
    """The namespace, which begins the names of the queues."""
    seen: list[dict[str, Any]]
    steps: list[Steps]
    group: dict[str, Any]
    """The PodGroup of the job after the first update."""
    deleted: list[str]
    """Names of queues and PodGroups in the order of their deletion."""
    left: dict[str, Any]


FIRST: dict[str, Any] = {"weight": 2, "capability": {"cpu": 8, "memory": "64Gi"}}
EDITED = {**FIRST, "weight": 3, "capability": {"cpu": 16}, "deserved": {"cpu": 4}, "dequeue_strategy": "fifo"}
UPDATES = CREATED, UNCHANGED, CHANGED, RESET, FORCED, AFTER, REMOVED = range(7)


@pytest.fixture(scope="module")
def life(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Create queues and a job in one of them; edit, move, replace and delete queues; then destroy everything."""
    queues = Queues(tmp_path_factory.mktemp("queues"), new_space(), PROGRAM)
    space, name = queues.space, queues.space.name
    seen, steps = [], []

    def bring_up(research: Any, moved: Any, closed: Any) -> None:
        args = {f"{name}-{key}": {} for key in ("all", "forced", "train")}
        args |= {f"{name}-moved": moved, f"{name}-closed": closed, f"{name}-child": {"parent": f"{name}-all"}}
        if research is not None:
            args["research"] = {"name": f"{name}-research", **research}
        jobs = {
            f"{name}-{queue}": {"tasks": [task("worker")], "queue": f"{name}-{queue}"} for queue in ("train", "child")
        }
        keep(queues.bring_up(jobs=jobs, **args))

    def keep(done: Steps) -> None:
        steps.append(done)
        seen.append(queues.seen())

    with QueueController(space.cluster, name):
        bring_up(FIRST, {}, {})
        group = space.cluster.get("PodGroup", pod_group(f"{name}-child"), name)
        bring_up(FIRST, {}, {})
        space.cluster.set_status("Queue", f"{name}-closed", state="Closed")
        bring_up(EDITED, {"parent": f"{name}-all"}, {"weight": 2})
        bring_up({}, {}, {"weight": 2})
        (urn,) = [item["urn"] for item in queues.resources() if item["urn"].endswith(f":Queue::{name}-forced")]
        keep(queues.up(replace=[urn]).steps)
        bring_up({}, {}, {"weight": 2})
        bring_up(None, {}, {"weight": 2})
        run = queues.destroy()
    urns = [event.resource_pre_event.metadata.urn for event in run.events if event.resource_pre_event]
    deleted = [short(urn) for urn in urns if urn.split("::")[2].endswith(("Queue", "PodGroup"))]
    return Life(name, seen, steps, group, deleted, queues.seen())


def test_a_queue_is_created_edited_in_place_and_deleted(life: Life) -> None:
    """Edits keep the object."""
    name = f"{life.name}-research"
    specs = [found[name]["spec"] for found in life.seen[:FORCED]]

    assert life.steps[CREATED]["Queue research"] == "create"
    assert life.steps[CHANGED]["Queue research"] == life.steps[RESET]["Queue research"] == "update"
    assert specs[CHANGED] == {
        "capability": {"cpu": "16"},
        "deserved": {"cpu": "4"},
        "dequeueStrategy": "fifo",
        "parent": "root",
        "reclaimable": True,
        "weight": 3,
    }
    assert specs[RESET] == {"dequeueStrategy": "traverse", "parent": "root", "reclaimable": True, "weight": 1}
    assert len({found[name]["metadata"]["uid"] for found in life.seen[:REMOVED]}) == 1
    assert life.steps[REMOVED]["Queue research"] == "delete"
    assert name not in life.seen[REMOVED]
    assert life.left == {}


def test_an_update_without_an_edit_changes_nothing(life: Life) -> None:
    """Also after a forced replacement."""
    assert life.steps[UNCHANGED] == life.steps[AFTER] == {}
    contents = [{name: content(item) for name, item in life.seen[update].items()} for update in UPDATES]
    assert contents[CREATED] == contents[UNCHANGED]
    assert contents[FORCED] == contents[AFTER]


def test_an_edit_updates_only_its_queue(life: Life) -> None:
    """The first edit is of three queues, the second of two."""
    name = life.name
    edited = {"Queue research": "update", f"Queue {name}-moved": "update"}

    assert life.steps[CHANGED] == edited | {f"Queue {name}-closed": "update"}
    assert life.steps[RESET] == edited
    assert life.steps[REMOVED].keys() & {f"Queue {queue}" for queue in life.seen[CREATED]} == set()


def test_a_job_and_its_parent_queue_are_created_and_deleted_in_order(life: Life) -> None:
    """A queue is created before the objects that need it, and deleted after them."""
    child = f"{life.name}-child"
    assert life.group["spec"]["queue"] == child
    made = life.seen[CREATED][child]["metadata"]["creationTimestamp"]
    assert life.group["metadata"]["creationTimestamp"] >= made

    assert life.deleted.index(f"PodGroup {child}") < life.deleted.index(f"Queue {child}")
    assert life.deleted.index(f"Queue {child}") < life.deleted.index(f"Queue {life.name}-all")


def test_a_queue_can_move_below_another_and_back(life: Life) -> None:
    """Volcano's controller owns no field of it."""
    parents = [found[f"{life.name}-moved"]["spec"]["parent"] for found in life.seen]

    assert parents[CHANGED] == f"{life.name}-all"
    assert parents[RESET] == "root"


def test_a_forced_replacement_recreates_the_queue(life: Life) -> None:
    """The new object has the same name."""
    uids = [found[f"{life.name}-forced"]["metadata"]["uid"] for found in life.seen]

    assert uids[FORCED] != uids[RESET]


def test_an_edit_of_a_closed_queue_does_not_wait(life: Life) -> None:
    """The queue has a state other than Open."""
    assert life.seen[CHANGED][f"{life.name}-closed"]["status"]["state"] == "Closed"


def test_a_job_and_a_queue_can_have_the_same_name(life: Life) -> None:
    """The engine accepts the hooks of both."""
    name = f"{life.name}-train"

    assert {life.steps[CREATED][f"Queue {name}"], life.steps[CREATED][f"PodGroup {name}"]} == {"create"}


@dataclass
class Opened:
    """Jobs in queues that open late, looked up by a webhook."""

    name: str
    seen: dict[str, Any]
    steps: list[Steps]
    pods: list[dict[str, Any]]


@pytest.fixture(scope="module")
def opened(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> Opened:
    """Create queues with a job of each mode, update them without an edit, and move both jobs into a new queue."""
    folder = tmp_path_factory.mktemp("opened")
    queues = Queues(folder / "project", new_space(), PROGRAM)
    space, name = queues.space, queues.space.name
    args: dict[str, Any] = {f"{name}-all": {}, f"{name}-research": {"parent": f"{name}-all"}}

    def jobs(queue: str) -> dict[str, Any]:
        tasks = [task("worker", 2)]
        return {
            mode: {"tasks": tasks, "queue": f"{name}-{queue}", "managed_by": mode} for mode in ("pulumi", "volcano")
        }

    with QueueController(space.cluster, name, delay=2), QueueWebhook(space.cluster, name, folder):
        first = queues.bring_up(jobs=jobs("research"), **args)
        seen, pods = queues.seen(), space.pods()
        again = queues.up().steps
        moved = queues.bring_up(jobs=jobs("other"), **args, **{f"{name}-other": {}})
    return Opened(name, seen, [first, again, moved], [pods, space.pods()])


@pytest.mark.parametrize(("mode", "created"), [("pulumi", "PodGroup pulumi"), ("volcano", "Job volcano")])
def test_queues_and_a_job_can_be_created_in_one_update_with_a_webhook(opened: Opened, mode: str, created: str) -> None:
    """Neither a dry run nor the update refers to a queue before it is open; a second update changes nothing."""
    name, (first, again, _) = opened.name, opened.steps

    assert {first[f"Queue {name}-all"], first[f"Queue {name}-research"], first[created]} == {"create"}
    assert opened.seen[f"{name}-research"]["spec"]["parent"] == f"{name}-all"
    assert again == {}


def test_a_job_can_move_into_a_queue_of_the_same_update(opened: Opened) -> None:
    """Its Pods are updated in place, as in the preview; Volcano's Job is replaced."""
    moved, (before, after) = opened.steps[2], opened.pods

    assert {key: moved[key] for key in moved if "Pod" in key} == dict.fromkeys(
        ("Pod pulumi-worker-0", "Pod pulumi-worker-1", "PodGroup pulumi"), "update"
    )
    assert moved["Job volcano"] == "replace"
    assert {name: pod["metadata"]["uid"] for name, pod in after.items()} == {
        name: pod["metadata"]["uid"] for name, pod in before.items()
    }
    assert {pod["metadata"]["labels"]["volcano.sh/queue-name"] for pod in after.values()} == {f"{opened.name}-other"}


def test_edits_of_metadata_need_one_update(queues: Queues) -> None:
    """The provider must not use the object from before the edit, which also has a state."""

    def metadata(team: str) -> dict[str, Any]:
        return {"labels": {"team": team}, "annotations": {"team": team}}

    names = [f"{queues.space.name}-{number}" for number in range(20)]
    queues.skip_checkpoints()
    queues.put(**{name: metadata("one") if name in names[::2] else {} for name in names})
    queues.up()

    steps = queues.bring_up(**{name: metadata("other") for name in names})

    assert steps == {f"Queue {name}": "update" for name in names}
    assert queues.up().steps == {}


def test_a_queue_that_no_controller_opens_fails_with_advice(unopened: Queues) -> None:
    """The next update continues when a controller runs."""
    name = f"{unopened.space.name}-research"
    unopened.put(**{name: {}})
    unopened.write("__main__.py", PROGRAM.replace("pulumi.ResourceOptions(", f"pulumi.ResourceOptions({SOON}, "))

    with pytest.raises(automation.CommandError) as caught:
        unopened.up()

    assert missing_controllers(name).text in str(caught.value)
    with QueueController(unopened.space.cluster, unopened.space.name):
        unopened.up()
        assert unopened.bring_up(**{name: {}}) == {}


def test_a_queue_without_controllers_needs_no_state(unopened: Queues) -> None:
    """The provider's annotation disables the wait."""
    name = f"{unopened.space.name}-research"
    args = {name: {"annotations": {"pulumi.com/skipAwait": "true"}}}

    assert unopened.bring_up(**args)[f"Queue {name}"] == "create"
    assert "state" not in unopened.seen()[name].get("status", {})


def test_a_protected_queue_is_not_deleted(queues: Queues) -> None:
    """An update that deletes it fails."""
    name = f"{queues.space.name}-research"
    queues.bring_up(options={"protect": True}, research={"name": name})
    queues.write("queues.json", json.dumps({"queues": {}, "jobs": {}, "options": {}}))

    with pytest.raises(automation.CommandError, match="protect"):
        queues.stack.preview(color="never")

    assert list(queues.seen()) == [name]


def test_a_retained_queue_stays_in_the_cluster(queues: Queues) -> None:
    """It is removed from the stack only."""
    name = f"{queues.space.name}-research"
    queues.bring_up(options={"retain_on_delete": True}, research={"name": name})

    queues.destroy()

    assert list(queues.seen()) == [name]
    assert queues.resources() == []
