"""docs/upgrades.md: the commands run on the real engine and API server, and running Pods survive as the page states."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pulumi_volcano_jobs.spec.naming import pod_group
from tests.cluster.conftest import Space, changes
from tests.cluster.repository import Repository, shell_lines

LINES = [*reversed(dict.fromkeys(reversed(shell_lines("docs/upgrades.md", "git", "helm", "pulumi install"))))]
"""The lines of the page, each once, at its last place. The others need the network, or the history of a repository."""
NO_CHANGES = "pulumi preview --expect-no-changes"
UP = "pulumi up --yes --skip-preview"


@pytest.fixture(scope="module")
def shared(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Provide a repository with a job. Each test leaves it as it was."""
    made = Repository(tmp_path_factory.mktemp("upgrades"), new_space())
    made.succeeds(UP)
    return made


@pytest.fixture
def repository(shared: Repository) -> Repository:
    """Provide the repository when the job runs."""
    shared.space.run()
    return shared


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


def test_an_edit_an_older_state_and_the_old_program_replace_the_pods(repository: Repository) -> None:
    """A preview that expects no changes fails after an edit. A refresh does not read the digest of a Pod's spec."""
    replaced = {"Pod train-worker-0": "replaced", "Pod train-worker-1": "replaced"}
    first = repository.space.seen()
    repository.succeeds("pulumi stack export --file before.json")
    repository.edit("ghcr.io/me/train:2")
    assert repository.run(NO_CHANGES).returncode
    repository.succeeds(UP)
    edited = repository.space.seen()
    assert changes(first, edited) == replaced

    repository.succeeds("pulumi stack import --file before.json")
    repository.succeeds("pulumi refresh --yes --skip-preview")
    repository.succeeds(UP)
    again = repository.space.seen()
    assert changes(edited, again) == replaced

    repository.edit("ghcr.io/me/train:1")
    repository.succeeds(UP)
    assert changes(again, repository.space.seen()) == replaced
    assert repository.images() == {"ghcr.io/me/train:1"}


def test_a_deleted_pod_group_is_created_again_and_the_pods_stay(repository: Repository) -> None:
    """`helm uninstall` of Volcano deletes the definition of PodGroups, and all PodGroups with it."""
    space = repository.space
    before = space.seen()
    space.cluster.delete("PodGroup", pod_group("train"), space.name)

    repository.succeeds(f"{UP} --refresh")

    assert changes(before, space.seen()) == {"PodGroup train": "replaced"}
