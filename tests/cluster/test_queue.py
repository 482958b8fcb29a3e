"""A queue's life on the real API server: made, left alone, edited in place, and deleted or left behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pulumi import automation

from pulumi_volcano_jobs.names import pod_group
from tests.cluster.conftest import Space, Stack, content, task

PROGRAM = """
import json
from pathlib import Path

import pulumi

from pulumi_volcano_jobs import VolcanoJob, VolcanoQueue

given = json.loads((Path(__file__).parent / "queues.json").read_text("utf-8"))
queues = {
    name: VolcanoQueue(name, args, pulumi.ResourceOptions(**given["options"]))
    for name, args in given["queues"].items()
}
for name, args in given["jobs"].items():
    VolcanoJob(name, {**args, "queue": queues[args["queue"]].name})
"""


class Queues(Stack):
    """A stack with queues, and jobs in them."""

    def bring_up(self, *, jobs: Any = None, options: Any = None, **queues: Any) -> dict[str, str]:
        """Bring queues and jobs up; give what the engine did."""
        self.write("queues.json", json.dumps({"queues": queues, "jobs": jobs or {}, "options": options or {}}))
        preview, up = self.preview(), self.up()
        assert preview.urns == up.urns
        return up.steps

    def seen(self) -> dict[str, Any]:
        """Give the queues of the cluster that are of this stack, as the API server has them."""
        return {
            name: item for name, item in self.space.cluster.list("Queue").items() if name.startswith(self.space.name)
        }


@pytest.fixture
def queues(space: Space, tmp_path: Path) -> Queues:
    """Provide a stack of the test's own."""
    return Queues(tmp_path / "project", space, PROGRAM)


def test_a_queue_is_made_edited_in_place_and_deleted(queues: Queues) -> None:
    """An update without an edit does nothing; the object is the same after each edit; nothing stays at the end."""
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
        "capability": {"cpu": 16},
        "deserved": {"cpu": 4},
        "dequeueStrategy": "fifo",
        "reclaimable": True,
        "weight": 3,
    }

    assert queues.bring_up(research={"name": name}) == {"Queue research": "update"}
    assert queues.seen()[name]["spec"] == {"dequeueStrategy": "traverse", "reclaimable": True, "weight": 1}

    assert queues.bring_up()["Queue research"] == "delete"
    assert queues.seen() == {}


def test_a_job_and_a_queue_above_come_and_go_in_order(queues: Queues) -> None:
    """The queue is there before what needs it, and goes after it: the steps' order says so."""
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


def test_a_protected_queue_is_not_deleted(queues: Queues) -> None:
    """The update that would do so fails, and the queue stays."""
    name = f"{queues.space.name}-research"
    queues.bring_up(options={"protect": True}, research={"name": name})
    queues.write("queues.json", json.dumps({"queues": {}, "jobs": {}, "options": {}}))

    with pytest.raises(automation.CommandError, match="protect"):
        queues.stack.preview(color="never")

    assert list(queues.seen()) == [name]


def test_a_retained_queue_stays_in_the_cluster(queues: Queues) -> None:
    """It is gone from the stack only."""
    name = f"{queues.space.name}-research"
    queues.bring_up(options={"retain_on_delete": True}, research={"name": name})

    queues.destroy()

    assert list(queues.seen()) == [name]
    assert queues.resources() == []
