"""A Pulumi YAML program uses the component through `pulumi-resource-volcano-jobs`."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs import render
from tests.engine.yamlproject import YamlProject

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
    found = project.manifests()

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
