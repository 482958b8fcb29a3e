"""Queues on the real API server: created, updated without an edit, edited in place, deleted and retained."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pulumi import automation

from pulumi_volcano_jobs.component.error_hooks import missing_controllers
from pulumi_volcano_jobs.spec.naming import pod_group
from tests.cluster.conftest import Space, Stack, content, task
from tests.cluster.volcano import QueueController, QueueWebhook

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


@pytest.fixture
def slow(unopened: Queues, tmp_path: Path) -> Iterator[Queues]:
    """Provide a stack whose queues open late, with a webhook that looks them up."""
    space = unopened.space
    with QueueController(space.cluster, space.name, delay=2), QueueWebhook(space.cluster, space.name, tmp_path):
        yield unopened


def test_a_queue_is_created_edited_in_place_and_deleted(queues: Queues) -> None:
    """An update without an edit changes nothing, and edits keep the object."""
    name = f"{queues.space.name}-research"
    first: dict[str, Any] = {"name": name, "weight": 2, "capability": {"cpu": 8, "memory": "64Gi"}}
    assert queues.bring_up(research=first)["Queue research"] == "create"
    made = queues.seen()[name]

    assert queues.bring_up(research=first) == {}
    assert content(queues.seen()[name]) == content(made)

    edited = {**first, "weight": 3, "capability": {"cpu": 16}, "deserved": {"cpu": 4}, "dequeue_strategy": "fifo"}
    assert queues.bring_up(research=edited) == {"Queue research": "update"}
    seen = queues.seen()[name]
    assert seen["metadata"]["uid"] == made["metadata"]["uid"]
    assert seen["spec"] == {
        "capability": {"cpu": "16"},
        "deserved": {"cpu": "4"},
        "dequeueStrategy": "fifo",
        "parent": "root",
        "reclaimable": True,
        "weight": 3,
    }

    assert queues.bring_up(research={"name": name}) == {"Queue research": "update"}
    defaults = {"dequeueStrategy": "traverse", "parent": "root", "reclaimable": True, "weight": 1}
    assert queues.seen()[name]["spec"] == defaults

    assert queues.bring_up()["Queue research"] == "delete"
    assert queues.seen() == {}


def test_a_job_and_its_parent_queue_are_created_and_deleted_in_order(queues: Queues) -> None:
    """A queue is created before the objects that need it, and deleted after them."""
    name = queues.space.name
    args = {f"{name}-all": {}, f"{name}-research": {"parent": f"{name}-all"}}
    job = {"tasks": [task("worker")], "queue": f"{name}-research"}
    queues.bring_up(jobs={"train": job}, **args)

    group = queues.space.cluster.get("PodGroup", pod_group("train"), name)
    assert group["spec"]["queue"] == f"{name}-research"
    assert group["metadata"]["creationTimestamp"] >= queues.seen()[f"{name}-research"]["metadata"]["creationTimestamp"]

    run = queues.destroy()
    deleted = [
        event.resource_pre_event.metadata.urn.rpartition(":")[2]
        for event in run.events
        if event.resource_pre_event
        and event.resource_pre_event.metadata.urn.split("::")[2].endswith(("Queue", "PodGroup"))
    ]
    assert deleted.index("train") < deleted.index(f"{name}-research")
    assert queues.seen() == {}


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
def test_queues_and_a_job_can_be_created_in_one_update_with_a_webhook(slow: Queues, mode: str) -> None:
    """Neither a dry run nor the update refers to a queue before it is open; a second update changes nothing."""
    name = slow.space.name
    args = {f"{name}-all": {}, f"{name}-research": {"parent": f"{name}-all"}}
    jobs = {"train": {"tasks": [task("worker", 2)], "queue": f"{name}-research", "managed_by": mode}}
    steps = slow.bring_up(jobs=jobs, **args)

    assert {steps[f"Queue {name}-all"], steps[f"Queue {name}-research"]} == {"create"}
    assert slow.seen()[f"{name}-research"]["spec"]["parent"] == f"{name}-all"
    assert slow.bring_up(jobs=jobs, **args) == {}


def test_a_job_can_move_into_a_queue_of_the_same_update(slow: Queues) -> None:
    """Its Pods are updated in place, as in the preview."""
    name = slow.space.name
    jobs = {"train": {"tasks": [task("worker", 2)], "queue": f"{name}-one"}}
    slow.bring_up(jobs=jobs, **{f"{name}-one": {}})
    before = {name: pod["metadata"]["uid"] for name, pod in slow.space.pods().items()}

    jobs["train"]["queue"] = f"{name}-other"
    steps = slow.bring_up(jobs=jobs, **{f"{name}-one": {}, f"{name}-other": {}})

    assert {key: steps[key] for key in steps if "Pod" in key} == dict.fromkeys(
        ("Pod train-worker-0", "Pod train-worker-1", "PodGroup train"), "update"
    )
    after = slow.space.pods()
    assert {name: pod["metadata"]["uid"] for name, pod in after.items()} == before
    assert {pod["metadata"]["labels"]["volcano.sh/queue-name"] for pod in after.values()} == {f"{name}-other"}


def test_a_queue_can_move_below_another_and_back(queues: Queues) -> None:
    """Volcano's controller owns no field of it."""
    name = queues.space.name
    all_teams, research = f"{name}-all", f"{name}-research"
    queues.bring_up(**{all_teams: {}, research: {}})

    assert queues.bring_up(**{all_teams: {}, research: {"parent": all_teams}}) == {f"Queue {research}": "update"}
    assert queues.seen()[research]["spec"]["parent"] == all_teams

    assert queues.bring_up(**{all_teams: {}, research: {}}) == {f"Queue {research}": "update"}
    assert queues.seen()[research]["spec"]["parent"] == "root"


def test_a_forced_replacement_recreates_the_queue(queues: Queues) -> None:
    """The new object has the same name."""
    name = f"{queues.space.name}-research"
    queues.bring_up(**{name: {}})
    before = queues.seen()[name]["metadata"]["uid"]
    (urn,) = [item["urn"] for item in queues.resources() if item["urn"].endswith(f":Queue::{name}")]

    queues.up(replace=[urn])

    assert queues.seen()[name]["metadata"]["uid"] != before
    assert queues.bring_up(**{name: {}}) == {}


def test_an_edit_of_a_closed_queue_does_not_wait(queues: Queues) -> None:
    """The queue has a state other than Open."""
    name = f"{queues.space.name}-research"
    queues.bring_up(**{name: {}})
    queues.space.cluster.set_status("Queue", name, state="Closed")

    assert queues.bring_up(**{name: {"weight": 2}}) == {f"Queue {name}": "update"}
    assert queues.seen()[name]["status"]["state"] == "Closed"


def test_edits_of_metadata_need_one_update(queues: Queues) -> None:
    """The provider must not use the object from before the edit, which also has a state."""
    names = [f"{queues.space.name}-{number}" for number in range(20)]
    queues.bring_up(**{name: {} for name in names})

    for team in ("one", "other"):
        edited: Any = {name: {"labels": {"team": team}, "annotations": {"team": team}} for name in names}
        assert queues.bring_up(**edited) == {f"Queue {name}": "update" for name in names}
        assert queues.bring_up(**edited) == {}


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


def test_a_job_and_a_queue_can_have_the_same_name(queues: Queues) -> None:
    """The engine accepts the hooks of both."""
    name = f"{queues.space.name}-train"
    steps = queues.bring_up(jobs={name: {"tasks": [task("worker")], "queue": name}}, **{name: {}})

    assert {steps[f"Queue {name}"], steps[f"PodGroup {name}"]} == {"create"}


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
