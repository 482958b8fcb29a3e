"""The resources that outputs of a job depend on, which decide when a resource with such an input is created."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from pulumi_volcano_jobs import (
    JobContext,
    MpiPlugin,
    ObjectRef,
    PluginOutput,
    PytorchPlugin,
    RayPlugin,
    SvcPlugin,
    TensorflowPlugin,
    VolcanoJob,
    VolcanoQueue,
)
from pulumi_volcano_jobs.testing import Result, computed, is_unknown, run
from tests.component.programs import new_job
from tests.component.test_tree import TokenPlugin
from tests.conftest import Wire, container, ssh_plugin, task
from tests.readme import ROOT

Read = Callable[[VolcanoJob], pulumi.Output[Any]]
PAGE = (ROOT / "docs" / "updates.md").read_text("utf-8")
TASKS = [task("master"), task("worker", 2)]
RAY_TASKS = [task("head", containers=[container("head")]), task("worker", containers=[container("worker")])]
FRAMEWORKS: Wire = {
    "plugins": [PytorchPlugin(), MpiPlugin(), TensorflowPlugin(chief="master"), ssh_plugin()],
    "tasks": [*TASKS, task("logger")],
}
RAY: Wire = {"plugins": [RayPlugin()], "tasks": RAY_TASKS}
SERVICE, HEAD_SERVICE, GROUP = "Service train-svc", "Service train-ray-head-svc", "PodGroup train"
MASTER, HEAD, LOGGER = "Pod train-master-0", "Pod train-head-0", "Pod train-logger-0"
WORKERS = ["Pod train-worker-0", "Pod train-worker-1"]
OUTPUTS: dict[str, tuple[Wire, Read, list[str]]] = {
    "name": (FRAMEWORKS, lambda job: job.name, [GROUP]),
    "pod_group_name": (FRAMEWORKS, lambda job: job.pod_group_name, [GROUP]),
    "pod_names": (FRAMEWORKS, lambda job: job.pod_names, [LOGGER, MASTER, *WORKERS]),
    "hosts": (FRAMEWORKS, lambda job: job.hosts, [LOGGER, MASTER, *WORKERS, SERVICE]),
    "hosts without svc": ({"tasks": TASKS}, lambda job: job.hosts, [MASTER, *WORKERS]),
    "hosts of a task": (FRAMEWORKS, lambda job: job.tasks["worker"].hosts, [*WORKERS, SERVICE]),
    "pytorch.master_address": (FRAMEWORKS, lambda job: job.pytorch.master_address, [MASTER, SERVICE]),
    "pytorch.master_port": (FRAMEWORKS, lambda job: job.pytorch.master_port, []),
    "pytorch.world_size": (FRAMEWORKS, lambda job: job.pytorch.world_size, []),
    "mpi.hosts": (FRAMEWORKS, lambda job: job.mpi.hosts, [*WORKERS, SERVICE]),
    "tensorflow.cluster": (FRAMEWORKS, lambda job: job.tensorflow.cluster, [MASTER, *WORKERS, SERVICE]),
    "svc.service_name": (FRAMEWORKS, lambda job: job.svc.service_name, [SERVICE]),
    "svc.config_map_name": (FRAMEWORKS, lambda job: job.svc.config_map_name, ["ConfigMap train-svc"]),
    "ssh.secret_name": (FRAMEWORKS, lambda job: job.ssh.secret_name, ["Secret train-ssh"]),
    "ssh.private_key": (FRAMEWORKS, lambda job: job.ssh.private_key, ["Secret train-ssh"]),
    "ssh.public_key": (FRAMEWORKS, lambda job: job.ssh.public_key, ["Secret train-ssh"]),
    "ray.service_name": (RAY, lambda job: job.ray.service_name, [HEAD_SERVICE]),
    "ray.gcs_address": (RAY, lambda job: job.ray.gcs_address, [HEAD, HEAD_SERVICE]),
    "ray.dashboard_url": (RAY, lambda job: job.ray.dashboard_url, [HEAD, HEAD_SERVICE]),
    "ray.client_url": (RAY, lambda job: job.ray.client_url, [HEAD, HEAD_SERVICE]),
}


class Consumer(pulumi.CustomResource):
    """A resource with an output of a job as its input."""

    def __init__(self, value: pulumi.Output[Any], opts: pulumi.ResourceOptions | None = None) -> None:
        """Register the resource."""
        super().__init__("test:index:Consumer", "consumer", {"value": value}, opts)


def consume(arguments: Wire, read: Read, *, preview: bool = False) -> Result:
    """Run a program with a job and a resource that uses one of its outputs."""
    return run(lambda: Consumer(read(new_job("train", arguments))), preview=preview)


def dependencies(result: Result) -> list[str]:
    """Return the resources that the consumer depends on."""
    return sorted(map(str, result.resources["Consumer consumer"].depends_on))


@pytest.mark.parametrize(("arguments", "read", "resources"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_depends_on_the_objects_that_it_is_about(arguments: Wire, read: Read, resources: list[str]) -> None:
    """An address depends on the Service and the Pods behind it, and a name on the object with this name."""
    result = consume(arguments, read)

    assert dependencies(result) == resources
    # A registration with dependencies waits for them.
    registered = list(result.resources)
    assert all(registered.index(name) < registered.index("Consumer consumer") for name in resources)


@pytest.mark.parametrize("output", OUTPUTS)
def test_outputs_of_a_native_job_depend_on_the_job(output: str) -> None:
    """Volcano's controllers create the other objects after the Job."""
    arguments, read, _ = OUTPUTS[output]

    result = consume({**arguments, "managed_by": "volcano"}, read)

    assert dependencies(result) == ["Job train"]


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_a_preview_knows_the_values_of_outputs(output: str, mode: str) -> None:
    """Only the name of a native job's PodGroup is computed in the cluster."""
    arguments, read, _ = OUTPUTS[output]

    preview, up = (
        consume({**arguments, "managed_by": mode}, read, preview=preview).resources["Consumer consumer"].inputs
        for preview in (True, False)
    )

    if (mode, output) == ("volcano", "pod_group_name"):
        assert is_unknown(preview)
    else:
        assert preview == up


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_page_lists_each_output(output: str) -> None:
    """The table has the dependencies."""
    named = {"hosts of a task": 'tasks["worker"].hosts', "hosts without svc": "hosts"}

    assert f"`{named.get(output, output)}`" in PAGE


def test_a_secret_of_the_job_stays_secret() -> None:
    """The dependency on the Secret does not remove the mark."""
    result = consume(FRAMEWORKS, OUTPUTS["ssh.private_key"][1])

    assert result.secret() >= {"Consumer consumer: value"}
    assert "Consumer consumer: value" not in consume(FRAMEWORKS, OUTPUTS["ssh.public_key"][1]).secret()


def test_a_namespace_depends_only_on_the_resource_that_it_comes_from() -> None:
    """A ConfigMap that the Pods mount can be created in the namespace of the job before them."""

    def program() -> None:
        queue = VolcanoQueue("research")
        Consumer(new_job("train", {"namespace": queue.name, "tasks": TASKS}).namespace)

    assert dependencies(run(program)) == ["Queue research"]


def test_an_unknown_namespace_leaves_the_address_of_ray_unknown_in_a_preview() -> None:
    """The address contains the namespace; the name of the Service stays known."""
    arguments = {**RAY, "namespace": None}

    def program() -> Wire:
        job = new_job("train", {**arguments, "namespace": computed("ml")})
        return {"url": job.ray.dashboard_url, "service": job.ray.service_name}

    preview = run(program, preview=True).outputs
    assert is_unknown(preview["url"])
    assert preview["service"] == "train-head-svc"
    assert run(program).outputs["url"] == "http://train-head-svc.ml.svc:8265"


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
def test_a_child_of_the_job_can_use_its_outputs(mode: str) -> None:
    """An output does not depend on the whole component, which would be a circular dependency of the child."""

    def program() -> None:
        job = new_job("train", {**FRAMEWORKS, "managed_by": mode})
        values = pulumi.Output.all(job.name, job.pod_names, job.hosts, job.pytorch.master_address)
        Consumer(values, pulumi.ResourceOptions(parent=job))

    assert dependencies(run(program))


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
def test_an_output_resolves_after_its_resources_are_registered(mode: str) -> None:
    """A function in `apply` runs after the registration of the Pods, or of the Job."""
    events: list[str] = []

    def program() -> None:
        job = new_job("train", {**FRAMEWORKS, "managed_by": mode})
        for item in (*job.objects, *job.pods):
            item.urn.apply(lambda urn: events.append(urn.rpartition("::")[2]))
        job.hosts.apply(lambda hosts: events.append(f"{len(hosts)} tasks"))

    run(program)

    names = {"train-master-0", "train-worker-1"} if mode == "pulumi" else {"train"}
    assert names <= {*events[: events.index("3 tasks")]}


class SharedPlugin(TokenPlugin):
    """A plugin with an output about an object of another plugin, and an object that no job has."""

    name = "shared"

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Return the name of the ConfigMap, and of the Service."""
        objects = [ObjectRef("Service", ctx.name), ObjectRef("Service", "missing")]
        return {**super().outputs(ctx), "service_name": PluginOutput(ctx.name, objects)}


@pytest.mark.parametrize(
    ("name", "resource"),
    [("config_map_name", "ConfigMap train-shared-token"), ("service_name", SERVICE)],
)
def test_an_output_of_a_custom_plugin_depends_on_its_objects(name: str, resource: str) -> None:
    """A `PluginOutput` names other objects."""
    arguments = {"plugins": [SharedPlugin(), SvcPlugin()], "tasks": TASKS}

    result = consume(arguments, lambda job: getattr(job.plugins["shared"], name))

    assert dependencies(result) == [resource]
