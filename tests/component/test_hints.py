"""Hints about arguments of a wrong type, in Python for programs and in YAML for files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi_kubernetes as k8s
import pytest

from pulumi_volcano_jobs import JobError, Policy, PytorchPlugin, Task, VolcanoJob, VolcanoQueue
from pulumi_volcano_jobs.component.provider import JobProvider
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.resource_types import VOLCANO_JOB
from pulumi_volcano_jobs.spec.options import duration_of
from pulumi_volcano_jobs.testing import failed
from tests.conftest import job, problems, task, typed


def problem_of(arguments: Callable[[], dict[str, Any]]) -> Problem:
    """Return the only problem of a job with these arguments in addition to its task."""

    def program() -> None:
        args: Any = {"tasks": [task("master")], **arguments()}
        VolcanoJob("train", args)

    (problem,) = failed(program).problems
    return problem


PLUGINS: dict[str, tuple[Any, str, str]] = {
    "a plugin": (PytorchPlugin(), "spec.plugins", "put it in a list: [PytorchPlugin(...)]"),
    "a class": (PytorchPlugin, "spec.plugins", "write [PytorchPlugin()]"),
    "a list of classes": ([PytorchPlugin], "spec.plugins", "call it: PytorchPlugin()"),
    "a class by name": ({"pytorch": PytorchPlugin}, "spec.plugins.pytorch", "call it: PytorchPlugin()"),
    "a list of names": (["pytorch"], "spec.plugins", 'write {"pytorch": []}'),
    "a mapping of settings": ({"pytorch": {"port": 1}}, "spec.plugins.pytorch", 'write ["--port=1"]'),
    "a secret setting": (
        {"ssh": {"ssh_private_key": "abc", "no_root": True}},
        "spec.plugins.ssh",
        'write ["--ssh-private-key=...", "--no-root=true"]',
    ),
}


@pytest.mark.parametrize(("plugins", "path", "hint"), PLUGINS.values(), ids=PLUGINS)
def test_the_hint_shows_how_to_write_plugins(plugins: object, path: str, hint: str) -> None:
    """Values of settings that may be secret are not shown."""
    problem = problem_of(lambda: {"plugins": plugins})

    assert (problem.path, problem.type, problem.hint) == (path, "TypeInvalid", hint)


RESOURCES: dict[str, tuple[str, Callable[[], Any], str, str, str]] = {
    "a Namespace": (
        "namespace",
        lambda: k8s.core.v1.Namespace("team"),
        "metadata.namespace",
        "must be a string, not a Namespace",
        'pass its .metadata["name"]',
    ),
    "a VolcanoQueue": (
        "queue",
        lambda: VolcanoQueue("research"),
        "spec.queue",
        "must be a string, not a VolcanoQueue",
        "pass its .name",
    ),
}


@pytest.mark.parametrize(("name", "resource", "path", "reason", "hint"), RESOURCES.values(), ids=RESOURCES)
def test_the_hint_names_the_attribute_of_a_resource(
    name: str, resource: Callable[[], Any], path: str, reason: str, hint: str
) -> None:
    """A job refers to another resource by its name."""
    problem = problem_of(lambda: {name: resource()})

    assert (problem.path, problem.type, problem.reason, problem.hint) == (path, "TypeInvalid", reason, hint)


def test_the_hint_names_the_attribute_of_a_resource_in_shared_defaults() -> None:
    """Defaults accept the same values as the job."""
    problem = problem_of(lambda: {"job_defaults": {"queue": VolcanoQueue("research")}})

    assert (problem.path, problem.type, problem.hint) == ("job_defaults.queue", "TypeInvalid", "pass its .name")


INT_HINT = "pass an int; to read it from the configuration, use config.get_int"


def test_the_hint_for_digits_in_a_program_is_get_int() -> None:
    """`config.get` returns a string."""
    problem = problem_of(lambda: {"min_available": "2"})

    assert (problem.path, problem.type, problem.hint) == ("spec.minAvailable", "TypeInvalid", INT_HINT)
    assert problem.value == '"2"'


def test_the_hint_for_digits_in_a_model_is_get_int() -> None:
    """Only programs call models."""
    replicas: Any = "2"
    with pytest.raises(JobError) as error:
        Task(name="worker", replicas=replicas)

    (problem,) = error.value.problems
    assert (problem.path, problem.type, problem.hint) == ("Task[worker].replicas", "TypeInvalid", INT_HINT)


def test_the_hint_for_digits_in_a_setting_is_get_int() -> None:
    """In the constructor of a plugin, in a copy and in the options of a job."""
    port: Any = "2"
    options = {"plugins": [PytorchPlugin()], "plugin_options": {"pytorch": {"port": port}}}

    with pytest.raises(JobError) as constructed:
        PytorchPlugin(port=port)
    with pytest.raises(JobError) as copied:
        PytorchPlugin().with_(port=port)
    found = [*constructed.value.problems, *copied.value.problems, problem_of(lambda: options)]

    assert [(problem.type, problem.hint) for problem in found] == [("TypeInvalid", INT_HINT)] * 3


def test_the_hint_for_digits_in_an_option_without_a_program_is_about_yaml() -> None:
    """The command line reads values as YAML."""
    document = job(task("master"), plugins={"pytorch": []})

    (problem,) = problems(document, plugin_options={"pytorch": {"port": "2"}})

    assert (problem.type, problem.hint) == ("TypeInvalid", "write it without quotes or fraction")


def test_the_hint_for_digits_in_a_file_is_about_yaml() -> None:
    """A file has no configuration."""
    text = """
        apiVersion: batch.volcano.sh/v1alpha1
        kind: Job
        metadata: {name: train}
        spec:
          minAvailable: "1"
          tasks: [{name: a, replicas: 1, template: {spec: {containers: [{name: a, image: b}]}}}]
    """
    (problem,) = failed(lambda: VolcanoJob.from_yaml("train", text)).problems

    assert (problem.path, problem.hint) == ("spec.minAvailable", "write it without quotes or fraction")


def test_the_hint_for_digits_in_another_language_is_not_about_python() -> None:
    """The provider gets the arguments of all other languages."""
    inputs = {"tasks": [task()], "minAvailable": "2"}
    error, _ = failed(lambda: JobProvider().construct("train", VOLCANO_JOB, inputs) and None)

    assert str(error).endswith("must be a whole number: write it without quotes or fraction")


def test_the_hint_suggests_the_event_that_is_spelled_almost_like_it() -> None:
    """The API server lists the supported values."""
    event: Any = "PodFaild"
    with pytest.raises(JobError) as error:
        Policy(event=event, action="RestartJob")

    (problem,) = error.value.problems
    assert (problem.path, problem.type, problem.hint) == ("Policy.event", "NotSupported", "did you mean PodFailed?")
    assert '"PodFailed"' in problem.reason


def test_no_event_is_suggested_for_an_unlike_word() -> None:
    """The reason lists all events."""
    event: Any = "restart"
    with pytest.raises(JobError) as error:
        Policy(event=event, action="RestartJob")

    assert [problem.hint for problem in error.value.problems] == [""]


def test_the_hint_converts_seconds_to_a_duration() -> None:
    """Pulumi's timeouts are strings."""
    problem = problem_of(lambda: {"managed_by": "volcano", "wait_for": "running", "wait_timeout": 3600})

    assert (problem.path, problem.type, problem.hint) == ("wait_timeout", "TypeInvalid", 'write "1h"')
    assert problem.value == "3600"


@pytest.mark.parametrize(("seconds", "text"), [(7200, "2h"), (5400, "90m"), (61, "61s")])
def test_a_duration_has_the_largest_unit_without_a_fraction(seconds: int, text: str) -> None:
    """One unit is enough."""
    assert duration_of(seconds) == text


@pytest.mark.parametrize(
    ("field", "value", "hint"),
    [
        ("env", {"A": "1"}, 'write [{"name": "A", "value": "1"}]'),
        ("command", "python train.py", 'write ["python", "train.py"]'),
        ("args", "--epochs 3", 'write ["--epochs", "3"]'),
        ("ports", "80", "put it in a list: [...]"),
        ("tty", "yes", "pass a bool"),
    ],
)
def test_the_hint_for_a_field_of_a_container_is_python(field: str, value: object, hint: str) -> None:
    """The value is not shown, because it may be secret."""
    problem = problem_of(lambda: {"tasks": [task("master", containers=[{"name": "main", "image": "x", field: value}])]})

    assert typed([problem]) == [(f"spec.tasks[0].template.spec.containers[0].{field}", "TypeInvalid")]
    assert problem.hint == hint
