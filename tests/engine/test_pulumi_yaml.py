"""A Pulumi YAML program uses the component through `pulumi-resource-volcano-jobs`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import build
import pytest
import yaml

from pulumi_volcano_jobs import render

JOB: dict[str, Any] = {
    "minAvailable": 3,
    "queue": "research",
    "plugins": {"pytorch": ["--port=29500"], "env": []},
    "tasks": [
        {
            "name": "master",
            "replicas": 1,
            "template": {"spec": {"containers": [{"name": "main", "image": "busybox"}]}},
        },
        {
            "name": "worker",
            "replicas": 2,
            "template": {
                "spec": {"containers": [{"name": "main", "image": "busybox", "ports": [{"containerPort": 8080}]}]},
            },
        },
    ],
}


class YamlProject:
    """A Pulumi YAML project with one VolcanoJob, run by the command line."""

    def __init__(self, folder: Path) -> None:
        """Make the project in a folder."""
        self.folder = folder
        path = build.ensure(["pulumi", "pulumi-resource-kubernetes", "pulumi-language-yaml"], lambda _: None)
        (folder / "state").mkdir()
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join([*map(str, path), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PULUMI_BACKEND_URL": (folder / "state").as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "for this test",
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_SKIP_UPDATE_CHECK": "1",
        }

    def write(self, job: dict[str, Any]) -> None:
        """Write the program."""
        files = {"renderYamlToDirectory": str(self.folder / "rendered"), "kubeconfig": ""}
        resources = {
            "files": {"type": "pulumi:providers:kubernetes", "properties": files},
            "train": {
                "type": "volcano-jobs:index:VolcanoJob",
                "properties": job,
                "options": {"providers": ["${files}"]},
            },
        }
        outputs = {"pods": "${train.podNames}", "hosts": "${train.hosts}", "group": "${train.podGroupName}"}
        program = {"name": "tests", "runtime": "yaml", "resources": resources, "outputs": outputs}
        (self.folder / "Pulumi.yaml").write_text(yaml.safe_dump(program), "utf-8")

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command line."""
        return subprocess.run(
            ["pulumi", *arguments, "--non-interactive", "--color=never"],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def outputs(self) -> dict[str, Any]:
        """Give the stack's outputs."""
        found: dict[str, Any] = json.loads(self.pulumi("stack", "output", "--json").stdout)
        return found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> YamlProject:
    """Bring the program up once."""
    made = YamlProject(tmp_path_factory.mktemp("yaml"))
    made.write(JOB)
    assert made.pulumi("stack", "init", "dev").returncode == 0
    up = made.pulumi("up", "--yes", "--skip-preview")
    assert up.returncode == 0, up.stdout + up.stderr
    return made


@pytest.mark.engine
def test_a_yaml_program_makes_what_render_gives(project: YamlProject) -> None:
    """A Volcano Job's spec, as it stands, becomes the same manifests."""
    written = [yaml.safe_load(path.read_text("utf-8")) for path in (project.folder / "rendered").rglob("*.yaml")]
    found = {(item["kind"], item["metadata"]["name"]): item for item in written}

    rendered = render({"name": "train", **JOB})
    expected = {(item["kind"], item["metadata"]["name"]): item for item in (*rendered.objects, *rendered.pods)}
    assert found.keys() == expected.keys()
    specs = {key: item.get("spec", item.get("data")) for key, item in expected.items()}
    assert {key: item.get("spec", item.get("data")) for key, item in found.items()} == specs


@pytest.mark.engine
def test_the_outputs_are_plain_names_and_addresses(project: YamlProject) -> None:
    """Outputs have camelCase names and plain values."""
    outputs = project.outputs()

    assert outputs["pods"] == ["train-master-0", "train-worker-0", "train-worker-1"]
    assert outputs["hosts"]["worker"] == ["train-worker-0.train", "train-worker-1.train"]
    assert outputs["group"] == "train"


@pytest.mark.engine
def test_a_second_up_changes_nothing(project: YamlProject) -> None:
    """Integers that cross the wire as 2.0 make no difference the second time either."""
    preview = project.pulumi("preview", "--expect-no-changes")

    assert preview.returncode == 0, preview.stdout


@pytest.mark.engine
def test_two_and_a_half_replicas_are_an_error_with_its_place(project: YamlProject) -> None:
    """A fraction is refused by its path; nothing is created."""
    worker = JOB["tasks"][1] | {"replicas": 2.5}
    project.write(JOB | {"tasks": [JOB["tasks"][0], worker]})
    preview = project.pulumi("preview")
    project.write(JOB)

    assert preview.returncode != 0
    assert "spec.tasks[1].replicas: this must be a whole number (given: 2.5)" in preview.stdout
