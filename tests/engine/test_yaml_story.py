"""A Pulumi YAML program over several updates: unknown values, secrets, keys and scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from pulumi_volcano_jobs.spec.naming import pod_group
from tests.conftest import task
from tests.engine.conftest import Wire
from tests.engine.yamlproject import YamlProject

pytestmark = pytest.mark.engine
TOKEN = "only for the job"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's representation of an unknown value in a preview."""
PLACE = {
    "type": "kubernetes:core/v1:ConfigMap",
    "properties": {"metadata": {"name": "research"}},
    "options": {"provider": "${files}"},
}
OTHERS: Wire = {"resources": {"place": PLACE}, "config": {"token": {"type": "string", "secret": True}}}
PLUGINS: Wire = {"ssh": [], "svc": [], "env": []}


def job(replicas: int = 2, **fields: Any) -> Wire:
    """Return the job: its queue, an image and a variable come from another resource, and one variable is secret."""
    worker, other = task(replicas=replicas), task("other", 1)
    with_variables(worker, TOKEN="${token}")
    with_variables(other, PLACE="${place.id}", PLAIN="known")
    container_of(other["template"])["image"] = "example.org/${place.id}:1"
    return {"queue": "${place.id}", "plugins": PLUGINS, "tasks": [worker, other], **fields}


def with_variables(task: Wire, **values: str) -> None:
    """Set the variables of its container."""
    env = [{"name": name, "value": value} for name, value in values.items()]
    container_of(task["template"])["env"] = env


def container_of(manifest: Wire) -> Wire:
    """Return the first container of a Pod or template."""
    found: Wire = manifest["spec"]["containers"][0]
    return found


@dataclass(frozen=True)
class Story:
    """Results of each step."""

    planned: dict[str, Wire]
    said: str
    state: str
    made: dict[tuple[str, str], Wire]
    again: dict[str, str]
    scaling: dict[str, str]
    scaled: dict[tuple[str, str], Wire]
    rotating: dict[str, str]
    rotated: dict[tuple[str, str], Wire]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Preview and create the job, update it without an edit, scale it, and rotate the keys."""
    project = YamlProject(tmp_path_factory.mktemp("story"))
    project.write(job(), **OTHERS)
    project.done("stack", "init", "dev")
    project.done("config", "set", "--secret", "token", TOKEN)
    planned = project.planned()
    project.up()
    state, made, again = project.state(), project.manifests(), project.steps()
    project.write(job(replicas=3), **OTHERS)
    scaling, scaled = project.up(), project.manifests()
    project.write(job(replicas=3, keyRotation="2"), **OTHERS)
    rotating = project.up()
    return Story(planned, project.said, state, made, again, scaling, scaled, rotating, project.manifests())


def variables(container: Wire) -> Wire:
    """Return the variables by name."""
    return {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}


def test_a_preview_marks_only_the_unknown_values(story: Story) -> None:
    """Other fields of the same container are known."""
    env = variables(container_of(story.planned["Pod train-other-0"]))

    assert env["PLACE"] == UNKNOWN
    assert env["PLAIN"] == "known"
    assert env["VC_TASK_INDEX"] == "0"
    assert story.planned["PodGroup train"]["spec"]["queue"] == UNKNOWN
    assert story.planned["PodGroup train"]["spec"]["minMember"] == 3


def test_unknown_values_are_set_after_the_resource_is_created(story: Story) -> None:
    """The queue, the image and a variable have the value."""
    container = container_of(story.made["Pod", "train-other-0"])

    assert story.made["PodGroup", pod_group("train")]["spec"]["queue"] == "research"
    assert container["image"] == "example.org/research:1"
    assert variables(container)["PLACE"] == "research"


def test_a_secret_stays_secret(story: Story) -> None:
    """The container has it; output and state do not show it, neither as text nor in base64."""
    assert variables(container_of(story.made["Pod", "train-worker-0"]))["TOKEN"] == TOKEN
    assert TOKEN not in story.said
    assert TOKEN not in story.state


def test_a_generated_key_is_in_the_state_as_a_secret(story: Story) -> None:
    """It is generated once: a second run changes nothing."""
    assert story.made["Secret", "train-ssh"]["data"]["id_rsa"]
    assert story.made["Secret", "train-ssh"]["data"]["id_rsa"] not in story.state
    assert "PRIVATE KEY" not in story.said + story.state
    assert story.again == {}


def test_scaling_adds_a_pod_and_keeps_the_keys(story: Story) -> None:
    """Existing Pods are kept, because no plugin sets the world size."""
    assert story.scaling["Pod train-worker-2"] == "create"
    assert [name for name in story.scaling if name.startswith("Pod ")] == ["Pod train-worker-2"]
    assert story.scaled["Secret", "train-ssh"]["data"]["id_rsa"] == story.made["Secret", "train-ssh"]["data"]["id_rsa"]
    assert story.scaled["ConfigMap", "train-svc"]["data"]["worker.host"].split() == [
        f"train-worker-{index}.train" for index in range(3)
    ]


def test_a_new_rotation_token_generates_a_new_key(story: Story) -> None:
    """All Pods are replaced."""
    pods = {name: step for name, step in story.rotating.items() if name.startswith("Pod ")}

    assert story.rotated["Secret", "train-ssh"]["data"]["id_rsa"] != story.made["Secret", "train-ssh"]["data"]["id_rsa"]
    assert pods == dict.fromkeys(["Pod train-other-0", *(f"Pod train-worker-{index}" for index in range(3))], "replace")
