"""`volcano-jobs schema`: the JSON schema of job files."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from pulumi_volcano_jobs.cli.job_schema import job_schema
from pulumi_volcano_jobs.plugins import BUILT_IN
from tests.cli.conftest import Shell
from tests.cli.jobs import DOCUMENTS, accepted
from tests.conftest import CLAIM, QUEUE, container, job, task
from tests.golden.cases import read

VALIDATOR = jsonschema.Draft7Validator(job_schema())
QUEUE_METADATA = ("name", "labels", "annotations")
QUEUE_DOCUMENT = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "Queue",
    "metadata": {key: QUEUE[key] for key in QUEUE_METADATA},
    "spec": {key: value for key, value in QUEUE.items() if key not in QUEUE_METADATA},
}


def mistakes(document: dict[str, Any]) -> list[str]:
    """Return the path of each error."""
    return sorted(error.json_path for error in VALIDATOR.iter_errors(document))


def test_the_schema_is_valid_and_printed_as_a_whole(shell: Shell) -> None:
    """No reference is left to the schemas of Kubernetes."""
    text = shell.good("schema").out

    assert json.loads(text) == job_schema()
    jsonschema.Draft7Validator.check_schema(job_schema())
    assert "$defs" not in text
    shell.good("schema", "-o", "volcano-job.schema.json")
    assert (shell.folder / "volcano-job.schema.json").read_text("utf-8") == text


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_the_jobs_of_the_guides_fit_the_schema(path: Any) -> None:
    """An editor reports nothing."""
    assert mistakes(read(path)) == []


def test_every_accepted_job_fits_the_schema() -> None:
    """What strict mode accepts is valid in an editor."""
    wrong = {}
    for path in accepted(strict=True):
        document = read(path)
        if document.get("apiVersion") and document.get("kind") and (found := mistakes(document)):
            wrong[path.stem] = found

    assert wrong == {}


@pytest.mark.parametrize(
    "document",
    [
        QUEUE_DOCUMENT,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "b"}},
        job(volumes=[{"mountPath": "/data", "volumeClaim": CLAIM}], queue=None, plugins={"svc": None, "own": ["--a"]}),
        job(task(containers=[container(resources={"limits": {"cpu": 1, "memory": "1Gi", "a.b/c": None}})])),
    ],
    ids=["a queue", "another object", "nulls", "amounts"],
)
def test_a_document_that_kubectl_accepts_fits_the_schema(document: dict[str, Any]) -> None:
    """Kubernetes treats a null as a missing field."""
    assert mistakes(document) == []


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown field": (job(quue="research"), "$.spec"),
    "an unknown field of a container": (
        job(task(containers=[container(imagee="a")])),
        "$.spec.tasks[0].template.spec.containers[0]",
    ),
    "a field of a task in its template": (
        job({**task(), "template": {**task()["template"], "replicas": 1}}),
        "$.spec.tasks[0].template",
    ),
    "a wrong type": (job(minAvailable="1"), "$.spec.minAvailable"),
    "a negative number": (job(minAvailable=-1), "$.spec.minAvailable"),
    "a wrong value": (job(policies=[{"event": "PodFail"}]), "$.spec.policies[0].event"),
    "an action that is no text": (job(policies=[{"event": "PodFailed", "action": 1}]), "$.spec.policies[0].action"),
    "a missing field": (job(volumes=[{}]), "$.spec.volumes[0]"),
    "no tasks": (job() | {"spec": {}}, "$.spec"),
    "no name": (job() | {"metadata": {}}, "$.metadata"),
    "no kind": ({"apiVersion": "v1"}, "$"),
    "arguments that are no list": (job(plugins={"svc": "--a"}), "$.spec.plugins.svc"),
    "a field of a queue": (QUEUE_DOCUMENT | {"spec": {"wait": 1}}, "$.spec"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_has_its_path(name: str) -> None:
    """An editor underlines the field."""
    document, path = WRONG[name]

    assert mistakes(document) == [path]


def test_every_field_and_argument_is_documented() -> None:
    """Editors show the description of a field, and the arguments of each built-in plugin."""
    definitions = job_schema()["definitions"]
    job_fields = definitions["Job"]["properties"]
    models = [definition for name, definition in definitions.items() if "." not in name]

    fields = [field for definition in models for field in definition["properties"].values()]
    assert all(field["description"] for field in fields)
    assert job_fields.keys() & {"name", "namespace", "labels", "annotations"} == set()
    plugins = job_fields["plugins"]["properties"]
    assert plugins.keys() == {plugin.name for plugin in BUILT_IN}
    assert "--port=" in plugins["pytorch"]["items"]["examples"]
    assert "--port: " in plugins["pytorch"]["description"]
