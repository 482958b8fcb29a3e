"""Strings that contain Pulumi's text for an Output, as an f-string makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    Allow,
    Job,
    MpiPlugin,
    Policy,
    PytorchPlugin,
    RayPlugin,
    SshPlugin,
    SvcPlugin,
    Task,
    VolcanoJob,
    VolcanoQueue,
)
from pulumi_volcano_jobs.core.text import holds_output
from pulumi_volcano_jobs.testing import failed, run
from tests.component.programs import new_job
from tests.conftest import Wire, container, task, typed

MAIN = "spec.tasks[0].template.spec.containers[0]"
IN_TYPESCRIPT = """Calling [toString] on an [Output<T>] is not supported.

To get the value of an Output<T> as an Output<string> consider either:
1: o.apply(v => `prefix${v}suffix`)"""


def output() -> pulumi.Output[str]:
    """Return an Output of a program."""
    return pulumi.Output.from_input("1")


def text() -> str:
    """Return an Output in an f-string."""
    return f"example.org/{output()}"


def with_container(**fields: Any) -> Wire:
    """Return the arguments of a job with a container."""
    return {"tasks": [task(containers=[container(**fields)])]}


# Fields that accept an Output: the fix is pulumi.Output.concat.
VALUES: dict[str, tuple[Callable[[], Wire], str]] = {
    "an image": (lambda: with_container(image=text()), f"{MAIN}.image"),
    "a command": (lambda: with_container(command=["sh", "-c", text()]), f"{MAIN}.command[2]"),
    "a variable": (lambda: with_container(env=[{"name": "A", "value": text()}]), f"{MAIN}.env[0].value"),
    "an amount": (lambda: with_container(resources={"limits": {"cpu": text()}}), f"{MAIN}.resources.limits.cpu"),
    "a queue": (lambda: {"tasks": [task()], "queue": text()}, "spec.queue"),
    "a namespace": (lambda: {"tasks": [task()], "namespace": text()}, "metadata.namespace"),
    "a label": (lambda: {"tasks": [task()], "labels": {"team": text()}}, "metadata.labels.team"),
    "a shared default": (
        lambda: {"tasks": [task()], "job_defaults": {"labels": {"team": text()}}},
        "job_defaults.labels.team",
    ),
    "a registry": (lambda: {"tasks": [task()], "image_registry": text()}, "image_registry"),
    "an ssh key": (
        lambda: {"tasks": [task()], "plugins": [SshPlugin(ssh_private_key=text(), ssh_public_key="ssh-rsa A")]},
        "spec.plugins.ssh.ssh_private_key",
    ),
    "an address": (
        lambda: {"tasks": [task()], "plugins": [SvcPlugin(allow=[Allow(cidrs=[text()])])]},
        "spec.plugins.svc.allow[0].cidrs[0]",
    ),
    "an argument of Volcano": (
        lambda: {"tasks": [task()], "plugins": {"ssh": [f"--ssh-private-key={output()}", "--ssh-public-key=a"]}},
        "spec.plugins.ssh[0]",
    ),
    "the repr of an Output": (lambda: with_container(image=f"a:{output()!r}"), f"{MAIN}.image"),
    "a text of TypeScript": (lambda: with_container(image=f"example.org/{IN_TYPESCRIPT}"), f"{MAIN}.image"),
    "a key of a label": (lambda: {"tasks": [task()], "labels": {text(): "ml"}}, "metadata.labels"),
    "an Output as a key": (lambda: {"tasks": [task()], "labels": {output(): "ml"}}, "metadata.labels"),
    "a key of a node selector": (
        lambda: {"tasks": [task(nodeSelector={text(): "gpu"})]},
        "spec.tasks[0].template.spec.nodeSelector",
    ),
}
# Fields that need a plain value: the error is that of an Output.
STRUCTURE: dict[str, tuple[Callable[[], Wire], str]] = {
    "the name of a job": (lambda: {"tasks": [task()], "name": text()}, "metadata.name"),
    "the name of a task": (lambda: {"tasks": [task(text())]}, "spec.tasks[0].name"),
    "the name of a typed task": (lambda: {"tasks": [Task(name=text())]}, "Task.name"),
    "an action": (lambda: {"tasks": [task()], "policies": [Policy(event=text())]}, "Policy.event"),  # type: ignore[arg-type]
    "the name of a container": (lambda: with_container(name=text()), f"{MAIN}.name"),
    "the name of a variable": (lambda: with_container(env=[{"name": text(), "value": "1"}]), f"{MAIN}.env[0].name"),
    "a role": (lambda: {"tasks": [task()], "plugins": [PytorchPlugin(master=text())]}, "spec.plugins.pytorch.master"),
    "an option of a plugin": (
        lambda: {"tasks": [task("master")], "plugins": [MpiPlugin(hostfile=text())]},  # type: ignore[arg-type]
        "spec.plugins.mpi.hostfile",
    ),
    "an image of a plugin": (
        lambda: {"tasks": [task("master")], "plugins": [MpiPlugin(wait_for_workers_image=text())]},
        "spec.plugins.mpi.wait_for_workers_image",
    ),
    "an argument of Ray": (
        lambda: {"tasks": [task("head")], "plugins": [RayPlugin(head_start_args=(text(),))]},
        "spec.plugins.ray.head_start_args",
    ),
    "an option": (lambda: {"tasks": [task()], "run": text()}, "run"),
    "an argument of Volcano": (
        lambda: {"tasks": [task("master")], "plugins": {"pytorch": [f"--port={output()}"]}},
        "spec.plugins.pytorch[0]",
    ),
}


@pytest.mark.parametrize(("arguments", "place"), VALUES.values(), ids=VALUES)
def test_the_text_of_an_output_is_an_error_at_its_place(
    arguments: Callable[[], Wire], place: str, snapshot: SnapshotAssertion
) -> None:
    """It is the only error, although the text is neither an image nor a label, for example."""
    found = failed(lambda: new_job("train", arguments())).problems
    assert typed(found) == [(place, "Invalid")]
    assert str(found[0]) == snapshot


@pytest.mark.parametrize(("arguments", "place"), STRUCTURE.values(), ids=STRUCTURE)
def test_a_field_that_needs_a_plain_value_rejects_the_text_like_an_output(
    arguments: Callable[[], Wire], place: str
) -> None:
    """The fix is not another Output."""
    found = failed(lambda: new_job("train", arguments())).problems
    assert [problem.path for problem in found if "plain" in problem.reason] == [place]
    assert not any(holds_output(str(problem)) for problem in found)


def test_all_texts_are_reported_with_the_other_problems() -> None:
    """One run shows all problems of a job."""
    arguments = with_container(image=text(), env=[{"name": "A", "value": text()}], imagePullPolicy="Sometimes")
    assert typed(failed(lambda: new_job("train", arguments)).problems) == [
        (f"{MAIN}.image", "Invalid"),
        (f"{MAIN}.env[0].value", "Invalid"),
        (f"{MAIN}.imagePullPolicy", "NotSupported"),
    ]


def test_a_file_and_a_job_are_checked_as_well() -> None:
    """A program can format the text of a file."""

    def of_file() -> None:
        quoted = text().replace("\n", " ")
        containers = f"[{{name: a, image: '{quoted}'}}]"
        spec = f"{{tasks: [{{name: w, replicas: 1, template: {{spec: {{containers: {containers}}}}}}}]}}"
        identity = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job"
        VolcanoJob.from_yaml("train", f"{identity}\nmetadata: {{name: train}}\nspec: {spec}")

    def of_job() -> None:
        VolcanoJob.from_job("train", Job.model_validate({"name": "train", **with_container(image=text())}))

    assert [typed(failed(program).problems) for program in (of_file, of_job)] == [[(f"{MAIN}.image", "Invalid")]] * 2


def test_the_fields_of_a_queue_are_checked() -> None:
    """Values, amounts and keys."""

    def program() -> None:
        arguments: Any = {"parent": text(), "capability": {"cpu": text(), text(): 1}, "name": text()}
        VolcanoQueue("research", arguments)

    assert typed(failed(program).problems) == [
        ("spec.parent", "Invalid"),
        ("spec.capability.cpu", "Invalid"),
        ("spec.capability", "Invalid"),
        ("metadata.name", "TypeInvalid"),
    ]


@pytest.mark.parametrize("kind", [VolcanoJob, VolcanoQueue])
def test_the_name_of_a_resource_may_not_contain_the_text(kind: Any) -> None:
    """The message does not repeat the text."""
    failure = failed(lambda: kind(text(), {"tasks": [task()]} if kind is VolcanoJob else {}))
    assert typed(failure.problems) == [("resource_name", "TypeInvalid")]
    assert not holds_output(str(failure.error))


def test_a_value_that_contains_the_text_when_it_is_known_is_an_error() -> None:
    """As in `a.apply(lambda value: f"{value}-{b}")`."""
    value = lambda: output().apply(lambda known: f"{known}-{output()}")  # noqa: E731  # made inside the program
    failure = failed(lambda: new_job("train", with_container(env=[{"name": "A", "value": value()}])))
    assert typed(failure.problems) == [(f"{MAIN}.env[0].value", "Invalid")]


def test_concat_and_format_are_accepted() -> None:
    """The fixes that the message names."""

    def program() -> None:
        image = pulumi.Output.concat("example.org/a:", output())
        value = pulumi.Output.format("{0}-a", output())
        new_job("train", with_container(image=image, env=[{"name": "A", "value": value}]))

    pod = run(program).job("train").pod("worker", 0)
    assert (pod.image, pod.env["A"]) == ("example.org/a:1", "1-a")


def test_the_library_never_formats_an_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """With this variable, Pulumi raises an error instead of a text, for valid and for invalid jobs."""
    monkeypatch.setenv("PULUMI_ERROR_OUTPUT_STRING", "true")
    valid = lambda: with_container(image=output(), args=[output()])  # noqa: E731  # made inside the program
    assert run(lambda: new_job("train", valid()) and None).job("train").pod("worker", 0).image == "1"
    wrong = {"name": output(), "labels": {output(): output()}, "run": output(), "min_available": output()}
    problems = failed(lambda: new_job("train", {**valid(), **wrong})).problems
    assert {problem.path for problem in problems} == {"metadata.name", "metadata.labels", "run", "spec.minAvailable"}
