"""minAvailable, partitions, topologies and whole CPUs."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, container, job, task


def job_with_topology(resources: Wire, policy: str = "restricted") -> Wire:
    """Build a job whose task has a topologyPolicy."""
    return job({**task(containers=[container(resources=resources)]), "topologyPolicy": policy})


@pytest.mark.parametrize(
    "resources",
    [Leaf("r"), {"requests": Leaf("r")}, {"limits": Leaf("r")}, {"requests": {"cpu": Leaf("r")}}],
    ids=["all", "requests", "limits", "the CPUs"],
)
def test_unknown_cpus_are_accepted(resources: Any) -> None:
    """A topologyPolicy needs whole CPUs."""
    assert render(job_with_topology(resources)).pods
