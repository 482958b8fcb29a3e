"""A job that no cluster takes is refused before it fills the memory, in both modes."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.errors import Stage
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.spec import names
from tests.conftest import Wire, container, job, refused, task, typed

CASES: dict[str, tuple[Wire, str, str]] = {
    "one task": (
        job(task(replicas=10**9)),
        "spec.tasks[0].replicas",
        "TooMany",
    ),
    "two tasks": (
        job(task("a", 100_000), task("b", 50_001), task("c", 1)),
        "spec.tasks[1].replicas",
        "TooMany",
    ),
    "a list of hosts": (
        job(task(replicas=30_000), plugins={"svc": []}),
        "spec.plugins.svc",
        "TooLong",
    ),
    "a configuration of hosts": (
        job(task(replicas=20_000), plugins={"svc": [], "ssh": []}),
        "spec.plugins.ssh",
        "TooLong",
    ),
    "a list of hosts in each Pod": (
        job(task(replicas=20_000), plugins={"tensorflow": []}),
        "spec.tasks[0].replicas",
        "TooLong",
    ),
    "a large template": (
        job(task(containers=[{"name": "main", "image": "x", "args": ["a" * 1_600_000]}])),
        "spec.tasks[0]",
        "TooLong",
    ),
}


@pytest.mark.parametrize(("document", "path", "error_type"), CASES.values(), ids=CASES)
def test_a_job_that_is_too_large_is_rejected(
    document: Wire, path: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """With and without strict mode; the message has the number and the limit."""
    error = refused(document)

    assert typed(error.problems) == [(path, error_type)]
    assert error.stage is Stage.API
    assert refused(document, strict=False).problems == error.problems
    assert str(error) == snapshot


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
        message = "computed for each Pod"
        raise AssertionError(message)

    monkeypatch.setattr(names, "all_addresses", fail)
    hooks = ("on_job_add", "on_pod_create", "extend_objects", "extend_pod", "on_job_update", "outputs")
    for kind in BUILT_IN:
        for hook in hooks:
            monkeypatch.setattr(kind, hook, fail)

    error = refused(of_plugin(plugin, 2_000_000_000), **settings)

    too_many = [problem for problem in error.problems if problem.type == "TooMany"]
    assert [(problem.path, problem.value) for problem in too_many] == [("spec.tasks[1].replicas", "2000000000")]


def test_all_tasks_together_are_bounded(snapshot: SnapshotAssertion) -> None:
    """Each task alone is small enough; no Pod is rendered after the limit. Lenient mode has the same limit."""
    large = [{"name": "main", "image": "x", "args": ["a" * 1_000_000]}]
    document = job(*(task(f"t{i}", 300, containers=large) for i in range(5)))

    error = refused(document)

    assert typed(error.problems) == [("spec.tasks[3].replicas", "TooLong")]
    assert refused(document, strict=False).problems == error.problems
    assert str(error) == snapshot


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
