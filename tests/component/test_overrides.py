"""Arguments of `from_yaml` and `from_job` that override fields of the job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi_kubernetes.core.v1 import ContainerArgs, PodSpecArgs, PodTemplateSpecArgs
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobError, PytorchPlugin, VolcanoJob, load_jobs
from pulumi_volcano_jobs.testing import Result, failed, run
from tests.conftest import Wire, typed

TEXT = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
  namespace: dev
  labels: {team: ml, tier: dev}
spec:
  queue: dev
  minAvailable: 3
  plugins: {svc: []}
  tasks:
  - name: master
    replicas: 1
    template:
      spec:
        restartPolicy: OnFailure
        containers:
        - name: main
          image: train:1
  - name: worker
    replicas: 2
    template:
      metadata:
        labels: {app: train}
      spec:
        restartPolicy: OnFailure
        nodeSelector: {pool: dev}
        tolerations: [{key: dev, operator: Exists}]
        volumes:
        - name: data
          emptyDir: {}
        containers:
        - name: main
          image: train:1
          args: [--epochs, "1"]
          env:
          - {name: A, value: "1"}
          - {name: B, value: "2"}
          resources:
            limits: {cpu: 1, memory: 1Gi}
        - name: sidecar
          image: log:1
"""


def registered(**overrides: Any) -> Result:
    """Run a program with the job and its overrides."""
    return run(lambda: VolcanoJob.from_yaml("train", TEXT, **overrides) and None)


def pod(task: str, **fields: Any) -> Wire:
    """Return the first Pod of a task after an override of the task."""
    resource = registered(tasks={task: fields}).resources[f"Pod train-{task}-0"]
    inputs: Wire = resource.inputs
    return inputs


def worker(**spec: Any) -> Wire:
    """Return the Pod spec of a worker after an override of it."""
    inputs = pod("worker", template={"spec": spec})
    result: Wire = inputs["spec"]
    return result


def containers(**fields: Any) -> Wire:
    """Return the containers of a worker after an override of the first one, by name."""
    return {item["name"]: item for item in worker(containers=[{"name": "main", **fields}])["containers"]}


def test_fields_of_the_job_replace_those_of_the_file() -> None:
    """One file serves two stacks."""
    done = registered(queue="prod", namespace="prod", min_available=1, plugins=[PytorchPlugin(port=1234)])

    group = done.resources["PodGroup train"].inputs
    assert group["metadata"]["namespace"] == "prod"
    assert (group["spec"]["queue"], group["spec"]["minMember"]) == ("prod", 1)
    env = {
        item["name"]: item.get("value")
        for item in done.resources["Pod train-worker-0"].inputs["spec"]["containers"][0]["env"]
    }
    assert env["MASTER_PORT"] == "1234"


def test_labels_and_annotations_are_merged_by_key() -> None:
    """A label of the program takes precedence."""
    metadata = (
        registered(labels={"tier": "prod"}, annotations={"a": "b"}).resources["PodGroup train"].inputs["metadata"]
    )

    assert metadata["labels"] == {"team": "ml", "tier": "prod"}
    assert metadata["annotations"]["a"] == "b"


def test_none_keeps_the_value_of_the_file() -> None:
    """None means not given, at any depth."""
    container = {"name": "main", "image": None}
    tasks = {"worker": {"replicas": None, "template": {"spec": {"containers": [container]}}}, "master": None}

    assert registered(queue=None, labels={"team": None}, tasks=tasks).leaves() == registered().leaves()


def test_the_name_of_the_job_can_be_overridden() -> None:
    """The name replaces generateName also."""
    text = TEXT.replace("name: train\n", "generateName: train-\n", 1)

    done = run(lambda: VolcanoJob.from_yaml("train", text, name="nightly") and None)

    assert done.resources["Pod train-worker-0"].inputs["metadata"]["name"] == "nightly-worker-0"


def test_options_are_keyword_arguments() -> None:
    """As in the constructor."""
    assert "Job train" in registered(managed_by="volcano").resources


def test_fields_of_a_task_are_overridden_by_its_name() -> None:
    """The other tasks do not change."""
    done = registered(tasks={"worker": {"replicas": 4}})

    assert {item.name for item in done.resources.values() if item.kind == "Pod"} == {
        "train-master-0",
        *(f"train-worker-{index}" for index in range(4)),
    }


def test_a_task_without_a_name_has_the_name_that_volcano_gives_it() -> None:
    """Volcano names it after its index."""
    text = TEXT.replace("  - name: worker\n    replicas: 2\n", "  - replicas: 2\n")

    done = run(
        lambda: VolcanoJob.from_yaml("train", text, min_available=1, tasks={"default1": {"replicas": 1}}) and None
    )

    assert "Pod train-default1-0" in done.resources
    assert "Pod train-default1-1" not in done.resources


def test_containers_of_a_template_are_merged_by_name() -> None:
    """All other fields and containers are those of the file."""
    merged = containers(image="train:2", resources={"limits": {"memory": "8Gi"}})

    assert merged["main"]["image"] == "train:2"
    assert merged["main"]["args"] == ["--epochs", "1"]
    assert merged["main"]["resources"]["limits"] == {"cpu": 1, "memory": "8Gi"}
    assert merged["sidecar"]["image"] == "log:1"


def test_variables_are_merged_by_name_and_arguments_are_replaced() -> None:
    """As `kubectl patch` does."""
    main = containers(env=[{"name": "B", "value": "3"}, {"name": "C", "value": "4"}], args=["--epochs", "9"])["main"]

    assert {item["name"]: item["value"] for item in main["env"] if item["name"] in "ABC"} == {
        "A": "1",
        "B": "3",
        "C": "4",
    }
    assert main["args"] == ["--epochs", "9"]


def test_mappings_are_merged_and_lists_without_names_are_replaced() -> None:
    """Tolerations have no key that identifies them."""
    spec = worker(nodeSelector={"zone": "a"}, tolerations=[{"key": "prod", "operator": "Exists"}])

    assert spec["nodeSelector"] == {"pool": "dev", "zone": "a"}
    assert spec["tolerations"] == [{"key": "prod", "operator": "Exists"}]


def test_a_volume_is_replaced_by_name() -> None:
    """A volume with two sources would be rejected."""
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}

    assert [volume for volume in worker(volumes=[claim])["volumes"] if volume["name"] == "data"] == [claim]


def test_a_container_of_another_name_is_added() -> None:
    """It comes after the containers of the file."""
    spec = worker(containers=[{"name": "metrics", "image": "metrics:1"}])

    assert [item["name"] for item in spec["containers"]] == ["main", "sidecar", "metrics"]


@pytest.mark.parametrize(
    "template",
    [
        PodTemplateSpecArgs(spec=PodSpecArgs(containers=[ContainerArgs(name="main", image_pull_policy="Always")])),
        {"spec": {"containers": [{"name": "main", "image_pull_policy": "Always"}]}},
    ],
    ids=["args classes", "snake_case"],
)
def test_a_template_in_another_spelling_is_merged(template: Any) -> None:
    """All spellings of a template are accepted."""
    main = pod("worker", template=template)["spec"]["containers"][0]

    assert (main["image"], main["imagePullPolicy"]) == ("train:1", "Always")


def test_outputs_override_values_of_the_file() -> None:
    """Their values are in the objects."""
    image, queue = pulumi.Output.from_input("train:9"), pulumi.Output.from_input("prod")
    tasks = {"worker": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}

    done = registered(queue=queue, tasks=tasks)

    assert done.resources["PodGroup train"].inputs["spec"]["queue"] == "prod"
    assert done.resources["Pod train-worker-1"].inputs["spec"]["containers"][0]["image"] == "train:9"


def test_jobs_that_load_jobs_returns_have_the_same_overrides() -> None:
    """`from_job` registers the same resources as `from_yaml`."""
    overrides: Any = {"queue": "prod", "restart": "pod", "tasks": {"worker": {"replicas": 3}}}
    (job,) = load_jobs(TEXT)

    assert (
        run(lambda: VolcanoJob.from_job("train", job, **overrides) and None).leaves()
        == registered(**overrides).leaves()
    )


def test_a_job_is_not_changed_by_overrides() -> None:
    """The next stack starts from the same job."""
    (job,) = load_jobs(TEXT)
    before = job.to_manifest()

    run(lambda: VolcanoJob.from_job("train", job, labels={"a": "b"}, tasks={"worker": {"replicas": 3}}) and None)

    assert job.to_manifest() == before


WRONG: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "an unknown field": ({"qeue": "prod"}, [("qeue", "Forbidden")]),
    "the spelling of YAML": ({"minAvailable": 1}, [("minAvailable", "Forbidden")]),
    "an unknown task": ({"tasks": {"wroker": {"replicas": 1}}}, [("tasks.wroker", "NotFound")]),
    "a task of no similar name": ({"tasks": {"head": {"replicas": 1}}}, [("tasks.head", "NotFound")]),
    "a list of tasks": ({"tasks": [{"name": "worker"}]}, [("tasks", "TypeInvalid")]),
    "no fields": ({"tasks": {"worker": 4}}, [("tasks.worker", "TypeInvalid")]),
    "another name": ({"tasks": {"worker": {"name": "a"}}}, [("tasks.worker.name", "Forbidden")]),
    "a misspelt field of a task": ({"tasks": {"worker": {"replcas": 4}}}, [("spec.tasks[1].replcas", "Forbidden")]),
    "a value of a wrong type": (
        {"queue": 7, "min_available": "3"},
        [("spec.minAvailable", "TypeInvalid"), ("spec.queue", "TypeInvalid")],
    ),
    "a wrong option": ({"restart": "all"}, [("restart", "NotSupported")]),
    "an Output for structure": (
        {"tasks": {"worker": {"replicas": pulumi.Output.from_input(3)}}},
        [("spec.tasks[1].replicas", "TypeInvalid")],
    ),
    "a misspelt field of a container": (
        {"tasks": {"worker": {"template": {"spec": {"containers": [{"name": "main", "imagee": "a"}]}}}}},
        [("spec.tasks[1].template.spec.containers[0].imagee", "Forbidden")],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_override_is_rejected_without_a_line(case: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """The mistake is in the program, and not in the file. Hints are for Python."""
    overrides, problems = WRONG[case]
    file = tmp_path / "job.yaml"
    file.write_text(TEXT, "utf-8")

    error, done = failed(lambda: VolcanoJob.from_yaml("train", file, **overrides) and None)

    assert isinstance(error, JobError)
    assert typed(error.problems) == problems
    assert [problem.line for problem in error.problems] == [0] * len(problems)
    assert str(error) == snapshot
    assert done.resources == {}


def test_the_page_of_arguments_shows_the_message_of_an_unknown_task() -> None:
    """docs/arguments.md quotes it."""
    page = (Path(__file__).parents[2] / "docs" / "arguments.md").read_text("utf-8")

    (problem,) = failed(
        lambda: VolcanoJob.from_yaml("train", TEXT, tasks={"wroker": {"replicas": 1}}) and None
    ).problems

    assert f"\n{problem}\n" in page


def test_problems_of_the_file_keep_their_lines() -> None:
    """A mistake in a value of the file has its line, next to an override in the same task."""
    text = TEXT.replace("image: log:1", "imagee: log:1")
    override: Any = {"template": {"spec": {"containers": [{"name": "main", "imagee": "a"}]}}}

    error, _ = failed(lambda: VolcanoJob.from_yaml("train", text, quue="a", tasks={"worker": override}) and None)

    assert isinstance(error, JobError)
    path = "spec.tasks[1].template.spec.containers"
    line = text.splitlines().index("          imagee: log:1") + 1
    assert sorted((problem.path, problem.line) for problem in error.problems if problem.path != f"{path}[1].image") == [
        ("quue", 0),
        (f"{path}[0].imagee", 0),
        (f"{path}[1].imagee", line),
    ]


def test_a_warning_about_an_override_has_no_line() -> None:
    """A warning about the file has one."""
    text = TEXT.replace("plugins: {svc: []}", "plugins: {pytorch: []}")

    (from_file,) = run(lambda: VolcanoJob.from_yaml("train", text.replace("le: 3", "le: 1")) and None).warnings
    (from_program,) = run(lambda: VolcanoJob.from_yaml("train", text, min_available=1) and None).warnings

    assert from_file.startswith("line 9:3: spec.minAvailable: ")
    assert from_program.startswith("spec.minAvailable: ")


@pytest.mark.parametrize("document", ["a: 1\n", "metadata: []\nspec: []\n", "metadata: {name: a}\nspec: {tasks: 3}\n"])
def test_a_malformed_file_is_rejected_as_without_overrides(document: str) -> None:
    """Its problems are those of the file."""
    overrides: Any = {"queue": "prod", "labels": {"a": "b"}, "tasks": {"worker": {"replicas": 1}}}

    without, overridden = (
        failed(lambda given=given: VolcanoJob.from_yaml("train", document, **given) and None).problems
        for given in ({}, overrides)
    )

    assert typed(overridden) == typed(without)
