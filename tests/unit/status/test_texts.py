"""Short texts of the status: ranges of names, ages, exit codes and Pod states."""

from __future__ import annotations

import datetime as dt

import pytest

from pulumi_volcano_jobs.status.fields import time
from pulumi_volcano_jobs.status.job import names_as_ranges
from pulumi_volcano_jobs.status.pods import PodView
from pulumi_volcano_jobs.status.reasons.failures import meaning
from pulumi_volcano_jobs.status.selectors import matches
from pulumi_volcano_jobs.status.tables import age
from tests.conftest import Wire


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a-0"], "a-0"),
        (["a-0", "a-1", "a-2", "a-5"], "a-{0..2,5}"),
        (["a-3", "b-0", "a-1"], "a-{1,3}, b-0"),
        (["config", "a-0"], "a-0, config"),
        (["a-01", "a-1"], "a-1, a-01"),
        ([f"a-{index}" for index in range(0, 40, 2)], "a-{0,2,4,6,8,10,…}"),
    ],
)
def test_names_of_pods_are_ranges(names: list[str], expected: str) -> None:
    """A reason about 1,000 Pods stays short."""
    assert names_as_ranges(names) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(-5, "0s"), (119, "119s"), (120, "2m"), (10799, "179m"), (10800, "3h"), (12000, "3h20m"), (172800, "2d")],
)
def test_an_age_is_that_of_kubectl(seconds: int, expected: str) -> None:
    """The unit grows with the age."""
    assert age(dt.timedelta(seconds=seconds)) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (1, "the program failed"),
        (3, ""),
        (127, "command not found"),
        (134, "killed by SIGABRT, such as a failed assertion or a timeout of NCCL"),
        (135, "killed by SIGBUS, such as a full /dev/shm"),
        (136, "killed by SIGFPE"),
        (255, "a remote command failed, such as ssh"),
        (300, ""),
    ],
)
def test_an_exit_code_has_a_meaning(code: int, expected: str) -> None:
    """A signal adds 128 to its number."""
    assert meaning(code) == expected


@pytest.mark.parametrize(
    ("text", "microsecond"),
    [("2026-11-29T09:00:00Z", 0), ("2026-11-29T09:00:00.123456Z", 123456), ("2026-11-29T09:00:00.5+00:00", 500000)],
)
def test_times_are_read(text: str, microsecond: int) -> None:
    """Events have microseconds."""
    expected = dt.datetime(2026, 11, 29, 9, 0, 0, microsecond, dt.timezone.utc)

    assert time({"at": text}, "at") == expected
    assert time({"at": f"x{text}"}, "at") is None
    assert time({"at": "2026-13-29T09:00:00Z"}, "at") is None


def pod(**status: object) -> PodView:
    """Return a Pod on a node with two init containers and two containers."""
    spec = {
        "nodeName": "n",
        "initContainers": [{"name": "proxy", "restartPolicy": "Always"}, {"name": "wait"}],
        "containers": [{"name": "main"}, {"name": "log"}],
    }
    return PodView({"metadata": {"name": "train-worker-0"}, "spec": spec, "status": status})


def container(name: str, **fields: object) -> Wire:
    """Return the status of a container."""
    state = {key: fields.pop(key) for key in ("running", "waiting", "terminated") if key in fields}
    return {"name": name, "state": state, **fields}


STARTED = container("proxy", running={}, started=True)
WAITED = container("wait", terminated={"exitCode": 0, "reason": "Completed"})


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"phase": "Pending"}, "Init:0/2"),
        ({"phase": "Pending", "initContainerStatuses": [STARTED]}, "Init:1/2"),
        (
            {
                "phase": "Pending",
                "initContainerStatuses": [STARTED, container("wait", waiting={"reason": "ErrImagePull"})],
            },
            "Init:ErrImagePull",
        ),
        (
            {"phase": "Pending", "initContainerStatuses": [STARTED, container("wait", terminated={"exitCode": 2})]},
            "Init:ExitCode:2",
        ),
        (
            {
                "phase": "Running",
                "initContainerStatuses": [STARTED, WAITED],
                "containerStatuses": [
                    container("main", terminated={"exitCode": 0, "reason": "Completed"}),
                    container("log", running={}, ready=True),
                ],
            },
            "NotReady",
        ),
        (
            {
                "phase": "Running",
                "initContainerStatuses": [STARTED, WAITED],
                "containerStatuses": [container("main", waiting={"reason": "CrashLoopBackOff"})],
            },
            "CrashLoopBackOff",
        ),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
        ({}, "Unknown"),
    ],
)
def test_the_status_of_a_pod_is_that_of_kubectl(status: Wire, expected: str) -> None:
    """It is the column STATUS of `kubectl get pods`."""
    assert pod(**status).status == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ({"operator": "In", "values": ["a", "b"]}, True),
        ({"operator": "NotIn", "values": ["a"]}, False),
        ({"operator": "Exists"}, True),
        ({"operator": "DoesNotExist"}, False),
        ({"operator": "Gt", "values": ["1"]}, False),
    ],
)
def test_a_selector_matches_labels(expression: Wire, expected: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """Each operator of Kubernetes is known."""
    assert matches({"gpu": "a"}, {"matchExpressions": [{"key": "gpu", **expression}]}) is expected
    assert matches({}, {"matchLabels": {"gpu": "a"}}) is False
