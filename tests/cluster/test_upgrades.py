"""docs/upgrades.md: the commands run on the real engine and API server, and running Pods survive as the page states."""

from __future__ import annotations

from pathlib import Path

import pytest

from pulumi_volcano_jobs.spec.naming import pod_group
from tests.cluster.conftest import Space, changes
from tests.cluster.repository import Repository, shell_lines

LINES = shell_lines("docs/upgrades.md", "git", "helm", "pulumi install")
"""The others need the network, or the history of a repository."""
NO_CHANGES = "pulumi preview --expect-no-changes"
UP = "pulumi up --yes"


@pytest.fixture
def repository(space: Space, tmp_path: Path) -> Repository:
    """Provide a repository whose job runs."""
    made = Repository(tmp_path, space)
    made.succeeds(UP)
    space.run()
    return made


def confirmed(line: str) -> str:
    """Return a line that asks no question."""
    return f"{line} --yes" if line in {"pulumi up", "pulumi refresh"} else line


def test_the_commands_of_the_page_change_no_running_job(repository: Repository) -> None:
    """They export, restore and compare the state without an edit of the program."""
    before = repository.space.seen()

    for line in LINES:
        repository.succeeds(confirmed(line))

    assert {NO_CHANGES, "pulumi stack import --file before.json"} <= {*LINES}
    assert changes(before, repository.space.seen()) == {}


def test_a_preview_that_expects_no_changes_fails_after_an_edit(repository: Repository) -> None:
    """The going back to the old program is an update that replaces the Pods again."""
    repository.succeeds("pulumi stack export --file before.json")
    first = repository.space.seen()
    repository.edit("ghcr.io/me/train:2")
    assert repository.run(NO_CHANGES).returncode
    repository.succeeds(UP)

    repository.edit("ghcr.io/me/train:1")
    repository.succeeds(UP)

    replaced = {"Pod train-worker-0": "replaced", "Pod train-worker-1": "replaced"}
    assert changes(first, repository.space.seen()) == replaced
    assert repository.images() == {"ghcr.io/me/train:1"}


def test_an_older_state_replaces_pods_that_changed_since(repository: Repository) -> None:
    """A refresh does not read the digest of their spec."""
    repository.succeeds("pulumi stack export --file before.json")
    repository.edit("ghcr.io/me/train:2")
    repository.succeeds(UP)
    before = repository.space.seen()

    repository.succeeds("pulumi stack import --file before.json")
    repository.succeeds("pulumi refresh --yes")
    repository.succeeds(UP)

    assert changes(before, repository.space.seen()) == {
        "Pod train-worker-0": "replaced",
        "Pod train-worker-1": "replaced",
    }


def test_a_deleted_pod_group_is_created_again_and_the_pods_stay(repository: Repository) -> None:
    """`helm uninstall` of Volcano deletes the definition of PodGroups, and all PodGroups with it."""
    space = repository.space
    before = space.seen()
    space.cluster.delete("PodGroup", pod_group("train"), space.name)

    repository.succeeds(f"{UP} --refresh")

    assert changes(before, space.seen()) == {"PodGroup train": "replaced"}
