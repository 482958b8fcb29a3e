"""A Pulumi YAML program uses the component through `pulumi-resource-volcano-jobs`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import packageschema
import pytest

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.spec.names import pod_group
from tests.engine.yamlproject import YamlProject

PROVIDER = str(Path(sys.executable).parent / "pulumi-resource-volcano-jobs")
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
    assert outputs["group"] == pod_group("train")


@pytest.mark.engine
def test_a_second_up_changes_nothing(project: YamlProject) -> None:
    """Integers that cross the wire as 2.0 make no difference the second time either."""
    preview = project.pulumi("preview", "--expect-no-changes")

    assert preview.returncode == 0, preview.stdout


REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a fraction": (
        {"tasks": [JOB["tasks"][0], JOB["tasks"][1] | {"replicas": 2.5}]},
        [
            "the VolcanoJob train has a problem:",
            "spec.tasks[1].replicas: this must be a whole number (given: 2.5): write it without quotes or fraction",
        ],
    ),
    "several problems": (
        {"queue": "Research", "managedBy": "me", "minAvailable": -1},
        [
            "the VolcanoJob train has 3 problems:",
            "spec.queue: this must be lower-case letters, digits and '-'",
            "managedBy: this must be one of pulumi, volcano (given: 'me')",
            "spec.minAvailable: this must be at least 0 (given: -1): give a larger number",
        ],
    ),
    # Pulumi YAML refuses these itself, by the schema.
    "a Python name": (
        {"managed_by": "volcano"},
        [
            "Property managed_by does not exist on 'volcano-jobs:index:VolcanoJob'",
            "Existing properties are: managedBy,",
        ],
    ),
    "a Python name in a task": (
        {"tasks": [{**JOB["tasks"][0], "min_available": 1}]},
        ["to 'volcano-jobs:index:Task':", "Existing properties are: minAvailable,"],
    ),
    "text for a number": ({"minAvailable": "three"}, ["minAvailable: Cannot assign type 'string' to type 'integer'"]),
}


@pytest.mark.engine
@pytest.mark.parametrize("what", REFUSED)
def test_a_mistake_is_told_with_its_place_and_without_a_traceback(what: str, project: YamlProject) -> None:
    """All of them at once; nothing is made."""
    fields, said = REFUSED[what]
    project.write(JOB | fields)
    preview = project.pulumi("preview")
    project.write(JOB)

    assert preview.returncode != 0
    assert [text for text in said if text not in preview.stdout] == []
    assert "Traceback" not in preview.stdout + preview.stderr
    assert 'File "' not in preview.stdout + preview.stderr


@pytest.mark.engine
def test_the_command_line_reads_the_committed_schema(project: YamlProject) -> None:
    """`pulumi package get-schema` of the program of the wheel; what is empty, the command line leaves out or adds."""
    found = json.loads(project.done("package", "get-schema", PROVIDER))

    assert without_empty(found) == without_empty(json.loads(packageschema.COMMITTED.read_text("utf-8")))


def without_empty(tree: Any) -> Any:
    """Leave out empty lists and maps."""
    if isinstance(tree, dict):
        return {key: without_empty(value) for key, value in tree.items() if value not in ([], {})}
    return tree
