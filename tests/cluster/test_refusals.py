"""Requests that the cluster refuses: the error names who can change that."""

from __future__ import annotations

from pathlib import Path

import pytest

from pulumi_volcano_jobs.component.error_hooks import refusals
from tests.cluster.conftest import Manifest, Space, Stack, failed, task
from tests.cluster.test_permissions import ACCOUNT, COMPOSED, NATIVE, ROLES, job, log_in, without
from tests.cluster.test_queue import PROGRAM as QUEUES
from tests.cluster.test_queue import Queues
from tests.cluster.volcano import QueueWebhook


def advised(output: str, owner: str = "job train") -> list[str]:
    """Return the lines of the diagnostics at the end of the output that have the advice about its errors."""
    advice, diagnostics = tuple(refusals(owner, [output])), output.rpartition("Diagnostics:")[2]
    assert advice
    return [line for line in diagnostics.splitlines() if line.endswith(advice)]


def apply_quota(space: Space, **hard: str) -> None:
    """Create a ResourceQuota, and act as its controller, which sets the status."""
    metadata = {"name": "compute", "namespace": space.name}
    space.cluster.apply([{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}}])
    space.cluster.set_status("ResourceQuota", "compute", space.name, hard=hard, used=dict.fromkeys(hard, "0"))


def apply_policy(space: Space) -> None:
    """Create a policy that rejects all ConfigMaps of a namespace."""
    kind, version = "ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    selector = {"matchLabels": {"kubernetes.io/metadata.name": space.name}}
    spec = {
        "matchConstraints": {"resourceRules": [rule], "namespaceSelector": selector},
        "validations": [{"expression": "false", "message": "ConfigMaps need an owner"}],
    }
    binding = {"policyName": space.name, "validationActions": ["Deny"]}
    metadata = {"name": space.name}
    space.cluster.apply(
        [
            {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec},
            {"apiVersion": version, "kind": f"{kind}Binding", "metadata": metadata, "spec": binding},
        ]
    )
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "namespace": space.name}}
    space.cluster.wait(lambda: not is_accepted(space, config_map), "the policy to be enforced")


def is_accepted(space: Space, manifest: Manifest) -> bool:
    """Return whether the API server accepts an object in a dry run."""
    try:
        space.cluster.apply([manifest], dry=True)
    except OSError:
        return False
    return True


@pytest.mark.parametrize(("role", "resource"), [(COMPOSED, "pods"), (NATIVE, "jobs")])
def test_a_missing_right_fails_the_update_with_the_page_that_lists_it(stack: Stack, role: str, resource: str) -> None:
    """The advice names the user and the right once, although many Pods fail."""
    log_in(stack, without(ROLES[role], resource, "create"))
    stack.jobs(train=job(role))
    output = failed(stack.up)

    (line,) = advised(output)
    assert f"system:serviceaccount:{stack.space.name}:{ACCOUNT} has no right to create {resource}" in line
    assert "docs/permissions.md" in line


def test_a_missing_right_to_delete_fails_the_destroy(stack: Stack) -> None:
    """The program does not run then, so that only the provider's message is shown."""
    log_in(stack, without(ROLES[COMPOSED], "secrets", "delete"))
    stack.make(train=job(COMPOSED))

    assert 'cannot delete resource "secrets" in API group ""' in failed(stack.destroy)


def test_an_exhausted_quota_fails_the_update_with_its_name(stack: Stack) -> None:
    """The next update creates the missing Pods after the administrator has raised the quota."""
    apply_quota(stack.space, pods="1")
    stack.jobs(train={"tasks": [task("worker", 3)]})

    (line,) = advised(failed(stack.up))
    assert "ResourceQuota compute" in line
    stack.space.cluster.delete("ResourceQuota", "compute", stack.space.name)
    stack.up()
    assert len(stack.space.pods()) == 3


def test_a_quota_of_requests_fails_the_update_with_the_missing_field(stack: Stack) -> None:
    """Such a quota rejects Pods without requests."""
    apply_quota(stack.space, **{"requests.cpu": "8"})
    stack.jobs(train={"tasks": [task("worker")]})

    (line,) = advised(failed(stack.up))
    assert "requests.cpu" in line


def test_a_policy_of_the_cluster_fails_the_update_with_its_name(stack: Stack) -> None:
    """The message of the policy is shown as well."""
    apply_policy(stack.space)
    stack.jobs(train={"tasks": [task("worker")], "plugins": {"svc": []}})
    output = failed(stack.up)

    (line,) = advised(output)
    assert f"ValidatingAdmissionPolicy {stack.space.name}" in line
    assert "ConfigMaps need an owner" in output


def test_a_webhook_of_the_cluster_fails_the_update_with_its_name(space: Space, tmp_path: Path) -> None:
    """A queue has the same advice as a job."""
    queues, name = Queues(tmp_path / "project", space, QUEUES), f"{space.name}-research"
    queues.write("__main__.py", QUEUES.replace('queues[args["parent"]].name', '"missing"'))
    queues.put(**{name: {"parent": "missing"}})

    with QueueWebhook(space.cluster, space.name, tmp_path):
        output = failed(queues.up)

    (line,) = advised(output, f"queue {name}")
    assert "admission webhook queues.volcano.test" in line


def test_a_pod_security_standard_fails_the_update_with_its_level(stack: Stack) -> None:
    """The label of the namespace enforces it."""
    metadata = {"name": stack.space.name, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}
    stack.space.cluster.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])
    stack.jobs(train={"tasks": [task("worker", 2)]})

    (line,) = advised(failed(stack.up))
    assert "Pod Security Standard restricted" in line
