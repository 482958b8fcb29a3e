"""The generated resource definitions have the fields of the model, and those of Volcano's own definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import definitions
import pytest

from pulumi_volcano_jobs.core.resource_types import JOB, POD_GROUP, QUEUE
from pulumi_volcano_jobs.kubernetes import queue_schema
from pulumi_volcano_jobs.spec.document import METADATA_FIELDS
from pulumi_volcano_jobs.spec.fields import Count
from pulumi_volcano_jobs.spec.model import Job
from tests import upstream

Facts = dict[tuple[str, str], Any]
KINDS = {
    "jobs.batch.volcano.sh": JOB,
    "podgroups.scheduling.volcano.sh": POD_GROUP,
    "queues.scheduling.volcano.sh": QUEUE,
}
DIFFERENT: dict[str, set[tuple[str, str]]] = {
    "Job": {
        # The pattern of the model accepts an empty text, which the webhook replaces before the API server checks it.
        *((f".{key}", "pattern") for key in ("tasks[].name", "queue", "priorityClassName")),
        # The pattern has the same rule.
        (".mountPath", "minLength"),
        # Volcano's type is int, which has as many bits as the controller's machine.
        (".highestTierAllowed", "format"),
        # Kubernetes' schemas do not have it, and a template has one field below.
        *((f".{key}", "x-kubernetes-map-type") for key in ("configMap", "configMapRef", "secret", "secretRef")),
        # Volcano's definition does not have it.
        (".metadata.finalizers", "x-kubernetes-list-type"),
    },
    "PodGroup": {
        # The fields of the Job have more rules.
        (".minTaskMember{}", "minimum"),
        (".highestTierAllowed", "format"),
        *((f".{key}", "pattern") for key in ("subGroupPolicy[].name", "queue", "priorityClassName")),
        (".subGroupPolicy[].name", "maxLength"),
        # The library sets it.
        (".subGroupSize", "default"),
    },
    "Queue": {
        # `admission/queues.py` checks the bounds of a Queue.
        *((".parent", key) for key in ("maxLength", "pattern")),
        *((".priority", key) for key in ("format", "minimum")),
        *((".weight", key) for key in ("format", "maximum", "minimum")),
        (".type", "maxLength"),
        # The library sets it.
        (".weight", "default"),
    },
}
"""Ends of paths and keywords that a generated definition has in another form than Volcano's, with the reasons."""


class NewerJob(Job):
    """A job with one more field."""

    longest_wait: Count | None = None
    """Seconds that the job may wait."""


def generated() -> dict[str, dict[str, Any]]:
    """Return the generated definitions by kind."""
    return {definition["spec"]["names"]["kind"]: definition for definition in definitions.definitions()}


def spec_of(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of the spec."""
    (version,) = definition["spec"]["versions"]
    spec: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return spec


def test_the_definitions_are_of_the_kinds_that_the_library_writes() -> None:
    """Their names, groups and versions are those of the manifests."""
    found = {
        definition["metadata"]["name"]: f"{spec['group']}/{spec['versions'][0]['name']} {spec['names']['kind']}"
        for definition in definitions.definitions()
        for spec in [definition["spec"]]
    }

    assert found == {name: f"{kind.api_version} {kind.kind}" for name, kind in KINDS.items()}


def test_a_job_and_a_queue_have_the_fields_of_the_model() -> None:
    """A field of metadata is not part of the spec."""
    job, queue = (spec_of(generated()[kind])["properties"] for kind in ("Job", "Queue"))

    assert job.keys() == {field.alias for field in Job.model_fields.values()} - METADATA_FIELDS
    assert queue.keys() == queue_schema.DEFINITIONS[queue_schema.SPEC]["properties"].keys()


def test_a_new_field_of_the_model_is_in_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its type and its bounds."""
    monkeypatch.setattr(definitions, "Job", NewerJob)

    field = spec_of(generated()["Job"])["properties"]["longestWait"]

    assert field == {"type": "integer", "format": "int32", "minimum": 0}


@upstream.compares_with_definitions
@pytest.mark.parametrize("kind", DIFFERENT)
def test_a_generated_definition_equals_that_of_volcano(kind: str) -> None:
    """Its names, and each field with type, keys of lists, defaults and bounds."""
    ours = generated()[kind]
    (theirs,) = (item for item in upstream.definitions() if item["spec"]["names"]["kind"] == kind)

    assert frame(ours) == frame(theirs)
    one, other = (dict(facts(spec_of(definition))) for definition in (ours, theirs))
    different = {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}
    assert {key for key in different if not is_listed(kind, *key)} == set()
    assert {end for end in DIFFERENT[kind] if not any(path.endswith(end[0]) for path, _ in different)} == set()


def is_listed(kind: str, path: str, keyword: str) -> bool:
    """Check whether a difference is one of the intended ones."""
    return any(path.endswith(end) and keyword == name for end, name in DIFFERENT[kind])


def frame(definition: Mapping[str, Any]) -> Any:
    """Return a definition without its schema, and without columns and metadata that only people read."""
    spec = definition["spec"]
    (version,) = spec["versions"]
    served = {key: version[key] for key in ("name", "served", "storage", "subresources")}
    return definition["metadata"]["name"], {**spec, "versions": [served]}


def facts(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield each keyword of a schema with its path. A text or number is a quantity of any form."""
    is_quantity = "x-kubernetes-int-or-string" in schema
    for key, value in schema.items():
        # A generated definition sets empty defaults only for keys of lists.
        is_empty = key == "default" and not value
        is_left_out = key in ("description", "properties", "items", "additionalProperties") or is_empty
        if not (is_left_out or (is_quantity and key in ("anyOf", "pattern"))):
            yield (path, key), sorted(value) if key in ("enum", "required") else value
    for key, value in schema.get("properties", {}).items():
        yield from facts(value, f"{path}.{key}")
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if key in schema:
            yield from facts(schema[key], f"{path}{mark}")
