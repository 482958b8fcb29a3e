"""Programs from files with more than Jobs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import Job
from pulumi_volcano_jobs.convert import Objects, Program, to_python, to_yaml
from pulumi_volcano_jobs.testing import run
from tests.conftest import job, task


def an_object(kind: str, name: str, api_version: str = "v1", **fields: Any) -> dict[str, Any]:
    """Build an object in the namespace of the job."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "ml"}, **fields}


def a_queue(name: str, **spec: Any) -> dict[str, Any]:
    """Build a Volcano Queue."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name, "labels": {"team": "ml"}, "uid": "4711"},
        "spec": spec,
    }


HIGH = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 1000,
    "globalDefault": False,
    "preemptionPolicy": "Never",
    "description": "For ${USER}",
}
FILE = [
    an_object("Secret", "credentials", type="Opaque", stringData={"password": "hunter2"}, data={"a.b": "aHVudGVyMw=="}),
    an_object("ConfigMap", "settings", data={"train.ini": "home=${HOME}"}),
    an_object("Service", "web", spec={"clusterIP": "None", "selector": {"app": "web"}}),
    a_queue(
        "team",
        parent="research",
        dequeueStrategy="fifo",
        guarantee={"resource": {"example.org/fancyGPU": 1}},
        deserved={"example.org/fancyGPU": 1},
        extendClusters=[{"name": "other", "weight": 1}],
    ),
    a_queue("research", affinity={"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["gpu"]}}),
    HIGH,
]
JOB = job(task(priorityClassName="high"), queue="team", priorityClassName="high")


def jobs(*documents: dict[str, Any]) -> list[Job]:
    """Return the jobs of documents."""
    return [Job.model_validate(document).with_(namespace="ml") for document in documents]


def program(language: str, *documents: dict[str, Any], file: list[dict[str, Any]] | None = None) -> Program:
    """Convert jobs and the other objects of their file."""
    write = to_python if language == "python" else to_yaml
    return write(jobs(*documents), Objects.of(FILE if file is None else file))


def registered(text: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a Python program without an engine, and return its resources by type and name."""
    for key in ("credentials-password", "credentials-a-b"):
        monkeypatch.setattr("pulumi.Config.require_secret", lambda _self, key: f"value of {key}")
    result = run(lambda: exec(compile(text, "__main__.py", "exec"), {}))  # noqa: S102
    return dict(result.resources)


@pytest.mark.parametrize("language", ["python", "yaml"])
def test_a_program_creates_all_objects_of_the_file(language: str, snapshot: SnapshotAssertion) -> None:
    """Queues and classes come first, then one group, Secrets and jobs. The values of Secrets are configuration."""
    converted = program(language, JOB)

    assert converted.text == snapshot
    assert {secret.key: secret.value for secret in converted.secrets} == {
        "credentials-a-b": "aHVudGVyMw==",
        "credentials-password": "hunter2",
    }
    assert "hunter2" not in converted.text
    assert "4711" not in converted.text


def test_a_python_program_registers_all_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Queue, the Secret, the group and the Pods have the fields of the file."""
    resources = registered(program("python", JOB).text, monkeypatch)

    queue = resources["Queue team"].inputs
    assert queue["spec"]["guarantee"] == {"resource": {"example.org/fancyGPU": "1"}}
    assert (queue["spec"]["dequeueStrategy"], queue["metadata"]["labels"]) == ("fifo", {"team": "ml"})
    assert {"Secret credentials", "PriorityClass high"} <= resources.keys()
    assert any(name.startswith("PodGroup") for name in resources)


@pytest.mark.parametrize("language", ["python", "yaml"])
def test_resources_of_one_name_get_the_kind_of_their_object(language: str) -> None:
    """Pulumi YAML has one name for each resource, and a job keeps its name."""
    file = [a_queue("train"), an_object("Secret", "train"), an_object("Secret", "train-secret"), HIGH]

    text = program(language, job(name="train"), job(name="objects"), file=[*file, an_object("ConfigMap", "a")]).text

    if language == "yaml":
        names = list(yaml.safe_load(text)["resources"])
    else:
        compile(text, "__main__.py", "exec")
        names = re.findall(r'^\w+ = \w+\(\n? *"([^"]*)"', text, re.MULTILINE)
    assert names == ["train-queue", "high", "objects-2", "train-secret", "train-secret-secret", "train", "objects"]


@pytest.mark.parametrize("language", ["python", "yaml"])
def test_a_file_without_jobs_is_converted(language: str) -> None:
    """It has queues only."""
    text = program(language, file=FILE[3:5]).text

    assert "VolcanoQueue" in text
    assert text.startswith('"""2 objects, generated by' if language == "python" else "name: volcano-jobs\n")


def test_queues_whose_parents_form_a_cycle_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Volcano rejects them; the program must still be written."""
    text = program("python", file=[a_queue("a", parent="b"), a_queue("b", parent="a")]).text

    assert text.count("VolcanoQueue(") == 2


def test_the_types_of_a_program_are_correct(tmp_path: Path) -> None:
    """The library has types for mypy, which accepts the program in strict mode."""
    (tmp_path / "program.py").write_text(program("python", JOB).text, "utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "Success: no issues found in 1 source file\n")
