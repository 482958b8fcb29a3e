"""Helpers for tests that run Pulumi programs."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from pulumi_volcano_jobs import VolcanoJob
from pulumi_volcano_jobs.testing import Result

# Pulumi SDKs before 3.262 send unknown values of a preview without the secret mark; no value is shown.
LOSES_MARKS = tuple(map(int, version("pulumi").split(".")[:2])) < (3, 262)
needs_transforms = pytest.mark.skipif(
    not hasattr(mocks.MockMonitor, "RegisterStackTransform"), reason="this Pulumi refuses transforms under mocks"
)


def new_job(name: str, arguments: Any, opts: pulumi.ResourceOptions | None = None) -> VolcanoJob:
    """Create a job from arguments whose types a type checker cannot follow."""
    return VolcanoJob(name, arguments, opts)


def digests(result: Result) -> dict[str, Any]:
    """Return the digest of each Pod by name."""
    pods = [item for item in result.resources.values() if item.kind == "Pod"]
    return {item.name: item.replacement_trigger for item in pods if item.replacement_trigger}
