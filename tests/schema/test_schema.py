"""The committed schema is that of the provider, has descriptions, and is compatible with the last release."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from importlib.metadata import metadata, version
from pathlib import Path
from typing import Any

import packageschema
import pytest

from pulumi_volcano_jobs.component import VolcanoJobArgs, provider_inputs, queue_args
from pulumi_volcano_jobs.component.provider_inputs import VolcanoJobInputs, VolcanoQueueInputs
from pulumi_volcano_jobs.spec.model import DependsOn, NetworkTopology, PartitionPolicy, Policy, Task, Volume

Schema = dict[str, Any]
RELEASED = Path(__file__).with_name("released.json")
"""The schema of the last release. Before the first release it is the first committed schema."""
JOB = "volcano-jobs:index:VolcanoJob"
TASK = "volcano-jobs:index:Task"


def committed() -> Schema:
    """Read the committed schema."""
    schema: Schema = json.loads(packageschema.COMMITTED.read_text("utf-8"))
    return schema


def properties() -> Iterator[tuple[str, Schema]]:
    """Return each input, output and field by its place."""
    schema = committed()
    for token, item in {**schema["resources"], **schema["types"]}.items():
        for part in ("inputProperties", "properties"):
            for name, value in item.get(part, {}).items():
                yield f"{token} {part} {name}", value


def parts(value: Schema) -> Iterator[Schema]:
    """Return the type of a property, and the types of its items."""
    yield value
    for key in ("items", "additionalProperties"):
        if key in value:
            yield from parts(value[key])


def test_the_committed_schema_is_the_providers() -> None:
    """After a change of the component `make schema` updates it, so that a review shows the change."""
    assert packageschema.COMMITTED.read_text("utf-8") == packageschema.text(), "run `make schema`"


def test_programs_of_the_last_release_stay_valid() -> None:
    """The schema has all earlier properties with the same types; a breaking release replaces released.json."""
    assert list(packageschema.breaks(json.loads(RELEASED.read_text("utf-8")), committed())) == []


def test_the_schema_has_the_metadata_of_the_package() -> None:
    """Such as name, version and licence of the distribution."""
    schema = committed()

    assert schema["name"] == "volcano-jobs"
    assert schema["version"] == version("pulumi-volcano-jobs")
    assert schema["displayName"] == "Volcano Jobs"
    assert schema["description"] == metadata("pulumi-volcano-jobs")["Summary"]
    assert schema["license"] == "Apache-2.0"
    assert {"volcano", "pytorch", "kind/component", "category/infrastructure"} <= set(schema["keywords"])


def test_everything_has_a_description_of_one_line() -> None:
    """Docstrings are the descriptions of the component, its types, inputs and outputs."""
    schema = committed()
    described = dict(properties()) | schema["resources"] | schema["types"]

    assert [place for place, value in described.items() if not value.get("description")] == []
    assert [place for place, value in described.items() if "\n" in value["description"]] == []


def test_no_property_has_two_types() -> None:
    """Other languages do not have union types."""
    kinds = {
        tuple(sorted(part.keys() - {"description", "plain"})) for _, value in properties() for part in parts(value)
    }

    assert kinds == {("$ref",), ("type",), ("items", "type"), ("additionalProperties", "type")}


def test_structure_is_plain_and_leaves_are_inputs() -> None:
    """Lists, maps and types decide which objects exist. An Output is a single value, or lies within `Any`."""
    inputs_only = [
        value for place, value in properties() if ":index:Volcano" not in place or " inputProperties " in place
    ]
    leaves = [part for value in inputs_only for part in parts(value) if "plain" not in part]

    assert {part["type"] for part in leaves} == {"string", "integer", "boolean"}


def test_inputs_that_decide_about_objects_are_plain() -> None:
    """The other inputs of a job can be Outputs."""
    job = committed()["resources"][JOB]["inputProperties"]

    assert {name for name, value in job.items() if any("plain" not in part for part in parts(value))} == {
        "annotations",
        "imageRegistry",
        "labels",
        "namespace",
        "plugins",
        "priorityClassName",
        "queue",
    }


def test_all_languages_have_the_arguments_of_python() -> None:
    """Each argument of Python is an input; settings for all jobs are in the stack configuration."""
    assert VolcanoJobInputs.__annotations__.keys() == VolcanoJobArgs.__annotations__.keys() - {"job_defaults"}
    assert VolcanoQueueInputs.__annotations__.keys() == queue_args.VolcanoQueueArgs.__annotations__.keys()


@pytest.mark.parametrize("name", ["QueueAffinity", "QueueCluster", "QueueGuarantee", "QueueNodeGroups"])
def test_a_type_of_a_queue_has_the_fields_of_python(name: str) -> None:
    """With the same names."""
    assert (
        getattr(provider_inputs, name).__annotations__.keys()
        == getattr(queue_args, f"{name}Args").__annotations__.keys()
    )


@pytest.mark.parametrize("model", [Task, Policy, Volume, NetworkTopology, PartitionPolicy, DependsOn])
def test_a_type_has_the_fields_of_volcano(model: Any) -> None:
    """The spec of a Volcano Job is valid without changes."""
    assert getattr(provider_inputs, model.__name__).__annotations__.keys() == model.model_fields.keys()


def without(schema: Schema, *path: str) -> None:
    """Remove a value from a schema."""
    *above, last = path
    for key in above:
        schema = schema[key]
    del schema[last]


def changed(schema: Schema, value: Any, *path: str) -> None:
    """Set a value in a schema."""
    *above, last = path
    for key in above:
        schema = schema[key]
    schema[last] = value


BREAKS: dict[str, tuple[Any, str]] = {
    "a resource": (lambda new: without(new, "resources", JOB), "VolcanoJob was removed"),
    "a type": (lambda new: without(new, "types", TASK), "Task was removed"),
    "an input": (
        lambda new: without(new, "resources", JOB, "inputProperties", "queue"),
        "VolcanoJob, input queue was removed",
    ),
    "an output": (
        lambda new: without(new, "resources", JOB, "properties", "hosts"),
        "VolcanoJob, output hosts was removed",
    ),
    "a field": (lambda new: without(new, "types", TASK, "properties", "replicas"), "Task, input replicas was removed"),
    "the type of an input": (
        lambda new: changed(new, "number", "resources", JOB, "inputProperties", "minAvailable", "type"),
        "VolcanoJob, input minAvailable has another type",
    ),
    "the type of a list's items": (
        lambda new: changed(new, "#/types/other", "resources", JOB, "inputProperties", "tasks", "items", "$ref"),
        "VolcanoJob, input tasks has another type",
    ),
    "an input that becomes plain": (
        lambda new: changed(new, 1, "resources", JOB, "inputProperties", "queue", "plain"),
        "VolcanoJob, input queue has another type",
    ),
    "an input that becomes required": (
        lambda new: changed(new, ["tasks"], "resources", JOB, "requiredInputs"),
        "VolcanoJob, input tasks is required",
    ),
    "a field that becomes required": (
        lambda new: changed(new, ["name"], "types", TASK, "required"),
        "Task, input name is required",
    ),
    "an output that may be missing": (
        lambda new: changed(new, ["name", "namespace", "podGroupName", "podNames"], "resources", JOB, "required"),
        "VolcanoJob, output hosts may be missing",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
def test_a_breaking_change_is_reported(what: str) -> None:
    """Each change has one line."""
    change, said = BREAKS[what]
    new = copy.deepcopy(committed())
    change(new)

    if what == "an output":
        new["resources"][JOB]["required"].remove("hosts")
        assert list(packageschema.breaks(committed(), new)) == [said, "VolcanoJob, output hosts may be missing"]
    else:
        assert list(packageschema.breaks(committed(), new)) == [said]


def test_a_compatible_change_is_not_reported() -> None:
    """Such as another optional input, type or output, or other descriptions."""
    new = copy.deepcopy(committed())
    new["resources"][JOB]["inputProperties"]["more"] = {"type": "string"}
    new["resources"][JOB]["properties"]["more"] = {"type": "string"}
    new["resources"][JOB]["required"].append("more")
    new["types"]["volcano-jobs:index:More"] = {"type": "object", "properties": {}, "required": ["a"]}
    new["types"][TASK]["properties"]["more"] = {"type": "integer"}
    changed(new, "In other words.", "resources", JOB, "inputProperties", "queue", "description")

    assert list(packageschema.breaks(committed(), new)) == []
