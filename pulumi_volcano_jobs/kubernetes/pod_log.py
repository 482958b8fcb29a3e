"""Record which writer sets which value in a Pod: the template, the job, a plugin."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from pulumi_volcano_jobs.kubernetes.manifest import Pod

TEMPLATE, JOB = "the template", "the job"
"""The writers that are not plugins."""
Values = Mapping[Any, Mapping[Any, Any]]
"""Values of a Pod by section, such as the variables of one container, and by key."""


class PodLog:
    """The writers of a Pod, each with its changes.

    The Pod is compared before and after each writer, because a plugin may also edit its dicts and lists directly.
    """

    def __init__(self, values: Callable[[Pod], Values], identity: Callable[[Any], Hashable]) -> None:
        """Record the `values` of a Pod. A new value is a change if its `identity` differs."""
        self.steps: list[tuple[str, Values]] = []
        """Each writer with the values that it set, in the order of the Pod. A removed value is `None`."""
        self._values, self._identity = values, identity
        self._last: dict[Any, dict[Any, Hashable]] = {}

    def add(self, writer: str, pod: Pod) -> None:
        """Add the changes since the last writer. Values are compared in bulk: svc sets two variables for each task."""
        changes: dict[Any, Mapping[Any, Any]] = {}
        for section, values in self._values(pod).items():
            now, last = (
                dict(zip(values, map(self._identity, values.values()), strict=True)),
                self._last.get(section, {}),
            )
            if now != last:
                # The steps keep the values alive, so that no other object gets the `id` of one.
                new = dict(now.items() - last.items())
                changes[section] = {key: values[key] for key in values if key in new} | dict.fromkeys(last.keys() - now)
                self._last[section] = now
        self.steps.append((writer, changes))
