"""Policies for jobs on a platform. `pulumi up --policy-pack` rejects jobs that violate them.

    from pulumi_volcano_jobs import policy

    policy.pack(queues=["research", "prod"], registries=["ghcr.io/my-team"])

This package needs the extra `policy`. `docs/policies.md` describes the rules.
"""

from __future__ import annotations

try:
    import pulumi_policy as _needed
except ModuleNotFoundError as error:
    if error.name != "pulumi_policy":
        raise
    message = (
        "pulumi_volcano_jobs.policy needs the package pulumi-policy: run pip install 'pulumi-volcano-jobs[policy]' in"
        " the environment of the policy pack"
    )
    raise ModuleNotFoundError(message, name="pulumi_policy") from None

from pulumi_volcano_jobs.policy.bundle import pack, rules
from pulumi_volcano_jobs.policy.policies import (
    allowed_queues,
    allowed_registries,
    gang,
    network_policy,
    no_host_network,
    no_plain_keys,
    resource_requests,
)

del _needed

__all__ = [
    "allowed_queues",
    "allowed_registries",
    "gang",
    "network_policy",
    "no_host_network",
    "no_plain_keys",
    "pack",
    "resource_requests",
    "rules",
]
