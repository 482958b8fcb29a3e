"""A job is parsed field by field as in Volcano's CRD (contract, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import DependsOn, Job, JobError, Policy, PytorchPlugin, SshPlugin, Task, Volume, render
from pulumi_volcano_jobs.core.errors import RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, job, problems, refused, task, typed

Expected = list[tuple[str, str]]


def of_task(**fields: Any) -> Wire:
    """Build a job by fields of its task."""
    return job({**task(), **fields})


def named(name: Any) -> Wire:
    """Build a job by its name."""
    return job() | {"metadata": {"name": name}}


DECODE: dict[str, tuple[Any, Expected]] = {
    "no Job": (job() | {"kind": "Pod"}, [("kind", "NotSupported")]),
    "another API": (job() | {"apiVersion": "batch/v1"}, [("apiVersion", "NotSupported")]),
    "no spec": ({"metadata": {"name": "train"}}, [("spec", "Required")]),
    "a spec that is not a mapping": ({"metadata": {"name": "train"}, "spec": []}, [("spec", "Required")]),
    "no metadata": ({"spec": {}}, [("metadata", "Required")]),
    "metadata that are not a mapping": ({"metadata": "train", "spec": {}}, [("metadata", "Required")]),
    "a name that is not text": (named(5), [("metadata.name", "TypeInvalid")]),
    "a number for a queue": (job(queue=5), [("spec.queue", "TypeInvalid")]),
    "a truth value for a number": (job(minAvailable=True), [("spec.minAvailable", "TypeInvalid")]),
    "text for a number": (job(minAvailable="1"), [("spec.minAvailable", "TypeInvalid")]),
    "a fraction": (job(minAvailable=1.5), [("spec.minAvailable", "TypeInvalid")]),
    "a number beyond 32 bits": (job(maxRetry=2**31), [("spec.maxRetry", "Invalid")]),
    "text for a list": (job(policies="x"), [("spec.policies", "TypeInvalid")]),
    "a mapping for a list": (job(tasks={}), [("spec.tasks", "TypeInvalid")]),
    "text for a task": (job(tasks=["worker"]), [("spec.tasks[0]", "TypeInvalid")]),
    "text for a template": (of_task(template="x"), [("spec.tasks[0].template", "TypeInvalid")]),
    "text for replicas": (of_task(replicas="2"), [("spec.tasks[0].replicas", "TypeInvalid")]),
    "a list for plugins": (job(plugins=["ssh"]), [("spec.plugins", "TypeInvalid")]),
    "text for plugins": (job(plugins="ssh"), [("spec.plugins", "TypeInvalid")]),
    "text for arguments": (job(plugins={"ssh": "--ssh-port=22"}), [("spec.plugins.ssh", "TypeInvalid")]),
    "a number for an argument": (job(plugins={"ssh": ["--ssh-port", 22]}), [("spec.plugins.ssh[1]", "TypeInvalid")]),
    "one plugin twice": (job(plugins=[SshPlugin(), SshPlugin()]), [("spec.plugins", "Duplicate")]),
    "a class for a plugin": (job(plugins=[SshPlugin]), [("spec.plugins", "TypeInvalid")]),
    "a number for a label": (
        job() | {"metadata": {"name": "train", "labels": {"a/b": 1}}},
        [("metadata.labels.a/b", "TypeInvalid")],
    ),
    "text for a claim": (
        job(volumes=[{"mountPath": "/a", "volumeClaim": "x"}]),
        [("spec.volumes[0].volumeClaim", "TypeInvalid")],
    ),
    "text for a dependency": (of_task(dependsOn="master"), [("spec.tasks[0].dependsOn", "TypeInvalid")]),
    "text for the names of a dependency": (
        of_task(dependsOn={"name": "master"}),
        [("spec.tasks[0].dependsOn.name", "TypeInvalid")],
    ),
}
SCHEMA: dict[str, tuple[Any, Expected]] = {
    "no name": (job() | {"metadata": {}}, [("metadata.name", "Required")]),
    "a name in capitals": (named("Train"), [("metadata.name", "Invalid")]),
    "an empty name": (named(""), [("metadata.name", "Invalid")]),
    "a name that ends with a dash": (named("a-"), [("metadata.name", "Invalid")]),
    "a name with two dots": (named("a..b"), [("metadata.name", "Invalid")]),
    "a name of 254 characters": (named("a" * 254), [("metadata.name", "TooLong")]),
    "a name with a line break": (named("a\n"), [("metadata.name", "Invalid")]),
    "an empty list of tasks": (job(tasks=[]), [("spec.tasks", "Required")]),
    "a task's name with an underscore": (job(task("my_task")), [("spec.tasks[0].name", "Invalid")]),
    "a task's name with a dot": (job(task("a.b")), [("spec.tasks[0].name", "Invalid")]),
    "a task's name of 64 characters": (job(task("a" * 64)), [("spec.tasks[0].name", "TooLong")]),
    "negative replicas": (of_task(replicas=-1), [("spec.tasks[0].replicas", "Invalid")]),
    "a negative minimum of a task": (of_task(minAvailable=-1), [("spec.tasks[0].minAvailable", "Invalid")]),
    "a negative minimum": (job(minAvailable=-1), [("spec.minAvailable", "Invalid")]),
    "negative retries": (job(maxRetry=-1), [("spec.maxRetry", "Invalid")]),
    "a negative time to live": (job(ttlSecondsAfterFinished=-1), [("spec.ttlSecondsAfterFinished", "Invalid")]),
    "no success needed": (job(minSuccess=0), [("spec.minSuccess", "Invalid")]),
    "a queue in capitals": (job(queue="Team"), [("spec.queue", "Invalid")]),
    "a priority class with a blank": (job(priorityClassName="a b"), [("spec.priorityClassName", "Invalid")]),
    "an event that is none": (
        job(policies=[{"event": "PodDied", "action": "AbortJob"}]),
        [("spec.policies[0].event", "NotSupported")],
    ),
    "an event in a list that is none": (
        of_task(policies=[{"events": ["PodFailed", "PodDied"], "action": "AbortJob"}]),
        [("spec.tasks[0].policies[0].events[1]", "NotSupported")],
    ),
    "a topology policy that is none": (
        of_task(topologyPolicy="best"),
        [("spec.tasks[0].topologyPolicy", "NotSupported")],
    ),
    "a mode that is none": (job(networkTopology={"mode": "firm"}), [("spec.networkTopology.mode", "NotSupported")]),
    "a partition of nothing": (
        of_task(partitionPolicy={"totalPartitions": 0, "partitionSize": 1}),
        [("spec.tasks[0].partitionPolicy.totalPartitions", "Invalid")],
    ),
    "a partition without a size": (
        of_task(partitionPolicy={"totalPartitions": 1}),
        [("spec.tasks[0].partitionPolicy.partitionSize", "Required")],
    ),
    "an empty mount path": (
        job(volumes=[{"mountPath": "", "volumeClaimName": "x"}]),
        [("spec.volumes[0].mountPath", "Invalid")],
    ),
    "a mount path with a colon": (
        job(volumes=[{"mountPath": "/a:b", "volumeClaimName": "x"}]),
        [("spec.volumes[0].mountPath", "Invalid")],
    ),
    "no mount path": (job(volumes=[{"volumeClaimName": "x"}]), [("spec.volumes[0].mountPath", "Required")]),
    "no containers": (of_task(template={"spec": {}}), [("spec.tasks[0].template.spec.containers", "Required")]),
    "no template": (job({"name": "worker"}), [("spec.tasks[0].template.spec.containers", "Required")]),
}


@pytest.mark.parametrize("name", [*DECODE, *SCHEMA])
def test_a_job_of_the_wrong_shape_is_rejected(name: str, snapshot: SnapshotAssertion) -> None:
    """The decoder rejects wrong types, and the schema rejects values out of range, with and without strict mode."""
    document, expected = (DECODE | SCHEMA)[name]

    found = problems(document)

    assert typed(found) == expected
    assert {problem.stage for problem in found} == {RejectionStage.DECODE if name in DECODE else RejectionStage.SCHEMA}
    assert problems(document, strict=False) == found
    assert list(map(str, found)) == snapshot


def test_all_wrong_shapes_are_reported_at_once() -> None:
    """A list with only wrong entries is not empty."""
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
    """The fix is to take the value from a source of plain values."""
    (problem,) = problems(document)

    assert typed([problem]) == [(path, "TypeInvalid")]
    assert "Output" in problem.reason
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
    """Problems of arguments, templates and annotations have only the path."""
    found = problems(document)

    assert SECRET not in repr(found)


def test_other_wrong_values_are_shown() -> None:
    """They help the user to find the mistake."""
    (problem,) = problems(job(queue="My Team"))

    assert problem.value == '"My Team"'


class Output:
    """A class that looks like Pulumi's Output."""

    def apply(self, func: Any) -> Any:
        """Exist, as in an Output."""
        raise AssertionError(func)


BY_HAND: dict[str, tuple[Callable[[], object], Expected]] = {
    "a task without a name": (
        lambda: Task(replicas=-1),
        [("Task.replicas", "Invalid")],
    ),
    "a task with a name": (
        lambda: Task(name="worker", replicas=-1),
        [("Task[worker].replicas", "Invalid")],
    ),
    "several problems at once, also in nested values": (
        lambda: Task(name="worker", min_available=-1, policies=[{"exitCode": "1"}]),
        [("Task[worker].minAvailable", "Invalid"), ("Task[worker].policies[0].exitCode", "TypeInvalid")],
    ),
    "a model of another kind": (Volume, [("Volume.mountPath", "Required")]),
    "a job": (
        lambda: Job(name="Train", min_available=-1),
        [("metadata.name", "Invalid"), ("spec.minAvailable", "Invalid")],
    ),
    "a job without anything": (
        Job,
        [("", "Required")],
    ),
    "kubectl's document": (
        lambda: Job.model_validate(job(queue=5)),
        [("spec.queue", "TypeInvalid")],
    ),
    "a generator for a list": (
        lambda: DependsOn(name=(name for name in ["master"])),
        [("DependsOn.name", "TypeInvalid")],
    ),
    "bytes for a list": (
        lambda: DependsOn(name=bytearray(b"master")),
        [("DependsOn.name", "TypeInvalid")],
    ),
    "a value that is not a mapping": (
        lambda: Task.model_validate([]),
        [("Task", "TypeInvalid")],
    ),
    "an Output that decides how many Pods there are": (
        lambda: Task(name="worker", replicas=Output()),
        [("Task[worker].replicas", "TypeInvalid")],
    ),
    "a value that may be secret": (
        lambda: Job(name="train", plugins={"ssh": SECRET}),
        [("spec.plugins.ssh", "TypeInvalid")],
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_wrong_model_has_the_problems_of_a_wrong_file(name: str, snapshot: SnapshotAssertion) -> None:
    """The messages do not have pydantic's words and links."""
    make, expected = BY_HAND[name]

    with pytest.raises(JobError) as refused:
        make()

    assert typed(refused.value.problems) == expected
    assert "pydantic" not in str(refused.value)
    assert str(refused.value) == snapshot


class TestForms:
    """The forms in which a job can be written."""

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
        """With Volcano's names or Python's."""
        made, expected = render(job_), render(self.DOCUMENT)

        assert (made.objects, made.pods) == (expected.objects, expected.pods)

    def test_fields_of_the_server_do_not_change_the_job(self) -> None:
        """`kubectl get -o yaml` prints them."""
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
        """In every field."""
        document = job({**task(), "minAvailable": None, "policies": None}, queue=None, volumes=None)
        document["metadata"]["labels"] = None

        assert render(document).job == render(job()).job

    def test_an_empty_queue_is_the_default_one(self) -> None:
        """Namespace and scheduler also have defaults."""
        document = job(queue="", schedulerName="", priorityClassName="")
        document["metadata"]["namespace"] = ""

        stored = render(document).job

        assert (stored.queue, stored.namespace, stored.scheduler_name) == ("default", "default", "volcano")

    def test_a_job_without_a_namespace_gets_a_default(self) -> None:
        """From the stack, or from the command line."""
        assert render(job(), namespace="team").pods[0]["metadata"]["namespace"] == "team"

    def test_a_namespace_that_is_not_text_is_an_error(self, snapshot: SnapshotAssertion) -> None:
        """Each manifest would have it, with and without strict mode."""
        error = refused(job(), namespace=3)

        assert typed(error.problems) == [("metadata.namespace", "TypeInvalid")]
        assert refused(job(), namespace=3, strict=False).problems == error.problems
        assert str(error) == snapshot

    def test_models_are_frozen(self) -> None:
        """Jobs are values; the fix is a copy."""
        for name in ("name", "title"):
            with pytest.raises(JobError, match=f"Job.{name}: Forbidden: cannot be changed: use the copy that with_"):
                setattr(Job(name="train"), name, "other")

    def test_a_copy_has_no_unknown_fields(self) -> None:
        """Its other values are not validated."""
        with pytest.raises(JobError) as caught:
            Task(name="worker").with_(replcas=2)
        assert typed(caught.value.problems) == [("Task.replcas", "Forbidden")]

    def test_a_wrong_form_is_a_job_error(self) -> None:
        """Pydantic's own error is not raised."""
        with pytest.raises(JobError):
            render({"name": "Train"})
