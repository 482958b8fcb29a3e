"""A policy that never acts has a warning with its reason, and a policy that can act has none."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, container, job, problems, task, typed

OF_JOB, OF_TASK = "spec.policies[0]", "spec.tasks[0].policies[0]"
PARTITIONS = {"totalPartitions": 1, "partitionSize": 1}


def policy(event: str = "PodFailed", action: str = "RestartJob", **fields: Any) -> Wire:
    """Build a policy on an event."""
    return {"event": event, "action": action, **fields}


def on_exit(code: int = 3, action: str = "RestartJob") -> Wire:
    """Build a policy on an exit code."""
    return {"exitCode": code, "action": action}


def of_job(*policies: Wire, **spec: Any) -> Wire:
    """Build a job with policies, and a task."""
    return job(task(**spec), policies=list(policies))


def of_task(*policies: Wire, **fields: Any) -> Wire:
    """Build a job whose task has policies."""
    return job({**task(), "policies": list(policies), **fields})


IDLE: dict[str, tuple[Wire, str]] = {
    "an event that Volcano does not raise": (of_job(policy("JobUpdated")), f"{OF_JOB}.event"),
    "a pending Pod without a timeout": (of_job(policy("PodPending")), f"{OF_JOB}.event"),
    "a pending Pod among other events": (
        of_job({"events": ["PodFailed", "PodPending"], "action": "RestartJob"}),
        f"{OF_JOB}.events[1]",
    ),
    "an event of the job in a task": (of_task(policy("Unknown")), f"{OF_TASK}.event"),
    "a task that does not complete": (
        of_job(policy("TaskCompleted", "CompleteJob"), restartPolicy="Always"),
        f"{OF_JOB}.event",
    ),
    "restarts of containers that do not restart": (of_job(policy("TaskFailed")), f"{OF_JOB}.event"),
    "policies of all tasks": (
        job(
            {**task("a"), "policies": [policy()]},
            {**task("b"), "policies": [policy("*")]},
            task("c", 0),
            policies=[policy(action="AbortJob")],
        ),
        f"{OF_JOB}.event",
    ),
    "an exit code after PodFailed": (of_job(policy(), on_exit()), "spec.policies[1].exitCode"),
    "an exit code after any event": (of_job(policy("*"), on_exit()), "spec.policies[1].exitCode"),
    "an exit code of all tasks": (
        job(
            {**task("a"), "policies": [on_exit()]},
            {**task("b"), "policies": [policy()]},
            policies=[on_exit()],
        ),
        f"{OF_JOB}.exitCode",
    ),
    "an exit code of containers that restart": (of_job(on_exit(), restartPolicy="OnFailure"), f"{OF_JOB}.exitCode"),
    "an exit code above 255": (of_job(on_exit(256)), f"{OF_JOB}.exitCode"),
    "a negative exit code": (of_job(on_exit(-1)), f"{OF_JOB}.exitCode"),
    "a typing mistake in an action": (of_job(on_exit(action="RestartJobs")), f"{OF_JOB}.action"),
    "another action": (of_job(on_exit(action="SyncJob")), f"{OF_JOB}.action"),
    "no action": (of_job({"exitCode": 3}), f"{OF_JOB}.action"),
    "a job that is not aborted": (of_job(policy(action="ResumeJob")), f"{OF_JOB}.action"),
    "no partitions": (of_task(policy(action="RestartPartition")), f"{OF_TASK}.action"),
    "a task of an event of the job": (of_job(policy("Unknown", "RestartTask")), f"{OF_JOB}.action"),
}


@pytest.mark.parametrize("name", IDLE)
def test_a_policy_that_never_acts_has_a_warning(name: str, snapshot: SnapshotAssertion) -> None:
    """Volcano's webhook accepts it."""
    document, path = IDLE[name]

    (warning,) = render(document).warnings

    assert typed([warning]) == [(path, "VJ134")]
    assert str(warning) == snapshot


ACTING: dict[str, Wire] = {
    "a pending Pod with a timeout": of_job(policy("PodPending", timeout="10m")),
    "an event of the job": of_job(policy("Unknown")),
    "a task that completes": of_job(policy("TaskCompleted", "CompleteJob")),
    "one of two tasks completes": job(
        task("a", restartPolicy="Always"), task("b"), policies=[policy("TaskCompleted", "CompleteJob")]
    ),
    "restarts of containers": of_job(policy("TaskFailed"), restartPolicy="OnFailure"),
    "restarts of a container with its own policy": of_job(
        policy("TaskFailed"), containers=[container(restartPolicy="OnFailure")]
    ),
    "a policy of one of two tasks": job({**task("a"), "policies": [policy()]}, task("b"), policies=[policy()]),
    "another event in the tasks": job({**task(), "policies": [policy("PodEvicted")]}, policies=[policy()]),
    "a pending Pod of all tasks without a timeout for any event": job(
        {**task(), "policies": [policy("*")]}, policies=[policy("PodPending", timeout="10m")]
    ),
    "an exit code before PodFailed": of_job(on_exit(), policy()),
    "an exit code after another event": of_job(policy("PodEvicted"), on_exit()),
    "an exit code of the kubelet": of_job(on_exit(137), restartPolicy="OnFailure"),
    "an exit code with an unknown restartPolicy": of_job(on_exit(), restartPolicy=Leaf("policy")),
    "an exit code of Windows": of_job(on_exit(-1073741819), os={"name": "windows"}),
    "an evicted Pod that restarts in place": of_job(policy("PodEvicted"), restartPolicy="OnFailure"),
    "a failed Pod that restarts in place": of_job(policy(), restartPolicy="OnFailure"),
    "partitions": of_task(policy(action="RestartPartition"), partitionPolicy=PARTITIONS),
    "a task without Pods": job({**task("a", 0), "policies": [policy("Unknown")]}, task("b")),
}


@pytest.mark.parametrize("document", ACTING.values(), ids=ACTING)
def test_a_policy_that_can_act_has_no_warning(document: Wire) -> None:
    """These are near misses."""
    assert render(document).warnings == ()


def test_a_policy_with_an_event_and_an_exit_code_is_only_an_error() -> None:
    """The webhook rejects it, so the fix of the exit code would not help."""
    document = of_job(policy() | {"exitCode": 3}, restartPolicy="OnFailure")

    assert typed(problems(document)) == [(OF_JOB, "Forbidden")]
