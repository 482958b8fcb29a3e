"""A task without replicas has one Pod in a program, and none in a document for kubectl; a job may have no Pods."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    Job,
    MpiPlugin,
    Plugin,
    PytorchPlugin,
    RayPlugin,
    Task,
    TensorflowPlugin,
    load_jobs,
    render,
)
from pulumi_volcano_jobs.convert import render_normalized, to_python, to_yaml
from pulumi_volcano_jobs.files import job_file
from tests.conftest import Wire, container, job, places, problems, task, typed

MISSING, NO_PODS = ("spec.tasks[0].replicas", "VJ128"), ("spec.tasks", "VJ129")


def without_replicas(name: str = "worker", **fields: Any) -> Wire:
    """Build a task that does not set replicas."""
    return {key: value for key, value in task(name).items() if key != "replicas"} | fields


PROGRAMS: dict[str, Job | Wire] = {
    "arguments": {"name": "train", "tasks": [without_replicas()]},
    "a model": Job(name="train", tasks=[Task(name="worker", template=task()["template"])]),
    "None in a model": Job(name="train", tasks=[Task(name="worker", replicas=None, template=task()["template"])]),
    "None in arguments": {"name": "train", "tasks": [without_replicas(replicas=None)]},
    "a task in a document": job(Task(name="worker", template=task()["template"])),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("given", PROGRAMS.values(), ids=PROGRAMS)
def test_a_task_of_a_program_has_one_pod_by_default(given: Job | Wire) -> None:
    """As a Deployment has."""
    rendered = render(given)

    assert [pod["metadata"]["name"] for pod in rendered.pods] == ["train-worker-0"]
    assert rendered.warnings == ()


DOCUMENT = job(without_replicas(), task("other"))
FILES: dict[str, Job | Wire] = {
    "a document": DOCUMENT,
    "a null": job(without_replicas(replicas=None), task("other")),
    "a job of a document": Job.model_validate(DOCUMENT),
    "a job of a file": load_jobs(job_file.dump_as_ordered(DOCUMENT))[0],
}


@pytest.mark.parametrize("given", FILES.values(), ids=FILES)
def test_a_task_of_a_document_has_no_pods_by_default(given: Job | Wire, snapshot: SnapshotAssertion) -> None:
    """As for Volcano, with a warning."""
    rendered = render(given)

    assert [pod["metadata"]["name"] for pod in rendered.pods] == ["train-other-0"]
    assert typed(rendered.warnings) == [MISSING]
    assert str(rendered.warnings[0]) == snapshot(name="missing replicas")


def test_a_stored_job_has_no_warning_about_missing_replicas() -> None:
    """Volcano stores `replicas: 0` without the field."""
    stored = DOCUMENT | {"metadata": {"name": "train", "uid": "x"}}

    rendered = render(stored)

    assert [pod["metadata"]["name"] for pod in rendered.pods] == ["train-other-0"]
    assert rendered.warnings == ()


def test_the_default_does_not_depend_on_other_problems() -> None:
    """Parts of the document are read again without the invalid fields."""
    invalid = job({**task("master"), "maxRetry": "a"}, without_replicas(minAvailable=1), maxRetry="a")

    assert places(invalid) == ["spec.maxRetry", "spec.tasks[0].maxRetry"]
    assert places(job(without_replicas(minAvailable=1), maxRetry=-1)) == ["spec.maxRetry"]


def test_convert_writes_the_replicas_that_volcano_uses() -> None:
    """The program has the Pods of the file, without the warning."""
    (document,) = job_file.read(job_file.dump_as_ordered(DOCUMENT))
    rendered, normalized = render_normalized(document)

    assert typed(rendered.warnings) == [MISSING]
    assert '"replicas": 0,' in to_python([normalized]).text
    assert "replicas: 0" in to_yaml([normalized]).text
    assert typed(render(normalized).warnings) == []


def test_a_task_can_be_scaled_to_zero() -> None:
    """Other tasks have Pods."""
    assert render(job(task(replicas=0), task("other"))).warnings == ()


@pytest.mark.parametrize("managed_by", ["pulumi", "volcano"])
def test_a_job_without_pods_has_a_warning(managed_by: Any, snapshot: SnapshotAssertion) -> None:
    """Its other objects are created."""
    rendered = render(job(task(replicas=0), plugins={"svc": []}), managed_by=managed_by)

    assert rendered.pods == ()
    assert {item["kind"] for item in rendered.objects} == {"ConfigMap", "NetworkPolicy", "PodGroup", "Service"}
    assert typed(rendered.warnings) == [NO_PODS]
    assert str(rendered.warnings[0]) == snapshot(name="no Pods")


def test_missing_replicas_of_all_tasks_are_one_warning_for_each_task() -> None:
    """The warning about a job without Pods would repeat them."""
    warnings = render(job(without_replicas(), without_replicas("other"))).warnings

    assert typed(warnings) == [MISSING, ("spec.tasks[1].replicas", "VJ128")]


ROLES: dict[str, tuple[Plugin, tuple[str, ...]]] = {
    "pytorch": (PytorchPlugin(), ("master", "worker")),
    "elastic pytorch": (PytorchPlugin(min_nodes=2, max_nodes=4), ("master", "worker")),
    "mpi": (MpiPlugin(hostfile="openmpi"), ("master", "worker")),
    "ray": (RayPlugin(), ("head", "worker")),
    "parameter servers": (TensorflowPlugin(strategy="ParameterServerStrategy"), ("chief", "ps", "worker")),
    "workers of TensorFlow": (TensorflowPlugin(strategy="MultiWorkerMirroredStrategy"), ("worker", "chief")),
}


@pytest.mark.parametrize(("plugin", "roles"), ROLES.values(), ids=ROLES)
def test_a_job_of_any_framework_can_be_scaled_to_zero(plugin: Plugin, roles: tuple[str, ...]) -> None:
    """The sizes of roles are not checked then."""
    tasks = [task(role, 0, containers=[container(role)]) for role in roles]

    rendered = render(job(*tasks, plugins=[plugin]))

    assert rendered.pods == ()
    assert [item.code for item in rendered.warnings if item.code not in {"VJ102", "VJ105"}] == ["VJ129"]


@pytest.mark.parametrize("name", ["pytorch", "elastic pytorch", "mpi", "ray", "parameter servers"])
def test_a_role_alone_cannot_be_scaled_to_zero(name: str, snapshot: SnapshotAssertion) -> None:
    """The other Pods would wait for it."""
    plugin, (first, *others) = ROLES[name]
    tasks = [task(role, int(role != first), containers=[container(role)]) for role in (first, *others)]

    found = problems(job(*tasks, plugins=[plugin]))

    assert all(problem.path.startswith(f"spec.plugins.{plugin.name}.") for problem in found)
    assert list(map(str, found)) == snapshot
