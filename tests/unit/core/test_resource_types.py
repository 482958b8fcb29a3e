"""Types of objects in Pulumi."""

from __future__ import annotations

from pulumi_volcano_jobs.core.resource_types import JOB, POD


def test_the_core_group_is_named_in_a_type() -> None:
    """Kubernetes omits the group `core` in `apiVersion`, but Pulumi does not."""
    assert (POD.token, JOB.token) == ("kubernetes:core/v1:Pod", "kubernetes:batch.volcano.sh/v1alpha1:Job")
