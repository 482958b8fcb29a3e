"""What a policy sees of jobs: resources of both modes as plain data, and what a preview does not know yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pulumi_policy.proxy import UnknownValueError

from pulumi_volcano_jobs.component.base_job import TOKEN
from pulumi_volcano_jobs.component.plugin_components import POD_SPEC, TASK
from pulumi_volcano_jobs.core.bounds import MOST_LEVELS
from pulumi_volcano_jobs.core.errors import Problem, job_error
from pulumi_volcano_jobs.core.tree import whole_number
from pulumi_volcano_jobs.kubernetes.manifest import JOB_NAME, TASK_SPEC
from pulumi_volcano_jobs.spec import document, naming

JOB = f"kubernetes:{document.API_VERSION}:{document.KIND}"
POD_GROUP = "kubernetes:scheduling.volcano.sh/v1beta1:PodGroup"
POD = "kubernetes:core/v1:Pod"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
_NESTED = "$"


@dataclass(frozen=True)
class UnknownValue:
    """A value that a preview does not know; the rule looks at it when the update knows it."""

    error: UnknownValueError


Findings: TypeAlias = "Iterator[Problem | UnknownValue]"
"""What a rule found, and what it could not look at."""


@dataclass(frozen=True)
class PolicyInput:
    """A resource as the engine shows it to a policy."""

    kind: str
    """Its type, such as `kubernetes:core/v1:Pod`."""
    urn: str
    props: Mapping[str, Any]
    """Its properties, with an `UnknownValue` for each value that is not known."""

    @property
    def is_ours(self) -> bool:
        """Whether a VolcanoJob made it; its URN lists the types of all that it is in."""
        *_, types, _ = self.urn.split("::", 3)
        return TOKEN in types.split(_NESTED)[:-1]

    @property
    def job(self) -> str:
        """Say which job it belongs to, for a message."""
        metadata = value_at(self.props, "metadata")
        job_name = value_at(self.props, "job") if self.kind == TASK else value_at(metadata, "labels", JOB_NAME)
        name = job_name or value_at(metadata, "name")
        if self.kind == POD_GROUP and isinstance(name, str):
            name = naming.job_of(name)
        return f"job {name}" if isinstance(name, str) else "job"


@dataclass(frozen=True)
class PodSpec:
    """The spec of a Pod, or of a Job's template."""

    place: str
    """Job and task, for a message."""
    fields: Mapping[str, Any]


def from_args(kind: str, urn: str, props: Mapping[str, Any]) -> PolicyInput:
    """Return a resource as plain data. The engine sends whole numbers as floats, so convert them.

    Raises:
        JobError: if its properties are nested too deep.
    """
    return PolicyInput(kind, urn, _plain(props))


def value_at(tree: Any, *keys: str) -> Any:
    """Give what is below these keys: None if there is nothing, an `UnknownValue` if that is not known."""
    for key in keys:
        if isinstance(tree, UnknownValue):
            return tree
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree


def items(tree: Any) -> Sequence[Any]:
    """Give the items of a list; a list that is not known is one item."""
    if isinstance(tree, UnknownValue):
        return [tree]
    return tree if isinstance(tree, list) else []


def pod_specs(resource: PolicyInput) -> Iterator[PodSpec | UnknownValue]:
    """Yield the spec of a job's Pod or task, or those of all templates of a Job, whoever made it.

    An edit is seen in the task: the engine shows the old spec of a Pod that is there, since the component ignores its
    changes. What transforms add to a new Pod is seen in the Pod.
    """
    if resource.kind == POD and resource.is_ours:
        yield _pod_spec(task_of(resource), value_at(resource.props, "spec"))
    elif resource.kind == TASK and resource.is_ours:
        yield _pod_spec(task_of(resource), value_at(resource.props, POD_SPEC))
    elif resource.kind == JOB:
        for task in items(value_at(resource.props, "spec", "tasks")):
            place = f"{resource.job}, task {value_at(task, 'name')}"
            yield _pod_spec(place, value_at(task, "template", "spec"))


def task_of(resource: PolicyInput) -> str:
    """Return the job and the task of a task's component or of a Pod, for a message."""
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
        raise job_error([Problem("", "Invalid", reason, "write it flatter")])
    if isinstance(tree, Mapping):
        return {key: _value(tree, key, level) for key in tree}
    if is_list:
        return [_value(tree, index, level) for index in range(len(tree))]
    return whole_number(tree)


def _value(tree: Any, key: Any, level: int) -> Any:
    # Pulumi's proxy raises this where a value is not known; one must not hide the others.
    try:
        return _plain(tree[key], level + 1)
    except UnknownValueError as error:
        return UnknownValue(error)
