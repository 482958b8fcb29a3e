"""Outputs of a job, and the warnings that a program gets."""

from __future__ import annotations

import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    EnvPlugin,
    HcclrankPlugin,
    MpiPlugin,
    Policy,
    PytorchPlugin,
    RayPlugin,
    SvcPlugin,
    TensorflowPlugin,
    VolcanoJob,
)
from pulumi_volcano_jobs.spec.naming import pod_group
from pulumi_volcano_jobs.testing import Result, failed, reveal, run
from tests.component.programs import new_job
from tests.conftest import PAIR, Wire, container, ssh_plugin, task, typed


def values(arguments: Wire, read: Any) -> dict[str, Any]:
    """Return the outputs that a program reads from a job."""

    def program() -> Any:
        return read(new_job("train", arguments))

    found: dict[str, Any] = reveal(run(program).outputs)
    return found


def job(**fields: Any) -> Wire:
    """Return a job with one master and two workers."""
    return {"tasks": [task("master"), task("worker", 2)], **fields}


POD_GROUP = pod_group("train")


def test_a_job_has_outputs_for_its_pods_hosts_and_names() -> None:
    """Each is available by task and index."""
    read = values(
        job(namespace="ml"),
        lambda made: {
            "name": made.name,
            "namespace": made.namespace,
            "pod_names": made.pod_names,
            "pod_group_name": made.pod_group_name,
            "hosts": made.hosts,
            "second": made.tasks["worker"].pods[1].metadata["name"],
            "workers": made.tasks["worker"].hosts,
            "all": [pod.metadata["name"] for pod in made.pods],
            "objects": [item.metadata["name"] for item in made.objects],
        },
    )

    assert read == {
        "name": "train",
        "namespace": "ml",
        "pod_names": ["train-master-0", "train-worker-0", "train-worker-1"],
        "pod_group_name": POD_GROUP,
        "hosts": {
            "master": ["train-master-0.train"],
            "worker": ["train-worker-0.train", "train-worker-1.train"],
        },
        "second": "train-worker-1",
        "workers": ["train-worker-0.train", "train-worker-1.train"],
        "all": ["train-master-0", "train-worker-0", "train-worker-1"],
        "objects": [POD_GROUP],
    }


def test_each_plugin_has_outputs_for_its_objects() -> None:
    """Ray has its own test."""
    plugins = [
        EnvPlugin(),
        HcclrankPlugin(),
        MpiPlugin(),
        PytorchPlugin(port=29500),
        ssh_plugin(),
        TensorflowPlugin(chief="master"),
    ]

    read = values(
        job(plugins=plugins),
        lambda made: {
            "env": len(made.env.objects),
            "hcclrank": len(made.hcclrank.objects),
            "mpi": made.mpi.hosts,
            "pytorch": [made.pytorch.master_address, made.pytorch.master_port, made.pytorch.world_size],
            "ssh": [made.ssh.secret_name, made.ssh.private_key, made.ssh.public_key],
            "svc": [made.svc.service_name, made.svc.config_map_name],
            "tensorflow": made.tensorflow.cluster,
        },
    )

    workers = ["train-worker-0.train", "train-worker-1.train"]
    assert read == {
        "env": 0,
        "hcclrank": 0,
        "mpi": workers,
        "pytorch": ["train-master-0.train", 29500, 3],
        "ssh": ["train-ssh", PAIR.private, PAIR.public],
        "svc": ["train", "train-svc"],
        "tensorflow": {
            "worker": [f"{host}:2222" for host in workers],
            "chief": ["train-master-0.train:2222"],
        },
    }


def test_ray_has_outputs_for_its_addresses() -> None:
    """Each is the head Service with a port."""
    tasks = [task("head", containers=[container("head")]), task("worker", containers=[container("worker")])]

    read = values(
        {"plugins": [RayPlugin(dashboard_port=8266)], "tasks": tasks},
        lambda made: {
            "service": made.ray.service_name,
            "gcs": made.ray.gcs_address,
            "dashboard": made.ray.dashboard_url,
            "client": made.ray.client_url,
        },
    )

    assert read == {
        "service": "train-head-svc",
        "gcs": "train-head-svc.default.svc:6379",
        "dashboard": "http://train-head-svc.default.svc:8266",
        "client": "ray://train-head-svc.default.svc:10001",
    }


def test_a_plugin_that_a_job_does_not_have_is_an_error(snapshot: SnapshotAssertion) -> None:
    """The message names the job, the plugin and the plugins of the job."""

    def error(name: str) -> Exception:
        def program() -> None:
            getattr(VolcanoJob("train", {"tasks": [task()], "plugins": [SvcPlugin()]}), name)

        return failed(program).error

    errors = {name: error(name) for name in ("env", "hcclrank", "mpi", "pytorch", "ray", "ssh", "tensorflow")}

    assert all(isinstance(each, AttributeError) for each in errors.values())
    assert {name: str(each) for name, each in errors.items()} == snapshot


def test_a_plugin_that_another_plugin_requires_has_outputs() -> None:
    """The mpi plugin requires ssh and svc."""
    read = values(job(plugins=[MpiPlugin()]), lambda made: {"names": list(made.plugins)})

    assert read == {"names": ["ssh", "svc", "mpi"]}


UNDONE: Wire = {
    "tasks": [
        {**task("master"), "policies": [Policy(event="TaskCompleted", action="CompleteJob")]},
        {**task("worker"), "dependsOn": {"name": ["master"]}},
    ],
    "policies": [Policy(event="PodEvicted", action="RestartJob"), Policy(exit_code=3, action="AbortJob")],
    "ttl_seconds_after_finished": 60,
    "min_success": 1,
    "min_available": 1,
}
PLACES = [
    "spec.policies[0]",
    "spec.policies[1]",
    "spec.ttlSecondsAfterFinished",
    "spec.minSuccess",
    "spec.tasks[0].policies[0]",
    "spec.tasks[1].dependsOn",
]


def warnings_of(**options: Any) -> Result:
    """Run a program whose job has fields that composed mode ignores, and return the warnings."""

    def program() -> None:
        new_job("train", {**UNDONE, **options})

    return run(program)


def test_unsupported_fields_are_one_warning(snapshot: SnapshotAssertion) -> None:
    """It lists each path with its meaning, and has the fix."""
    (warning,) = warnings_of().warnings

    assert re.findall(r"\((spec\.[^)]*)\)$", warning, re.MULTILINE) == PLACES
    assert warnings_of(unsupported="warn").warnings == [warning]
    assert warning == snapshot


def test_unsupported_fields_can_be_ignored() -> None:
    """The job is the same, and no warning is logged."""
    done = warnings_of(unsupported="ignore")

    assert done.warnings == []
    assert done.leaves() == warnings_of().leaves()


def test_unsupported_fields_can_be_errors() -> None:
    """Each is a problem with its path."""

    def program() -> None:
        new_job("train", {**UNDONE, "unsupported": "error"})

    failure = failed(program)

    assert typed(failure.problems) == [(path, "Forbidden") for path in PLACES]
    assert failure.result.resources == {}


@pytest.mark.parametrize("unsupported", ["warn", "error"])
def test_a_job_without_unsupported_fields_logs_no_warning(unsupported: str) -> None:
    """Supported fields are not listed."""

    def program() -> None:
        new_job("train", job(unsupported=unsupported))

    assert run(program).warnings == []


def test_a_warning_is_logged_with_the_resource_of_the_job() -> None:
    """Without svc the host names of the ssh plugin do not resolve, which causes the warning."""

    def program() -> None:
        new_job("train", job(plugins=[ssh_plugin()]))

    (warning,) = run(program).warnings
    assert warning.startswith("spec.plugins.ssh: ")
    assert warning.endswith(" [VJ110]")
