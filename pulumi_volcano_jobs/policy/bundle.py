"""All rules at once, and the pack that a platform team runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pulumi_policy import EnforcementLevel, Policy, PolicyPack

from pulumi_volcano_jobs.core.errors import JobError
from pulumi_volcano_jobs.policy import policies as each


def rules(*, queues: Sequence[str] | None = (), registries: Sequence[str] | None = ()) -> list[Policy]:
    """List all rules.

    Args:
        queues: the queues that jobs may use; empty: those of the pack's configuration; None: any.
        registries: the registries that images may come from, in the same way.

    Raises:
        JobError: if one is no list.
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
    """Serve all rules to the engine; the program of a policy pack, which does not return.

    Args:
        name: the pack's name.
        queues: the queues that jobs may use; empty: those of the pack's configuration; None: any.
        registries: the registries that images may come from, in the same way.
        more: policies of your own.
        enforcement_level: what a violation does, unless the pack's configuration says otherwise.
    """
    try:
        policies = [*rules(queues=queues, registries=registries), *more]
    except JobError as error:
        sys.exit(f"the policy pack {name} cannot start: {error}")
    PolicyPack(name, policies, enforcement_level)
