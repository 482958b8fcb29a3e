"""A job is read field by field as Volcano's resource definition has it (contract, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pydantic
import pytest

from pulumi_volcano_jobs import DependsOn, Job, JobError, Policy, PytorchPlugin, SshPlugin, Task, Volume, render
from pulumi_volcano_jobs.core.errors import Stage
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, job, problems, refused, task


def of_task(**fields: Any) -> Wire:
    """Give a job by fields of its task."""
    return job({**task(), **fields})


def named(name: Any) -> Wire:
    """Give a job by its name."""
    return job() | {"metadata": {"name": name}}


DECODE: dict[str, tuple[Any, list[str]]] = {
    "no Job": (job() | {"kind": "Pod"}, ["kind"]),
    "another API": (job() | {"apiVersion": "batch/v1"}, ["apiVersion"]),
    "no spec": ({"metadata": {"name": "train"}}, ["spec"]),
    "a spec that is no mapping": ({"metadata": {"name": "train"}, "spec": []}, ["spec"]),
    "no metadata": ({"spec": {}}, ["metadata"]),
    "metadata that are no mapping": ({"metadata": "train", "spec": {}}, ["metadata"]),
    "a name that is no text": (named(5), ["metadata.name"]),
    "a number for a queue": (job(queue=5), ["spec.queue"]),
    "a truth value for a number": (job(minAvailable=True), ["spec.minAvailable"]),
    "text for a number": (job(minAvailable="1"), ["spec.minAvailable"]),
    "a fraction": (job(minAvailable=1.5), ["spec.minAvailable"]),
    "a number beyond 32 bits": (job(maxRetry=2**31), ["spec.maxRetry"]),
    "text for a list": (job(policies="x"), ["spec.policies"]),
    "a mapping for a list": (job(tasks={}), ["spec.tasks"]),
    "text for a task": (job(tasks=["worker"]), ["spec.tasks[0]"]),
    "text for a template": (of_task(template="x"), ["spec.tasks[0].template"]),
    "text for replicas": (of_task(replicas="2"), ["spec.tasks[0].replicas"]),
    "a list for plugins": (job(plugins=["ssh"]), ["spec.plugins"]),
    "text for plugins": (job(plugins="ssh"), ["spec.plugins"]),
    "text for arguments": (job(plugins={"ssh": "--ssh-port=22"}), ["spec.plugins.ssh"]),
    "a number for an argument": (job(plugins={"ssh": ["--ssh-port", 22]}), ["spec.plugins.ssh[1]"]),
    "one plugin twice": (job(plugins=[SshPlugin(), SshPlugin()]), ["spec.plugins"]),
    "a class for a plugin": (job(plugins=[SshPlugin]), ["spec.plugins"]),
    "a number for a label": (
        job() | {"metadata": {"name": "train", "labels": {"a/b": 1}}},
        ["metadata.labels.a/b"],
    ),
    "text for a claim": (job(volumes=[{"mountPath": "/a", "volumeClaim": "x"}]), ["spec.volumes[0].volumeClaim"]),
    "text for a dependency": (of_task(dependsOn="master"), ["spec.tasks[0].dependsOn"]),
    "text for the names of a dependency": (
        of_task(dependsOn={"name": "master"}),
        ["spec.tasks[0].dependsOn.name"],
    ),
}
SCHEMA: dict[str, tuple[Any, list[str]]] = {
    "no name": (job() | {"metadata": {}}, ["metadata.name"]),
    "a name in capitals": (named("Train"), ["metadata.name"]),
    "an empty name": (named(""), ["metadata.name"]),
    "a name that ends with a dash": (named("a-"), ["metadata.name"]),
    "a name with two dots": (named("a..b"), ["metadata.name"]),
    "a name of 254 characters": (named("a" * 254), ["metadata.name"]),
    "a name with a line break": (named("a\n"), ["metadata.name"]),
    "an empty list of tasks": (job(tasks=[]), ["spec.tasks"]),
    "a task's name with an underscore": (job(task("my_task")), ["spec.tasks[0].name"]),
    "a task's name with a dot": (job(task("a.b")), ["spec.tasks[0].name"]),
    "a task's name of 64 characters": (job(task("a" * 64)), ["spec.tasks[0].name"]),
    "negative replicas": (of_task(replicas=-1), ["spec.tasks[0].replicas"]),
    "a negative minimum of a task": (of_task(minAvailable=-1), ["spec.tasks[0].minAvailable"]),
    "a negative minimum": (job(minAvailable=-1), ["spec.minAvailable"]),
    "negative retries": (job(maxRetry=-1), ["spec.maxRetry"]),
    "a negative time to live": (job(ttlSecondsAfterFinished=-1), ["spec.ttlSecondsAfterFinished"]),
    "no success needed": (job(minSuccess=0), ["spec.minSuccess"]),
    "a queue in capitals": (job(queue="Team"), ["spec.queue"]),
    "a priority class with a blank": (job(priorityClassName="a b"), ["spec.priorityClassName"]),
    "an event that is none": (job(policies=[{"event": "PodDied", "action": "AbortJob"}]), ["spec.policies[0].event"]),
    "an event in a list that is none": (
        of_task(policies=[{"events": ["PodFailed", "PodDied"], "action": "AbortJob"}]),
        ["spec.tasks[0].policies[0].events[1]"],
    ),
    "a topology policy that is none": (of_task(topologyPolicy="best"), ["spec.tasks[0].topologyPolicy"]),
    "a mode that is none": (job(networkTopology={"mode": "firm"}), ["spec.networkTopology.mode"]),
    "a partition of nothing": (
        of_task(partitionPolicy={"totalPartitions": 0, "partitionSize": 1}),
        ["spec.tasks[0].partitionPolicy.totalPartitions"],
    ),
    "a partition without a size": (
        of_task(partitionPolicy={"totalPartitions": 1}),
        ["spec.tasks[0].partitionPolicy.partitionSize"],
    ),
    "an empty mount path": (job(volumes=[{"mountPath": "", "volumeClaimName": "x"}]), ["spec.volumes[0].mountPath"]),
    "a mount path with a colon": (
        job(volumes=[{"mountPath": "/a:b", "volumeClaimName": "x"}]),
        ["spec.volumes[0].mountPath"],
    ),
    "no mount path": (job(volumes=[{"volumeClaimName": "x"}]), ["spec.volumes[0].mountPath"]),
    "no containers": (of_task(template={"spec": {}}), ["spec.tasks[0].template.spec.containers"]),
    "no template": (job({"name": "worker"}), ["spec.tasks[0].template.spec.containers"]),
}


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
@pytest.mark.parametrize(
    ("document", "places", "stage"),
    [(*case, Stage.DECODE) for case in DECODE.values()] + [(*case, Stage.SCHEMA) for case in SCHEMA.values()],
    ids=[*DECODE, *SCHEMA],
)
def test_what_has_the_wrong_shape_is_told_with_its_place(
    document: Any,
    places: list[str],
    stage: Stage,
    strict: bool,  # noqa: FBT001
) -> None:
    """Wrong types are the decoder's to refuse, values out of range the schema's."""
    found = problems(document, strict=strict)

    assert [problem.path for problem in found] == places
    assert {problem.stage for problem in found} == {stage}


def test_all_wrong_shapes_are_told_at_once() -> None:
    """And a list of nothing but wrong entries does not count as empty."""
    document = job(tasks=[5], queue=5, policies=[{"event": "x"}]) | {"metadata": {"name": "Train"}}

    assert [problem.path for problem in problems(document)] == [
        "metadata.name",
        "spec.policies[0].event",
        "spec.queue",
        "spec.tasks[0]",
    ]


UNKNOWN: dict[str, Wire] = {
    "metadata.name": named(Leaf("x")),
    "metadata.labels": job() | {"metadata": {"name": "train", "labels": Leaf("x")}},
    "spec.tasks": job(tasks=Leaf("x")),
    "spec.tasks[0]": job(tasks=[Leaf("x")]),
    "spec.tasks[0].name": of_task(name=Leaf("x")),
    "spec.tasks[0].replicas": of_task(replicas=Leaf("x")),
    "spec.tasks[0].minAvailable": of_task(minAvailable=Leaf("x")),
    "spec.tasks[0].template.spec": of_task(template={"spec": Leaf("x")}),
    "spec.tasks[0].policies": of_task(policies=Leaf("x")),
    "spec.tasks[0].dependsOn": of_task(dependsOn=Leaf("x")),
    "spec.tasks[0].topologyPolicy": of_task(topologyPolicy=Leaf("x")),
    "spec.minAvailable": job(minAvailable=Leaf("x")),
    "spec.schedulerName": job(schedulerName=Leaf("x")),
    "spec.plugins": job(plugins=Leaf("x")),
    "spec.plugins.ssh": job(plugins={"ssh": Leaf("x")}),
    "spec.volumes": job(volumes=Leaf("x")),
    "spec.volumes[0].mountPath": job(volumes=[{"mountPath": Leaf("x"), "volumeClaimName": "a"}]),
    "spec.volumes[0].volumeClaimName": job(volumes=[{"mountPath": "/a", "volumeClaimName": Leaf("x")}]),
    "spec.policies[0].event": job(policies=[{"event": Leaf("x"), "action": "AbortJob"}]),
    "spec.networkTopology": job(networkTopology=Leaf("x")),
}


@pytest.mark.parametrize(("path", "document"), UNKNOWN.items(), ids=UNKNOWN)
def test_structure_cannot_be_unknown(path: str, document: Wire) -> None:
    """One clear problem: where, why, and what to do instead."""
    (problem,) = problems(document)

    assert problem.path == path
    assert "must be a plain value, not an Output: " in problem.reason
    assert "pulumi.Config" in problem.hint


SECRET = "s3cret-value"
HIDDEN: dict[str, Wire] = {
    "an argument": job(plugins={"ssh": SECRET}),
    "a template": of_task(template=SECRET),
    "a variable": of_task(
        template={"spec": {"containers": [{"name": "a", "image": "b", "env": [{"name": "A", "value": [SECRET]}]}]}},
    ),
    "an annotation": job() | {"metadata": {"name": "train", "annotations": {"a": [SECRET]}}},
    "a claim": job(volumes=[{"mountPath": "/a", "volumeClaim": SECRET}]),
}


@pytest.mark.parametrize("document", HIDDEN.values(), ids=HIDDEN)
def test_values_that_may_be_secrets_are_not_shown(document: Wire) -> None:
    """Of arguments, templates and annotations only the place is told."""
    found = problems(document)

    assert SECRET not in repr(found)


def test_other_wrong_values_are_shown() -> None:
    """So that the reader sees what is meant."""
    (problem,) = problems(job(queue="My Team"))

    assert problem.value == "'My Team'"


class Output:
    """Looks like Pulumi's."""

    def apply(self, func: Any) -> Any:
        """Be taken for one."""
        raise AssertionError(func)


BY_HAND: dict[str, tuple[Callable[[], object], str]] = {
    "a task without a name": (
        lambda: Task(replicas=-1),
        "Task.replicas: this must be at least 0 (given: -1): give a larger number",
    ),
    "a task with a name": (
        lambda: Task(name="worker", replicas=-1),
        "Task[worker].replicas: this must be at least 0 (given: -1): give a larger number",
    ),
    "all that is wrong at once, in what is inside too": (
        lambda: Task(name="worker", min_available=-1, policies=[{"exitCode": "1"}]),
        (
            "Task[worker].minAvailable: this must be at least 0 (given: -1): give a larger number\n"
            "Task[worker].policies[0].exitCode: this must be a whole number (given: '1'): write it without quotes or"
            " fraction"
        ),
    ),
    "a model of another kind": (Volume, "Volume.mountPath: this field is required: add it"),
    "a job": (
        lambda: Job(name="Train", min_available=-1),
        (
            "metadata.name: this must be lower-case letters, digits and '-', beginning and ending with a letter or"
            " digit (given: 'Train'): for example my-job-1\n"
            "spec.minAvailable: this must be at least 0 (given: -1): give a larger number"
        ),
    ),
    "a job without anything": (
        Job,
        "this is no Volcano Job: it has none of its fields: give a batch.volcano.sh/v1alpha1 Job",
    ),
    "kubectl's document": (
        lambda: Job.model_validate(job(queue=5)),
        "spec.queue: this must be a string (given: 5): put it in quotes",
    ),
    "a generator for a list": (
        lambda: DependsOn(name=(name for name in ["master"])),
        "DependsOn.name: this must be a list: write it as a YAML list: [...]",
    ),
    "bytes for a list": (
        lambda: DependsOn(name=bytearray(b"master")),
        "DependsOn.name: this must be a list: write it as a YAML list: [...]",
    ),
    "what is no mapping": (
        lambda: Task.model_validate([]),
        "Task: this must be a mapping: write it as key: value lines",
    ),
    "an Output that decides how many Pods there are": (
        lambda: Task(name="worker", replicas=Output()),
        (
            "Task[worker].replicas: this must be a plain value, not an Output: it decides how many Pods there are: take"
            " it from pulumi.Config, or from StackReference.get_output_details, which gives plain values"
        ),
    ),
    "a value that may be secret": (
        lambda: Job(name="train", plugins={"ssh": SECRET}),
        "spec.plugins.ssh: this must be a list: write it as a YAML list: [...]",
    ),
}


@pytest.mark.parametrize(("make", "message"), BY_HAND.values(), ids=BY_HAND)
def test_a_model_that_is_made_by_hand_says_what_is_wrong_as_a_file_does(
    make: Callable[[], object], message: str
) -> None:
    """Place, value, rule and way out, not pydantic's words and links."""
    with pytest.raises(JobError) as refused:
        make()

    assert str(refused.value) == message


class TestForms:
    """One job, however it is written."""

    DOCUMENT: Wire = job(
        task("master"),
        {**task("worker", 2), "minAvailable": 1, "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}]},
        minAvailable=2,
        priorityClassName="high",
        plugins={"pytorch": ["--port=29500"]},
    )

    @pytest.mark.parametrize(
        "job_",
        [
            DOCUMENT,
            Job.model_validate(DOCUMENT),
            {"name": "train", **DOCUMENT["spec"]},
            Job(
                name="train",
                tasks=[
                    Task(**task("master")),
                    Task(
                        name="worker",
                        replicas=2,
                        min_available=1,
                        policies=[Policy(event="TaskCompleted", action="CompleteJob")],
                        template=task()["template"],
                    ),
                ],
                min_available=2,
                priority_class_name="high",
                plugins=[PytorchPlugin(port=29500)],
            ),
            {
                "name": "train",
                "tasks": (
                    task("master"),
                    {
                        **task("worker", 2),
                        "min_available": 1.0,
                        "policies": ({"event": "TaskCompleted", "action": "CompleteJob"},),
                    },
                ),
                "min_available": 2.0,
                "priority_class_name": "high",
                "plugins": {"pytorch": ("--port=29500",)},
            },
        ],
        ids=["a document", "a model", "the flat form", "models", "snake case, tuples and whole floats"],
    )
    def test_every_form_renders_the_same(self, job_: Any) -> None:
        """In Volcano's spelling or Python's."""
        made, expected = render(job_), render(self.DOCUMENT)

        assert (made.objects, made.pods) == (expected.objects, expected.pods)

    def test_what_a_server_has_added_to_a_job_says_nothing(self) -> None:
        """A job as `kubectl get -o yaml` prints it."""
        live = {
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "generation": 1,
            "resourceVersion": "5",
            "uid": "x",
            "managedFields": [],
        }
        document = self.DOCUMENT | {"metadata": {"name": "train", **live}, "status": {"state": {"phase": "Running"}}}

        assert render(document).pods == render(self.DOCUMENT).pods

    def test_a_null_is_a_missing_field(self) -> None:
        """Everywhere."""
        document = job({**task(), "minAvailable": None, "policies": None}, queue=None, volumes=None)
        document["metadata"]["labels"] = None

        assert render(document).job == render(job()).job

    def test_an_empty_queue_is_the_default_one(self) -> None:
        """And an empty namespace, and an empty scheduler."""
        document = job(queue="", schedulerName="", priorityClassName="")
        document["metadata"]["namespace"] = ""

        stored = render(document).job

        assert (stored.queue, stored.namespace, stored.scheduler_name) == ("default", "default", "volcano")

    def test_a_job_without_a_namespace_gets_the_given_one(self) -> None:
        """That of the stack, or of the command line."""
        assert render(job(), namespace="team").pods[0]["metadata"]["namespace"] == "team"

    @pytest.mark.parametrize("strict", [True, False])
    def test_a_namespace_that_is_no_text(self, *, strict: bool) -> None:
        """It would stand in each manifest."""
        told = str(refused(job(), namespace=3, strict=strict))

        assert told == "metadata.namespace: this must be a string (given: 3): put it in quotes"

    def test_models_are_frozen(self) -> None:
        """A job is a value."""
        with pytest.raises(pydantic.ValidationError):
            Job(name="train").name = "other"

    def test_a_bad_form_is_a_job_error(self) -> None:
        """Not pydantic's."""
        with pytest.raises(JobError):
            render({"name": "Train"})
