"""Report a violation of a task once, and not again for each of its Pods."""

from __future__ import annotations

from collections.abc import Hashable

from pulumi_volcano_jobs.component.plugin_components import TASK
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.policy.resources import POD, Found, Seen, Unknown


class Reported:
    """Reported findings of one policy, by the URN of the task's component."""

    def __init__(self) -> None:
        """Start without findings."""
        self._by_task: dict[str, set[Hashable]] = {}

    def once(self, seen: Seen, parent: str, found: Found) -> Found:
        """Yield the findings of a resource, without those of a Pod that were reported for its task or an earlier Pod.

        The engine checks a task's component before its Pods, in a preview and in an update. Each check of the task
        starts again, so an update never skips a finding because a preview reported it.

        Args:
            seen: the resource.
            parent: the URN of its parent.
            found: its findings.
        """
        if seen.kind == TASK:
            self._by_task[seen.urn] = set()
        known = self._by_task.get({TASK: seen.urn, POD: parent}.get(seen.kind, ""))
        for item in found:
            key = _key(item)
            if known is None or key not in known:
                yield item
            if known is not None:
                known.add(key)


def _key(item: Problem | Unknown) -> Hashable:
    """Return a key that is equal for a task and its Pods: the message, or the path in the spec of an unknown value."""
    return tuple(item.error.props[1:]) if isinstance(item, Unknown) else str(item)
