"""The jobs of a stack, from its resources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pulumi_policy import PolicyResource

from pulumi_volcano_jobs.core.resource_types import JOB, NETWORK_POLICY, POD, POD_GROUP, VOLCANO_JOB, component_type
from pulumi_volcano_jobs.plugins import SvcPlugin
from pulumi_volcano_jobs.policy.checks import PolicyJob, job_of
from pulumi_volcano_jobs.policy.resources import UnknownValue, from_args, value_at


def jobs(resources: Iterable[PolicyResource]) -> Iterator[PolicyJob]:
    """Yield all Jobs of Volcano in the stack, and each VolcanoJob that consists of Pods."""
    parts: dict[str, list[PolicyResource]] = defaultdict(list)
    for resource in resources:
        if resource.resource_type == JOB.token:
            yield job_of(from_args(JOB.token, resource.urn, resource.props))
        else:
            parts[_owner(resource)].append(resource)
    for owner, resources_of_job in parts.items():
        group = next((item for item in resources_of_job if item.resource_type == POD_GROUP.token), None)
        if owner and group:
            yield _job_of_pods(group, resources_of_job)


def _owner(resource: PolicyResource | None) -> str:
    while resource and resource.resource_type != VOLCANO_JOB:
        resource = resource.parent
    return resource.urn if resource else ""


def _job_of_pods(group: PolicyResource, resources: Sequence[PolicyResource]) -> PolicyJob:
    kinds = [resource.resource_type for resource in resources]
    group_input = from_args(POD_GROUP.token, group.urn, group.props)
    at_once = value_at(group_input.props, "spec", "minMember")
    return PolicyJob(
        place=group_input.job,
        urn=group.urn,
        pods=kinds.count(POD.token),
        at_once=at_once if isinstance(at_once, (int, UnknownValue)) else 0,
        has_svc=component_type(SvcPlugin.__name__) in kinds,
        has_policy=NETWORK_POLICY.token in kinds,
    )
