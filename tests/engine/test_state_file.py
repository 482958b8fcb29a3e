"""A kill can leave the attributes file of the state empty: docs/troubleshooting.md has the fix."""

from __future__ import annotations

from pathlib import Path

import pytest
import stack as stacks
from pulumi import automation

from tests.engine.conftest import ROOT, Project

pytestmark = pytest.mark.engine
PAGE = " ".join((ROOT / "docs" / "troubleshooting.md").read_text("utf-8").split())
FAILS = "failed to load checkpoint: EOF"
JOB = """
task = {
    "name": "worker",
    "replicas": 2,
    "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.org/image:1"}]}},
}
VolcanoJob("train", {"tasks": [task], "plugins": {"ssh": []}}, opts)
"""


def test_a_stack_with_an_empty_attributes_file_is_repaired_by_deleting_the_file(tmp_path: Path) -> None:
    """All resources and the key are still in the state."""
    project = Project(tmp_path / "project", JOB)
    project.up()
    before, manifests = project.resources(), project.manifests()
    attributes = stacks.state_file(project.state / "state", "tests", "dev").with_suffix(".json.attrs")
    assert attributes.exists()
    attributes.write_bytes(b"")

    with pytest.raises(automation.errors.CommandError) as caught:
        project.up()
    assert FAILS in str(caught.value)
    assert f"### `{FAILS}` after" in PAGE

    attributes.unlink()
    assert project.up().steps == {}
    assert {item["urn"] for item in project.resources()} == {item["urn"] for item in before}
    assert project.manifests() == manifests
    assert attributes.read_bytes() != b""
