"""What a policy sees of jobs: resources of both modes as plain data, and what a preview does not know yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pulumi_policy.proxy import UnknownValueError

from pulumi_volcano_jobs.component.base import TOKEN
from pulumi_volcano_jobs.component.plugin_components import POD_SPEC, TASK
from pulumi_volcano_jobs.core.bounds import MOST_LEVELS
from pulumi_volcano_jobs.core.errors import Problem, job_error
from pulumi_volcano_jobs.core.tree import whole_number
from pulumi_volcano_jobs.kubernetes.manifest import JOB_NAME, TASK_SPEC
from pulumi_volcano_jobs.spec import document, names

JOB = f"kubernetes:{document.API_VERSION}:{document.KIND}"
POD_GROUP = "kubernetes:scheduling.volcano.sh/v1beta1:PodGroup"
POD = "kubernetes:core/v1:Pod"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
_NESTED = "$"


@dataclass(frozen=True)
class Unknown:
    """A value that a preview does not know; the rule looks at it when the update knows it."""

    error: UnknownValueError


Found: TypeAlias = "Iterator[Problem | Unknown]"
"""What a rule found, and what it could not look at."""


@dataclass(frozen=True)
class Seen:
    """A resource as the engine shows it to a policy."""

    kind: str
    """Its type, such as `kubernetes:core/v1:Pod`."""
    urn: str
    props: Mapping[str, Any]
    """Its properties, with an `Unknown` for each value that is not known."""

    @property
    def is_ours(self) -> bool:
        """Whether a VolcanoJob made it; its URN lists the types of all that it is in."""
        *_, types, _ = self.urn.split("::", 3)
        return TOKEN in types.split(_NESTED)[:-1]

    @property
    def job(self) -> str:
        """Say which job it belongs to, for a message."""
        metadata = at(self.props, "metadata")
        told = at(self.props, "job") if self.kind == TASK else at(metadata, "labels", JOB_NAME)
        name = told or at(metadata, "name")
        if self.kind == POD_GROUP and isinstance(name, str):
            name = names.job_of(name)
        return f"job {name}" if isinstance(name, str) else "job"


@dataclass(frozen=True)
class PodSpec:
    """The spec of a Pod, or of a Job's template."""

    place: str
    """Job and task, for a message."""
    fields: Mapping[str, Any]


def see(kind: str, urn: str, props: Mapping[str, Any]) -> Seen:
    """Return a resource as plain data. The engine sends whole numbers as floats, so convert them.

    Raises:
        JobError: if its properties are nested too deep.
    """
    return Seen(kind, urn, _plain(props))


def at(tree: Any, *keys: str) -> Any:
    """Give what is below these keys: None if there is nothing, an `Unknown` if that is not known."""
    for key in keys:
        if isinstance(tree, Unknown):
            return tree
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree


def items(tree: Any) -> Sequence[Any]:
    """Give the items of a list; a list that is not known is one item."""
    if isinstance(tree, Unknown):
        return [tree]
    return tree if isinstance(tree, list) else []


def pod_specs(seen: Seen) -> Iterator[PodSpec | Unknown]:
    """Yield the spec of a job's Pod or task, or those of all templates of a Job, whoever made it.

    An edit is seen in the task: the engine shows the old spec of a Pod that is there, since the component ignores its
    changes. What transforms add to a new Pod is seen in the Pod.
    """
    if seen.kind == POD and seen.is_ours:
        yield _pod_spec(task_of(seen), at(seen.props, "spec"))
    elif seen.kind == TASK and seen.is_ours:
        yield _pod_spec(task_of(seen), at(seen.props, POD_SPEC))
    elif seen.kind == JOB:
        for task in items(at(seen.props, "spec", "tasks")):
            place = f"{seen.job}, task {at(task, 'name')}"
            yield _pod_spec(place, at(task, "template", "spec"))


def task_of(seen: Seen) -> str:
    """Return the job and the task of a task's component or of a Pod, for a message."""
    name = at(seen.props, "task") if seen.kind == TASK else at(seen.props, "metadata", "labels", TASK_SPEC)
    return f"{seen.job}, task {name}"


def _pod_spec(place: str, fields: Any) -> PodSpec | Unknown:
    return fields if isinstance(fields, Unknown) else PodSpec(place, fields or {})


def _plain(tree: Any, level: int = 1) -> Any:
    is_list = isinstance(tree, Sequence) and not isinstance(tree, str)
    if level > MOST_LEVELS and (is_list or isinstance(tree, Mapping)):
        reason = f"Too deep: may not be nested more than {MOST_LEVELS} levels deep"
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
        return Unknown(error)
