"""Jobs and queues under `pulumi.runtime.set_mocks`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks, settings

from pulumi_volcano_jobs import PytorchPlugin, SshPlugin, VolcanoJob, VolcanoQueue
from tests.component.programs import new_job
from tests.conftest import Wire, task

POD = "kubernetes:core/v1:Pod"


class Recorder(mocks.Mocks):
    """Mocks that record each resource by type and name, and return its inputs."""

    def __init__(self) -> None:
        """Create an empty record."""
        self.inputs: dict[tuple[str, str], Wire] = {}

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, Wire]:
        """Record a resource."""
        self.inputs[args.typ, args.name] = args.inputs
        return f"{args.name}-id", args.inputs

    def call(self, args: mocks.MockCallArgs) -> Any:
        """Reject functions; none is called."""
        raise NotImplementedError(args.token)


@pytest.fixture(params=[False, True], ids=["up", "preview"])
def recorder(request: pytest.FixtureRequest, event_loop_of_the_thread: asyncio.AbstractEventLoop) -> Iterator[Recorder]:
    """Set mocks for a test, outside of an event loop, and reset the runtime after it."""
    recorder = Recorder()
    executor = ThreadPoolExecutor(max_workers=1)
    event_loop_of_the_thread.set_default_executor(executor)
    mocks.set_mocks(recorder, preview=request.param)
    yield recorder
    settings.reset_options()
    # Pulumi's mocks open an event loop in each thread and leave it open.
    executor.submit(lambda: asyncio.get_event_loop().close()).result()
    executor.shutdown()


def job(**fields: Any) -> VolcanoJob:
    """Create a job with two plugins."""
    tasks = [task("master"), task("worker", 2)]
    return new_job("train", {"plugins": [PytorchPlugin(), SshPlugin()], "tasks": tasks, **fields})


def resolved(output: pulumi.Output[Any], read: Callable[[Any], Any]) -> Any:
    """Call a function with the value of an output, as a test with `pulumi.runtime.test` does."""
    results: list[Any] = []
    mocks.test(lambda: output.apply(lambda value: results.append(read(value))))()
    (result,) = results
    return result


OUTPUTS: dict[str, tuple[Callable[[VolcanoJob], pulumi.Output[Any]], set[str]]] = {
    "pod_names": (lambda made: made.pod_names, {"train-master-0", "train-worker-0", "train-worker-1"}),
    "hosts": (lambda made: made.hosts, {"train-master-0", "train-worker-0", "train-worker-1"}),
    "the hosts of a task": (lambda made: made.tasks["worker"].hosts, {"train-worker-0", "train-worker-1"}),
    "master_address": (lambda made: made.pytorch.master_address, {"train-master-0"}),
}


@pytest.mark.parametrize(("read", "pods"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_resolves_after_its_pods_are_registered(
    recorder: Recorder, read: Callable[[VolcanoJob], pulumi.Output[Any]], pods: set[str]
) -> None:
    """A test can check the recorded Pods in `apply`."""
    assert resolved(read(job()), lambda _: {name for kind, name in recorder.inputs if kind == POD} >= pods)


def test_the_fields_of_a_pod_are_outputs(recorder: Recorder) -> None:
    """They have the spelling of Kubernetes."""
    made = job()

    spec = resolved(made.tasks["worker"].pods[1].spec, dict)
    assert spec["restartPolicy"] == "Never"
    assert recorder.inputs[POD, "train-worker-1"]["spec"] == spec


def test_a_native_job_is_one_resource(recorder: Recorder) -> None:
    """Names and addresses are known."""
    made = job(managed_by="volcano")

    names = resolved(made.pod_names, list)
    assert names == ["train-master-0", "train-worker-0", "train-worker-1"]
    assert ("kubernetes:batch.volcano.sh/v1alpha1:Job", "train") in recorder.inputs
    assert not [name for kind, name in recorder.inputs if kind == POD]


def test_a_key_is_generated_except_in_a_preview(recorder: Recorder) -> None:
    """Mocks have no state that keeps it."""
    keys: list[str] = []

    mocks.test(lambda: job().ssh.private_key.apply(keys.append))()

    assert [key.splitlines()[0] for key in keys] == (
        [] if pulumi.runtime.is_dry_run() else ["-----BEGIN RSA PRIVATE KEY-----"]
    )
    assert ("kubernetes:core/v1:Secret", "train-ssh") in recorder.inputs


def test_a_queue_is_a_resource(recorder: Recorder) -> None:
    """Its name depends on it."""
    assert resolved(VolcanoQueue("research", {"weight": 2}).name, str) == "research"
    assert recorder.inputs["kubernetes:scheduling.volcano.sh/v1beta1:Queue", "research"]["spec"]["weight"] == 2


def test_a_warning_is_in_the_log_of_python(recorder: Recorder, caplog: pytest.LogCaptureFixture) -> None:
    """`set_mocks` logs to the root logger by default."""
    mocks.test(lambda: job(ttl_seconds_after_finished=60).name)()

    (record,) = caplog.records
    assert "spec.ttlSecondsAfterFinished" in record.message
    assert recorder.inputs
