"""What the tests of programs have in common."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from pulumi_volcano_jobs import VolcanoJob
from pulumi_volcano_jobs.testing import Result

# Before 3.262 Pulumi's SDK sends what is unknown in a preview without the mark of a secret; nothing is shown of it.
LOSES_MARKS = tuple(map(int, version("pulumi").split(".")[:2])) < (3, 262)
needs_transforms = pytest.mark.skipif(
    not hasattr(mocks.MockMonitor, "RegisterStackTransform"), reason="this Pulumi refuses transforms under mocks"
)


def new_job(name: str, arguments: Any, opts: pulumi.ResourceOptions | None = None) -> VolcanoJob:
    """Make a job of arguments that are put together, which type checkers cannot follow."""
    return VolcanoJob(name, arguments, opts)


def digests(result: Result) -> dict[str, Any]:
    """Give the digest of each Pod, by its name."""
    pods = [item for item in result.resources.values() if item.kind == "Pod"]
    return {item.name: item.replacement_trigger for item in pods if item.replacement_trigger}
