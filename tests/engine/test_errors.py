"""Errors of a rejected job on the engine: only the messages are shown."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest
from pulumi import automation

from pulumi_volcano_jobs.testing import Failure, failed
from tests.conftest import typed
from tests.engine.conftest import PROGRAM, Project
from tests.typing import mistakes
from tests.typing.test_mistakes import PROGRAMS

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
    """Provide a project for programs that create no resource."""
    return Project(tmp_path_factory.mktemp("errors"), "pass\n")


def diagnostics(project: Project, program: str, *, preview: bool = False) -> tuple[Failure, list[str]]:
    """Run a program that must fail; return how it fails without an engine, and the lines below the engine's error."""
    project.write("__main__.py", PROGRAM + WORKER + program)
    failure = failed(project.folder)
    with pytest.raises(automation.errors.RuntimeError) as caught:
        (project.stack.preview if preview else project.stack.up)(color="never")
    # The traceback of an exception that Pulumi does not handle.
    assert not isinstance(caught.value, automation.errors.InlineSourceRuntimeError)
    output = str(caught.value)
    assert "Traceback" not in output
    assert 'File "' not in output
    error = output.partition("Diagnostics:")[2].partition("    error: ")[2]
    return failure, [line.strip() for line in re.split(r"\n    error: |\n\n", error)[0].splitlines()]


def lines_of(failure: Failure) -> list[str]:
    """Return the lines of the message of a failure, without their indents."""
    return [line.strip() for line in str(failure.error).splitlines()]


@pytest.mark.parametrize(
    ("program", "problems"),
    [
        (
            'VolcanoJob("train", {"tasks": [worker | {"replicas": -1}], "queue": 7}, opts)',
            [("spec.tasks[0].replicas", "Invalid"), ("spec.queue", "TypeInvalid")],
        ),
        ('VolcanoJob("train", {"tasks": [worker], "quue": ""}, opts)', [("spec.quue", "Forbidden")]),
        (
            'VolcanoJob("train", {"tasks": [worker | {"replicas": pulumi.Output.from_input(3)}]}, opts)',
            [("spec.tasks[0].replicas", "TypeInvalid")],
        ),
        ('VolcanoJob("train", {"tasks": [worker], "restart": "never"}, opts)', [("restart", "NotSupported")]),
        (
            'VolcanoJob.from_yaml("train", HERE / "nowhere.yaml", opts=opts)',
            [("{here}/nowhere.yaml", "NotFound")],
        ),
        (
            'VolcanoJob.from_yaml("train", HERE / "job.yaml", opts=opts)',
            [("spec.quue", "Forbidden"), ("spec.tasks[0].minAvailble", "Forbidden")],
        ),
        (
            'VolcanoJob.from_yaml("train", "apiVersion: batch.volcano.sh/v1alpha1\\nkind: Pod\\n", opts=opts)',
            [("kind", "NotSupported")],
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
def test_the_engine_shows_only_the_message(project: Project, program: str, problems: list[tuple[str, str]]) -> None:
    """Each problem is a line with its path; there is no traceback, and no resource is created."""
    project.write("job.yaml", FILE)
    here = str(project.folder)

    failure, lines = diagnostics(project, program)

    assert typed(failure.problems) == [(path.replace("{here}", here), error_type) for path, error_type in problems]
    assert len(lines) == 1 + len(problems)
    assert lines == lines_of(failure)
    assert [item["type"] for item in project.resources()] == ["pulumi:pulumi:Stack", "pulumi:providers:kubernetes"]


@pytest.mark.parametrize(
    "program",
    [
        "VolcanoJob()",
        'VolcanoJob("train", {"tasks": [worker]}, opts).pytroch',
        'VolcanoJob("train", {"tasks": [worker]}, opts).pods[7]',
    ],
)
def test_the_engine_shows_only_the_message_of_a_wrong_call_or_name(project: Project, program: str) -> None:
    """Some of these errors are raised before there is a job, and others after it is registered."""
    failure, lines = diagnostics(project, program, preview=True)

    assert lines == lines_of(failure)


def test_the_engine_shows_each_message_of_the_table(project: Project) -> None:
    """One program logs all messages, as Pulumi's SDK logs the message of the error that ends a program."""
    texts = [str(failed(getattr(mistakes, program.name)).error) for program in PROGRAMS]
    project.write("messages.json", json.dumps(texts))
    log = 'for text in json.loads(Path(HERE, "messages.json").read_text("utf-8")):\n    pulumi.log.error(text)\n'
    project.write("__main__.py", f"import json\n{PROGRAM}{log}")

    shown = [line.strip() for line in project.preview().stdout.splitlines()]

    expected = [line.strip() for text in texts for line in f"error: {text}".splitlines()]
    assert [line for line in shown if line in expected] == expected


def test_the_engine_shows_the_lines_of_a_file(project: Project) -> None:
    """Each line begins with file, line and column."""
    project.write("job.yaml", FILE)

    _, (_, *lines) = diagnostics(project, 'VolcanoJob.from_yaml("train", HERE / "job.yaml", opts=opts)')

    file = project.folder / "job.yaml"
    assert [line.partition(": ")[0] for line in lines] == [f"{file}:5:3", f"{file}:9:7"]


def test_the_names_of_two_jobs_that_create_one_pod_are_in_the_error(project: Project) -> None:
    """The second job ends the program."""
    program = """
for name, task in (("train", "a-worker"), ("train-a", "worker")):
    VolcanoJob(name, {"tasks": [worker | {"name": task}]}, opts)
"""

    failure, (first, second) = diagnostics(project, program, preview=True)

    assert [first, second] == lines_of(failure)
    assert typed(failure.problems) == [("metadata.name", "Duplicate")]
    assert "VolcanoJob train-a " in first
    assert {"train", "train-a", "train-a-worker-0"} <= set(re.findall(r"[\w-]+", second))


def test_other_exceptions_of_the_program_keep_their_traceback(project: Project) -> None:
    """Only errors of a job are shown without one, and the checks above can detect a traceback."""
    project.write("__main__.py", PROGRAM + 'raise ValueError("mine")\n')

    with pytest.raises(automation.errors.InlineSourceRuntimeError, match="Traceback"):
        project.stack.preview(color="never")


LATE = """
limits = {"memory": pulumi.Output.secret("hunter2 Gi")}
pod["spec"]["containers"][0]["resources"] = {"limits": limits}
VolcanoJob("train", {"tasks": [worker]}, opts)
"""


def test_an_output_that_resolves_to_an_invalid_value_shows_no_traceback_and_no_value(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The engine prints no secret."""
    # Its resources stay in the state, so other tests use another project.
    project = Project(tmp_path, "pass\n")
    # As in Pulumi's Python host: some futures of a failed program are never awaited.
    caplog.set_level(logging.CRITICAL, "asyncio")
    project.write("__main__.py", PROGRAM + WORKER + LATE)
    with pytest.raises(automation.errors.RuntimeError) as caught:
        project.stack.up(color="never")

    failure = failed(project.folder)
    assert typed(failure.problems) == [("spec.tasks[0].template.spec.containers[0].resources.limits.memory", "Invalid")]
    output = str(caught.value)
    assert "\n".join(f"    {line}" for line in str(failure.error).splitlines()).strip() in output
    assert "hunter2" not in output
    assert "Traceback" not in output
