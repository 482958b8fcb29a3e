"""Keyword arguments and dictionaries of `VolcanoJob` and `VolcanoQueue`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from pulumi_kubernetes.core.v1 import ContainerArgs, PodSpecArgs, PodTemplateSpecArgs
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import Job, VolcanoJob, VolcanoQueue, pod_template, presets
from pulumi_volcano_jobs.component.input_errors import JobInputError
from pulumi_volcano_jobs.testing import failed, run
from tests.conftest import task, typed

JOB: Any = VolcanoJob
QUEUE: Any = VolcanoQueue


def test_a_queue_has_the_same_resources_in_both_forms() -> None:
    """Keyword arguments and a dictionary are compared."""
    by_keywords = run(lambda: VolcanoQueue("research", weight=2, capability={"cpu": 8}) and None)
    by_dictionary = run(lambda: VolcanoQueue("research", {"weight": 2, "capability": {"cpu": 8}}) and None)

    assert by_keywords.leaves() == by_dictionary.leaves()


def test_the_name_of_a_job_may_differ_from_the_name_of_its_resource() -> None:
    """`name` is a field of the job."""
    done = run(lambda: VolcanoJob("train", name="other", tasks=[task()]) and None)

    assert done.resources["Pod train-worker-0"].inputs["metadata"]["name"] == "other-worker-0"


def test_resource_options_are_a_keyword_argument_also() -> None:
    """As with every resource of Pulumi."""
    done = run(lambda: VolcanoJob("train", tasks=[task()], opts=pulumi.ResourceOptions(protect=True)) and None)

    assert done.resources["PodGroup train"].protect


def test_an_awaitable_is_an_input() -> None:
    """`pulumi.Input` includes it."""

    async def read(value: str) -> str:
        return value

    def program() -> None:
        container: Any = {"name": "main", "image": read("train:1")}
        VolcanoJob("train", queue=read("research"), tasks=[{"template": {"spec": {"containers": [container]}}}])

    done = run(program)

    assert done.resources["PodGroup train"].inputs["spec"]["queue"] == "research"
    (pod,) = [item.inputs for item in done.resources.values() if item.kind == "Pod"]
    assert pod["spec"]["containers"][0]["image"] == "train:1"


WRONG: dict[str, tuple[Callable[[], object], str, str]] = {
    "both forms": (lambda: JOB("train", {"tasks": [task()]}, queue="research"), "", "Forbidden"),
    "both forms of a queue": (lambda: QUEUE("research", {"weight": 2}, priority=3), "", "Forbidden"),
    "a Job": (lambda: JOB("train", Job(name="train")), "", "TypeInvalid"),
    "the name of a file": (lambda: JOB("train", "job.yaml"), "", "TypeInvalid"),
    "a list": (lambda: JOB("train", [task()]), "", "TypeInvalid"),
    "options by position": (lambda: JOB("train", pulumi.ResourceOptions(), tasks=[task()]), "", "TypeInvalid"),
    "options of a queue": (lambda: QUEUE("research", pulumi.ResourceOptions(), weight=2), "", "TypeInvalid"),
    "a misspelt field": (lambda: JOB("train", tasks=[task()], qeue="research"), "spec.qeue", "Forbidden"),
    "a misspelt field of a queue": (lambda: QUEUE("research", weigth=2), "spec.weigth", "Forbidden"),
    "no arguments": (lambda: JOB("train"), "spec.tasks", "Required"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_rejected(case: str, snapshot: SnapshotAssertion) -> None:
    """One error has the fix, and nothing is registered."""
    program, path, kind = WRONG[case]

    error, done = failed(lambda: program() and None)

    assert isinstance(error, JobInputError)
    assert typed(error.problems) == [(path, kind)]
    assert str(error) == snapshot
    assert done.resources == {}


def test_presets_apply_to_templates_of_pulumi_kubernetes() -> None:
    """`pod_template` converts them to the field names of YAML, and keeps Outputs."""
    image = pulumi.Output.from_input("train:1")
    template = PodTemplateSpecArgs(
        spec=PodSpecArgs(
            containers=[ContainerArgs(name="main", image=image, image_pull_policy="Always")], restart_policy="Never"
        )
    )

    applied: Any = presets.apply(pod_template(template), presets.shm("8Gi"))

    (container,) = applied["spec"]["containers"]
    assert (container["image"], container["imagePullPolicy"]) == (image, "Always")
    assert container["volumeMounts"] == [{"mountPath": "/dev/shm", "name": "shm"}]
