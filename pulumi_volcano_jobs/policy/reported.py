"""Report a violation of a task once, and not again for each of its Pods."""

from __future__ import annotations

from collections.abc import Hashable

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.resource_types import POD, TASK
from pulumi_volcano_jobs.policy.resources import Findings, PolicyInput, UnknownValue


class ReportedFindings:
    """Reported findings of one policy, by the URN of the task's component."""

    def __init__(self) -> None:
        """Create an empty record."""
        self._by_task: dict[str, set[Hashable]] = {}

    def new_findings(self, resource: PolicyInput, parent: str, findings: Findings) -> Findings:
        """Yield the findings of a resource, except for a Pod if its task or an earlier Pod already reported them.

        The engine checks a task's component before its Pods, in a preview and in an update. Each check of the task
        starts again, so an update never skips a finding because a preview reported it.

        Args:
            resource: the resource.
            parent: the URN of the parent.
            findings: the findings of the resource.
        """
        if resource.kind == TASK:
            self._by_task[resource.urn] = set()
        known = self._by_task.get({TASK: resource.urn, POD.token: parent}.get(resource.kind, ""))
        for item in findings:
            key = _key(item)
            if known is None or key not in known:
                yield item
            if known is not None:
                known.add(key)


def _key(item: Problem | UnknownValue) -> Hashable:
    """Return a key that is equal for a task and its Pods: the message, or the path in the spec of an unknown value."""
    return tuple(item.error.props[1:]) if isinstance(item, UnknownValue) else str(item)
