"""A job that no cluster takes is refused before it fills the memory, in both modes."""

from __future__ import annotations

import pytest

from pulumi_volcano_jobs.errors import Stage
from tests.conftest import Wire, job, refused, task

CASES: dict[str, tuple[Wire, str]] = {
    "one task": (
        job(task(replicas=10**9)),
        (
            "spec.tasks[0].replicas: with this task the job has 1000000000 Pods, and Kubernetes supports 150000"
            " in a cluster (given: 1000000000): lower it"
        ),
    ),
    "two tasks": (
        job(task("a", 100_000), task("b", 50_001), task("c", 1)),
        (
            "spec.tasks[1].replicas: with this task the job has 150001 Pods, and Kubernetes supports 150000"
            " in a cluster (given: 50001): lower it"
        ),
    ),
    "a list of hosts": (
        job(task(replicas=30_000), plugins={"svc": []}),
        (
            "spec.plugins.svc: the ConfigMap train-svc takes 1477783 bytes; Kubernetes stores at most 1048576: it grows"
            " with the Pods: use fewer Pods, or shorter names of job and tasks"
        ),
    ),
    "a configuration of hosts": (
        job(task(replicas=20_000), plugins={"svc": [], "ssh": []}),
        (
            "spec.plugins.ssh: the Secret train-ssh takes 1377859 bytes; Kubernetes stores at most 1048576: it grows"
            " with the Pods: use fewer Pods, or shorter names of job and tasks"
        ),
    ),
    "a list of hosts in each Pod": (
        job(task(replicas=20_000), plugins={"tensorflow": []}),
        (
            "spec.tasks[0].replicas: the task's Pods would have 12781.9 MiB, and at most 1024.0 MiB are made"
            " (given: 20000): use fewer replicas"
        ),
    ),
    "a large template": (
        job(task(containers=[{"name": "main", "image": "x", "args": ["a" * 1_600_000]}])),
        (
            "spec.tasks[0]: each Pod would have 1.5 MiB, and the API server takes at most 1.5 MiB: make its template"
            " smaller, or use fewer Pods if a plugin lists them in it"
        ),
    ),
}


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
@pytest.mark.parametrize(("document", "message"), CASES.values(), ids=CASES)
def test_what_is_too_large_is_told(document: Wire, message: str, strict: bool) -> None:  # noqa: FBT001
    """With the number that is too large, the bound and its reason."""
    error = refused(document, strict=strict)

    assert (str(error), error.stage) == (message, Stage.API)
