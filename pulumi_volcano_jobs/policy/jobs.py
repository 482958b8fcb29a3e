"""The jobs of a stack: which objects belong together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pulumi_policy import PolicyResource

from pulumi_volcano_jobs.component.base import TOKEN
from pulumi_volcano_jobs.component.plugin_components import SVC
from pulumi_volcano_jobs.policy.checks import JobSeen, job_of
from pulumi_volcano_jobs.policy.resources import JOB, NETWORK_POLICY, POD, POD_GROUP, Unknown, at, see


def jobs(resources: Iterable[PolicyResource]) -> Iterator[JobSeen]:
    """Yield the jobs: Volcano's, whoever made them, and those that a VolcanoJob made of Pods."""
    parts: dict[str, list[PolicyResource]] = defaultdict(list)
    for resource in resources:
        if resource.resource_type == JOB:
            yield job_of(see(JOB, resource.urn, resource.props))
        else:
            parts[_owner(resource)].append(resource)
    for owner, made in parts.items():
        group = next((item for item in made if item.resource_type == POD_GROUP), None)
        if owner and group:
            yield _composed(group, made)


def _owner(resource: PolicyResource | None) -> str:
    while resource and resource.resource_type != TOKEN:
        resource = resource.parent
    return resource.urn if resource else ""


def _composed(group: PolicyResource, made: Sequence[PolicyResource]) -> JobSeen:
    kinds = [resource.resource_type for resource in made]
    seen = see(POD_GROUP, group.urn, group.props)
    at_once = at(seen.props, "spec", "minMember")
    return JobSeen(
        place=seen.job,
        urn=group.urn,
        pods=kinds.count(POD),
        at_once=at_once if isinstance(at_once, (int, Unknown)) else 0,
        has_svc=SVC in kinds,
        has_policy=NETWORK_POLICY in kinds,
    )
