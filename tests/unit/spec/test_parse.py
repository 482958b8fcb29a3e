"""What is no job, or almost one, is told in words that help."""

from __future__ import annotations

import contextlib
import copy
import enum
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pulumi_volcano_jobs import JobError, PytorchPlugin, SshPlugin, load_jobs, render
from pulumi_volcano_jobs.files import job_file as files
from tests.conftest import CLAIM, Wire, container, job, refused, task

NO_FIELDS = "this is no Volcano Job: it has none of its fields: give a batch.volcano.sh/v1alpha1 Job"
NO_JOB = "this is no Volcano Job: its kind is {}, its apiVersion is {}: {}"
GIVE_A_JOB = "give a Job of batch.volcano.sh/v1alpha1"
SURROGATE = "this holds half of a character, a surrogate, which cannot be written"
LONG = "x" * 5000


def of(kind: str, version: str) -> Wire:
    """Give an object of another kind."""
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": {}}


def unnamed(**metadata: Any) -> Wire:
    """Give a job with something else wrong far down."""
    return job(task(containers=[container(image=5)])) | {"metadata": metadata}


IMAGE = "spec.tasks[0].template.spec.containers[0].image: this must be a string: put it in quotes"
DOCUMENTS: dict[str, tuple[Any, list[str]]] = {
    "Helm's values": ({"replicaCount": 1, "image": {}}, [NO_FIELDS]),
    "an answer of a web server": ({"404": "Not Found"}, [NO_FIELDS]),
    "nothing": ({}, [NO_FIELDS]),
    "a Deployment": (
        of("Deployment", "apps/v1"),
        [f"apiVersion: {NO_JOB.format('Deployment', 'apps/v1', GIVE_A_JOB)}"],
    ),
    "Kubernetes' own Job": (of("Job", "batch/v1"), [f"apiVersion: {NO_JOB.format('Job', 'batch/v1', GIVE_A_JOB)}"]),
    "another training operator's": (
        of("PyTorchJob", "kubeflow.org/v1"),
        [f"apiVersion: {NO_JOB.format('PyTorchJob', 'kubeflow.org/v1', GIVE_A_JOB)}"],
    ),
    "a kustomization": (
        of("Kustomization", "kustomize.config.k8s.io/v1beta1"),
        [
            "apiVersion: "
            + NO_JOB.format("Kustomization", "kustomize.config.k8s.io/v1beta1", "give what kustomize build prints")
        ],
    ),
    "Volcano's CronJob": (
        of("CronJob", "batch.volcano.sh/v1alpha1"),
        [f"kind: {NO_JOB.format('CronJob', 'batch.volcano.sh/v1alpha1', 'give the Job that its jobTemplate makes')}"],
    ),
    "Helm's chart": (
        {"apiVersion": "v2", "name": "chart"},
        [f"apiVersion: this is no Volcano Job: its apiVersion is v2: {GIVE_A_JOB}"],
    ),
    "a kind that is no text": (
        {"kind": ["Job"], "metadata": {}, "spec": {}},
        [f"kind: this is no Volcano Job: its kind is no text: {GIVE_A_JOB}"],
    ),
    "no name": (unnamed(), ["metadata.name: this field is required: add it", IMAGE]),
    "a generated name": (
        unnamed(generateName="a-"),
        [
            (
                "metadata.generateName: a job needs a name: its Pods are called after it,"
                " and generateName gives another one each time: write name instead"
            ),
            IMAGE,
        ],
    ),
    "no metadata": (
        unnamed() | {"metadata": None},
        ["metadata: a Job needs metadata, which are a mapping with a name: add them", IMAGE],
    ),
    "no tasks for plugins": (
        {"metadata": {"name": "a"}, "spec": {"plugins": {"pytorch": [], "mpi": [], "ray": [], "tensorflow": []}}},
        ["spec.tasks: a job needs at least one task"],
    ),
    "a long name": (
        job(name=LONG),
        [
            (
                f"metadata.name: this must be at most 253 characters long (given: '{'x' * 99}… (5002 characters)):"
                " shorten it"
            )
        ],
    ),
    "a key that is no text": (
        job() | {"metadata": {"name": "a", "labels": {1: "x"}}},
        ["metadata.labels[1]: each key must be a string: put it in quotes"],
    ),
    "a key of the job that is no text": (
        {"name": "a", "tasks": [task()], 1: "x"},
        ["spec[1]: each key must be a string (given: 1): put it in quotes"],
    ),
    "a key in a template that is no text": (
        job(task(nodeSelector={1: "x"})),
        ["spec.tasks[0].template.spec.nodeSelector: each key must be a string: put it in quotes"],
    ),
    "bytes for a queue": (job(queue=b"a"), ["spec.queue: this must be a string: put it in quotes"]),
    "a set for an argument": (
        job(plugins={"svc": [{"a"}]}),
        ["spec.plugins.svc[0]: this must be a string: put it in quotes"],
    ),
    "half of a character for a queue": (job(queue="\ud800"), [f"spec.queue: {SURROGATE} (given: '\\ud800')"]),
    "half of a character in a template": (
        job(task(containers=[container(image="\ud800")])),
        [f"spec.tasks[0].template.spec.containers[0].image: {SURROGATE}"],
    ),
    "half of a character for a key": (
        job(task(nodeSelector={"\ud800": "x"})),
        [f"spec.tasks[0].template.spec.nodeSelector: {SURROGATE}"],
    ),
    "half of a character for a setting": (
        job(plugins=[SshPlugin(ssh_private_key="\ud800")]),
        [f"spec.plugins.ssh.ssh_private_key: {SURROGATE}"],
    ),
    "a number of thousands of digits": (
        job(minAvailable=10**5000),
        [
            (
                "spec.minAvailable: this must be at most 2147483647 (given: a number of thousands of digits):"
                " give a smaller number"
            )
        ],
    ),
    "a port of thousands of digits": (
        job(task(containers=[container(ports=[{"containerPort": 10**5000}])])),
        [
            (
                "spec.tasks[0].template.spec.containers[0].ports[0].containerPort: this does not fit into 32 bits:"
                " give a smaller number"
            )
        ],
    ),
    "a duration of thousands of digits": (
        job(runningEstimate=10**5000),
        [
            (
                "spec.runningEstimate: Invalid value: a number of thousands of digits: must be a string:"
                ' write a duration such as "10m"'
            )
        ],
    ),
    "a setting of thousands of digits": (
        job(plugins=[PytorchPlugin(port=10**5000)]),
        ["spec.plugins.pytorch.port: this does not fit into 64 bits (given: a number of thousands of digits)"],
    ),
}


@pytest.mark.parametrize(("document", "messages"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_what_is_wrong_is_told_in_these_words(document: Any, messages: list[str]) -> None:
    """And nothing that only follows from it."""
    assert [str(problem) for problem in refused(document).problems] == messages


ARGUMENTS: dict[str, tuple[str, str]] = {
    "a key behind a blank": (
        "--ssh-private-key s3cret",
        "unknown argument; Volcano drops it and all behind it: did you mean ssh-private-key?",
    ),
    "a key behind dashes": (
        f"--{LONG}",
        (
            "unknown argument; Volcano drops it and all behind it: remove it (known here:"
            " ssh-key-file-path, ssh-port, ssh-private-key, ssh-public-key)"
        ),
    ),
    "a number of thousands of digits": (
        f"--ssh-port={'9' * 5000}",
        "--ssh-port: what was given does not fit into 64 bits",
    ),
    "a negative one": (f"--ssh-port=-{'9' * 5000}", "--ssh-port: what was given does not fit into 64 bits"),
}


@pytest.mark.parametrize(("argument", "message"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_an_argument_that_may_hold_a_key_is_not_shown(argument: str, message: str) -> None:
    """The user knows what stands there."""
    error = refused(job(plugins={"ssh": [argument], "svc": []}))

    assert str(error) == f"spec.plugins.ssh[0]: {message}"


@pytest.mark.parametrize(("digits", "port"), [("9" * 5000, 2**63 - 1), ("-" + "9" * 5000, -(2**63))])
def test_a_number_of_thousands_of_digits_is_cut_as_go_cuts_it(digits: str, port: int) -> None:
    """The largest or the smallest of 64 bits."""
    made = render(job(plugins={"ssh": [f"--ssh-port={digits}"]}), strict=False)

    assert [plugin.ssh_port for plugin in made.plugins if isinstance(plugin, SshPlugin)] == [port]


def test_arguments_that_volcano_passes_over_are_not_shown_with_keys_left_out() -> None:
    """They may be keys, spelt wrongly."""
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
def test_a_key_that_stands_twice_does_not_hide_what_is_wrong_with_the_second(
    first: str, second: str, path: str
) -> None:
    """The second one takes precedence, and it is incomplete."""
    (document,) = files.read(TWICE % (first, second))

    with pytest.raises(JobError) as caught:
        render(document.data, earlier=document.problems)

    at = "spec.tasks[0].template.spec.containers[0]"
    found = [(problem.path, problem.reason.startswith("this stands twice")) for problem in caught.value.problems]
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
def test_a_key_that_is_a_number_of_thousands_of_digits_is_told(path: tuple[Any, ...], key: Any) -> None:
    """Python cannot write the number; strict mode reports it as any other key, and lenient mode may ignore it."""
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


def test_what_a_container_has_twice_is_odd() -> None:
    """Kubernetes takes the last one, and server-side apply refuses both."""
    twice = container(
        env=[{"name": "A", "value": "1"}, {"name": "B", "value": "1"}, {"name": "A", "value": "2"}],
        ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 80, "name": "b"}],
    )

    made = render(job(task(containers=[twice])))

    place = "spec.tasks[0].template.spec.containers[0]"
    assert [str(problem) for problem in made.warnings] == [
        (
            f'{place}.env[2]: Duplicate value: {{"name":"A"}}: the last entry takes precedence:'
            f" remove one (the first is {place}.env[0]) [VJ116]"
        ),
        (
            f'{place}.ports[1]: Duplicate value: {{"containerPort":80,"protocol":"TCP"}}: the last entry takes'
            f" precedence: remove one (the first is {place}.ports[0]) [VJ116]"
        ),
    ]
    (main,) = made.pods[0]["spec"]["containers"]
    assert main["env"] == [{"name": "B", "value": "1"}, {"name": "A", "value": "2"}]


class Colour(str, enum.Enum):
    """Text of a class of its own."""

    RED = "red"


class Size(enum.IntEnum):
    """Numbers of a class of their own."""

    TWO = 2


def test_values_of_a_class_of_their_own_are_plain_in_manifests() -> None:
    """Those of an Enum, as programs have them."""
    main = container(image=Colour.RED, ports=[{"containerPort": Size.TWO}], tty=True)
    document = job({**task(containers=[main]), "replicas": Size.TWO}, minAvailable=Size.TWO, queue=Colour.RED)

    made = render(document)

    assert files.dump([made.job.to_manifest()]).count("red") == 2
    (wire,) = made.pods[1]["spec"]["containers"]
    assert (type(wire["image"]), type(wire["ports"][0]["containerPort"]), wire["tty"]) == (str, int, True)


def test_text_of_a_class_of_its_own_is_written_as_text() -> None:
    """Its value, in both formats."""
    assert files.dump([{"a": Colour.RED}]) == "---\na: red\n"
    assert '"a": "red"' in files.dump([{"a": Colour.RED}], "json")


def test_a_long_path_is_cut() -> None:
    """A key of a megabyte is nothing to read."""
    error = refused(job(**{LONG: 1}))

    assert str(error).startswith(f"spec.{'x' * 395}…: unknown field; Volcano drops it: remove it")


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    """Such as a picture, or what Windows calls Unicode."""
    file = tmp_path / "job.yaml"
    file.write_bytes("a: 1\n".encode("utf-16"))

    with pytest.raises(JobError) as caught:
        load_jobs(file)

    assert str(caught.value) == f"cannot read {file}: it is not UTF-8 text"


def test_thousands_of_problems_are_all_told() -> None:
    """In the order of the tasks."""
    error = refused(job(*({**task(), "replicas": "many"} for _ in range(1000))))

    assert [problem.path for problem in error.problems] == [f"spec.tasks[{index}].replicas" for index in range(1000)]
