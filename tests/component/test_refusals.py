"""Invalid arguments: one error with all problems, and no registered resource."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    EnvPlugin,
    MpiPlugin,
    PytorchPlugin,
    SshPlugin,
    SvcPlugin,
    Task,
    VolcanoJob,
    load_jobs,
    presets,
)
from pulumi_volcano_jobs.component.input_errors import JobInputError
from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.testing import Failure, computed, failed
from tests.component.programs import new_job
from tests.conftest import Wire, container, task, typed

Make = Callable[[Any], Wire]


def refusal(arguments: Wire | Callable[[], Wire], *, preview: bool = True) -> JobInputError:
    """Return the error of a program whose only job is rejected; no resource has been registered by then."""

    def program() -> None:
        new_job("train", arguments() if callable(arguments) else arguments)

    error, done = failed(program, preview=preview)
    assert isinstance(error, JobInputError)
    assert done.resources == {}
    return error


def places(error: pulumi.InputPropertiesError) -> list[str]:
    """Return the paths of the problems of an error."""
    return [problem["property_path"] for problem in error.errors or ()]


def in_spec(**fields: Any) -> Wire:
    """Return a job with additional fields in the Pod spec of its task."""
    return {"tasks": [task(**fields)]}


def in_container(**fields: Any) -> Wire:
    """Return a job with additional fields in its container."""
    return in_spec(containers=[{**container(), **fields}])


def in_task(**fields: Any) -> Wire:
    """Return a job with additional fields in its task."""
    return {"tasks": [{**task(), **fields}]}


def in_job(**fields: Any) -> Wire:
    """Return a job with additional fields."""
    return {"tasks": [task()], **fields}


SPEC = "spec.tasks[0].template.spec"
STRUCTURE: dict[str, tuple[Make, Any, str]] = {
    "the job's name": (lambda value: in_job(name=value), "a", "metadata.name"),
    "all labels": (lambda value: in_job(labels=value), {"a": "b"}, "metadata.labels"),
    "the scheduler": (lambda value: in_job(scheduler_name=value), "a", "spec.schedulerName"),
    "the size of the gang": (lambda value: in_job(min_available=value), 1, "spec.minAvailable"),
    "all tasks": (lambda value: {"tasks": value}, [task()], "spec.tasks"),
    "a task": (lambda value: {"tasks": [value]}, task(), "spec.tasks[0]"),
    "a task's name": (lambda value: in_task(name=value), "a", "spec.tasks[0].name"),
    "the replicas": (lambda value: in_task(replicas=value), 2, "spec.tasks[0].replicas"),
    "an event": (
        lambda value: in_job(policies=[{"event": value, "action": "AbortJob"}]),
        "*",
        "spec.policies[0].event",
    ),
    "a claim's name": (
        lambda value: in_job(volumes=[{"mountPath": "/a", "volumeClaimName": value}]),
        "data",
        "spec.volumes[0].volumeClaimName",
    ),
    "the path of a claim": (
        lambda value: in_job(volumes=[{"mountPath": value, "volumeClaimName": "data"}]),
        "/a",
        "spec.volumes[0].mountPath",
    ),
    "all plugins": (lambda value: in_job(plugins=value), {"svc": []}, "spec.plugins"),
    "a plugin's arguments": (
        lambda value: in_job(plugins={"svc": value}),
        [],
        "spec.plugins.svc",
    ),
    "a template": (
        lambda value: in_task(template=value),
        task()["template"],
        "spec.tasks[0].template",
    ),
    "a Pod spec": (lambda value: in_task(template={"spec": value}), task()["template"]["spec"], SPEC),
    "a template's metadata": (
        lambda value: in_task(template={**task()["template"], "metadata": value}),
        {"labels": {"a": "b"}},
        "spec.tasks[0].template.metadata",
    ),
    "a template's labels": (
        lambda value: in_task(template={**task()["template"], "metadata": {"labels": value}}),
        {"a": "b"},
        "spec.tasks[0].template.metadata.labels",
    ),
    "all containers": (lambda value: in_spec(containers=value), [container()], f"{SPEC}.containers"),
    "all volumes": (lambda value: in_spec(volumes=value), [{"name": "a"}], f"{SPEC}.volumes"),
    "a volume's name": (
        lambda value: in_spec(volumes=[{"name": value}]),
        "a",
        f"{SPEC}.volumes[0].name",
    ),
    "the hostname": (lambda value: in_spec(hostname=value), "a", f"{SPEC}.hostname"),
    "the subdomain": (lambda value: in_spec(subdomain=value), "a", f"{SPEC}.subdomain"),
    "the host's network": (lambda value: in_spec(hostNetwork=value), True, f"{SPEC}.hostNetwork"),
    "a container's name": (lambda value: in_container(name=value), "a", f"{SPEC}.containers[0].name"),
    "all variables": (
        lambda value: in_container(env=value),
        [{"name": "A"}],
        f"{SPEC}.containers[0].env",
    ),
    "a variable's name": (
        lambda value: in_container(env=[{"name": value}]),
        "A",
        f"{SPEC}.containers[0].env[0].name",
    ),
    "all ports": (
        lambda value: in_container(ports=value),
        [{"containerPort": 80}],
        f"{SPEC}.containers[0].ports",
    ),
    "a port": (
        lambda value: in_container(ports=[{"containerPort": value}]),
        80,
        f"{SPEC}.containers[0].ports[0].containerPort",
    ),
    "a port's name": (
        lambda value: in_container(ports=[{"containerPort": 80, "name": value}]),
        "http",
        f"{SPEC}.containers[0].ports[0].name",
    ),
    "all mounts": (
        lambda value: in_container(volumeMounts=value),
        [{"name": "a", "mountPath": "/a"}],
        f"{SPEC}.containers[0].volumeMounts",
    ),
    "the path of a mount": (
        lambda value: {
            "tasks": [
                task(
                    containers=[{**container(), "volumeMounts": [{"name": "a", "mountPath": value}]}],
                    volumes=[{"name": "a", "emptyDir": {}}],
                ),
            ],
        },
        "/a",
        f"{SPEC}.containers[0].volumeMounts[0].mountPath",
    ),
}


@pytest.mark.parametrize("where", STRUCTURE)
def test_an_output_in_the_structure_is_rejected_with_the_reason_and_the_fix(
    where: str, snapshot: SnapshotAssertion
) -> None:
    """The message is the same whether or not the value is known by then."""
    make, value, path = STRUCTURE[where]

    errors = [refusal(lambda: make(computed(value)), preview=preview) for preview in (True, False)]

    for error in errors:
        assert places(error) == [path]
        assert typed(error.problems) == [(path, "TypeInvalid")]
        assert "pulumi.Config" in str(error)
        assert "StackReference.get_output_details" in str(error)
    assert str(errors[0]) == str(errors[1])
    assert str(errors[0]) == snapshot


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "up"])
def test_an_output_as_a_setting_of_a_plugin_is_rejected_on_construction(*, preview: bool) -> None:
    """The error has no traceback."""
    error, done = failed(
        lambda: {"made": new_job("train", in_job(plugins=[SshPlugin(ssh_port=computed(22)), SvcPlugin()])).name},
        preview=preview,
    )

    assert isinstance(error, pulumi.RunError)
    assert str(error) == (
        "spec.plugins.ssh.ssh_port: Invalid value: must be a plain value, not an Output: only keys may be Outputs"
    )
    assert done.resources == {}


@pytest.mark.parametrize("option", sorted(JobOptions.__annotations__.keys() - {"image_registry"}))
def test_an_output_as_a_pulumi_resource_option_is_rejected(option: str) -> None:
    """Options that decide replacement must be known when the program runs."""
    error = refusal(lambda: in_job(**{option: computed("gang")}))

    assert places(error) == [option]
    assert str(error).count("\n") == 1


def test_an_error_has_all_problems() -> None:
    """The error has wrong types, unknown fields, structure and options."""
    worker = task("worker", nodeName=3)
    worker["template"]["spec"]["containers"][0] |= {"imagePullPolicy": "Always", "iamge": "a", "env": [{"value": "a"}]}

    error = refusal(
        lambda: {
            "tasks": [worker, Task(name="other", replicas=1, template={"spec": {"containers": []}})],
            "plugins": [PytorchPlugin(port=0), MpiPlugin(master="nobody")],
            "min_available": "one",
            "queue": "UPPER",
            "restart": "all",
            "quue": "a",
        },
    )

    first, *lines = str(error).splitlines()
    assert "VolcanoJob train" in first
    assert [line.strip().partition(": ")[0] for line in lines] == places(error)
    assert sorted(places(error)) == [
        "restart",
        "spec.minAvailable",
        "spec.queue",
        "spec.quue",
        f"{SPEC}.containers[0].env[0].name",
        f"{SPEC}.containers[0].iamge",
        f"{SPEC}.nodeName",
        "spec.tasks[1].template.spec.containers",
    ]


def test_problems_of_plugins_and_of_the_webhook_are_reported_together() -> None:
    """The job has no type errors, so all later checks run."""
    error = refusal(
        in_job(
            plugins=[PytorchPlugin(port=0), MpiPlugin(worker="nobody")],
            min_available=5,
            policies=[{"event": "PodEvicted", "action": "Restart"}],
        ),
    )

    assert sorted(places(error)) == [
        "spec.minAvailable",
        "spec.plugins.mpi.master",
        "spec.plugins.mpi.worker",
        "spec.plugins.pytorch.master",
        "spec.plugins.pytorch.port",
        "spec.policies[0].action",
    ]


def test_pulumi_shows_only_the_message(snapshot: SnapshotAssertion) -> None:
    """A RunError ends the program without a traceback; the first line names the resource."""
    error = refusal(in_job(scheduler_name=3))

    assert isinstance(error, pulumi.InputPropertiesError)
    assert isinstance(error, pulumi.RunError)
    assert typed(error.problems) == [("spec.schedulerName", "TypeInvalid")]
    assert str(error) == snapshot


def test_jobs_before_the_rejected_one_are_registered() -> None:
    """Only the rejected job is missing."""

    def program() -> None:
        new_job("right", in_job())
        VolcanoJob("wrong", {"tasks": []})

    error, done = failed(program)

    assert "VolcanoJob wrong" in str(error)
    assert done.names("VolcanoJob") == ["right"]


YAML = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 9
  plugins:
    pytorch: ["--prot=1"]
  tasks:
    - name: master
      replicas: 1
      template:
        spec:
          containers:
            - name: main
              image: example.org/image:1
              imagepullpolicy: Always
"""


def from_yaml(source: str | Path, **options: Any) -> Failure:
    """Return the failure of a program whose only job is invalid YAML; no resource has been registered by then."""

    def program() -> None:
        VolcanoJob.from_yaml("train", source, **options)

    failure = failed(program)
    assert isinstance(failure.error, pulumi.RunError)
    assert failure.result.resources == {}
    return failure


def test_problems_of_a_file_have_its_name_and_lines(tmp_path: Path) -> None:
    """Each problem begins with file, line and column, so that a terminal links to it."""
    file = tmp_path / "job.yaml"
    file.write_text(YAML, "utf-8")

    first, *lines = str(from_yaml(file).error).splitlines()

    assert "VolcanoJob train" in first
    assert [line.split(": ")[0:2] for line in lines] == [
        [f"  {file}:6:3", "spec.minAvailable"],
        [f"  {file}:8:15", "spec.plugins.pytorch[0]"],
        [f"  {file}:17:15", f"{SPEC}.containers[0].imagepullpolicy"],
    ]


def test_the_name_of_a_file_may_be_a_str(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A str without a line break is the name of a file, and the message has it as it was given."""
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text(YAML, "utf-8")

    assert "\n  job.yaml:6:3: spec.minAvailable: " in str(from_yaml("job.yaml").error)


def test_problems_of_a_yaml_text_have_line_numbers(snapshot: SnapshotAssertion) -> None:
    """A text has no file name."""
    _, line, *_ = str(from_yaml(YAML).error).splitlines()

    assert line.partition(": spec.minAvailable: ")[0] == snapshot


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [\n", (2, 1, "", "Invalid")),
        ("---\n---\n", (1, 1, "", "Required")),
        ("- a\n- b\n", (1, 1, "", "TypeInvalid")),
        (YAML.replace("kind: Job", "kind: CronJob"), (2, 1, "kind", "NotSupported")),
        (YAML.replace("spec:\n  min", "spec:\n  minAvailable: 8\n  min"), (7, 3, "spec.minAvailable", "Duplicate")),
    ],
    ids=["no YAML", "empty", "a list", "another kind", "a key twice"],
)
def test_a_text_that_is_not_a_job_is_rejected(text: str, problem: tuple[int, int, str, str]) -> None:
    """The problem has its line and column."""
    first, *_ = from_yaml(text).problems

    assert (first.line, first.column, first.path, first.type) == problem


def test_a_text_of_two_jobs_is_rejected(snapshot: SnapshotAssertion) -> None:
    """`load_jobs` reads them."""
    failure = from_yaml(f"{YAML}---\n{YAML}")

    assert typed(failure.problems) == [("", "TooMany")]
    assert str(failure.error) == snapshot


def test_a_missing_file_is_named(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """The message has the reason of the system."""
    failure = from_yaml(tmp_path / "absent.yaml")

    assert typed(failure.problems) == [(f"{tmp_path}/absent.yaml", "NotFound")]
    assert str(failure.error).replace(str(tmp_path), "FOLDER") == snapshot


def test_a_wrong_option_of_a_job_from_yaml_is_rejected(snapshot: SnapshotAssertion) -> None:
    """The path is the name of the option."""
    right = (
        YAML.replace("  minAvailable: 9\n", "")
        .replace("--prot", "--port")
        .replace("imagepullpolicy", "imagePullPolicy")
    )

    failure = from_yaml(right, restart="all")

    assert typed(failure.problems) == [("restart", "NotSupported")]
    assert str(failure.error) == snapshot


@pytest.mark.parametrize("names", [("restartPolicy", "restart_policy"), ("restart_policy", "restartPolicy")])
def test_a_field_in_both_spellings_is_rejected(names: tuple[str, str]) -> None:
    """Otherwise the last value would silently override the first."""
    first, last = names
    spec = {first: "Never", "containers": [{"name": "main", "image": "train:1"}], last: "OnFailure"}

    error = refusal({"tasks": [{"name": "worker", "replicas": 1, "template": {"spec": spec}}]})

    assert typed(error.problems) == [(f"{SPEC}.restart_policy", "Forbidden")]
    assert "restartPolicy" in error.problems[0].hint


def test_a_plugin_that_is_listed_twice_is_rejected(snapshot: SnapshotAssertion) -> None:
    """The message names the plugin."""
    error = refusal(in_job(plugins=[EnvPlugin(), EnvPlugin()]))

    assert typed(error.problems) == [("spec.plugins", "Duplicate")]
    assert str(error) == snapshot


BEFORE_THE_JOB: dict[str, tuple[Callable[[], object], str, str]] = {
    "a task": (lambda: Task(name="worker", replicas=-1), "Task[worker].replicas", "Invalid"),
    "a preset": (lambda: presets.shm("8 Gi"), "presets.shm.size", "Invalid"),
    "a file": (lambda: load_jobs("apiVersion: batch.volcano.sh/v1alpha1\nkind: Pod\n"), "kind", "NotSupported"),
}


@pytest.mark.parametrize(("make", "path", "error_type"), BEFORE_THE_JOB.values(), ids=BEFORE_THE_JOB)
def test_an_error_before_the_first_job_has_no_traceback(make: Callable[[], object], path: str, error_type: str) -> None:
    """Pulumi shows only the message of a RunError."""
    failure = failed(lambda: make() and None)

    assert isinstance(failure.error, pulumi.RunError)
    assert typed(failure.problems) == [(path, error_type)]
    assert str(failure.error) == str(failure.problems[0])
