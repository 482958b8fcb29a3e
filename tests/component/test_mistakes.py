"""Wrong calls and wrong names in a program, which `pulumi up` reports without a traceback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    ClusterFacts,
    EnvPlugin,
    Job,
    KeyPair,
    Policy,
    PytorchPlugin,
    Queue,
    RayPlugin,
    SshPlugin,
    Task,
    VolcanoJob,
    VolcanoQueue,
    load_jobs,
    pod_template,
    presets,
    render,
)
from pulumi_volcano_jobs.testing import Failure, NotFound, failed, run
from tests.component.programs import new_job
from tests.conftest import Wire, task, typed

JOB: Any = VolcanoJob
QUEUE: Any = VolcanoQueue
TASK: Any = Task
PRESETS: Any = presets
POLICY: Any = Policy
PLUGIN: Any = PytorchPlugin
ENV: Any = EnvPlugin
KEYS: Any = KeyPair
FACTS: Any = ClusterFacts
FACT_OF_QUEUE: Any = Queue
POD_TEMPLATE: Any = pod_template
TRAINING: Wire = {"tasks": [task("master"), task(replicas=2)], "plugins": [PytorchPlugin()]}
NATIVE: Wire = {**TRAINING, "managed_by": "volcano"}


def job(arguments: Wire = TRAINING) -> Any:
    """Register a job, whose attributes a type checker does not know."""
    return new_job("train", arguments)


# The program, and the path and type of each problem.
CALLS: Mapping[str, tuple[Callable[[], object], list[tuple[str, str]]]] = {
    "a misspelt setting": (lambda: PytorchPlugin(prt=1), [("spec.plugins.pytorch.prt", "Forbidden")]),  # type: ignore[call-arg]
    "a setting by position": (lambda: PytorchPlugin(29500), [("spec.plugins.pytorch", "Invalid")]),  # type: ignore[call-arg]
    "a setting of a plugin without settings": (lambda: EnvPlugin(1), [("spec.plugins.env", "Invalid")]),  # type: ignore[call-arg]
    "the name of a task by position": (lambda: TASK("worker"), [("Task", "Invalid")]),
    "an event by position": (lambda: Policy("PodFailed"), [("Policy", "Invalid")]),  # type: ignore[call-arg]
    "a changed field": (lambda: setattr(Task(), "name", "other"), [("Task.name", "Forbidden")]),
    "a changed setting": (lambda: setattr(RayPlugin(), "port", 1), [("spec.plugins.ray.port", "Forbidden")]),
    "a misspelt setting of a copy": (lambda: SshPlugin().with_(prt=1), [("spec.plugins.ssh.prt", "Forbidden")]),
    "a wrong value of a mapping": (lambda: Task.model_validate({"replicas": "x"}), [("Task.replicas", "TypeInvalid")]),
    "no mapping": (lambda: Task.model_validate(5), [("Task", "TypeInvalid")]),
    "no job": (lambda: Job.model_validate(["a"]), [("", "TypeInvalid")]),
    "no JSON": (lambda: Job.model_validate_json('{"token": "s3cret"'), [("", "Invalid")]),
    "a wrong value in JSON": (lambda: Job.model_validate_json('{"name": 5}'), [("metadata.name", "TypeInvalid")]),
    "a misspelt argument of a preset": (
        lambda: PRESETS.shm(sise="8Gi"),
        [("presets.shm.sise", "Forbidden"), ("presets.shm.size", "Required")],
    ),
    "too many arguments of a preset": (lambda: PRESETS.shm("8Gi", "main"), [("presets.shm", "Invalid")]),
    "an argument of a preset that is passed twice": (
        lambda: PRESETS.shm("8Gi", size="1Gi"),
        [("presets.shm.size", "Duplicate")],
    ),
    "a preset without arguments": (
        PRESETS.pod_affinity,
        [("presets.pod_affinity.job", "Required"), ("presets.pod_affinity.key", "Required")],
    ),
    "a job without arguments": (
        JOB,
        [("VolcanoJob.resource_name", "Required")],
    ),
    "a job without a name": (lambda: JOB(TRAINING), [("resource_name", "TypeInvalid")]),
    "a job with an empty name": (lambda: JOB("", TRAINING), [("resource_name", "Required")]),
    "a job with an Output as its name": (
        lambda: JOB(pulumi.Output.from_input("a"), TRAINING),
        [("resource_name", "TypeInvalid")],
    ),
    "a job with options as a mapping": (lambda: JOB("a", TRAINING, {"protect": True}), [("opts", "TypeInvalid")]),
    "a job with too many arguments": (lambda: JOB("a", TRAINING, None, 1), [("VolcanoJob", "Invalid")]),
    "a queue without arguments": (QUEUE, [("VolcanoQueue.resource_name", "Required")]),
    "a queue with options as a mapping": (lambda: QUEUE("a", {}, {"protect": True}), [("opts", "TypeInvalid")]),
    "from_yaml without a file": (lambda: JOB.from_yaml("a"), [("VolcanoJob.from_yaml.source", "Required")]),
    "from_yaml with a number": (lambda: JOB.from_yaml("a", 5), [("source", "TypeInvalid")]),
    "load_jobs without a file": (load_jobs, [("load_jobs.source", "Required")]),
    "load_jobs with a number": (lambda: load_jobs(5), [("source", "TypeInvalid")]),  # type: ignore[arg-type]
    "render without a job": (render, [("render.job", "Required")]),
    "render with a number": (lambda: render(5), [("job", "TypeInvalid")]),  # type: ignore[arg-type]
    "render with other facts": (
        lambda: render({"name": "a", "tasks": [task()]}, cluster=5),  # type: ignore[arg-type]
        [("cluster", "TypeInvalid")],
    ),
    "render with other keys": (
        lambda: render({"name": "a", "tasks": [task()]}, keys=5),  # type: ignore[arg-type]
        [("keys", "TypeInvalid")],
    ),
    "from_job with a dictionary": (lambda: JOB.from_job("train", TRAINING), [("job", "TypeInvalid")]),
    "pod_template without a template": (pod_template, [("pod_template.template", "Required")]),
    "pod_template with the name of a file": (lambda: POD_TEMPLATE("pod.yaml"), [("template", "TypeInvalid")]),
    "a key pair without a public key": (lambda: KEYS("a"), [("KeyPair.public", "Required")]),
    "a misspelt key": (lambda: KEYS("a", "b", publik="b"), [("KeyPair.publik", "Forbidden")]),
    "a key that is a number": (lambda: KEYS("s3cret", 5), [("KeyPair.public", "TypeInvalid")]),
    "a misspelt fact": (lambda: FACTS(priorities={}), [("ClusterFacts.priorities", "Forbidden")]),
    "too many facts": (lambda: FACTS("", "", {}, {}, None, 1), [("ClusterFacts", "Invalid")]),
    "facts of a wrong type": (
        lambda: FACTS(priority_classes={"high": "1"}, queues=["research"], claims=frozenset({"data"})),
        [
            ("ClusterFacts.priority_classes", "TypeInvalid"),
            ("ClusterFacts.queues", "TypeInvalid"),
            ("ClusterFacts.claims", "TypeInvalid"),
        ],
    ),
    "a fact about a queue of a wrong type": (lambda: FACT_OF_QUEUE(children="2"), [("Queue.children", "TypeInvalid")]),
    "the state of a queue of a wrong type": (lambda: FACT_OF_QUEUE(1), [("Queue.state", "TypeInvalid")]),
    "a misspelt option of render": (
        lambda: render({"name": "a", "tasks": [task()]}, managed="volcano"),  # type: ignore[call-arg]
        [("managed", "Forbidden")],
    ),
}
LOOKUPS: Mapping[str, tuple[Callable[[], object], type[Exception]]] = {
    "a misspelt task": (lambda: job().tasks["wroker"], KeyError),
    "a misspelt plugin": (lambda: job().plugins["pytroch"], KeyError),
    "a plugin without an attribute": (lambda: job().pytroch, AttributeError),
    "a plugin that the job does not have": (lambda: job().ssh, AttributeError),
    "a misspelt output of a plugin": (lambda: job().pytorch.master_adress, AttributeError),
    "a misspelt output of a task": (lambda: job().tasks["worker"].host, AttributeError),
    "a misspelt field of a Pod": (lambda: job().pods[0].stats, AttributeError),
    "a misspelt field of a task": (lambda: TASK(name="a").replica, AttributeError),
    "a misspelt field of a policy": (lambda: POLICY().evnt, AttributeError),
    "a misspelt setting of a plugin": (lambda: PLUGIN().prot, AttributeError),
    "a setting of a plugin that has none": (lambda: ENV().prot, AttributeError),
    "a misspelt output of a queue": (lambda: QUEUE("research").nam, AttributeError),
    "a Pod after the last one": (lambda: job().tasks["worker"].pods[7], IndexError),
    "a Pod that Volcano creates": (lambda: job(NATIVE).tasks["worker"].pods[0], IndexError),
    "a Pod of the job after the last one": (lambda: job().pods[3], IndexError),
    "an object after the last one": (lambda: job().objects[9], IndexError),
    "an object of a plugin after the last one": (
        lambda: job().svc.objects[9],
        IndexError,
    ),
}


def rejected(program: Callable[[], object]) -> Failure:
    """Run a program that fails with an error that Pulumi shows without a traceback."""
    failure = failed(program)
    assert isinstance(failure.error, pulumi.RunError)
    return failure


@pytest.mark.parametrize(("program", "problems"), CALLS.values(), ids=CALLS)
def test_a_wrong_call_is_an_error_without_a_traceback(
    program: Callable[[], object], problems: list[tuple[str, str]], snapshot: SnapshotAssertion
) -> None:
    """The message names the arguments that exist."""
    failure = rejected(program)
    assert typed(failure.problems) == problems
    assert str(failure.error) == snapshot


def test_the_text_of_invalid_json_is_not_shown() -> None:
    """It may contain secrets."""
    assert "s3cret" not in str(rejected(lambda: Job.model_validate_json('{"token": "s3cret"')).error)


@pytest.mark.parametrize(("program", "kind"), LOOKUPS.values(), ids=LOOKUPS)
def test_a_wrong_lookup_is_an_error_without_a_traceback(
    program: Callable[[], object], kind: type[Exception], snapshot: SnapshotAssertion
) -> None:
    """The message names what exists, and the error is also Python's own for the lookup."""
    error = rejected(program).error
    assert isinstance(error, kind)
    assert str(error) == snapshot


def test_an_unknown_field_that_is_kept_is_an_attribute() -> None:
    """Private names and `hasattr` work as with any object."""
    kept = TASK(name="a", other=1)

    assert (kept.other, hasattr(kept, "another"), hasattr(kept, "_private")) == (1, False, False)
    assert (hasattr(PLUGIN(), "prot"), hasattr(PLUGIN(), "_private")) == (False, False)


def test_tasks_and_plugins_are_mappings_and_pods_a_sequence() -> None:
    """Existing items are found as before."""

    def program() -> dict[str, Any]:
        made = job()
        assert isinstance(made.tasks, Mapping)
        assert isinstance(made.plugins, Mapping)
        pods = made.tasks["worker"].pods
        return {
            "names": [*made.tasks, *made.plugins],
            "missing": made.tasks.get("wroker"),
            "found": [hasattr(made, "pytorch"), hasattr(made, "ssh"), hasattr(made, "other")],
            "pods": [len(pods), pods[1] is pods[-1], len(pods[1:])],
            "exported": pods,
        }

    outputs = run(program).outputs
    assert outputs["names"] == ["master", "worker", "svc", "pytorch"]
    assert "missing" not in outputs
    assert outputs["found"] == [True, False, False]
    assert outputs["pods"] == [2, True, 1]
    assert len(outputs["exported"]) == 2


def test_lookups_in_results_of_tests_are_the_same_errors() -> None:
    """`testing.NotFound` is the error of `job.tasks` also."""
    assert isinstance(rejected(lambda: job().tasks["wroker"]).error, NotFound)
