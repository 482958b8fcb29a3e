"""Check for unknown fields of a Job, and suggest a known field, or the right place, for each."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, key_text
from pulumi_volcano_jobs.core.field_places import Child, FieldTree, Kind
from pulumi_volcano_jobs.core.resource_types import JOB
from pulumi_volcano_jobs.core.suggestions import closest, suggestion
from pulumi_volcano_jobs.kubernetes import queue_schema, schema
from pulumi_volcano_jobs.plugins import registry
from pulumi_volcano_jobs.spec.document import DOCUMENT_FIELDS, IN_METADATA, METADATA_FIELDS
from pulumi_volcano_jobs.spec.model import Job, Model, Volume

_DOCUMENT, _METADATA = "document", "metadata"
_EMBEDDED = {"template": schema.POD_TEMPLATE, "volumeClaim": schema.CLAIM}
# Fields of other APIs with the same purpose as a field of a Job.
_OTHER_APIS = {
    "backoffLimit": "set spec.maxRetry",
    "completions": "set spec.tasks[0].replicas",
    "minMember": "set spec.minAvailable",
    "parallelism": "set spec.tasks[0].replicas",
}
# Fields of a volume of a Pod with the same purpose as a field of `spec.volumes`.
_OF_POD_VOLUMES = {"persistentVolumeClaim": "set volumeClaimName"}
_IDENTITY = {"apiVersion": f"write apiVersion: {JOB.api_version}", "kind": f"write kind: {JOB.kind}"}


def check(job: Job) -> Iterator[Problem]:
    """Yield a Problem for each unknown field of a job, outside of its templates and new claims."""
    for key, value in (job.model_extra or {}).items():
        parent, name = _place(key)
        known = {"": DOCUMENT_FIELDS, "metadata": METADATA_FIELDS, "spec": _names(type(job))}[parent]
        yield _unknown(_job_path(key), _of_job(name, value, parent) or suggestion(name, known))
    yield from _below(job, "")


def _below(model: Model, path: str) -> Iterator[Problem]:
    for name, field in type(model).model_fields.items():
        value, alias = getattr(model, name), field.alias or name
        place = paths.join(path, alias) if path else _job_path(alias)
        if isinstance(value, Model):
            yield from _of_part(value, place)
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, Model):
                    yield from _of_part(item, paths.join(place, index))


def _of_part(model: Model, path: str) -> Iterator[Problem]:
    for key in model.model_extra or {}:
        of_pod = _OF_POD_VOLUMES.get(key, "") if isinstance(model, Volume) else ""
        hint = of_pod or TREE.hint(key, path) or suggestion(key, _names(type(model)))
        yield _unknown(paths.join(path, key), hint)
    yield from _below(model, path)


def _unknown(path: str, hint: str) -> Problem:
    return Problem(path, "Forbidden", "unknown field; Volcano drops it", hint)


def _of_job(name: str, value: Any, path: str) -> str:
    """Return the hint for an unknown field of the document, its metadata or its spec."""
    if identity := closest(name, _IDENTITY, 0.9) if not path else "":
        return _IDENTITY[identity]
    if name in _OTHER_APIS:
        return _OTHER_APIS[name]
    if registry.find(name) and _are_arguments(value):
        return f"move it to spec.plugins.{name}"
    if (child := schema.fields_of(queue_schema.SPEC).get(name)) and _fits(value, child):
        return f"set it in the Queue, as spec.{name}"
    return TREE.hint(name, path)


def _fits(value: Any, child: Child) -> bool:
    """Check whether a value may be that of a field: the affinity of a Pod has other fields than that of a Queue."""
    is_object = isinstance(value, Mapping) and child.kind is not None and not child.is_list
    return not is_object or value.keys() <= schema.fields_of(child.kind).keys()


def _are_arguments(value: Any) -> bool:
    """Check whether a value can be the arguments of a plugin, and not the variables (`env`) of a container."""
    return value is None or (isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value))


@functools.cache
def _fields_of(kind: Kind) -> Mapping[str, Child]:
    """Return the fields of a document, of its metadata, of a model, or of a Kubernetes definition."""
    if kind == _DOCUMENT:
        return {**dict.fromkeys(DOCUMENT_FIELDS, Child()), "metadata": Child(_METADATA), "spec": Child(Job)}
    if kind == _METADATA:
        return dict.fromkeys(IN_METADATA, Child())
    if not isinstance(kind, type):
        return schema.fields_of(kind)
    children: dict[str, Child] = {}
    for name, field in kind.model_fields.items():  # type: ignore[attr-defined]  # it is a Model
        alias = field.alias or name
        model, is_list = _model_in(field.annotation)
        children[alias] = Child(_EMBEDDED[alias]) if alias in _EMBEDDED else Child(model, is_list)
    return {name: child for name, child in children.items() if kind is not Job or name not in METADATA_FIELDS}


def _model_in(annotation: Any) -> tuple[type[Model] | None, bool]:
    """Return the model in the type of a field, and whether the field is a list of it."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation, False
    origin = get_origin(annotation)
    for argument in get_args(annotation):
        model, is_list = _model_in(argument)
        if model:
            return model, is_list or (isinstance(origin, type) and issubclass(origin, Sequence))
    return None, False


TREE = FieldTree(_DOCUMENT, "", _fields_of)
"""The fields of a Job for kubectl, with its templates and new claims."""


def _names(model: type[Model]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def _job_path(key: str) -> str:
    """Return the path of a key in the flat job."""
    parent, name = _place(key)
    return paths.join(parent, key_text(name)) if parent else name


def _place(key: str) -> tuple[str, str]:
    """Return the parent and the name of a key in the flat job. The name may have dots. `flatten` adds the prefixes."""
    for prefix, parent in ((".metadata.", "metadata"), (".", ""), ("spec.", "spec")):
        if key.startswith(prefix):
            return parent, key.removeprefix(prefix)
    return "metadata" if key in IN_METADATA else "spec", key
