"""The result of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from pulumi_volcano_jobs.component.lookup import NamedItems
from pulumi_volcano_jobs.core.resource_types import POD, VOLCANO_JOB
from pulumi_volcano_jobs.core.tree import placed_scalars
from pulumi_volcano_jobs.testing.changes import Changes, compare
from pulumi_volcano_jobs.testing.job import Job
from pulumi_volcano_jobs.testing.mock_engine import Recording
from pulumi_volcano_jobs.testing.pods import Pod
from pulumi_volcano_jobs.testing.resources import KubernetesObject, Registration, Resource
from pulumi_volcano_jobs.testing.values import Wire, is_secret, is_unknown

R = TypeVar("R", bound=Resource)


class Result:
    """The resources, outputs and warnings of a program."""

    def __init__(self, recording: Recording, *, preview: bool, before: Result | None) -> None:
        """Read a recording."""
        self.preview = preview
        """Whether the run was a preview."""
        self.outputs: Wire = NamedItems("output", recording.outputs.items(), "the stack")
        """The outputs of the stack, with `SecretValue` and `UNKNOWN` for secret and unknown values."""
        self.warnings: list[str] = list(recording.warnings)
        """All logged warnings; `result.job("train").warnings` are the warnings of one job."""
        self.registrations: Mapping[str, Registration] = recording.registrations
        """The registrations by URN."""
        self._before = before
        self._by_urn: dict[str, Resource] = {}
        self._by_urn |= {urn: _view(item, self._by_urn) for urn, item in self.registrations.items()}

    @cached_property
    def resources(self) -> Mapping[str, Resource]:
        """All resources in order, by kind and name: `result.resources["Pod train-worker-0"]`.

        If several resources have the same kind and name, all except the first have their URNs as keys.
        """
        return _named("resource", self._by_urn.values(), str)

    @cached_property
    def jobs(self) -> Mapping[str, Job]:
        """The jobs by their names in the stack. A second job with the same name has its URN as key."""
        job_views = [item for item in self._by_urn.values() if isinstance(item, Job)]
        return _named("VolcanoJob", job_views, lambda item: item.name)

    def job(self, name: str) -> Job:
        """Return a job by its name in the stack.

        Raises:
            KeyError: if the job does not exist; the message lists the names of the jobs.
        """
        return self.jobs[name]

    @cached_property
    def changes(self) -> Changes:
        """The changes that the engine would make, compared with the run that was passed as `state`.

        Raises:
            ValueError: if `state` was not passed.
        """
        if self._before is None:
            raise ValueError("no earlier run to compare with: pass the result of an earlier run as run(..., state=...)")
        return compare(self._before.resources, self.resources)

    def tree(self) -> dict[str, str]:
        """Return the parent of each resource, both as kind and name; empty if the parent is the stack."""
        return {name: str(item.parent or "") for name, item in self.resources.items()}

    def manifests(self) -> dict[str, Wire]:
        """Return the manifests of all Kubernetes objects, by kind and name."""
        return {name: item.manifest for name, item in self.resources.items() if isinstance(item, KubernetesObject)}

    def names(self, kind: str) -> list[str]:
        """Return the names of the resources of a kind, in the order in which they were registered."""
        return [item.name for item in self.resources.values() if item.kind == kind]

    def leaves(self) -> dict[str, Any]:
        """Return all values, including marks, by path: `Pod train-worker-0: spec.containers[0].image`."""
        trees = {name: {**item.inputs, "(trigger)": item.replacement_trigger} for name, item in self.resources.items()}
        trees |= {f"{name} has": item.outputs for name, item in self.resources.items() if item.outputs}
        return {f"{name}: {path}": leaf for name, tree in trees.items() for path, leaf in placed_scalars(tree)}

    def secret(self) -> set[str]:
        """Return the paths of secret values."""
        return {place for place, leaf in self.leaves().items() if is_secret(leaf)}

    def unknown(self) -> set[str]:
        """Return the paths of values that are unknown or contain an unknown value."""
        return {place for place, leaf in self.leaves().items() if is_unknown(leaf)}

    def __repr__(self) -> str:
        """Return the numbers of jobs and resources, without values."""
        kind = "preview" if self.preview else "up"
        return f"<{kind} with {len(self.jobs)} jobs among {len(self.resources)} resources>"


def _view(item: Registration, stack: Mapping[str, Resource]) -> Resource:
    kind: type[Resource] = Resource
    if item.request.type == VOLCANO_JOB:
        kind = Job
    elif item.request.type == POD.token:
        kind = Pod
    elif item.request.custom and item.request.type.startswith("kubernetes:"):
        kind = KubernetesObject
    return kind(item, stack)


def _named(noun: str, items: Iterable[R], name: Callable[[R], str]) -> NamedItems[R]:
    named_items: NamedItems[R] = NamedItems(noun)
    for item in items:
        key = name(item)
        named_items[item.urn if key in named_items else key] = item
    return named_items
