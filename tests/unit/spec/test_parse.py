"""Documents that are not Jobs or have mistakes, and data of unusual types."""

from __future__ import annotations

import contextlib
import copy
import enum
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobError, PytorchPlugin, SshPlugin, load_jobs, render
from pulumi_volcano_jobs.files import job_file as files
from tests.conftest import CLAIM, Wire, container, job, refused, task, typed

LONG = "x" * 5000


def job_of_kind(kind: str, version: str) -> Wire:
    """Build an object of another kind."""
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": {}}


def job_without_name(**metadata: Any) -> Wire:
    """Build a job without a name and with a mistake in a nested field."""
    return job(task(containers=[container(image=5)])) | {"metadata": metadata}


IMAGE = ("spec.tasks[0].template.spec.containers[0].image", "TypeInvalid")
DOCUMENTS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "Helm's values": ({"replicaCount": 1, "image": {}}, [("", "Required")]),
    "an answer of a web server": ({"404": "Not Found"}, [("", "Required")]),
    "nothing": ({}, [("", "Required")]),
    "a Deployment": (
        job_of_kind("Deployment", "apps/v1"),
        [("apiVersion", "NotSupported")],
    ),
    "Kubernetes' own Job": (job_of_kind("Job", "batch/v1"), [("apiVersion", "NotSupported")]),
    "another training operator's": (
        job_of_kind("PyTorchJob", "kubeflow.org/v1"),
        [("apiVersion", "NotSupported")],
    ),
    "a kustomization": (
        job_of_kind("Kustomization", "kustomize.config.k8s.io/v1beta1"),
        [("apiVersion", "NotSupported")],
    ),
    "Volcano's CronJob": (
        job_of_kind("CronJob", "batch.volcano.sh/v1alpha1"),
        [("kind", "NotSupported")],
    ),
    "Helm's chart": (
        {"apiVersion": "v2", "name": "chart"},
        [("apiVersion", "NotSupported")],
    ),
    "a kind that is not text": (
        {"kind": ["Job"], "metadata": {}, "spec": {}},
        [("kind", "NotSupported")],
    ),
    "no name": (job_without_name(), [("metadata.name", "Required"), IMAGE]),
    "a generated name": (
        job_without_name(generateName="a-"),
        [("metadata.generateName", "Required"), IMAGE],
    ),
    "no metadata": (
        job_without_name() | {"metadata": None},
        [("metadata", "Required"), IMAGE],
    ),
    "no tasks for plugins": (
        {"metadata": {"name": "a"}, "spec": {"plugins": {"pytorch": [], "mpi": [], "ray": [], "tensorflow": []}}},
        [("spec.tasks", "Required")],
    ),
    "a long name": (
        job(name=LONG),
        [("metadata.name", "TooLong")],
    ),
    "a key that is not text": (
        job() | {"metadata": {"name": "a", "labels": {1: "x"}}},
        [("metadata.labels[1]", "TypeInvalid")],
    ),
    "a key of the job that is not text": (
        {"name": "a", "tasks": [task()], 1: "x"},
        [("spec[1]", "TypeInvalid")],
    ),
    "a key in a template that is not text": (
        job(task(nodeSelector={1: "x"})),
        [("spec.tasks[0].template.spec.nodeSelector", "TypeInvalid")],
    ),
    "bytes for a queue": (job(queue=b"a"), [("spec.queue", "TypeInvalid")]),
    "a set for an argument": (
        job(plugins={"svc": [{"a"}]}),
        [("spec.plugins.svc[0]", "TypeInvalid")],
    ),
    "half of a character for a queue": (job(queue="\ud800"), [("spec.queue", "Invalid")]),
    "half of a character in a template": (
        job(task(containers=[container(image="\ud800")])),
        [("spec.tasks[0].template.spec.containers[0].image", "Invalid")],
    ),
    "half of a character for a key": (
        job(task(nodeSelector={"\ud800": "x"})),
        [("spec.tasks[0].template.spec.nodeSelector", "Invalid")],
    ),
    "half of a character for a setting": (
        lambda: job(plugins=[SshPlugin(ssh_private_key="\ud800")]),
        [("spec.plugins.ssh.ssh_private_key", "Invalid")],
    ),
    "a number of thousands of digits": (
        job(minAvailable=10**5000),
        [("spec.minAvailable", "Invalid")],
    ),
    "a port of thousands of digits": (
        job(task(containers=[container(ports=[{"containerPort": 10**5000}])])),
        [("spec.tasks[0].template.spec.containers[0].ports[0].containerPort", "Invalid")],
    ),
    "a duration of thousands of digits": (
        job(runningEstimate=10**5000),
        [("spec.runningEstimate", "TypeInvalid")],
    ),
    "a setting of thousands of digits": (
        lambda: job(plugins=[PytorchPlugin(port=10**5000)]),
        [("spec.plugins.pytorch.port", "Invalid")],
    ),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_that_is_not_a_valid_job_is_rejected(name: str, snapshot: SnapshotAssertion) -> None:
    """Problems that follow from another problem are left out."""
    document, expected = DOCUMENTS[name]

    error = refused(document)

    assert typed(error.problems) == expected
    assert [str(problem) for problem in error.problems] == snapshot


ARGUMENTS: dict[str, tuple[str, str]] = {
    "a key after a blank": ("--ssh-private-key s3cret", "NotSupported"),
    "a key after dashes": (f"--{LONG}", "NotSupported"),
    "a number of thousands of digits": (f"--ssh-port={'9' * 5000}", "Invalid"),
    "a negative one": (f"--ssh-port=-{'9' * 5000}", "Invalid"),
}


@pytest.mark.parametrize(("argument", "error_type"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_an_argument_that_may_be_a_key_is_not_shown(
    argument: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """The user can find it by its position."""
    error = refused(job(plugins={"ssh": [argument], "svc": []}))

    assert typed(error.problems) == [("spec.plugins.ssh[0]", error_type)]
    assert argument.removeprefix("--ssh-private-key ").removeprefix("--ssh-port=") not in str(error)
    assert str(error) == snapshot


@pytest.mark.parametrize(("digits", "port"), [("9" * 5000, 2**63 - 1), ("-" + "9" * 5000, -(2**63))])
def test_a_number_of_thousands_of_digits_is_cut_as_go_cuts_it(digits: str, port: int) -> None:
    """The result is the largest or smallest number of 64 bits."""
    made = render(job(plugins={"ssh": [f"--ssh-port={digits}"]}), strict=False)

    assert [plugin.ssh_port for plugin in made.plugins if isinstance(plugin, SshPlugin)] == [port]


def test_ignored_arguments_are_shown_without_keys() -> None:
    """They can be misspelled flags of keys."""
    made = render(job(plugins={"ssh": ["--ssh-port=2222", "--ssh-privat-key=s3cret"]}), strict=False, redact=True)

    assert made.job.to_manifest()["spec"]["plugins"] == {"ssh": ["--ssh-port=2222"]}


TWICE = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  tasks:
  - name: worker
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: main
          image: x
          %s
          %s
"""
INCOMPLETE = {
    "a port": ("ports: [{containerPort: 80}]", "ports: [{name: http}]", "ports[0].containerPort"),
    "a variable": ("env: [{name: A}]", "env: [{value: a}]", "env[0].name"),
    "a mount": ("volumeMounts: []", "volumeMounts: [{name: a}]", "volumeMounts[0].mountPath"),
    "a type": ("tty: true", "tty: 5", "tty"),
}


@pytest.mark.parametrize(("first", "second", "path"), INCOMPLETE.values(), ids=INCOMPLETE)
def test_a_repeated_key_does_not_hide_problems_of_the_second_one(first: str, second: str, path: str) -> None:
    """The second one takes precedence, and it is incomplete."""
    (document,) = files.read(TWICE % (first, second))

    with pytest.raises(JobError) as caught:
        render(document.data, earlier=document.problems)

    at = "spec.tasks[0].template.spec.containers[0]"
    found = [(problem.path, problem.type == "Duplicate") for problem in caught.value.problems]
    assert (f"{at}.{second.partition(':')[0]}", True) in found
    assert (f"{at}.{path}", False) in found


def _mappings(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(tree, dict):
        yield path
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in entries:
        yield from _mappings(value, (*path, key))


WITH_MAPPINGS = job(task(), plugins={"svc": []}, volumes=[{"mountPath": "/data", "volumeClaim": CLAIM}])
WITH_MAPPINGS["metadata"]["labels"] = {"a": "b"}
WITH_MAPPINGS["spec"]["tasks"][0]["template"]["metadata"] = {"labels": {"a": "b"}, "annotations": {"a": "b"}}


@pytest.mark.parametrize("key", [10**5000, -(10**5000), (10**5000,)], ids=["large", "negative", "a tuple"])
@pytest.mark.parametrize("path", list(_mappings(WITH_MAPPINGS)), ids=str)
def test_a_key_with_thousands_of_digits_is_an_error(path: tuple[Any, ...], key: Any) -> None:
    """Python cannot write the number. Strict mode reports it, and lenient mode may ignore it."""
    document = copy.deepcopy(WITH_MAPPINGS)
    holder: Any = document
    for step in path:
        holder = holder[step]
    holder[key] = "x"

    error = refused(document)
    assert [problem for problem in error.problems if not problem.reason] == []
    assert "Exceeds the limit" not in str(error)
    with contextlib.suppress(JobError):
        render(document, strict=False)


def test_a_repeated_entry_of_a_container_has_a_warning() -> None:
    """Kubernetes uses the last one, and server-side apply rejects both."""
    twice = container(
        env=[{"name": "A", "value": "1"}, {"name": "B", "value": "1"}, {"name": "A", "value": "2"}],
        ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 80, "name": "b"}],
    )

    made = render(job(task(containers=[twice])))

    place = "spec.tasks[0].template.spec.containers[0]"
    assert typed(made.warnings) == [(f"{place}.env[2]", "VJ116"), (f"{place}.ports[1]", "VJ116")]
    (main,) = made.pods[0]["spec"]["containers"]
    assert main["env"] == [{"name": "B", "value": "1"}, {"name": "A", "value": "2"}]


class Colour(str, enum.Enum):
    """A string enum."""

    RED = "red"


class Size(enum.IntEnum):
    """An integer enum."""

    TWO = 2


def test_values_of_enums_are_plain_in_manifests() -> None:
    """Python programs have them."""
    main = container(image=Colour.RED, ports=[{"containerPort": Size.TWO}], tty=True)
    document = job({**task(containers=[main]), "replicas": Size.TWO}, minAvailable=Size.TWO, queue=Colour.RED)

    made = render(document)

    assert files.dump([made.job.to_manifest()]).count("red") == 2
    (wire,) = made.pods[1]["spec"]["containers"]
    assert (type(wire["image"]), type(wire["ports"][0]["containerPort"]), wire["tty"]) == (str, int, True)


def test_text_of_a_subclass_is_written_as_text() -> None:
    """Its value, in both formats."""
    assert files.dump([{"a": Colour.RED}]) == "---\na: red\n"
    assert '"a": "red"' in files.dump([{"a": Colour.RED}], "json")


def test_a_long_path_is_cut() -> None:
    """A key of a megabyte is not readable."""
    (problem,) = refused(job(**{LONG: 1})).problems

    assert typed([problem]) == [(f"spec.{LONG}", "Forbidden")]
    assert str(problem).startswith(f"spec.{'x' * 395}…: Forbidden: {problem.reason}: {problem.hint}")


def test_a_file_that_is_not_text_is_an_error(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Such as a picture, or UTF-16."""
    file = tmp_path / "job.yaml"
    file.write_bytes("a: 1\n".encode("utf-16"))

    with pytest.raises(JobError) as caught:
        load_jobs(file)

    assert typed(caught.value.problems) == [("", "Invalid")]
    assert str(caught.value).replace(str(file), "FILE") == snapshot


def test_thousands_of_problems_are_all_reported() -> None:
    """In the order of the tasks."""
    error = refused(job(*({**task(), "replicas": "many"} for _ in range(1000))))

    assert [problem.path for problem in error.problems] == [f"spec.tasks[{index}].replicas" for index in range(1000)]
