"""The warning about a job whose Pods make the state of its stack large."""

from __future__ import annotations

from collections.abc import Iterator

import pulumi

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_VOLCANO, Phrase

MANY_PODS = 300
"""The number of Pods from which an update spends most of its time on writing the state (docs/scale.md)."""
_OF_A_FILE = "organization"
"""The organization of all stacks with a state in a file or a bucket. Pulumi Cloud receives only changed resources."""


def warnings(pods: int) -> Iterator[Problem]:
    """Yield a warning if a job has so many Pods that `managed_by="volcano"` is the better choice."""
    if pods >= MANY_PODS and pulumi.get_organization() == _OF_A_FILE:
        reason = (
            f"each of the {pods} Pods is a resource, and with a state in a file or a bucket the engine writes the whole"
            " state twice for each changed resource, so an update takes minutes"
        )
        hint = Phrase("set ", MANAGED_BY_VOLCANO, ", or speed up the update as in docs/scale.md")
        yield Problem("spec.tasks", "Warning", reason, hint, code="VJ153")
