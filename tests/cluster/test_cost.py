"""docs/cost.md: the commands run on the real engine and API server, and find what a deleted job leaves behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cluster.conftest import VOLUMES, Space
from tests.cluster.repository import Repository, shell_lines

WATCH, DESTROY, PREVIEW, DESTROY_AGAIN, REMOVE, *FIND, DELETE_CLAIM = shell_lines("docs/cost.md")
RUNNING, SUCCEEDED, FAILED, NATIVE, OTHERS, IDS = FIND

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")


@pytest.fixture
def repository(space: Space, tmp_path: Path) -> Repository:
    """Provide a repository whose job runs, with a claim that it keeps."""
    made = Repository(tmp_path, space, volumes=VOLUMES, claims="keep")
    made.succeeds("pulumi up --yes --skip-preview")
    space.run()
    return made


def test_the_commands_find_and_delete_a_finished_job(repository: Repository) -> None:
    """The kept claim is found after the job and its stack are deleted."""
    space = repository.space
    assert "train-worker-1" in repository.succeeds(RUNNING)
    space.end()
    repository.succeeds(WATCH)
    assert "train-worker-1" in repository.succeeds(SUCCEEDED)
    assert space.name not in repository.succeeds(RUNNING) + repository.succeeds(FAILED) + repository.succeeds(NATIVE)
    rows = [line.split() for line in repository.succeeds(OTHERS).splitlines()]
    found = {(kind, name) for kind, namespace, name, _ in rows if namespace == space.name}
    stored = {tuple(name.split(" ")) for name in space.seen() if not name.startswith(("Pod ", "PodGroup "))}
    assert {item for item in found if item[0] != "PodGroup"} == stored
    assert f"{space.name}/train-worker-1" in repository.succeeds(IDS)

    repository.succeeds(PREVIEW)
    repository.succeeds(DESTROY)
    repository.succeeds(DESTROY_AGAIN)
    repository.succeeds(REMOVE)

    (claim,) = (name.partition(" ")[2] for name in space.seen())
    assert claim in DELETE_CLAIM
    assert claim in repository.succeeds(OTHERS)
    repository.succeeds(DELETE_CLAIM.replace("--namespace research", f"--namespace {space.name}"))
    assert space.seen() == {}
