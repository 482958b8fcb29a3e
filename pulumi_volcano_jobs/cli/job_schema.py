"""The JSON schema of job files, for editors: Jobs and Queues in the form for kubectl, with their documentation.

It checks types and names of fields. `volcano-jobs validate` also checks their values, and how they fit together.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from pulumi_volcano_jobs.core.docstrings import own_docs_of
from pulumi_volcano_jobs.core.resource_types import JOB, QUEUE
from pulumi_volcano_jobs.kubernetes import queue_schema, schema
from pulumi_volcano_jobs.plugins import BUILT_IN, Plugin
from pulumi_volcano_jobs.plugins.settings import flags_of
from pulumi_volcano_jobs.spec import model
from pulumi_volcano_jobs.spec.document import METADATA_FIELDS

Schema = dict[str, Any]
_DEFS, _DEFINITIONS = "#/$defs/", "#/definitions/"
_MODELS: tuple[type[model.Model], ...] = (
    model.Job,
    model.Task,
    model.Volume,
    model.Policy,
    model.DependsOn,
    model.NetworkTopology,
    model.PartitionPolicy,
)
# Fields that the models leave to Kubernetes' own schemas.
EMBEDDED = {("Task", "template"): schema.POD_TEMPLATE, ("Volume", "volumeClaim"): schema.CLAIM}
# Fields whose default in a file is not that of a program, to which their docstrings belong.
_DOCS = {("Task", "replicas"): "The number of Pods. Volcano's default is 0."}
# pydantic's keywords for bounds of numbers that a validator has converted.
_BOUNDS = {"ge": "minimum", "le": "maximum"}


def job_schema() -> Schema:
    """Return the schema of a document of a job file, in draft 07, which all editors know."""
    kubernetes = [schema.POD_TEMPLATE, schema.CLAIM, queue_schema.SPEC]
    definitions: Schema = {**schema.closed_definitions(kubernetes), **dict(map(_of_model, _MODELS))}
    job_fields = definitions["Job"]["properties"]
    metadata = {"type": "object", "properties": {key: job_fields.pop(key) for key in sorted(METADATA_FIELDS)}}
    definitions["Job"]["required"] = ["tasks"]
    job = _document(JOB.kind, JOB.api_version, "A Volcano Job.", metadata, {"$ref": f"{_DEFS}Job"})
    queue = _document(
        QUEUE.kind, QUEUE.api_version, "A Volcano Queue.", {"type": "object"}, {"$ref": _DEFS + queue_schema.SPEC}
    )
    document: Schema = _with_definitions(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "Volcano job file",
            "description": "A document of a file for kubectl: a Volcano Job, a Queue or any other object.",
            "type": "object",
            "properties": {
                "apiVersion": {"type": "string", "examples": [JOB.api_version, QUEUE.api_version]},
                "kind": {"type": "string", "examples": [JOB.kind, QUEUE.kind]},
            },
            "required": ["apiVersion", "kind"],
            # Other objects are accepted as they are.
            "allOf": [_if_document(job), _if_document(queue)],
            "definitions": definitions,
        }
    )
    return document


def _document(kind: str, api_version: str, description: str, metadata: Schema, spec: Schema) -> Schema:
    return {
        "description": description,
        "properties": {
            "apiVersion": {"const": api_version},
            "kind": {"const": kind},
            "metadata": {**metadata, "required": ["name"]},
            "spec": spec,
            "status": {"type": "object"},
        },
        "required": ["metadata"] + ["spec"] * (kind == JOB.kind),
        "additionalProperties": False,
    }


def _if_document(document: Schema) -> Schema:
    identity = {key: document["properties"][key] for key in ("apiVersion", "kind")}
    return {"if": {"properties": identity, "required": list(identity)}, "then": document}


def _of_model(kind: type[model.Model]) -> tuple[str, Schema]:
    """Return the schema of a model, without the models that it refers to."""
    docs = own_docs_of(kind)
    aliases = {field.alias or name: name for name, field in kind.model_fields.items()}
    fields = kind.model_json_schema(by_alias=True)["properties"]
    properties = {}
    for alias, name in aliases.items():
        field = _plugins() if (kind, alias) == (model.Job, "plugins") else _nullable(fields[alias])
        if definition := EMBEDDED.get((kind.__name__, alias)):
            field = {"$ref": _DEFS + definition}
        properties[alias] = {"description": _DOCS.get((kind.__name__, name), docs[name]), **field}
    required = sorted(alias for alias, name in aliases.items() if kind.model_fields[name].is_required())
    schema_of_model = {
        "description": inspect.getdoc(kind),
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    return kind.__name__, schema_of_model | ({"required": required} if required else {})


def _nullable(field: Any) -> Any:
    """Return pydantic's schema of a field in the style of Kubernetes: a list of types instead of `anyOf`."""
    if isinstance(field, list):
        return [_nullable(item) for item in field]
    if not isinstance(field, Mapping):
        return field
    shape = {_BOUNDS.get(key, key): _nullable(value) for key, value in field.items() if key not in {"title", "default"}}
    first, *others = shape.pop("anyOf", [shape])
    if not others:
        return shape
    if isinstance(first.get("type"), str) and others == [{"type": "null"}]:
        # An enumeration must contain null, as the type does.
        enum = {"enum": [*first["enum"], None]} if "enum" in first else {}
        return {**shape, **first, "type": [first["type"], "null"], **enum}
    return {**shape, "anyOf": [first, *others]}


def _plugins() -> Schema:
    """Return the schema of `plugins`: the arguments of each plugin. A plugin of another package has any arguments."""
    return {
        "type": ["object", "null"],
        "properties": {plugin.name: _arguments(plugin) for plugin in sorted(BUILT_IN, key=lambda item: item.name)},
        "additionalProperties": {"type": ["array", "null"]},
    }


def _arguments(plugin: type[Plugin]) -> Schema:
    docs = own_docs_of(plugin)
    flags = [f"--{flag}: {docs[name]}" for flag, name in sorted(flags_of(plugin).items()) if name in docs]
    return {
        "description": "\n\n".join([inspect.getdoc(plugin) or "", *flags]),
        "type": ["array", "null"],
        "items": {
            "type": ["string", "number", "boolean", "null"],
            "examples": [f"--{flag}=" for flag in sorted(flags_of(plugin))],
        },
    }


def _with_definitions(tree: Any) -> Any:
    """Return a schema whose references point into `definitions`, the keyword of draft 07."""
    if isinstance(tree, Mapping):
        return {
            key: value.replace(_DEFS, _DEFINITIONS) if key == "$ref" else _with_definitions(value)
            for key, value in tree.items()
        }
    return [_with_definitions(item) for item in tree] if isinstance(tree, (list, tuple)) else tree
