"""NetworkPolicies that keep the Pods of a job apart, or keep clients out."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.core.phrases import some
from pulumi_volcano_jobs.core.resource_types import NETWORK_POLICY
from pulumi_volcano_jobs.status.fields import Object, listed, mapping, name_of, text, texts, value
from pulumi_volcano_jobs.status.job import JobView
from pulumi_volcano_jobs.status.pods import PodView
from pulumi_volcano_jobs.status.reasons.observation import Observation
from pulumi_volcano_jobs.status.selectors import matches

_FIXES = {
    "Ingress": "enable the NetworkPolicy of svc",
    "Egress": "allow egress to the Pods of the job and to DNS",
}
_CLIENT_PORTS = frozenset({"dashboard", "client-server"})


def check(job: JobView) -> Iterator[Observation]:
    """Yield the policies that select the Pods of the job, but admit neither its other Pods nor its clients."""
    alive = [pod for pod in job.pods if not pod.has_ended]
    if not alive:
        return
    # The Pods of a job have the same labels, except for the task and the index.
    sample = next(iter(alive))
    policies = [item for item in job.objects.of(NETWORK_POLICY.kind, job.namespace) if _selects(item, sample)]
    for direction, rules, peers in (("Ingress", "ingress", "from"), ("Egress", "egress", "to")):
        of_direction = [item for item in policies if direction in _types(item)]
        if of_direction and len(job.pods) > 1 and not _admits(of_direction, rules, peers, sample):
            names = some([name_of(item) for item in of_direction])
            verb = "from" if direction == "Ingress" else "to"
            problem = f"selects the Pods of the job, and allows no traffic {verb} its other Pods"
            fix = (
                "enable the NetworkPolicy of svc"
                if direction == "Ingress"
                else "allow egress to the Pods of the job and to DNS"
            )
            yield Observation("network-policy", NETWORK_POLICY.kind, names, problem, fix)
    yield from _clients(job, alive, policies)


def _clients(job: JobView, alive: list[PodView], policies: list[Object]) -> Iterator[Observation]:
    """Yield the policy of svc, if it keeps clients of Ray out."""
    if not any(pod.phase == "Running" and _has_client_port(pod) for pod in alive):
        return
    ingress = [item for item in policies if "Ingress" in _types(item)]
    rules = [rule for item in ingress for rule in listed(item, "ingress")]
    if ingress and all(_is_only_for(job, rule) for rule in rules):
        problem = "admits only Pods of this job, so other clients of Ray's dashboard get no answer"
        fix = "use kubectl port-forward, or set allow of svc"
        yield Observation("clients", NETWORK_POLICY.kind, name_of(ingress[0]), problem, fix)


def _is_only_for(job: JobView, rule: Object) -> bool:
    peers = listed(rule, "from")
    return bool(peers) and all(
        text(peer, "podSelector", "matchLabels", "volcano.sh/job-name") == job.name for peer in peers
    )


def _has_client_port(pod: PodView) -> bool:
    ports = (text(port, "name") for container in pod.containers for port in listed(container.spec, "ports"))
    return any(name in _CLIENT_PORTS for name in ports)


def _types(policy: Object) -> list[str]:
    """Return the directions that a policy limits."""
    return texts(policy, "spec", "policyTypes") or [
        "Ingress",
        *(["Egress"] if listed(policy, "spec", "egress") else []),
    ]


def _admits(policies: list[Object], rules: str, peers: str, pod: PodView) -> bool:
    """Check whether a rule of the policies admits Pods with these labels in the same namespace, on some port."""
    return any(_rule_admits(rule, peers, pod) for policy in policies for rule in listed(policy, "spec", rules))


def _rule_admits(rule: Object, peers: str, pod: PodView) -> bool:
    if not value(rule, peers):
        return True
    # Namespaces and addresses are not recorded.
    return any(
        "ipBlock" in peer or "namespaceSelector" in peer or _matches(mapping(peer, "podSelector"), pod)
        for peer in listed(rule, peers)
    )


def _selects(policy: Object, pod: PodView) -> bool:
    return _matches(mapping(policy, "spec", "podSelector"), pod)


def _matches(selector: Object, pod: PodView) -> bool:
    return matches(mapping(pod.manifest, "metadata", "labels"), selector)
