"""The component provider for other Pulumi languages: inputs over RPC, errors, and the plugin executable."""

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
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.component.provider import JobProvider
from pulumi_volcano_jobs.testing import Result, SecretValue, computed, failed, run
from tests.component.programs import new_job
from tests.conftest import Wire, task
from tests.deadlines import DEADLINE

TYPE = "volcano-jobs:index:VolcanoJob"
PYTORCH = {"pytorch": []}


def construct(**inputs: Any) -> None:
    """Create the job as a program in another language does."""
    JobProvider().construct("train", TYPE, inputs)


def refusal(**inputs: Any) -> str:
    """Return the message for a job that is rejected; no resource has been registered by then."""
    error, done = failed(lambda: construct(**inputs))
    # Pulumi's server shows a traceback for other exceptions, and this one with the values of the named properties.
    assert type(error) is pulumi.InputPropertiesError
    assert error.errors == []
    assert done.resources == {}
    return error.message


def places(message: str) -> list[str]:
    """Return the paths of the problems in the message for a job; its first line has the job's name."""
    first, *lines = message.splitlines()
    assert "VolcanoJob train" in first
    return [line.strip().partition(": ")[0] for line in lines]


REJECTED: dict[str, tuple[Wire, str]] = {
    "a Python name": ({"tasks": [task()], "managed_by": "volcano"}, "managed_by"),
    "a misspelt name": ({"tasks": [task()], "quue": "a"}, "quue"),
    "an unsupported value of an option": ({"tasks": [task()], "managedBy": "me"}, "managedBy"),
    "an option that the mode does not support": (
        {"tasks": [task()], "managedBy": "volcano", "onConflict": "user"},
        "onConflict",
    ),
    "an unknown option of a plugin": (
        {"tasks": [task("master", 1), task()], "plugins": PYTORCH, "pluginOptions": {"pytorch": {"torchrum": True}}},
        "pluginOptions.pytorch.torchrum",
    ),
}


def test_errors_of_a_queue_use_the_property_names_of_the_schema(snapshot: SnapshotAssertion) -> None:
    """The path is that of the input."""

    def program(**inputs: Any) -> Any:
        return lambda: JobProvider().construct("research", "volcano-jobs:index:VolcanoQueue", inputs)

    unknown, _ = failed(program(dequeue_strategy="fifo"))
    wrong, _ = failed(program(dequeueStrategy="lifo"))

    assert str(unknown) == snapshot
    assert type(wrong) is pulumi.InputPropertiesError
    first, *lines = str(wrong).splitlines()
    assert "VolcanoQueue research" in first
    assert [line.partition(": ")[0] for line in lines] == ["  spec.dequeueStrategy"]


@pytest.mark.parametrize("name", REJECTED)
def test_errors_use_the_property_names_of_the_schema(name: str, snapshot: SnapshotAssertion) -> None:
    """The message has the path of the input, and there is no traceback."""
    inputs, path = REJECTED[name]

    message = refusal(**inputs)

    assert places(message) == [path]
    assert message == snapshot


def test_a_wrong_number_has_the_same_message_as_in_python() -> None:
    """All numbers arrive as floats."""
    in_python = failed(lambda: new_job("train", {"tasks": [task(replicas=-1)]}) and None)

    assert refusal(tasks=[{**task(), "replicas": -1.0}]) == str(in_python.error)


def test_the_hint_for_a_fraction_is_not_about_python() -> None:
    """The types of other languages have other names."""
    message = refusal(tasks=[{**task(), "replicas": 2.5}])

    assert places(message) == ["spec.tasks[0].replicas"]
    assert message.endswith("must be a whole number: write it without quotes or fraction")


def test_a_component_of_a_newer_sdk_is_rejected(snapshot: SnapshotAssertion) -> None:
    """The installed package is older than the SDK of the program."""
    error, _ = failed(lambda: JobProvider().construct("train", "volcano-jobs:index:VolcanoCronJob", {}))

    assert type(error) is pulumi.InputPropertiesError
    release = version("pulumi-volcano-jobs")
    assert release in error.message
    assert error.message.replace(release, "VERSION") == snapshot


def test_an_error_has_all_problems() -> None:
    """The user corrects them together."""
    message = refusal(tasks=[{**task(), "replicas": 2.5}], queue="A", managedBy="me")

    assert sorted(places(message)) == ["managedBy", "spec.queue", "spec.tasks[0].replicas"]


def test_a_bug_in_the_provider_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only mistakes of the program are shown without a traceback."""

    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("pulumi_volcano_jobs.component.base_job.render", broken)
    error, _ = failed(lambda: construct(tasks=[task()]))

    assert type(error).__name__ == "ComponentInitError"


def test_an_output_for_a_plain_number_is_rejected_without_a_traceback() -> None:
    """Pulumi's own mapping of inputs would fail with a traceback."""
    error, _ = failed(lambda: construct(tasks=[task()], minAvailable=pulumi.Output.from_input(3)))

    assert type(error) is pulumi.InputPropertiesError
    assert places(error.message) == ["spec.minAvailable"]
    assert "Output" in error.message


def test_an_output_with_its_flag_in_one_argument_is_rejected(snapshot: SnapshotAssertion) -> None:
    """`--ssh-private-key=${key}` is unknown as a whole, and the flag must be known."""

    def program() -> None:
        construct(tasks=[task()], plugins={"ssh": [pulumi.Output.secret("--ssh-private-key=hush")]})

    error, _ = failed(program)

    assert places(str(error)) == ["spec.plugins.ssh[0]"]
    assert str(error) == snapshot


def construct_in_preview(**inputs: Any) -> Result:
    """Run a program with a job in a preview."""
    return run(lambda: construct(**inputs), preview=True)


def test_whole_floats_become_integers() -> None:
    """Integers arrive as floats, also within templates and options."""
    replicas = {**task(replicas=2.0), "replicas": 2.0}
    replicas["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 8080.0}]

    done = construct_in_preview(tasks=[replicas], minAvailable=2.0)

    pods = done.manifests()
    assert sorted(name for name in pods if name.startswith("Pod ")) == ["Pod train-worker-0", "Pod train-worker-1"]
    port = pods["Pod train-worker-0"]["spec"]["containers"][0]["ports"][0]["containerPort"]
    assert repr(port) == "8080"


def test_null_inputs_are_ignored() -> None:
    """A YAML program passes null for a missing input."""
    assert (
        construct_in_preview(tasks=[task()], queue=None, managedBy=None).tree()
        == construct_in_preview(tasks=[task()]).tree()
    )


def test_secrets_and_unknowns_are_preserved() -> None:
    """Outputs arrive as leaves of the inputs and have the same marks in the Pods."""

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


def test_warnings_use_the_property_names_of_the_schema() -> None:
    """They are the same as in errors."""
    (warning,) = construct_in_preview(tasks=[task()], ttlSecondsAfterFinished=60.0).warnings

    assert 'managedBy: "volcano"' in warning
    assert 'unsupported: "ignore"' in warning
    assert "managed_by" not in warning


# The console script of the wheel, and the command that Pulumi's Python host runs in a clone of the repository.
STARTS = {
    "from PyPI": [str(Path(sys.executable).parent / "pulumi-resource-volcano-jobs")],
    "from Git": [sys.executable, "-m", "pulumi.run.plugin", "pulumi-volcano-jobs"],
}


@pytest.mark.parametrize("start", STARTS)
def test_the_plugin_serves_the_schema(start: str) -> None:
    """It prints its port and returns its version and the committed schema."""
    environment = os.environ | {"PYTHONPATH": str(packageschema.ROOT)}
    # No engine listens at that address; the plugin connects only when a resource is created.
    command = [*STARTS[start], "127.0.0.1:9"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as plugin:
        try:
            assert plugin.stdout is not None
            port = int(plugin.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                stub = provider_pb2_grpc.ResourceProviderStub(channel)
                answer = stub.GetSchema(provider_pb2.GetSchemaRequest(version=0), timeout=DEADLINE)
        finally:
            plugin.terminate()

    assert json.loads(answer.schema) == json.loads(packageschema.COMMITTED.read_text("utf-8"))


def test_pulumi_can_start_the_plugin_from_git() -> None:
    """Pulumi's Python host installs the package and runs the module of the same name at the root."""
    root = packageschema.ROOT

    assert "runtime: python" in (root / "PulumiPlugin.yaml").read_text("utf-8").splitlines()
    assert not (root / "__main__.py").exists()
    assert importlib.util.find_spec("pulumi_volcano_jobs.__main__") is not None
