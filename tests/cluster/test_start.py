"""docs/start.md and docs/quickstart.md: the program of the first job runs on the real engine and API server."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cluster.conftest import Space, Stack
from tests.commands import run_command
from tests.pages.blocks import blocks

(PROGRAM,) = (block.text for block in blocks() if block.key == ("docs/start.md", "python"))


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_the_first_job_runs_and_leaves_nothing(space: Space, tmp_path: Path) -> None:
    """The page counts 15 resources, seven of them in the cluster; `status` reports the running job."""
    stack = Stack(tmp_path / "project", space, PROGRAM)
    assert stack.up().changes == {"create": 15}
    assert len(space.seen()) == 7
    space.run()

    options = ["--namespace", space.name, "--kubeconfig", str(space.cluster.kubeconfig), "--format", "json"]
    status = run_command("status", "train", *options)

    assert [task["name"] for task in json.loads(status.stdout)["tasks"]] == ["master", "worker"]
    assert {pod["status"] for task in json.loads(status.stdout)["tasks"] for pod in task["pods"]} == {"Running"}
    stack.destroy()
    assert space.seen() == {}
