"""A refresh of a stack that renders to files, as docs/troubleshooting.md describes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pulumi import automation

from tests.engine.conftest import ROOT, Project

pytestmark = pytest.mark.engine
PAGE = " ".join((ROOT / "docs" / "troubleshooting.md").read_text("utf-8").split())
FAILS = "failed to read resource state due to unreachable cluster"
SKIP = "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE"
JOB = """
task = {
    "name": "worker",
    "replicas": 2,
    "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.org/image:1"}]}},
}
VolcanoJob("train", {"tasks": [task], "plugins": {"svc": [], "ssh": []}}, opts)
"""


def outputs(project: Project) -> list[Any]:
    """Return the outputs of each resource, with decrypted secrets."""
    return [item.get("outputs") for item in project.stack.export_stack().deployment["resources"]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Provide a project after `up`, on a machine without a kubeconfig."""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    made = Project(tmp_path / "project", JOB)
    made.up()
    return made


def test_a_refresh_fails_without_a_cluster(project: Project) -> None:
    """The message is a heading of the page."""
    with pytest.raises(automation.errors.CommandError) as caught:
        project.refresh()

    assert FAILS in str(caught.value)
    assert f"### `{FAILS}`" in PAGE


def test_a_refresh_that_skips_the_cluster_changes_nothing(project: Project) -> None:
    """The next update also changes nothing."""
    before = outputs(project)
    assert f"`{SKIP}=true pulumi refresh`" in PAGE
    project.stack.workspace.env_vars[SKIP] = "true"

    refreshed = project.refresh()

    del project.stack.workspace.env_vars[SKIP]
    assert refreshed.changes.keys() == {"same"}
    assert outputs(project) == before
    assert project.up().steps == {}
