"""The policy pack for platform teams, with all rules."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pulumi_policy import EnforcementLevel, Policy, PolicyPack

from pulumi_volcano_jobs.core.errors import JobError
from pulumi_volcano_jobs.policy import policies as each


def rules(*, queues: Sequence[str] | None = (), registries: Sequence[str] | None = ()) -> list[Policy]:
    """Return all rules.

    Args:
        queues: the queues that jobs may use. If empty, the configuration of the pack sets them; if None, jobs may use
            any queue.
        registries: the registries of images, in the same way.

    Raises:
        JobError: if an argument is not a valid list.
    """
    policies: list[Policy] = []
    if queues is not None:
        policies.append(each.allowed_queues(queues))
    if registries is not None:
        policies.append(each.allowed_registries(registries))
    return [
        *policies,
        each.resource_requests(),
        each.gang(),
        each.network_policy(),
        each.no_host_network(),
        each.no_plain_keys(),
    ]


def pack(
    name: str = "volcano-jobs",
    *,
    queues: Sequence[str] | None = (),
    registries: Sequence[str] | None = (),
    more: Sequence[Policy] = (),
    enforcement_level: EnforcementLevel = EnforcementLevel.MANDATORY,
) -> None:
    """Serve all rules to the Pulumi engine. This is the program of a policy pack, and does not return.

    Args:
        name: the name of the pack.
        queues: the queues that jobs may use. If empty, the configuration of the pack sets them; if None, jobs may use
            any queue.
        registries: the registries of images, in the same way.
        more: additional policies.
        enforcement_level: the enforcement level of all rules, which the configuration of the pack can override.
    """
    try:
        policies = [*rules(queues=queues, registries=registries), *more]
    except JobError as error:
        sys.exit(f"the policy pack {name} cannot start: {error}")
    PolicyPack(name, policies, enforcement_level)
