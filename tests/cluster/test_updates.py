"""Each kind of edit makes only the expected replacements: the rows of edits.py, applied on the cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import pytest

from pulumi_volcano_jobs.component.kubernetes_object import DIGEST, WAIT_FOR
from tests.cluster.conftest import Changes, Space, Stack, changes, content, of_job, task
from tests.cluster.edits import DOCUMENT, EDITS, ISSUE, Edit, PreviewError, job, table

RESTARTS = ("gang", "pod")
FAILING = [edit for edit in EDITS if edit.preview_fails]
# One edit represents all with a failing preview: if it passes, remove the mark from all of them.
PREVIEWED = [edit for edit in EDITS if edit not in FAILING[1:]]


@dataclass
class Seen:
    """Steps of a preview and an update, and the changes of the objects of each job."""

    preview: list[tuple[str, str]] | str
    up: list[tuple[str, str]]
    changes: dict[str, Changes]


@pytest.fixture(scope="module")
def seen(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    """Create two jobs that differ in `restart`, and apply one edit after another to both."""
    space = new_space()
    stack = Stack(tmp_path_factory.mktemp("updates"), space)
    stack.skip_checkpoints()
    jobs = {name: job(name, name) for name in RESTARTS}
    before = stack.make(**jobs)
    found = {}
    for edit in EDITS:
        for each in jobs.values():
            edit.apply(each)
        stack.jobs(**deepcopy(jobs))
        preview: list[tuple[str, str]] | str = []
        if edit in PREVIEWED:
            preview = stack.previewed()
        up = stack.up().urns
        after = space.seen()
        differences = changes(before, after)
        found[edit.name] = Seen(preview, up, {name: of_job(differences, name) for name in RESTARTS})
        before = after
    return found


@pytest.mark.parametrize("restart", RESTARTS)
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_an_edit_makes_only_the_changes_of_the_table(seen: dict[str, Seen], edit: Edit, restart: str) -> None:
    """Objects and content in the API server are compared."""
    assert seen[edit.name].changes[restart] == edit.expected(restart)


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(edit, marks=pytest.mark.xfail(reason=ISSUE, raises=PreviewError, strict=True))
        if edit.preview_fails
        else edit
        for edit in PREVIEWED
    ],
    ids=lambda edit: edit.name,
)
def test_a_preview_shows_the_steps_of_the_update(seen: dict[str, Seen], edit: Edit) -> None:
    """The steps are compared one by one."""
    preview = seen[edit.name].preview
    if isinstance(preview, str) and "pod updates may not change fields" in preview:
        raise PreviewError
    assert preview == seen[edit.name].up


def test_docs_updates_has_the_table() -> None:
    """`python -m tests.cluster.edits` writes it into docs/updates.md."""
    assert f"{table()}\n" in DOCUMENT.read_text("utf-8")


def test_a_new_name_or_namespace_recreates_the_job(stack: Stack, new_space: Callable[..., Space]) -> None:
    """All old objects are deleted, and the new ones have the same key."""
    args = {"tasks": [task("worker", 2)], "plugins": {"ssh": []}}
    old, other = stack.make(train=args), new_space()
    key = stack.space.key()

    renamed = stack.make(train={**args, "name": "fit"})
    assert changes(old, renamed) == dict.fromkeys(old, "deleted") | dict.fromkeys(renamed, "made")
    assert sorted(renamed) == sorted(name.replace(" train", " fit") for name in old)
    assert stack.space.key("fit") == key
    moved = stack.make(train={**args, "namespace": other.name})

    assert moved == {}
    assert other.seen().keys() == old.keys()
    assert other.key() == key


def test_an_update_waits_for_terminating_pods(stack: Stack) -> None:
    """Running Pods need 5 seconds to end, and are then replaced under the same names, all in parallel."""
    slow = {"annotations": {"test/deletion-delay": "5s"}}
    before = stack.make(train={"tasks": [task("worker", 3, slow)]})
    stack.space.run()

    begin = time.monotonic()
    after = stack.make(train={"tasks": [task("worker", 3, slow, image="example.org/image:2")]})

    assert time.monotonic() - begin >= 5
    assert changes(before, after) == {f"Pod train-worker-{index}": "replaced" for index in range(3)}
    assert {pod["spec"]["containers"][0]["image"] for pod in stack.space.pods().values()} == {"example.org/image:2"}


def test_a_label_edit_updates_succeeded_pods(stack: Stack) -> None:
    """The update does not wait for readiness, and changes only the label."""
    names = ["Pod train-worker-0", "Pod train-worker-1"]
    stack.make(train={"tasks": [task("worker", 2, {"labels": {"team": "a"}})]})
    stack.space.run()
    stack.space.end()
    before = stack.space.seen()

    after = stack.make(train={"tasks": [task("worker", 2, {"labels": {"team": "b"}})]})

    assert changes(before, after) == dict.fromkeys(names, "updated")
    for name in names:
        assert after[name]["status"] == before[name]["status"]
        assert after[name]["metadata"]["labels"] == before[name]["metadata"]["labels"] | {"team": "b"}
        before[name]["metadata"]["labels"]["team"] = "b"
        # The digest of the metadata, and its condition.
        before[name]["metadata"]["annotations"] |= {
            key: after[name]["metadata"]["annotations"][key] for key in (WAIT_FOR, DIGEST)
        }
        assert content(after[name]) == content(before[name])
