"""Advice about requests that the cluster refuses, from the text of the API server."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.component.error_hooks import refusals

ACCOUNT = "system:serviceaccount:ml:pulumi"
ERRORS = {
    "a missing right": (
        f'pods is forbidden: User "{ACCOUNT}" cannot create resource "pods" in API group "" in the namespace "ml"'
    ),
    "a missing right of the cluster": (
        f'queues.scheduling.volcano.sh "research" is forbidden: User "{ACCOUNT}" cannot patch resource "queues" in API '
        'group "scheduling.volcano.sh" at the cluster scope'
    ),
    "a quota": (
        'pods "train-worker-1" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=1, limited: pods=1'
    ),
    "a quota of requests": (
        'pods "train-worker-0" is forbidden: failed quota: compute: must specify limits.cpu for: main; requests.cpu '
        "for: main"
    ),
    "a webhook": 'admission webhook "images.example.org" denied the request: use registry.example.org',
    "a policy": (
        "configmaps \"train-svc\" is forbidden: ValidatingAdmissionPolicy 'owners' with binding 'all' denied request: "
        "ConfigMaps need an owner"
    ),
    "a Pod Security Standard": (
        'pods "train-worker-0" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != '
        'false (container "main" must set securityContext.allowPrivilegeEscalation=false)'
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_a_refused_request_has_advice(case: str, snapshot: SnapshotAssertion) -> None:
    """It names the cause, the fix, and the administrator who can help."""
    (advice,) = refusals("job train", [f"resource was not successfully created: {ERRORS[case]}"])

    assert advice.startswith("job train: ")
    assert "ask the administrator of the " in advice
    assert advice == snapshot


@pytest.mark.parametrize(
    "error",
    [
        'admission webhook "validatejob.volcano.sh" denied the request: unable to find job queue: queues not found',
        "timed out waiting for the condition",
        'pods "train-worker-0" already exists',
    ],
)
def test_other_errors_have_no_such_advice(error: str) -> None:
    """Volcano's own webhooks reject mistakes in the job."""
    assert list(refusals("job train", [error])) == []
