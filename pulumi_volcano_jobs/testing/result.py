"""What a program did, to be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from pulumi_volcano_jobs.component.base_job import TOKEN
from pulumi_volcano_jobs.testing.changes import Changes, compare
from pulumi_volcano_jobs.testing.job import Job
from pulumi_volcano_jobs.testing.lookup import NamedItems
from pulumi_volcano_jobs.testing.mock_engine import Recording
from pulumi_volcano_jobs.testing.pods import Pod
from pulumi_volcano_jobs.testing.resources import KubernetesObject, Registration, Resource
from pulumi_volcano_jobs.testing.values import Wire, is_secret, is_unknown, leaves

R = TypeVar("R", bound=Resource)
_POD = "kubernetes:core/v1:Pod"


class Result:
    """What a program registered, exported and warned of."""

    def __init__(self, recording: Recording, *, preview: bool, before: Result | None) -> None:
        """Take what was recorded."""
        self.preview = preview
        """Whether it was a preview."""
        self.outputs: Wire = NamedItems("output", recording.outputs.items(), "the stack")
        """What the stack exports, with `SecretValue` and `UNKNOWN` in the place of what is secret and not known."""
        self.warnings: list[str] = list(recording.warnings)
        """All warnings that were logged; `result.job("train").warnings` are those of one job."""
        self.registrations: Mapping[str, Registration] = recording.registrations
        """What went over the wire, by URN."""
        self._before = before
        self._by_urn: dict[str, Resource] = {}
        self._by_urn |= {urn: _view(item, self._by_urn) for urn, item in self.registrations.items()}

    @cached_property
    def resources(self) -> Mapping[str, Resource]:
        """All resources, in order, by kind and name: `result.resources["Pod train-worker-0"]`.

        Where several have the same, as in two components, all but the first are there by their URNs.
        """
        return _named("resource", self._by_urn.values(), str)

    @cached_property
    def jobs(self) -> Mapping[str, Job]:
        """The jobs by name in the stack (by URN where another has that name)."""
        job_views = [item for item in self._by_urn.values() if isinstance(item, Job)]
        return _named("VolcanoJob", job_views, lambda item: item.name)

    def job(self, name: str) -> Job:
        """Give a job by its name in the stack.

        Raises:
            KeyError: with the names of the jobs that there are.
        """
        return self.jobs[name]

    @cached_property
    def changes(self) -> Changes:
        """What the engine would change, compared with the run that was given as `state`.

        Raises:
            ValueError: if none was given.
        """
        if self._before is None:
            raise ValueError("there is nothing to compare with: give run(..., state=...) the result of an earlier run")
        return compare(self._before.resources, self.resources)

    def tree(self) -> dict[str, str]:
        """Give the parent of each resource, both by kind and name; that of the stack's own is empty."""
        return {name: str(item.parent or "") for name, item in self.resources.items()}

    def manifests(self) -> dict[str, Wire]:
        """Give the manifests of all objects of the cluster, by kind and name."""
        return {name: item.manifest for name, item in self.resources.items() if isinstance(item, KubernetesObject)}

    def names(self, kind: str) -> list[str]:
        """Give the names of the resources of a kind, in the order in which they were registered."""
        return [item.name for item in self.resources.values() if item.kind == kind]

    def leaves(self) -> dict[str, Any]:
        """List all values, marks included, by place: `Pod train-worker-0: spec.containers[0].image`."""
        trees = {name: {**item.inputs, "(trigger)": item.replacement_trigger} for name, item in self.resources.items()}
        trees |= {f"{name} has": item.outputs for name, item in self.resources.items() if item.outputs}
        return {f"{name}: {path}": leaf for name, tree in trees.items() for path, leaf in leaves(tree)}

    def secret(self) -> set[str]:
        """List the places of secrets."""
        return {place for place, leaf in self.leaves().items() if is_secret(leaf)}

    def unknown(self) -> set[str]:
        """List the places of what is not known, or has something in it that is not."""
        return {place for place, leaf in self.leaves().items() if is_unknown(leaf)}

    def __repr__(self) -> str:
        """Say how much there is, and no value."""
        kind = "preview" if self.preview else "up"
        return f"<{kind} with {len(self.jobs)} jobs among {len(self.resources)} resources>"


def _view(item: Registration, stack: Mapping[str, Resource]) -> Resource:
    kind: type[Resource] = Resource
    if item.request.type == TOKEN:
        kind = Job
    elif item.request.type == _POD:
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
