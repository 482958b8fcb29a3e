"""Many jobs, and a job with many Pods; durations are printed, not asserted."""

from __future__ import annotations

import time

import pytest

from tests.cluster.conftest import Manifest, Stack, changes, task
from tests.engine.conftest import Run

# Several times the number of objects that the engine creates at a time. The engine writes its state after each step, so
# 150 Pods take five times as long without testing more; benchmarks/scale.py measures larger jobs.
PODS = 50


def timed(stack: Stack, what: str, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `up` and print its duration."""
    begin = time.monotonic()
    run = stack.up()
    with capsys.disabled():
        print(f"\n{what}: {time.monotonic() - begin:.1f} s", flush=True)  # noqa: T201  # the figures are the point
    return run


def test_a_stack_can_have_twenty_jobs(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has a different key, and a second update changes nothing."""
    stack.skip_checkpoints()
    stack.jobs(**{f"job-{index}": {"tasks": [task("worker")], "plugins": {"ssh": []}} for index in range(20)})

    timed(stack, "20 jobs of a Pod, up", capsys)

    assert len(stack.space.pods()) == 20
    assert len({stack.space.key(f"job-{index}") for index in range(20)}) == 20
    assert timed(stack, "20 jobs of a Pod, no-op", capsys).steps == {}


def test_a_job_can_have_many_pods(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    """It is created, updated without an edit, and scaled by one Pod."""

    def job(workers: int) -> Manifest:
        return {"tasks": [task("worker", workers)], "plugins": {"svc": []}}

    stack.jobs(train=job(PODS))
    timed(stack, f"a job of {PODS} Pods, up", capsys)
    before = stack.space.seen()
    assert timed(stack, f"a job of {PODS} Pods, no-op", capsys).steps == {}
    stack.jobs(train=job(PODS + 1))
    timed(stack, f"a job of {PODS} Pods, one more", capsys)

    assert changes(before, stack.space.seen()) == {
        f"Pod train-worker-{PODS}": "made",
        "PodGroup train": "updated",
        "ConfigMap train-svc": "replaced",
    }
