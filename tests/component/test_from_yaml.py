"""`VolcanoJob.from_yaml` with files that have more than a Job."""

from __future__ import annotations

from typing import Any

import yaml
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import VolcanoJob
from pulumi_volcano_jobs.testing import Result, failed, run
from tests.conftest import container, job, task, typed

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
CLASSES = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
    for name, value in (("low", 1), ("high", 1000))
]


def registered(*documents: object, **overrides: Any) -> Result:
    """Run a program with the job of a file, and return the resources and the warnings."""
    text = yaml.safe_dump_all(documents)
    return run(lambda: {"name": VolcanoJob.from_yaml("train", text, **overrides).name})


def test_a_warning_lists_the_objects_that_are_not_created(snapshot: SnapshotAssertion) -> None:
    """Only the Job is registered, with the resources of a file with a Job only."""
    result = registered(CONFIG_MAP, job(), *CLASSES)

    assert result.tree() == registered(job()).tree()
    assert result.warnings == snapshot
    assert registered(CONFIG_MAP, job(), ignore_warnings=["VJ151"]).warnings == []


def test_a_reference_to_a_missing_sibling_is_a_warning() -> None:
    """The file defines the ConfigMap with another name."""
    mistaken = job(task(volumes=[{"name": "a", "configMap": {"name": "setings"}}]))

    (warning,) = registered(CONFIG_MAP, mistaken, ignore_warnings=["VJ151"]).warnings

    assert "spec.tasks[0].template.spec.volumes[0].configMap.name: " in warning
    assert warning.endswith(" [VJ150]")


def test_a_reference_that_the_program_sets_is_no_warning() -> None:
    """The program may create the PriorityClass, so a file with others does not have it."""
    result = registered(*CLASSES, job(), priority_class_name="urgent", ignore_warnings=["VJ151"])

    assert result.warnings == []
    assert result.resources["PodGroup train"].inputs["spec"]["priorityClassName"] == "urgent"


def test_the_priority_classes_of_the_file_have_their_values() -> None:
    """The resources of the gang are those of the Pod with the highest priority."""
    tasks = [
        task(name, priorityClassName=priority, containers=[container(resources={"requests": {"cpu": cpu}})])
        for name, cpu, priority in (("a", 1, "low"), ("b", 2, "high"))
    ]

    result = registered(*CLASSES, job(*tasks, minAvailable=1))

    assert result.resources["PodGroup train"].inputs["spec"]["minResources"]["cpu"] == "2"


def test_a_file_needs_exactly_one_job() -> None:
    """Other objects do not count."""
    both = yaml.safe_dump_all([CONFIG_MAP, job(name="a"), job(name="b")])
    neither = yaml.safe_dump_all([CONFIG_MAP, *CLASSES])

    assert typed(failed(lambda: VolcanoJob.from_yaml("train", both)).problems) == [("", "TooMany")]
    assert typed(failed(lambda: VolcanoJob.from_yaml("train", neither)).problems) == [("apiVersion", "NotSupported")]


def test_a_mistake_in_the_call_has_no_line_of_the_file() -> None:
    """The call is in the program."""
    wrong: Any = {"protect": True}

    (problem,) = failed(lambda: VolcanoJob.from_yaml("train", yaml.safe_dump(job()), wrong)).problems

    assert (problem.path, problem.type, problem.line) == ("opts", "TypeInvalid", 0)
