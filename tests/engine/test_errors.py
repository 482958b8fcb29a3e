"""How a program ends whose job is bad: with the messages alone."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest
from pulumi import automation

from tests.engine.conftest import PROGRAM, Project

pytestmark = pytest.mark.engine
WORKER = """
pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.org/image:1"}]}}
worker = {"name": "worker", "replicas": 1, "template": pod}
"""
FILE = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  quue: research
  tasks:
    - name: worker
      replicas: 1
      minAvailble: 1
      template: {spec: {containers: [{name: main, image: example.org/image:1}]}}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Provide a project for programs that make nothing."""
    return Project(tmp_path_factory.mktemp("errors"), "pass\n")


def diagnostics(project: Project, program: str, *, preview: bool = False) -> list[str]:
    """Run a program that must fail, and give the lines below its error in the engine's output."""
    project.write("__main__.py", PROGRAM + WORKER + program)
    with pytest.raises(automation.errors.RuntimeError) as caught:
        (project.stack.preview if preview else project.stack.up)(color="never")
    # What an exception that Pulumi does not know looks like.
    assert not isinstance(caught.value, automation.errors.InlineSourceRuntimeError)
    output = str(caught.value)
    assert "Traceback" not in output
    assert 'File "' not in output
    error = output.partition("Diagnostics:")[2].partition("    error: ")[2]
    return [line.strip() for line in re.split(r"\n    error: |\n\n", error)[0].splitlines()]


@pytest.mark.parametrize(
    ("program", "lines"),
    [
        (
            'VolcanoJob("train", {"tasks": [worker | {"replicas": -1}], "queue": 7}, opts)',
            ["the VolcanoJob train has 2 problems:", "spec.tasks[0].replicas: ", "spec.queue: this must be a string"],
        ),
        (
            'VolcanoJob("train", {"tasks": [worker], "quue": ""}, opts)',
            ["the VolcanoJob train has a problem:", "spec.quue: unknown field; Volcano drops it: did you mean queue?"],
        ),
        (
            'VolcanoJob("train", {"tasks": [worker | {"replicas": pulumi.Output.from_input(3)}]}, opts)',
            [
                "the VolcanoJob train has a problem:",
                "spec.tasks[0].replicas: this must be a plain value, not an Output: ",
            ],
        ),
        (
            'VolcanoJob("train", {"tasks": [worker], "restart": "never"}, opts)',
            ["the VolcanoJob train has a problem:", "restart: this must be one of gang, pod (given: 'never')"],
        ),
        (
            'VolcanoJob.from_yaml("train", HERE / "nowhere.yaml", opts=opts)',
            ["the VolcanoJob train has a problem:", "{here}/nowhere.yaml: the file cannot be read: No such file"],
        ),
        (
            'VolcanoJob.from_yaml("train", HERE / "job.yaml", opts=opts)',
            [
                "the VolcanoJob train has 2 problems:",
                "{here}/job.yaml:5:3: spec.quue: unknown field; Volcano drops it: did you mean queue?",
                "{here}/job.yaml:9:7: spec.tasks[0].minAvailble: unknown field; Volcano drops it: did you mean min",
            ],
        ),
        (
            'VolcanoJob.from_yaml("train", "kind: Pod\\n", opts=opts)',
            ["the VolcanoJob train has a problem:", "line 1:1: kind: this is no"],
        ),
    ],
    ids=[
        "values",
        "an unknown field",
        "an Output for structure",
        "an option",
        "a missing file",
        "a file",
        "text that is no Job",
    ],
)
def test_messages_stand_alone(project: Project, program: str, lines: list[str]) -> None:
    """Each problem is a line with its path; there is no traceback, and nothing is made."""
    project.write("job.yaml", FILE)
    here = str(project.folder)

    found = diagnostics(project, program)

    wanted = [line.replace("{here}", here) for line in lines]
    assert [line[: len(begin)] for line, begin in zip(found, wanted, strict=True)] == wanted
    assert [item["type"] for item in project.resources()] == ["pulumi:pulumi:Stack", "pulumi:providers:kubernetes"]


def test_two_jobs_that_make_the_same_pod_are_refused_by_name(project: Project) -> None:
    """The second one ends the program; the message names both."""
    program = """
for name, task in (("train", "a-worker"), ("train-a", "worker")):
    VolcanoJob(name, {"tasks": [worker | {"name": task}]}, opts)
"""

    first, second = diagnostics(project, program, preview=True)

    assert first == "the VolcanoJob train-a has a problem:"
    assert second.startswith("metadata.name: the VolcanoJobs train and train-a both make the Pod train-a-worker-0: ")


def test_the_program_s_own_mistakes_keep_their_traceback(project: Project) -> None:
    """Only what is wrong with a job is told without one: the checks above can tell the two apart."""
    project.write("__main__.py", PROGRAM + 'raise ValueError("mine")\n')

    with pytest.raises(automation.errors.InlineSourceRuntimeError, match="Traceback"):
        project.stack.preview(color="never")


LATE = """
limits = {"memory": pulumi.Output.secret("hunter2 Gi")}
pod["spec"]["containers"][0]["resources"] = {"limits": limits}
VolcanoJob("train", {"tasks": [worker]}, opts)
"""


def test_an_output_that_turns_out_wrong_ends_without_a_traceback_and_without_its_value(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A secret is in no line of what the engine prints."""
    # Its resources stay in the state, so it shares no project with other tests.
    project = Project(tmp_path, "pass\n")
    # As Pulumi's host for Python does: of a program that fails, some futures are never looked at.
    caplog.set_level(logging.CRITICAL, "asyncio")
    project.write("__main__.py", PROGRAM + WORKER + LATE)
    with pytest.raises(automation.errors.RuntimeError) as caught:
        project.stack.up(color="never")

    output = str(caught.value)
    assert (
        "the VolcanoJob train has a problem:\n      spec.tasks[0].template.spec.containers[0].resources.limits.memory:"
        " Invalid value: this must be a quantity"
    ) in output
    assert "hunter2" not in output
    assert "Traceback" not in output
