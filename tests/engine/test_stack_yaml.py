"""A Pulumi YAML program with stack defaults and a queue, which it passes to the component provider."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from pulumi_volcano_jobs.spec.naming import pod_group
from tests.engine.test_pulumi_yaml import JOB
from tests.engine.yamlproject import YamlProject

pytestmark = pytest.mark.engine


def test_a_yaml_program_uses_queues_and_stack_defaults(tmp_path: Path) -> None:
    """The job has the name of the queue, and its Pods have the stack configuration."""
    project = YamlProject(tmp_path)
    opts = {"providers": ["${files}"]}
    files = {"renderYamlToDirectory": str(tmp_path / "rendered"), "kubeconfig": ""}
    queue = {"weight": 2, "capability": {"cpu": 8, "memory": "64Gi"}, "dequeueStrategy": "fifo"}
    resources = {
        "files": {"type": "pulumi:providers:kubernetes", "properties": files},
        "research": {"type": "volcano-jobs:index:VolcanoQueue", "properties": queue, "options": opts},
        "train": {
            "type": "volcano-jobs:index:VolcanoJob",
            "properties": {**JOB, "queue": "${research.name}"},
            "options": opts,
        },
    }
    program = {"name": "tests", "runtime": "yaml", "resources": resources}
    # JSON, because Pulumi does not support YAML aliases.
    (tmp_path / "Pulumi.yaml").write_text(json.dumps(program), "utf-8")
    config = {
        "volcano-jobs:imageRegistry": "ghcr.io/team",
        "volcano-jobs:namespace": "research",
        "volcano-jobs:tolerations": [{"key": "spot", "operator": "Exists"}],
    }
    assert project.pulumi("stack", "init", "dev").returncode == 0
    settings = yaml.safe_load((tmp_path / "Pulumi.dev.yaml").read_text("utf-8"))
    (tmp_path / "Pulumi.dev.yaml").write_text(yaml.safe_dump({**settings, "config": config}), "utf-8")

    done = project.pulumi("up", "--yes")

    assert done.returncode == 0, done.stdout + done.stderr
    found = [yaml.safe_load(path.read_text("utf-8")) for path in (tmp_path / "rendered").rglob("*.yaml")]
    made = {f"{item['kind']} {item['metadata']['name']}": item for item in found}
    assert made["Queue research"]["spec"] == {
        **queue,
        "capability": {"cpu": "8", "memory": "64Gi"},
        "parent": "root",
        "reclaimable": True,
    }
    assert made[f"PodGroup {pod_group('train')}"]["spec"]["queue"] == "research"
    pod = made["Pod train-master-0"]
    assert pod["metadata"]["namespace"] == "research"
    assert pod["spec"]["containers"][0]["image"] == "ghcr.io/team/busybox"
    assert pod["spec"]["tolerations"] == [{"key": "spot", "operator": "Exists"}]
