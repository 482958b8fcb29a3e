"""minAvailable, partitions, topologies and whole CPUs."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, container, job, task


def asking_for(resources: Wire, policy: str = "restricted") -> Wire:
    """Give a job whose task asks for a topology."""
    return job({**task(containers=[container(resources=resources)]), "topologyPolicy": policy})


@pytest.mark.parametrize(
    "resources",
    [Leaf("r"), {"requests": Leaf("r")}, {"limits": Leaf("r")}, {"requests": {"cpu": Leaf("r")}}],
    ids=["all", "requests", "limits", "the CPUs"],
)
def test_unknown_cpus_pass(resources: Any) -> None:
    """A topology wants whole ones."""
    assert render(asking_for(resources)).pods
