"""The resources of jobs as policies see them: plain data, with markers for values that a preview does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pulumi_policy.proxy import UnknownValueError

from pulumi_volcano_jobs.component.plugin_components import POD_SPEC
from pulumi_volcano_jobs.core.bounds import MOST_LEVELS
from pulumi_volcano_jobs.core.errors import Problem, job_error
from pulumi_volcano_jobs.core.resource_types import JOB, POD, POD_GROUP, TASK, VOLCANO_JOB
from pulumi_volcano_jobs.core.tree import whole_number
from pulumi_volcano_jobs.kubernetes.manifest import JOB_NAME, TASK_SPEC
from pulumi_volcano_jobs.spec import naming

_NESTED = "$"


@dataclass(frozen=True)
class UnknownValue:
    """A value that a preview does not know. The rule checks it during the update."""

    error: UnknownValueError


Findings: TypeAlias = "Iterator[Problem | UnknownValue]"
"""The problems of a resource, and the values that a rule cannot check yet."""


@dataclass(frozen=True)
class PolicyInput:
    """A resource as the engine passes it to a policy."""

    kind: str
    """The type, such as `kubernetes:core/v1:Pod`."""
    urn: str
    props: Mapping[str, Any]
    """The properties, with an `UnknownValue` for each unknown value."""

    @property
    def is_ours(self) -> bool:
        """Whether a VolcanoJob created the resource. Its URN contains the types of its parents."""
        *_, types, _ = self.urn.split("::", 3)
        return VOLCANO_JOB in types.split(_NESTED)[:-1]

    @property
    def job(self) -> str:
        """The job of the resource, for messages."""
        metadata = value_at(self.props, "metadata")
        job_name = value_at(self.props, "job") if self.kind == TASK else value_at(metadata, "labels", JOB_NAME)
        name = job_name or value_at(metadata, "name")
        if self.kind == POD_GROUP.token and isinstance(name, str):
            name = naming.job_of(name)
        return f"job {name}" if isinstance(name, str) else "job"


@dataclass(frozen=True)
class PodSpec:
    """The spec of a Pod, or of a template in a Job."""

    place: str
    """The job and the task, for messages."""
    fields: Mapping[str, Any]


def from_args(kind: str, urn: str, props: Mapping[str, Any]) -> PolicyInput:
    """Return a resource as plain data. The engine sends whole numbers as floats, which are converted.

    Raises:
        JobError: if the properties are nested too deeply.
    """
    return PolicyInput(kind, urn, _plain(props))


def value_at(tree: Any, *keys: str) -> Any:
    """Return the value at nested keys: None if it is missing, or an `UnknownValue` if it is unknown."""
    for key in keys:
        if isinstance(tree, UnknownValue):
            return tree
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree


def items(tree: Any) -> Sequence[Any]:
    """Return the items of a list. An unknown list is a single item."""
    if isinstance(tree, UnknownValue):
        return [tree]
    return tree if isinstance(tree, list) else []


def pod_specs(resource: PolicyInput) -> Iterator[PodSpec | UnknownValue]:
    """Yield the spec of a Pod or a task of a VolcanoJob, or the specs of all templates in any Job.

    The task contains an edit, while the engine shows the old spec of an existing Pod, because the component ignores its
    changes. A new Pod contains the edits of transforms.
    """
    if resource.kind == POD.token and resource.is_ours:
        yield _pod_spec(task_of(resource), value_at(resource.props, "spec"))
    elif resource.kind == TASK and resource.is_ours:
        yield _pod_spec(task_of(resource), value_at(resource.props, POD_SPEC))
    elif resource.kind == JOB.token:
        for task in items(value_at(resource.props, "spec", "tasks")):
            place = f"{resource.job}, task {value_at(task, 'name')}"
            yield _pod_spec(place, value_at(task, "template", "spec"))


def task_of(resource: PolicyInput) -> str:
    """Return the job and the task of a task component or a Pod, for messages."""
    name = (
        value_at(resource.props, "task")
        if resource.kind == TASK
        else value_at(resource.props, "metadata", "labels", TASK_SPEC)
    )
    return f"{resource.job}, task {name}"


def _pod_spec(place: str, fields: Any) -> PodSpec | UnknownValue:
    return fields if isinstance(fields, UnknownValue) else PodSpec(place, fields or {})


def _plain(tree: Any, level: int = 1) -> Any:
    is_list = isinstance(tree, Sequence) and not isinstance(tree, str)
    if level > MOST_LEVELS and (is_list or isinstance(tree, Mapping)):
        reason = f"may not be nested more than {MOST_LEVELS} levels deep"
        raise job_error([Problem("", "Invalid", reason, "reduce the nesting")])
    if isinstance(tree, Mapping):
        return {key: _value(tree, key, level) for key in tree}
    if is_list:
        return [_value(tree, index, level) for index in range(len(tree))]
    return whole_number(tree)


def _value(tree: Any, key: Any, level: int) -> Any:
    # Pulumi's proxy raises this error for an unknown value. The other values must still be checked.
    try:
        return _plain(tree[key], level + 1)
    except UnknownValueError as error:
        return UnknownValue(error)
