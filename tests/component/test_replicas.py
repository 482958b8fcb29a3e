"""The replicas of a task in programs and in files, as registered by the component."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs import Job, Task, VolcanoJob, load_jobs
from pulumi_volcano_jobs.component.provider import JobProvider
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.testing import Result, run
from tests.component.programs import new_job
from tests.conftest import job, task

TEMPLATE = task()["template"]
TASKS = [{"name": "worker", "template": TEMPLATE}]
TEXT = job_file.dump_as_ordered(job(*TASKS, task("other")))


def pods(result: Result) -> list[str]:
    """Return the names of the Pods."""
    return sorted(item.inputs["metadata"]["name"] for item in result.resources.values() if item.kind == "Pod")


PROGRAMS: dict[str, Any] = {
    "a dict": lambda: new_job("train", {"tasks": TASKS}) and None,
    "a typed task": lambda: new_job("train", {"tasks": [Task(name="worker", template=TEMPLATE)]}) and None,
    "a job": lambda: (
        VolcanoJob.from_job("train", Job(name="train", tasks=[Task(name="worker", template=TEMPLATE)])) and None
    ),
    "another language": lambda: (
        JobProvider().construct("train", "volcano-jobs:index:VolcanoJob", {"tasks": TASKS}) and None
    ),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_task_of_a_program_has_one_pod_by_default(program: Any) -> None:
    """Without a warning."""
    result = run(program)

    assert pods(result) == ["train-worker-0"]
    assert list(result.warnings) == []


FILES: dict[str, Any] = {
    "from_yaml": lambda: VolcanoJob.from_yaml("train", TEXT) and None,
    "load_jobs": lambda: VolcanoJob.from_job("train", load_jobs(TEXT)[0]) and None,
    "a document": lambda: new_job("train", job(*TASKS, task("other"))) and None,
}


@pytest.mark.parametrize("program", FILES.values(), ids=FILES)
def test_a_task_of_a_file_has_no_pods_by_default(program: Any) -> None:
    """With a warning."""
    result = run(program)

    assert pods(result) == ["train-other-0"]
    (warning,) = result.warnings
    assert "spec.tasks[0].replicas: " in warning
    assert warning.endswith(" [VJ128]")


def test_volcano_gets_the_default_of_a_program() -> None:
    """Its own default is 0."""
    result = run(lambda: new_job("train", {"tasks": TASKS, "managed_by": "volcano"}) and None)

    (sent,) = result.resources["Job train"].inputs["spec"]["tasks"]
    assert (sent["replicas"], sent["minAvailable"]) == (1, 1)


def test_a_job_without_pods_is_registered_with_a_warning() -> None:
    """The warning can be ignored."""
    arguments = {"tasks": [task(replicas=0)], "plugins": {"ssh": [], "svc": []}}

    result = run(lambda: new_job("train", arguments) and None)
    silent = run(lambda: new_job("train", {**arguments, "ignore_warnings": ["VJ129"]}) and None)

    assert pods(result) == pods(silent) == []
    assert {"Secret", "Service", "PodGroup"} <= {item.kind for item in result.resources.values()}
    assert [warning[-7:] for warning in result.warnings] == ["[VJ129]"]
    assert list(silent.warnings) == []
