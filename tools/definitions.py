"""Generate resource definitions (CRDs) of Volcano's Job, PodGroup and Queue for clusters of tests.

The fields are from `spec/model.py`, `kubernetes/queue_schema.py` and Kubernetes' schemas of Pod templates and claims,
so each field is declared once. The rules of Volcano's webhooks are not in a definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.admission import defaults
from pulumi_volcano_jobs.cli.job_schema import EMBEDDED
from pulumi_volcano_jobs.core.integers import MAX_INT32, MIN_INT32
from pulumi_volcano_jobs.core.resource_types import JOB, POD_GROUP, QUEUE, ObjectType
from pulumi_volcano_jobs.kubernetes import queue_schema, schema
from pulumi_volcano_jobs.spec.document import METADATA_FIELDS
from pulumi_volcano_jobs.spec.model import Job

Schema = dict[str, Any]

_LABEL_SELECTOR = "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"
_DEFAULTS: Mapping[tuple[str, str], Any] = {
    ("Job", "maxRetry"): defaults.MAX_RETRY,
    ("Job", "queue"): defaults.QUEUE,
    ("NetworkTopology", "mode"): defaults.TOPOLOGY_MODE,
}
_SHORT_NAMES = {JOB: ["vcjob", "vj"], POD_GROUP: ["pg", "podgroup-v1beta1"], QUEUE: ["q", "queue-v1beta1"]}
_QUANTITIES: Schema = {"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": True}}
_OF_MODELS = ("enum", "maxLength", "minItems", "pattern")
_OF_KUBERNETES = (
    "default",
    "enum",
    "format",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
)


def definitions() -> list[Schema]:
    """Return the definitions of all kinds."""
    job = _of_job()
    return [
        _definition(JOB, job, "Namespaced", {"status": {}}),
        _definition(POD_GROUP, _of_pod_group(job["properties"]), "Namespaced", {}),
        _definition(QUEUE, _of_kubernetes(queue_schema.SPEC), "Cluster", {"status": {}}),
    ]


def _definition(kind: ObjectType, spec: Schema, scope: str, subresources: Schema) -> Schema:
    group, _, version = kind.api_version.partition("/")
    singular = kind.kind.lower()
    names = {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": f"{singular}s",
        "shortNames": _SHORT_NAMES[kind],
        "singular": singular,
    }
    # Volcano's controllers alone write the status.
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "subresources": subresources,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {"group": group, "names": names, "scope": scope, "versions": [served]},
    }


def _of_job() -> Schema:
    """Return the spec of a Job. The model also has the metadata of the document."""
    model = Job.model_json_schema()
    models = {**model["$defs"], "Job": model}
    return _object(
        (key, _of_field("Job", key, models)) for key in models["Job"]["properties"] if key not in METADATA_FIELDS
    )


def _of_pod_group(job: Mapping[str, Schema]) -> Schema:
    """Return the spec of a PodGroup. Volcano copies its fields from a Job."""
    task: Mapping[str, Schema] = job["tasks"]["items"]["properties"]
    partition: Mapping[str, Schema] = task["partitionPolicy"]["properties"]
    sub_group = {
        "labelSelector": _of_kubernetes(_LABEL_SELECTOR),
        "matchLabelKeys": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"},
        "minSubGroups": partition["minPartitions"],
        "name": task["name"],
        "networkTopology": partition["networkTopology"],
        "subGroupSize": partition["partitionSize"],
    }
    return _object(
        {
            "minMember": job["minAvailable"],
            "minResources": _QUANTITIES,
            "minTaskMember": {"type": "object", "additionalProperties": task["minAvailable"]},
            "networkTopology": job["networkTopology"],
            "priorityClassName": job["priorityClassName"],
            "queue": job["queue"],
            "subGroupPolicy": {"type": "array", "items": _object(sub_group.items())},
        }.items()
    )


def _of_field(model: str, key: str, models: Mapping[str, Schema]) -> Schema:
    """Return the schema of a field of a model."""
    if (model, key) in EMBEDDED:
        return _of_kubernetes(EMBEDDED[model, key])
    converted = _of_value(models[model]["properties"][key], models)
    return converted | ({"default": _DEFAULTS[model, key]} if (model, key) in _DEFAULTS else {})


def _of_value(value: Schema, models: Mapping[str, Schema]) -> Schema:
    """Return pydantic's schema of a value as a structural schema, which has neither references nor nulls."""
    # A field whose known values are listed, but which accepts any text, lists the text last.
    *_, given = (item for item in value.get("anyOf", [value]) if item.get("type") != "null")
    if "anyOf" in given:
        return _of_value(given, models)
    if "$ref" in given:
        name = schema.referenced(given)
        model = models[name]
        fields = ((key, _of_field(name, key, models)) for key in model["properties"])
        return _object(fields, model.get("required", ()))
    kind = given["type"]
    converted = {"type": kind} | {key: given[key] for key in _OF_MODELS if key in given}
    if kind == "integer":
        converted |= _bounds(given)
    if kind == "array":
        converted["items"] = _of_value(given["items"], models)
    if kind == "object":
        converted["additionalProperties"] = _of_value(given["additionalProperties"], models)
    return converted


def _bounds(number: Schema) -> Iterator[tuple[str, Any]]:
    """Yield the bounds of a number. For a converted value, pydantic uses the names of its arguments."""
    minimum, maximum = (number.get(name, number.get(key)) for name, key in (("minimum", "ge"), ("maximum", "le")))
    if maximum == MAX_INT32:
        yield "format", "int32"
    if minimum != MIN_INT32:
        yield "minimum", minimum


def _of_kubernetes(definition: str) -> Schema:
    """Return the structural schema of a definition of Kubernetes or of a Queue."""
    default_values = schema.defaults(definition)
    fields = {
        key: _of_kubernetes_field(value) | ({"default": default_values[key]} if key in default_values else {})
        for key, value in schema.field_schemas(definition).items()
    }
    for field in fields.values():
        _set_defaults_of_keys(field)
    atomic = {"x-kubernetes-map-type": "atomic"} if schema.is_atomic(definition) else {}
    return _object(fields.items(), schema.required(definition)) | atomic


def _set_defaults_of_keys(field: Schema) -> None:
    """Set an empty default for each optional key of the entries of a list, which the API server demands."""
    for key in field.get("x-kubernetes-list-map-keys", ()):
        entry = field["items"]
        if key not in entry.get("required", ()):
            entry["properties"][key].setdefault("default", "")


def _of_kubernetes_field(field: Mapping[str, Any]) -> Schema:
    reference = schema.referenced(field)
    if reference in (schema.QUANTITY, schema.INT_OR_STRING):
        return {"x-kubernetes-int-or-string": True}
    if reference:
        return _of_kubernetes(reference)
    kinds = field["type"]
    converted = {"type": kinds if isinstance(kinds, str) else kinds[0]}
    converted |= {key: field[key] for key in _OF_KUBERNETES if key in field}
    if "items" in field:
        converted["items"] = _of_kubernetes_field(field["items"])
    if "additionalProperties" in field:
        converted["additionalProperties"] = _of_kubernetes_field(field["additionalProperties"])
    return converted


def _object(fields: Iterable[tuple[str, Schema]], required: Iterable[str] = ()) -> Schema:
    needed = {"required": sorted(required)} if required else {}
    return {"type": "object", "properties": dict(fields), **needed}
