"""The component as Pulumi's other languages reach it: inputs as they cross the wire, mistakes, the plugin itself."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]  # it has no types
import packageschema
import pulumi
import pytest
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from pulumi_volcano_jobs.component.provider import JobProvider
from pulumi_volcano_jobs.testing import Result, SecretValue, computed, failed, run
from tests.conftest import Wire, task

TYPE = "volcano-jobs:index:VolcanoJob"
PYTORCH = {"pytorch": []}


def construct(**inputs: Any) -> None:
    """Make the job of a program in another language."""
    JobProvider().construct("train", TYPE, inputs)


def refusal(**inputs: Any) -> str:
    """Give the message for a job that is refused; nothing has been registered by then."""
    error, done = failed(lambda: construct(**inputs))
    # Pulumi's server shows a traceback with all others, and this one with the values of properties that it names.
    assert type(error) is pulumi.InputPropertiesError
    assert error.errors == []
    assert done.resources == {}
    return error.message


REFUSALS: dict[str, tuple[Wire, str]] = {
    "a fraction": (
        {"tasks": [{**task(), "replicas": 2.5}]},
        "spec.tasks[0].replicas: this must be a whole number (given: 2.5): write it without quotes or fraction",
    ),
    "a number that is too small": (
        {"tasks": [{**task(), "replicas": -1.0}]},
        "spec.tasks[0].replicas: this must be at least 0 (given: -1): give a larger number",
    ),
    "a Python name": (
        {"tasks": [task()], "managed_by": "volcano"},
        "managed_by: there is no such input: did you mean managedBy?",
    ),
    "a misspelt name": ({"tasks": [task()], "quue": "a"}, "quue: there is no such input: did you mean queue?"),
    "a choice": (
        {"tasks": [task()], "managedBy": "me"},
        "managedBy: this must be one of pulumi, volcano (given: 'me')",
    ),
    "what the mode cannot do": (
        {"tasks": [task()], "managedBy": "volcano", "onConflict": "user"},
        (
            'onConflict: with managedBy: "volcano" the plugins are Volcano\'s, and what they set counts: '
            'say onConflict: "plugin", or remove the template\'s own'
        ),
    ),
    "an option of a plugin": (
        {"tasks": [task("master", 1), task()], "plugins": PYTORCH, "pluginOptions": {"pytorch": {"torchrum": True}}},
        "pluginOptions.pytorch.torchrum: the plugin has no such option: did you mean torchrun?",
    ),
}


def test_a_mistake_in_a_queue_is_told_in_the_same_way() -> None:
    """With the queue's own inputs."""

    def program(**inputs: Any) -> Any:
        return lambda: JobProvider().construct("research", "volcano-jobs:index:VolcanoQueue", inputs)

    unknown, _ = failed(program(dequeue_strategy="fifo"))
    wrong, _ = failed(program(dequeueStrategy="lifo"))

    assert str(unknown) == (
        "the VolcanoQueue research has a problem:\n"
        "  dequeue_strategy: there is no such input: did you mean dequeueStrategy?"
    )
    assert type(wrong) is pulumi.InputPropertiesError
    assert str(wrong).startswith("the VolcanoQueue research has a problem:\n  spec.dequeueStrategy: ")


@pytest.mark.parametrize("what", REFUSALS)
def test_a_mistake_is_told_in_the_words_of_the_program(what: str) -> None:
    """By its place, with the schema's names, and without a traceback."""
    inputs, said = REFUSALS[what]

    assert refusal(**inputs) == f"the VolcanoJob train has a problem:\n  {said}"


def test_a_component_of_a_newer_sdk_is_told() -> None:
    """The package that has the provider is older than the one that the program's SDK is of."""
    error, _ = failed(lambda: JobProvider().construct("train", "volcano-jobs:index:VolcanoCronJob", {}))

    assert type(error) is pulumi.InputPropertiesError
    assert error.message == (
        f"pulumi-resource-volcano-jobs {version('pulumi-volcano-jobs')} has no VolcanoCronJob (it has VolcanoJob,"
        " VolcanoQueue): update pulumi-volcano-jobs, or generate the SDK again"
    )


def test_all_problems_are_told_at_once() -> None:
    """A program is mended in one go."""
    message = refusal(tasks=[{**task(), "replicas": 2.5}], queue="A", managedBy="me")

    assert message.startswith("the VolcanoJob train has 3 problems:\n")
    assert all(f"\n  {path}: " in message for path in ("spec.tasks[0].replicas", "spec.queue", "managedBy"))


def test_a_fault_of_the_provider_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what the program did wrong is told without one."""

    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("pulumi_volcano_jobs.component.base.render", broken)
    error, _ = failed(lambda: construct(tasks=[task()]))

    assert type(error).__name__ == "ComponentInitError"


def test_an_output_where_a_number_decides_is_refused_in_words() -> None:
    """Pulumi's own mapping of inputs fails with a traceback there."""
    error, _ = failed(lambda: construct(tasks=[task()], minAvailable=pulumi.Output.from_input(3)))

    assert type(error) is pulumi.InputPropertiesError
    assert "spec.minAvailable: this must be a plain value, not an Output" in error.message


def test_an_output_with_its_flag_in_one_argument_is_refused_with_the_way_out() -> None:
    """`--ssh-private-key=${key}` is one text that is not known; a flag must be."""

    def program() -> None:
        construct(tasks=[task()], plugins={"ssh": [pulumi.Output.secret("--ssh-private-key=hush")]})

    error, _ = failed(program)

    assert str(error) == (
        "the VolcanoJob train has a problem:\n  spec.plugins.ssh[0]: an argument must be plain text; only the value "
        'behind a flag may be an Output: write "--name" and the Output as two items of the list'
    )


def made(**inputs: Any) -> Result:
    """Result a program with a job, in a preview."""
    return run(lambda: construct(**inputs), preview=True)


def test_whole_floats_are_integers() -> None:
    """That is how integers cross the wire; within templates and options, too."""
    replicas = {**task(replicas=2.0), "replicas": 2.0}
    replicas["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 8080.0}]

    done = made(tasks=[replicas], minAvailable=2.0)

    pods = done.manifests()
    assert sorted(name for name in pods if name.startswith("Pod ")) == ["Pod train-worker-0", "Pod train-worker-1"]
    port = pods["Pod train-worker-0"]["spec"]["containers"][0]["ports"][0]["containerPort"]
    assert repr(port) == "8080"


def test_nothing_given_is_nothing() -> None:
    """A null is what a YAML program writes for a missing input."""
    assert made(tasks=[task()], queue=None, managedBy=None).tree() == made(tasks=[task()]).tree()


def test_secrets_and_unknowns_stay_what_they_are() -> None:
    """Outputs arrive at the leaves and come out there again."""

    def program() -> None:
        worker = task()
        worker["template"]["spec"]["containers"][0]["env"] = [
            {"name": "TOKEN", "value": pulumi.Output.secret("hush")},
            {"name": "PLACE", "value": computed("here")},
        ]
        construct(tasks=[worker])

    done = run(program, preview=True)

    pod = "Pod train-worker-0"
    token, place = done.manifests()[pod]["spec"]["containers"][0]["env"][:2]
    assert token["value"] == SecretValue("hush")
    assert done.unknown() >= {f"{pod}: spec.containers[0].env[1].value"}
    assert repr(place["value"]) == "<unknown>"


def test_a_warning_has_the_names_of_the_schema() -> None:
    """As a mistake does."""
    (warning,) = made(tasks=[task()], ttlSecondsAfterFinished=60.0).warnings

    assert warning.endswith(
        'With managedBy: "volcano" Volcano\'s controllers enact it; unsupported: "ignore" silences this.'
    )


# The console script of the wheel, and what Pulumi's host for Python does in a clone of the repository.
STARTS = {
    "from PyPI": [str(Path(sys.executable).parent / "pulumi-resource-volcano-jobs")],
    "from Git": [sys.executable, "-m", "pulumi.run.plugin", "pulumi-volcano-jobs"],
}


@pytest.mark.parametrize("start", STARTS)
def test_the_plugin_serves_the_schema(start: str) -> None:
    """It says its port, and answers there with its version and the committed schema."""
    environment = os.environ | {"PYTHONPATH": str(packageschema.ROOT)}
    # No engine answers at that address; none is asked before a job is made.
    command = [*STARTS[start], "127.0.0.1:9"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as plugin:
        try:
            assert plugin.stdout is not None
            port = int(plugin.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                stub = provider_pb2_grpc.ResourceProviderStub(channel)
                answer = stub.GetSchema(provider_pb2.GetSchemaRequest(version=0), timeout=30)
        finally:
            plugin.terminate()

    assert json.loads(answer.schema) == json.loads(packageschema.COMMITTED.read_text("utf-8"))


def test_pulumi_is_told_how_to_start_it_from_git() -> None:
    """Its host for Python installs a package and starts the module of its name, where nothing else lies at the root."""
    root = packageschema.ROOT

    assert "runtime: python" in (root / "PulumiPlugin.yaml").read_text("utf-8").splitlines()
    assert not (root / "__main__.py").exists()
    assert importlib.util.find_spec("pulumi_volcano_jobs.__main__") is not None
