"""A service account with exactly the rights of docs/permissions.md can preview, update, refresh and destroy."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster import Cluster

from tests.cluster.conftest import VOLUMES, Manifest, Space, Stack, task
from tests.cluster.test_queue import PROGRAM as QUEUES
from tests.cluster.test_queue import Queues
from tests.cluster.volcano import QueueController
from tests.engine.conftest import ROOT

Right = tuple[str, str, str]
"""An API group, a resource and a verb."""

PAGE = (ROOT / "docs" / "permissions.md").read_text("utf-8")
ROLES: dict[str, Manifest] = {
    role["metadata"]["name"]: role
    for role in map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
}
COMPOSED, NATIVE, QUEUE = "volcano-jobs", "volcano-jobs-native", "volcano-queues"
ACCOUNT = "pulumi"
ALLOW = {"allow": [{"ports": [2222], "cidrs": ["10.0.0.0/8"]}]}
# The provider asks for these to report more, and continues without them.
OPTIONAL = {("", resource, verb) for resource in ("endpoints", "events") for verb in ("list", "watch")}


def job(role: str, **fields: Any) -> Manifest:
    """Return a job with an object of each kind that the mode of a role creates."""
    return {
        "tasks": [task("master"), task("worker", 2)],
        "plugins": {"mpi": [], "ssh": [], "svc": []},
        "plugin_options": {"mpi": {"hostfile": "openmpi"}, "svc": ALLOW},
        "volumes": VOLUMES,
        "managed_by": "volcano" if role == NATIVE else "pulumi",
        **fields,
    }


def grant(cluster: Cluster, namespace: str, role: Mapping[str, Any]) -> None:
    """Create a service account with the rights of a role."""
    metadata = {"name": ACCOUNT, "namespace": namespace}
    # A ClusterRole has the name of the namespace, so that each test has its own.
    is_global = role["kind"] == "ClusterRole"
    named = {"name": namespace} if is_global else {"name": role["metadata"]["name"], "namespace": namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": role["kind"], "name": named["name"]}
    binding = {
        "apiVersion": role["apiVersion"],
        "kind": f"{role['kind']}Binding",
        "metadata": named,
        "roleRef": reference,
        "subjects": [{"kind": "ServiceAccount", **metadata}],
    }
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    cluster.apply([account, {**role, "metadata": named}, binding])


def without(role: Mapping[str, Any], resource: str, verb: str) -> Manifest:
    """Return a role without one right."""
    copy: Manifest = deepcopy({**role})
    (rule,) = (rule for rule in copy["rules"] if resource in rule["resources"])
    copy["rules"].append({**rule, "resources": [resource], "verbs": [item for item in rule["verbs"] if item != verb]})
    rule["resources"].remove(resource)
    return {**copy, "rules": [rule for rule in copy["rules"] if rule["resources"]]}


def log_in(stack: Stack, role: Mapping[str, Any]) -> None:
    """Run a stack as a service account with the rights of a role."""
    cluster, kubeconfig = stack.space.cluster, stack.folder / "kubeconfig"
    grant(cluster, stack.space.name, role)
    cluster.log_in(ACCOUNT, stack.space.name, kubeconfig)
    stack.kubeconfig = kubeconfig


def rights_of(role: Mapping[str, Any]) -> set[Right]:
    """Return the rights of a role."""
    return {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def requested(space: Space, decision: str) -> set[Right]:
    """Return the rights that the service account of a namespace used, or was refused."""
    found = set()
    for event in space.cluster.requests_of(f"system:serviceaccount:{space.name}:{ACCOUNT}"):
        target = event.get("objectRef")
        if target and event["annotations"]["authorization.k8s.io/decision"] == decision:
            found.add((target.get("apiGroup", ""), target["resource"], event["verb"]))
    return found


def check_rights(space: Space, role: Mapping[str, Any]) -> None:
    """Check that the service account of a namespace has used exactly the rights of a role.

    The log of server-side apply has only the patch, but a new object also needs the right to create it. Providers since
    4.29 create objects without it, and watch them without a list.
    """
    used, rights = requested(space, "allow"), rights_of(role)
    if any(verb == "create" for _, _, verb in used):
        rights = {right for right in rights if right in used or right[2] not in ("list", "patch")}
    else:
        used |= {(group, resource, "create") for group, resource, _ in used}
    assert used == rights
    assert requested(space, "forbid") <= OPTIONAL


def run(stack: Stack, updates: Sequence[Callable[[], object]]) -> None:
    """Preview and update in each step, then refresh and destroy."""
    for update in updates:
        update()
        assert stack.preview().urns == stack.up().urns
    stack.refresh()
    stack.destroy()


@pytest.mark.parametrize("role", [COMPOSED, NATIVE])
def test_a_job_needs_exactly_the_rights_of_its_role(stack: Stack, role: str) -> None:
    """An edit updates the PodGroup or the Job in place, or replaces the Pods."""
    log_in(stack, ROLES[role])
    edits: list[Manifest] = [
        {},
        {"labels": {"team": "ml"}} if role == NATIVE else {"labels": {"team": "ml"}, "run": "2"},
    ]

    run(stack, [lambda edit=edit: stack.jobs(train=job(role, **edit)) for edit in edits])

    assert stack.space.seen() == {}
    check_rights(stack.space, ROLES[role])


def test_a_queue_needs_exactly_the_rights_of_its_role(space: Space, tmp_path: Path) -> None:
    """An edit of the weight is part of its life."""
    queues = Queues(tmp_path / "project", space, QUEUES)
    log_in(queues, ROLES[QUEUE])

    with QueueController(space.cluster, space.name):
        run(queues, [lambda weight=weight: queues.put(**{f"{space.name}-a": {"weight": weight}}) for weight in (1, 2)])

    assert queues.seen() == {}
    check_rights(space, ROLES[QUEUE])


def test_a_job_can_change_modes_with_the_rights_of_both_roles(stack: Stack) -> None:
    """The page recommends it."""
    both = {**ROLES[COMPOSED], "rules": ROLES[COMPOSED]["rules"] + ROLES[NATIVE]["rules"]}
    log_in(stack, both)

    run(stack, [lambda role=role: stack.jobs(train=job(role)) for role in (COMPOSED, NATIVE)])

    assert stack.space.seen() == {}
