"""Defaults that the jobs of a stack share, for arguments and for Pod templates.

An argument of a job overrides a default. In a template, defaults are added after the values that it has already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from pydantic.alias_generators import to_camel

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, key_text, wrong_type
from pulumi_volcano_jobs.core.leaf import Derived, Leaf, Text, derive, has_leaf, is_given
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.core.tree import without_none
from pulumi_volcano_jobs.kubernetes import images, schema, validation
from pulumi_volcano_jobs.kubernetes.validation.names import subdomain
from pulumi_volcano_jobs.spec.document import DOCUMENT_FIELDS
from pulumi_volcano_jobs.spec.fields import name_of_resource
from pulumi_volcano_jobs.spec.options import Defaults, ManagedBy, has_few_values, one_of_its_values

if TYPE_CHECKING:
    # The command line does not need these types, and their import takes time.
    from pulumi_volcano_jobs.kubernetes.template_types import TolerationDict


class JobDefaults(TypedDict, total=False):
    """Defaults for jobs. A field accepts an Output if the same argument of a job does. None means "not set"."""

    namespace: Text | None
    """The namespace of jobs that do not set one."""
    queue: Text | None
    """The queue of jobs that do not set one, such as `queue.name` of a VolcanoQueue."""
    priority_class_name: Text | None
    """The priority class of jobs that do not set one."""
    image_registry: Text | None
    """The registry for images that do not name one; see `image_registry` of a job."""
    image_pull_secrets: Sequence[Text] | None
    """Names of image pull Secrets for all Pods."""
    labels: Mapping[str, Text | None] | None
    """Labels of each job (of its PodGroup, or of the Job with `managed_by="volcano"`) and of all its Pods."""
    node_selector: Mapping[str, Text | None] | None
    """Node labels that all Pods require. A label of the task takes precedence over a default with the same key."""
    tolerations: Sequence[TolerationDict] | None
    """Tolerations for all Pods, as in YAML. One that a Pod has already is not added again."""
    defaults: Defaults | None
    """See `defaults` of a job."""
    managed_by: ManagedBy | None
    """See `managed_by` of a job."""
    kubernetes_version: str | None
    """See `kubernetes_version` of a job."""
    volcano_version: str | None
    """See `volcano_version` of a job."""


NAMES = tuple(JobDefaults.__annotations__)
OPTIONS = ("image_registry", "defaults", "managed_by", "kubernetes_version", "volcano_version")
"""Defaults that are not fields of a Volcano Job."""
STRUCTURED = ("image_pull_secrets", "labels", "node_selector", "tolerations")
"""Defaults whose value is a mapping or a list."""

_SPEC = ("image_pull_secrets", "node_selector", "tolerations")
_MAPPINGS = ("labels", "node_selector")
_CONTAINER = {"name": "main", "image": "main"}  # validation of a Pod requires a container
_PLACE = re.compile(r"template\.(?:spec|metadata)\.([A-Za-z]+)(.*)")
_SNAKE = {to_camel(name): name for name in STRUCTURED}


def validate(defaults: Any, place: Callable[[str], str]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the valid defaults, and the problems of the other ones.

    Args:
        defaults: the defaults, by their names in snake_case.
        place: returns the path of a default for messages.
    """
    if not isinstance(defaults, Mapping):
        return {}, [
            wrong_type(place(""), "a mapping", 'for example {"queue": "research"}', stage=RejectionStage.STRICT)
        ]
    problems = [
        Problem(place(key_text(name)), "Forbidden", "unknown default", suggestion(key_text(name), NAMES))
        for name in defaults
        if name not in NAMES
    ]
    given = {name: defaults[name] for name in NAMES if not _is_missing(name, defaults.get(name))}
    values = {name: without_none(value) if name in _MAPPINGS else value for name, value in given.items()}
    named_problems: list[tuple[str, Problem]] = []
    for name, value in values.items():
        named_problems += [
            (name, problem) for problem in _check_text(name, value, place(name)) if name not in STRUCTURED
        ]
    template = _template(values)
    pruner = schema.SchemaPruner()
    pruned = pruner.apply(template, schema.POD_TEMPLATE, "template")
    reported_paths = {problem.path for problem in pruner.problems}
    template_problems = [
        problem for problem in validation.check_template(pruned, "template") if problem.path not in reported_paths
    ]
    for problem in (*pruner.problems, *template_problems):
        name, tail = _default_at(problem.path)
        named_problems.append((name, replace(problem, path=place(name) + tail)))
    rejected = {name for name, _ in named_problems}
    valid = {name: value for name, value in values.items() if name not in rejected}
    return valid, [*problems, *(problem for _, problem in named_problems)]


def _is_missing(name: str, value: Any) -> bool:
    # An empty registry is a value: it overrides the registry of the stack's configuration.
    return value is None or (isinstance(value, str) and not value and name != "image_registry")


def _check_text(name: str, value: Any, path: str) -> Iterator[Problem]:
    if has_few_values(name):
        if isinstance(value, Leaf):
            yield schema.output_not_allowed(path, "it decides which objects the job has")
        else:
            yield from one_of_its_values(name, value, path)
    elif name == "image_registry":
        yield from images.check_registry(value, path)
    elif not isinstance(value, (str, Leaf)):
        name = name_of_resource(value)
        yield wrong_type(path, "a string", f"pass its {name}" if name else None)
    else:
        yield from (validation.dns_label if name == "namespace" else subdomain)(value, path)


def _template(values: Mapping[str, Any]) -> dict[str, Any]:
    spec = {to_camel(name): _on_the_wire(name, values[name]) for name in _SPEC if name in values}
    return {"metadata": {"labels": values.get("labels")}, "spec": {"containers": [_CONTAINER], **spec}}


def _on_the_wire(name: str, value: Any) -> Any:
    if name != "image_pull_secrets":
        return value
    if isinstance(value, Leaf):
        return Derived(_references, value)
    return _references(value) if isinstance(value, (list, tuple)) else value


def _references(names: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"name": name} for name in names]


def _default_at(path: str) -> tuple[str, str]:
    match = _PLACE.fullmatch(path)
    key, tail = match.groups() if match else (path, "")
    name = _SNAKE.get(key, key)
    return name, tail.removesuffix(".name") if name == "image_pull_secrets" else tail


def merge(own: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two sets of defaults: own texts override shared ones; mappings and lists are merged as with a task."""
    merged_structures = {
        name: _merge_mappings(own[name], shared[name]) if name in _MAPPINGS else _merge_lists(own[name], shared[name])
        for name in STRUCTURED
        if name in own and name in shared
    }
    return {**shared, **own, **merged_structures}


def apply(job: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a job's arguments, or of its document, with defaults applied, except the namespace."""
    result = dict(job)
    for name in OPTIONS:
        if name in defaults and result.get(name) is None:
            result[name] = defaults[name]
    if not DOCUMENT_FIELDS & job.keys():
        return _with_labels(_with_spec_defaults(result, defaults), defaults)
    metadata, spec = result.get("metadata"), result.get("spec")
    if isinstance(metadata, Mapping):
        result["metadata"] = _with_labels(metadata, defaults)
    if isinstance(spec, Mapping):
        result["spec"] = _with_spec_defaults(spec, defaults)
    return result


def _with_spec_defaults(spec: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(spec)
    for name in ("queue", "priority_class_name"):
        if name in defaults and not any(is_given(result.get(key)) for key in (name, to_camel(name))):
            result[to_camel(name)] = defaults[name]
    if isinstance(result.get("tasks"), (list, tuple)):
        result["tasks"] = [_task(task, defaults) for task in result["tasks"]]
    return result


def _task(task: Any, defaults: Mapping[str, Any]) -> Any:
    template = task.get("template") if isinstance(task, Mapping) else None
    if not isinstance(template, Mapping):
        return task
    new_template = dict(template)
    metadata, spec = template.get("metadata"), template.get("spec")
    if "labels" in defaults and (metadata is None or isinstance(metadata, Mapping)):
        new_template["metadata"] = _with_labels(metadata or {}, defaults)
    if isinstance(spec, Mapping):
        new_template["spec"] = {**spec, **_pod_fields(spec, defaults)}
    return {**task, "template": new_template}


def _pod_fields(spec: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    fields = {}
    for name in _SPEC:
        if name in defaults:
            key, shared = to_camel(name), _on_the_wire(name, defaults[name])
            own_value = spec.get(key)
            fields[key] = (
                shared
                if own_value is None
                else (_merge_mappings if name in _MAPPINGS else _merge_lists)(own_value, shared)
            )
    return fields


def _with_labels(holder: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    if "labels" not in defaults:
        return dict(holder)
    own_labels = holder.get("labels")
    return {
        **holder,
        "labels": dict(defaults["labels"]) if own_labels is None else _merge_mappings(own_labels, defaults["labels"]),
    }


def _merge_mappings(own: Any, shared: Any) -> Any:
    """Merge two mappings; the own value takes precedence for a key that both have."""
    if isinstance(own, Leaf) or isinstance(shared, Leaf):
        return derive(
            lambda own_mapping, shared_mapping: {**(shared_mapping or {}), **(own_mapping or {})}, own, shared
        )
    return {**shared, **own} if isinstance(own, Mapping) else own


def _merge_lists(own: Any, shared: Any) -> Any:
    """Append the shared items that the own list does not contain."""
    if isinstance(own, Leaf) or isinstance(shared, Leaf):
        return derive(lambda own_list, shared_list: _merge_lists(own_list or [], shared_list or []), own, shared)
    if not isinstance(own, (list, tuple)):
        return own
    return [*own, *(item for item in shared if not any(_are_same(item, other) for other in own))]


def _are_same(item: Any, other: Any) -> bool:
    # A leaf cannot be compared.
    return item is other or (not has_leaf([item, other]) and item == other)
