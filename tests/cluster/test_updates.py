"""Every kind of edit of a job makes exactly the replacements that it must: the rows of edits.py, on the cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import pytest

from pulumi_volcano_jobs.component.kubernetes_object import DIGEST, WAIT_FOR
from tests.cluster.conftest import Changes, Space, Stack, changes, content, task
from tests.cluster.edits import DOCUMENT, EDITS, ISSUE, Edit, PreviewError, job, table

RESTARTS = ("gang", "pod")
FAILING = [edit for edit in EDITS if edit.preview_fails]
# One stands for all whose preview fails: when it passes, none of them needs the mark.
PREVIEWED = [edit for edit in EDITS if edit not in FAILING[1:]]


@dataclass
class Seen:
    """What a preview said of an edit, what the update did, and what became of the objects of each job."""

    preview: list[tuple[str, str]] | str
    up: list[tuple[str, str]]
    changes: dict[str, Changes]


def of_job(found: Changes, name: str) -> Changes:
    """Give the changes of one job, with names that are short of the job's."""
    short = {}
    for each, change in found.items():
        kind, _, full = each.partition(" ")
        if full == name or full.startswith(f"{name}-"):
            short[f"{kind} {full[len(name) + 1 :]}".strip()] = change
    return short


@pytest.fixture(scope="module")
def seen(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    """Make two jobs that differ in `restart`, and do one edit after another to both."""
    space = new_space()
    stack = Stack(tmp_path_factory.mktemp("updates"), space)
    jobs = {name: job(name, name) for name in RESTARTS}
    before = stack.make(**jobs)
    found = {}
    for edit in EDITS:
        for each in jobs.values():
            edit.apply(each)
        stack.jobs(**deepcopy(jobs))
        preview: list[tuple[str, str]] | str = []
        if edit in PREVIEWED:
            preview = stack.previewed_apart() if edit.preview_fails else stack.preview().urns
        up = stack.up().urns
        after = space.seen()
        differences = changes(before, after)
        found[edit.name] = Seen(preview, up, {name: of_job(differences, name) for name in RESTARTS})
        before = after
    return found


@pytest.mark.parametrize("restart", RESTARTS)
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_an_edit_replaces_what_it_must(seen: dict[str, Seen], edit: Edit, restart: str) -> None:
    """The API server has new objects and new content where the table says so, and nowhere else."""
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
def test_a_preview_says_what_the_update_does(seen: dict[str, Seen], edit: Edit) -> None:
    """The steps are the same, one by one."""
    preview = seen[edit.name].preview
    if isinstance(preview, str) and "pod updates may not change fields" in preview:
        raise PreviewError
    assert preview == seen[edit.name].up


def test_the_document_shows_the_table() -> None:
    """`python -m tests.cluster.edits` writes it into docs/updates.md."""
    assert f"{table()}\n" in DOCUMENT.read_text("utf-8")


def test_another_name_or_namespace_moves_the_job(stack: Stack, new_space: Callable[..., Space]) -> None:
    """Nothing of the old name or in the old namespace stays, and all is made anew with the key that was there."""
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


def test_pods_that_are_slow_to_go_are_waited_for(stack: Stack) -> None:
    """Pods that run and take 5 seconds to end are replaced by new ones of their names, all at the same time."""
    slow = {"annotations": {"test/deletion-delay": "5s"}}
    before = stack.make(train={"tasks": [task("worker", 3, slow)]})
    stack.space.run()

    begin = time.monotonic()
    after = stack.make(train={"tasks": [task("worker", 3, slow, image="example.org/image:2")]})

    assert time.monotonic() - begin >= 5
    assert changes(before, after) == {f"Pod train-worker-{index}": "replaced" for index in range(3)}
    assert {pod["spec"]["containers"][0]["image"] for pod in stack.space.pods().values()} == {"example.org/image:2"}


def test_pods_that_have_succeeded_take_a_label_as_they_are(stack: Stack) -> None:
    """The update ends, although they will never be ready again; they stay the same but for the label."""
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
        # The digest of the metadata and the condition with it.
        before[name]["metadata"]["annotations"] |= {
            key: after[name]["metadata"]["annotations"][key] for key in (WAIT_FOR, DIGEST)
        }
        assert content(after[name]) == content(before[name])
