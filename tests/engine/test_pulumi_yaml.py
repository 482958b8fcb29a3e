"""A Pulumi YAML program uses the component through `pulumi-resource-volcano-jobs`."""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import packageschema
import pytest

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.component.provider import JobProvider
from pulumi_volcano_jobs.core.resource_types import VOLCANO_JOB
from pulumi_volcano_jobs.spec.naming import pod_group
from pulumi_volcano_jobs.testing import failed
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
    """Run `up` of the program once."""
    made = YamlProject(tmp_path_factory.mktemp("yaml"))
    made.write(JOB)
    assert made.pulumi("stack", "init", "dev").returncode == 0
    up = made.pulumi("up", "--yes", "--skip-preview")
    assert up.returncode == 0, up.stdout + up.stderr
    return made


@pytest.mark.engine
def test_a_yaml_program_creates_the_rendered_manifests(project: YamlProject) -> None:
    """The program contains the unchanged spec of a Volcano Job."""
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
    """Integers that arrive as 2.0 are not a change."""
    preview = project.pulumi("preview", "--expect-no-changes")

    assert preview.returncode == 0, preview.stdout


def rejected(project: YamlProject, fields: dict[str, Any], resources: dict[str, Any] | None = None) -> str:
    """Return the output of a preview of a job with wrong fields or of other resources; it fails without a traceback."""
    project.write(JOB | fields, resources=resources or {})
    preview = project.pulumi("preview")
    project.write(JOB)

    assert preview.returncode != 0
    assert "Traceback" not in preview.stdout + preview.stderr
    assert 'File "' not in preview.stdout + preview.stderr
    return preview.stdout


WRONG: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a fraction": (
        {"tasks": [JOB["tasks"][0], JOB["tasks"][1] | {"replicas": 2.5}]},
        ["spec.tasks[1].replicas"],
    ),
    "several problems": (
        {"queue": "Research", "managedBy": "me", "minAvailable": -1},
        ["managedBy", "spec.minAvailable", "spec.queue"],
    ),
}


@pytest.mark.engine
@pytest.mark.parametrize(("fields", "paths"), WRONG.values(), ids=WRONG)
def test_an_error_of_the_provider_has_its_whole_message(
    fields: dict[str, Any], paths: list[str], project: YamlProject
) -> None:
    """There is a line for each problem."""
    error, _ = failed(lambda: JobProvider().construct("train", VOLCANO_JOB, JOB | fields))
    first, *lines = str(error).splitlines()

    output = rejected(project, fields)

    assert "VolcanoJob train" in first
    assert sorted(line.strip().partition(": ")[0] for line in lines) == paths
    assert [line for line in (first, *lines) if line.strip() not in output] == []


OF_SCHEMA: dict[str, tuple[dict[str, Any], list[str]]] = {
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


@pytest.fixture(scope="module")
def of_schema(project: YamlProject) -> str:
    """Return the output of a preview with a job for each mistake, which Pulumi YAML reports together."""
    resources = {
        f"wrong-{index}": {"type": "volcano-jobs:index:VolcanoJob", "properties": deepcopy(JOB | fields)}
        for index, (fields, _) in enumerate(OF_SCHEMA.values())
    }
    return rejected(project, {}, resources)


@pytest.mark.engine
@pytest.mark.parametrize("texts", [texts for _, texts in OF_SCHEMA.values()], ids=OF_SCHEMA)
def test_pulumi_validates_the_inputs_against_the_schema(texts: list[str], of_schema: str) -> None:
    """The messages are those of Pulumi YAML."""
    assert [text for text in texts if text not in of_schema] == []


@pytest.mark.engine
def test_the_command_line_reads_the_committed_schema(project: YamlProject) -> None:
    """`pulumi package get-schema` runs the program of the wheel; the command line omits or adds empty values."""
    found = json.loads(project.done("package", "get-schema", PROVIDER))

    assert without_empty(found) == without_empty(json.loads(packageschema.COMMITTED.read_text("utf-8")))


def without_empty(tree: Any) -> Any:
    """Return the value without empty lists and maps."""
    if isinstance(tree, dict):
        return {key: without_empty(value) for key, value in tree.items() if value not in ([], {})}
    return tree
