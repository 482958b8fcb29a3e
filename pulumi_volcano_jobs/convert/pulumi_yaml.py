"""Convert jobs to Pulumi YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic.alias_generators import to_camel

from pulumi_volcano_jobs.convert.program import (
    Objects,
    Program,
    ResourceNames,
    Secrets,
    metadata_of,
    ordered_fields,
    with_references,
)
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.resource_types import PRIORITY_CLASS, SECRET, VOLCANO_JOB, VOLCANO_QUEUE
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.spec.model import Job, Model

_GROUP = "kubernetes:yaml/v2:ConfigGroup"
_SEVERAL = "volcano-jobs"
# Fields of a manifest that its resource does not have as properties.
_IDENTITY = frozenset({"apiVersion", "kind", "metadata"})
_SECRET_VALUES = frozenset({"data", "stringData"})


def to_yaml(jobs: Sequence[Job], objects: Objects | None = None, **options: Any) -> Program:
    """Return a Pulumi YAML program that creates the jobs and the other objects of their files.

    The jobs are the results of `render_normalized`, which was called with the same options.
    """
    objects = objects or Objects()
    names = ResourceNames.of(jobs, objects)
    secrets = Secrets(names.all)
    options_by_alias = {to_camel(option): value for option, value in options.items()}
    queues = _queues(objects, names)
    classes = _priority_classes(objects, names)
    resources = {**queues, **classes}
    if objects.group:
        properties = {"skipAwait": True, "objs": _literal(list(objects.group))}
        resources[names.group] = _resource(_GROUP, properties, resources)
    group = [names.group] if objects.group else []
    resources |= {
        name: _resource(SECRET.token, _secret(item, name, secrets), group)
        for item, name in zip(objects.secrets, names.secrets, strict=True)
    }
    queue_names = _references(names.queues, [fields["name"] for fields in objects.queues], "name")
    class_names = _references(names.priority_classes, map(_name, objects.priority_classes), "id")
    for job, name in zip(jobs, names.jobs, strict=True):
        properties = options_by_alias | _properties(with_references(job, queue_names, class_names), name, secrets)
        resources[name] = _resource(VOLCANO_JOB, properties, [*group, *names.secrets])
    project = names.jobs[0] if len(names.jobs) == 1 else _SEVERAL
    program: dict[str, Any] = {"name": project, "runtime": "yaml"}
    if secrets.found:
        program["config"] = {secret.key: {"type": "string", "secret": True} for secret in secrets.found}
    text = job_file.dump_as_ordered({**program, "resources": resources})
    return Program(text, tuple(secrets.found))


def _resource(kind: str, properties: Mapping[str, Any], depends_on: Iterable[str] = ()) -> dict[str, Any]:
    dependencies = [f"${{{name}}}" for name in depends_on]
    options = {"options": {"dependsOn": dependencies}} if dependencies else {}
    return {"type": kind, "properties": properties, **options}


def _references(resources: Sequence[str], names: Iterable[str], output: str) -> dict[str, Leaf]:
    """Return the output of each resource by the name of its object."""
    return {name: Leaf(f"{resource}.{output}") for resource, name in zip(resources, names, strict=True)}


def _name(manifest: Manifest) -> str:
    name: str = manifest["metadata"]["name"]
    return name


def _queues(objects: Objects, names: ResourceNames) -> dict[str, Any]:
    parents = _references(names.queues, [fields["name"] for fields in objects.queues], "name")
    resources = {}
    for fields, resource in zip(objects.queues, names.queues, strict=True):
        properties = {key: value for key, value in fields.items() if (key, value) != ("name", resource)}
        if fields.get("parent") in parents:
            properties["parent"] = parents[fields["parent"]]
        resources[resource] = _resource(VOLCANO_QUEUE, _literal(properties))
    return resources


def _priority_classes(objects: Objects, names: ResourceNames) -> dict[str, Any]:
    return {
        name: _resource(PRIORITY_CLASS.token, _literal(_of_manifest(item)))
        for item, name in zip(objects.priority_classes, names.priority_classes, strict=True)
    }


def _of_manifest(manifest: Manifest) -> dict[str, Any]:
    return {
        "metadata": metadata_of(manifest),
        **{key: value for key, value in manifest.items() if key not in _IDENTITY},
    }


def _secret(manifest: Manifest, resource: str, secrets: Secrets) -> dict[str, Any]:
    """Return the properties of a Secret, whose values come from the configuration."""
    fields = {key: value for key, value in _of_manifest(manifest).items() if key not in _SECRET_VALUES}
    properties: dict[str, Any] = _literal(fields)
    for field in sorted(_SECRET_VALUES):
        if manifest.get(field):
            properties[field] = {
                _literal(key): f"${{{secrets.add_value(f'{resource}-{key}', value)}}}"
                for key, value in manifest[field].items()
            }
    return properties


def _properties(job: Job, resource: str, secrets: Secrets) -> dict[str, Any]:
    """Return the inputs of the component. Plugins are written as Volcano's arguments."""
    properties = {}
    for name, alias, value in ordered_fields(job):
        if name == "plugins":
            properties[alias] = {
                plugin_name: _arguments(plugin, resource, secrets) for plugin_name, plugin in value.items()
            }
        elif (name, value) != ("name", resource):
            properties[alias] = _literal(_wire(value))
    return properties


def _arguments(plugin: Plugin, resource: str, secrets: Secrets) -> list[Any]:
    # A Leaf becomes an argument after its flag.
    hidden: dict[str, Any] = {setting: Leaf(key) for setting, key in secrets.add(resource, plugin).items()}
    arguments = plugin.unchecked(hidden).to_args()
    return [_literal(item) for item in arguments]


def _wire(value: Any) -> Any:
    if isinstance(value, Model):
        return {alias: _wire(item) for _, alias, item in ordered_fields(value)}
    return [_wire(item) for item in value] if isinstance(value, tuple) else value


def _literal(tree: Any) -> Any:
    """Escape `${...}` in texts and keys: Pulumi YAML reads `$$` as one dollar sign. A leaf becomes a reference."""
    if isinstance(tree, Leaf):
        return f"${{{tree.path}}}"
    if isinstance(tree, Mapping):
        return {_literal(key): _literal(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_literal(item) for item in tree]
    return re.sub(r"\$\$+|\$(?=\{)", lambda match: match[0] * 2, tree) if isinstance(tree, str) else tree
