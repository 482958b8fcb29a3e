"""A job that no cluster takes is refused before it fills the memory, in both modes."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.errors import Stage
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.spec import names
from tests.conftest import Wire, container, job, refused, task

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


def of_plugin(name: str, replicas: int) -> Wire:
    """Return a job with a plugin and a task for each of its roles; the last task has many replicas."""
    roles = {"mpi": ("master", "worker"), "pytorch": ("master", "worker"), "ray": ("head", "worker")}
    first, last = roles.get(name, ("chief", "worker"))
    tasks = (task(first, containers=[container(first)]), task(last, replicas, containers=[container(last)]))
    return job(*tasks, plugins={name: []})


SETTINGS: dict[str, dict[str, Any]] = {
    "strict": {},
    "lenient": {"strict": False},
    "recommended": {"defaults": "recommended"},
    "native": {"managed_by": "volcano"},
    "the template wins": {"on_conflict": "user"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("plugin", sorted(plugin.name for plugin in BUILT_IN))
def test_nothing_is_computed_of_too_many_pods(
    plugin: str, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No address of a Pod is computed, and no hook of a plugin runs."""

    def fail(*_: object, **_named: object) -> NoReturn:
        message = "this grows with the Pods"
        raise AssertionError(message)

    monkeypatch.setattr(names, "all_addresses", fail)
    hooks = ("on_job_add", "on_pod_create", "extend_objects", "extend_pod", "on_job_update", "outputs")
    for kind in BUILT_IN:
        for hook in hooks:
            monkeypatch.setattr(kind, hook, fail)

    error = refused(of_plugin(plugin, 2_000_000_000), **settings)

    assert "Kubernetes supports 150000 in a cluster (given: 2000000000): lower it" in str(error)


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
def test_all_tasks_together_are_bounded(strict: bool) -> None:  # noqa: FBT001
    """Each task alone is small enough; no Pod is rendered after the limit."""
    large = [{"name": "main", "image": "x", "args": ["a" * 1_000_000]}]

    error = refused(job(*(task(f"t{i}", 300, containers=large) for i in range(5))), strict=strict)

    assert str(error) == (
        "spec.tasks[3].replicas: the Pods of the job up to this task would have 1145.2 MiB, and at most 1024.0 MiB are"
        " made (given: 300): use fewer replicas or tasks"
    )


def test_the_masters_of_mpi_share_the_list_of_hosts() -> None:
    """It is one text in all containers of all masters."""
    containers = [container(f"c{i}") for i in range(3)]

    rendered = render(job(task("master", 2, containers=containers), task("worker", 5), plugins={"mpi": []}))

    values = [
        entry["value"]
        for pod in rendered.pods[:2]
        for item in pod["spec"]["containers"]
        for entry in item["env"]
        if entry["name"] == "MPI_HOST"
    ]
    assert len(values) == 6
    assert len(set(map(id, values))) == 1
