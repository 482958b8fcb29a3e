"""Warnings about tasks that keep their Pods after the job is done."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import MpiPlugin, RayPlugin, SvcPlugin, TensorflowPlugin, render
from pulumi_volcano_jobs.core.errors import Problem
from tests.conftest import Wire, container, job, task

GPUS = {"limits": {"nvidia.com/gpu": 2}}
COMPLETE = [{"event": "TaskCompleted", "action": "CompleteJob"}]
SSHD = ["sh", "-c", "mkdir -p /run/sshd && exec /usr/sbin/sshd -D"]
MPI = [MpiPlugin(wait_for_workers=True)]
RAY_HEAD, RAY_WORKER = ["sh", "-c", "ray start --head --block"], ["ray", "start", "--block", "--address=head:6379"]
QUIET_SVC = SvcPlugin(disable_network_policy=True)


def endless(document: Wire, **options: Any) -> list[Problem]:
    """Return the warnings about tasks that never end."""
    return [warning for warning in render(document, **options).warnings if warning.code == "VJ141"]


def running(name: str, command: Any = None, replicas: int = 1, policies: Any = None, **fields: Any) -> Wire:
    """Build a task whose container runs a command."""
    of_command = {} if command is None else {"command": command}
    made = task(name, replicas, containers=[container(name, **of_command, **fields)])
    return made if policies is None else {**made, "policies": policies}


def mpi_job(command: Any = SSHD, *, policies: Any = None, master: Any = ("mpiexec", "a"), **fields: Any) -> Wire:
    """Build an MPI job by the command of its workers."""
    return job(running("master", [*master], policies=policies), running("worker", command, 2, **fields), plugins=MPI)


ENDLESS: dict[str, tuple[Wire, list[int]]] = {
    "sshd of MPI workers": (mpi_job(), [1]),
    "MPI workers with the command of their image": (mpi_job(None, resources=GPUS), [1]),
    "sshd with combined options": (mpi_job(["/usr/sbin/sshd", "-De"]), [1]),
    "sshd, then a sleep": (mpi_job(["sh", "-c", "/usr/sbin/sshd; sleep infinity"]), [1]),
    "sshd, then tail": (mpi_job(["sh", "-c", "service ssh start\ntail -f /dev/null"]), [1]),
    "sshd, then a loop": (mpi_job(["sh", "-c", "/usr/sbin/sshd\nwhile true; do sleep 60; done"]), [1]),
    "sshd, then a sleep of days": (mpi_job(["sh", "-c", "/usr/sbin/sshd; sleep 1h 365d"]), [1]),
    "sshd of a supervisor": (mpi_job(["/usr/bin/supervisord", "-n"]), [1]),
    "a server beside a client": (
        job(running("server", ["vllm", "serve", "a"]), running("client", ["python", "a.py"])),
        [0],
    ),
    "a server of an image": (
        job(running("cache", image="docker.io/library/redis:7"), running("main", ["python", "a.py"])),
        [0],
    ),
    "sshd in the background": (mpi_job(["sh", "-c", "/usr/sbin/sshd -D & wait"]), [1]),
    "sshd without plugins": (job(running("launcher", ["mpirun", "a"]), running("nodes", SSHD)), [1]),
    "parameter servers": (
        job(running("ps", ["python", "a.py"]), running("worker", ["python", "a.py"]), plugins=[TensorflowPlugin()]),
        [0],
    ),
    "servers of ParameterServerStrategy": (
        job(
            *(running(name, ["python", "a.py"]) for name in ("chief", "ps", "worker")),
            plugins=[TensorflowPlugin(strategy="ParameterServerStrategy")],
        ),
        [1, 2],
    ),
    "a server in inline code": (
        job(
            running("ps", ["python", "-c", "tf.distribute.Server(a).join()"]),
            running("worker", ["python", "a.py"]),
            plugins=[TensorflowPlugin()],
        ),
        [0],
    ),
    "parameter servers without a plugin": (
        job(
            running("servers", ["python", "a.py", "--job_name=ps"]),
            running("worker", ["python", "a.py", "--job_name=worker"]),
        ),
        [0],
    ),
    "a Ray cluster beside a driver": (
        job(
            running("head"), running("worker"), running("driver", ["python", "a.py"]), plugins=[RayPlugin(), QUIET_SVC]
        ),
        [0, 1],
    ),
    "a Ray cluster without the plugin": (
        job(running("head", RAY_HEAD), running("worker", RAY_WORKER), running("driver", ["python", "a.py"])),
        [0, 1],
    ),
    "Ray workers of another job's head": (job(running("worker", RAY_WORKER), running("driver", ["python", "a"])), [0]),
    "a policy of another event": (mpi_job(policies=[{"event": "PodFailed", "action": "AbortJob"}]), [1]),
    "a policy that restarts the job": (mpi_job(policies=[{"event": "TaskCompleted", "action": "RestartJob"}]), [1]),
    "a policy without a controller, and GPUs": (mpi_job(policies=COMPLETE, resources=GPUS), [1]),
}


@pytest.mark.parametrize(("document", "positions"), ENDLESS.values(), ids=ENDLESS)
def test_a_task_that_outlives_the_job_has_a_warning(document: Wire, positions: list[int]) -> None:
    """Another task ends, and no policy ends the job."""
    assert [warning.path for warning in endless(document)] == [f"spec.tasks[{position}]" for position in positions]


def test_the_message_shows_the_policy(snapshot: SnapshotAssertion) -> None:
    """It names the task whose end is the end of the job, and the accelerators that the other task keeps."""
    tensorflow = job(
        *(running(name, ["python", "a.py"]) for name in ("ps", "worker", "chief")), plugins=[TensorflowPlugin()]
    )
    ray = ENDLESS["a Ray cluster beside a driver"][0]
    messages = [
        *endless(mpi_job()),
        *endless(mpi_job(resources=GPUS)),
        *endless(mpi_job(resources=GPUS), managed_by="volcano"),
        *endless(mpi_job(policies=COMPLETE, resources=GPUS)),
        *endless(tensorflow),
        *endless(ray),
    ]

    assert [str(message) for message in messages] == snapshot


ENDING: dict[str, Wire] = {
    "a policy of the master": mpi_job(policies=COMPLETE),
    "a policy of any event": mpi_job(policies=[{"event": "*", "action": "TerminateJob"}]),
    "a policy of several events": mpi_job(
        policies=[{"events": ["PodFailed", "TaskCompleted"], "action": "CompleteJob"}]
    ),
    "a policy of the job": job(
        running("master", ["mpiexec", "a"]), running("worker", SSHD), plugins=MPI, policies=COMPLETE
    ),
    "a number of Pods that must succeed": job(
        running("master", ["mpiexec", "a"]), running("worker", SSHD), plugins=MPI, minSuccess=1
    ),
    "MPI workers with the command of their image, and without GPUs": mpi_job(None),
    "sshd that the script continues after": mpi_job(["sh", "-c", "/usr/sbin/sshd; ./wait-for-master"]),
    "a script of the image": mpi_job(["/worker.sh"]),
    "sshd with a time limit": mpi_job(["timeout", "1h", "/usr/sbin/sshd", "-D"]),
    "a sleep of an hour": mpi_job(["sh", "-c", "/usr/sbin/sshd; sleep 3600"]),
    "a command instead of the image's server": job(
        running("check", ["redis-cli", "ping"], image="redis:7"), running("main", ["python", "a.py"])
    ),
    "a loop that ends": mpi_job(["sh", "-c", "while true; do test -f /done && exit; sleep 1; done"]),
    "a condition": mpi_job(["sh", "-c", "if [ -f /a ]; then sleep infinity; fi"]),
    "tasks that all run forever": mpi_job(master=("sleep", "infinity")),
    "one task": job(running("worker", SSHD)),
    "a master that restarts": job(
        task("master", restartPolicy="Always", containers=[container(command=["mpiexec", "a"])]),
        running("worker", SSHD),
        plugins=MPI,
    ),
    "a Ray cluster": job(running("head"), running("worker"), plugins=[RayPlugin(), QUIET_SVC]),
    "a Ray program": job(
        running("head", ["python", "a.py"]),
        running("worker"),
        plugins=[RayPlugin(keep_command=True), QUIET_SVC],
    ),
    "a Ray head that ends": job(
        running("head", ["sh", "-c", "ray start --head; python a.py"]), running("worker", RAY_WORKER)
    ),
    "inline code without a server": job(
        running("ps", ["python", "-c", "print(1)"]), running("worker", ["python", "a.py"]), plugins=[TensorflowPlugin()]
    ),
    "no parameter servers": job(
        running("chief", ["python", "a.py"]), running("worker", ["python", "a.py"]), plugins=[TensorflowPlugin()]
    ),
}


@pytest.mark.parametrize("document", ENDING.values(), ids=ENDING)
def test_a_job_that_ends_has_no_warning(document: Wire) -> None:
    """The same is true for a cluster that runs until someone deletes it."""
    assert endless(document) == []


def test_a_policy_ends_a_native_job_with_gpus() -> None:
    """Volcano's controllers enforce it."""
    document = mpi_job(policies=COMPLETE, resources=GPUS)

    assert endless(document, managed_by="volcano") == []
    assert len(endless(document)) == 1
