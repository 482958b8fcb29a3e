"""Warnings about variables and files that nothing in a job provides."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import MpiPlugin, PytorchPlugin, SvcPlugin, render
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, container, job, task

CODES = {"VJ142", "VJ143", "VJ144"}
MAIN = "spec.tasks[0].template.spec.containers[0]"
ENV = [{"name": "MODE", "value": "fast"}]


def warnings(document: Wire, **options: Any) -> list[Problem]:
    """Return the warnings about unknown names."""
    return [warning for warning in render(document, **options).warnings if warning.code in CODES]


def names(document: Wire) -> list[tuple[str, str]]:
    """Return the code and the name of each warning."""
    return [(warning.code, warning.value.strip('"')) for warning in warnings(document)]


def running(*command: Any, plugins: Any = None, tasks: Any = ("worker",), **fields: Any) -> Wire:
    """Build a job with svc whose containers run a command."""
    made = [task(name, containers=[container(command=[*command], **fields)]) for name in tasks]
    return job(*made, plugins={"svc": []} if plugins is None else plugins)


def script(text: str, **options: Any) -> Wire:
    """Build a job whose container runs a shell script."""
    return running("sh", "-c", text, **options)


UNKNOWN: dict[str, tuple[Wire, list[str]]] = {
    "a variable of a shell": (script("echo $VC_MASTER_HOST"), ["VC_MASTER_HOST"]),
    "a variable in braces": (script("echo ${VC_MASTER_HOSTS%%,*}"), ["VC_MASTER_HOSTS"]),
    "the length of a variable": (script("echo ${#VC_MASTER_HOSTS}"), ["VC_MASTER_HOSTS"]),
    "a variable of Kubernetes": (running("train", "--host=$(VC_worker_0_HOSTS)"), ["VC_worker_0_HOSTS"]),
    "a variable in args": (job(task(containers=[container(args=["--rank=$(VC_TASK_INDEX)"])])), ["VC_TASK_INDEX"]),
    "a variable of Python": (running("python", "-c", "import os; os.environ['VK_TASK_INDEX']"), ["VK_TASK_INDEX"]),
    "a variable of a function": (running("python", "-c", 'os.getenv("VC_TASK_NUM")'), ["VC_TASK_NUM"]),
    "a variable of printenv": (script("printenv VC_TASK_INDEX"), ["VC_TASK_INDEX"]),
    "two variables": (script("echo $VC_A_HOSTS $VC_B_HOSTS $VC_A_HOSTS"), ["VC_A_HOSTS", "VC_B_HOSTS"]),
    "a variable in a value": (
        running("train", env=[{"name": "ARGS", "value": "--rank=$(VC_TASK_INDEX)"}]),
        ["VC_TASK_INDEX"],
    ),
    "a variable beside an envFrom": (
        script("echo $VC_MASTER_HOST", envFrom=[{"secretRef": {"name": "a"}}]),
        ["VC_MASTER_HOST"],
    ),
    "a variable of pytorch": (
        script("torchrun --master_addr=$MASTER_ADDR a.py", tasks=("master", "worker")),
        ["MASTER_ADDR", "MASTER_ADDR"],
    ),
    "a variable of mpi": (script("mpirun --host $MPI_HOST a", tasks=("master", "worker")), ["MPI_HOST"]),
    "a variable of an option": (
        script("train --nodes=$PET_NNODES", tasks=("master", "worker"), plugins=[PytorchPlugin()]),
        ["PET_NNODES", "PET_NNODES"],
    ),
    "a variable that mpi sets only in the master": (
        job(
            task("master", containers=[container(command=["mpirun", "a"])]),
            task("worker", containers=[container(command=["sh", "-c", "echo $MPI_HOST"])]),
            plugins={"mpi": []},
        ),
        ["MPI_HOST"],
    ),
    "a variable with a hyphen": (
        script("echo $VC_TRAINER-0_HOSTS ${VC_TRAINER-0_NUM}", tasks=("trainer-0",)),
        ["VC_TRAINER-0_HOSTS", "VC_TRAINER-0_NUM"],
    ),
    "a variable of containers in an init container": (
        job(
            task("master", initContainers=[container("wait", command=["sh", "-c", "nc -z $MASTER_ADDR 22"])]),
            task("worker"),
            plugins=[PytorchPlugin()],
        ),
        ["MASTER_ADDR"],
    ),
    "a variable in an init container": (
        job(task(initContainers=[container("wait", command=["sh", "-c", "echo $VC_TASK_INDEX"])])),
        ["VC_TASK_INDEX"],
    ),
}


@pytest.mark.parametrize(("document", "expected"), UNKNOWN.values(), ids=UNKNOWN)
def test_a_variable_that_nothing_sets_has_a_warning(document: Wire, expected: list[str]) -> None:
    """A shell replaces it by an empty text, and Kubernetes keeps the reference."""
    assert names(document) == [("VJ142", name) for name in expected]


FILES: dict[str, tuple[Wire, list[str]]] = {
    "another name": (script("cat /etc/volcano/mpihost"), ["/etc/volcano/mpihost"]),
    "a task with a dash": (
        script("cat /etc/volcano/mpi-worker.host", tasks=("mpi-worker",)),
        ["/etc/volcano/mpi-worker.host"],
    ),
    "another folder": (script("cat /etc/Volcano/worker.host"), ["/etc/Volcano/worker.host"]),
    "without svc": (script("cat /etc/volcano/worker.host", plugins={"env": []}), ["/etc/volcano/worker.host"]),
    "an argument": (running("mpirun", "--hostfile=/etc/volcano/hosts", "a"), ["/etc/volcano/hosts"]),
    "a value": (
        running("train", env=[{"name": "HOSTS", "value": "/etc/volcano/hostfile"}]),
        ["/etc/volcano/hostfile"],
    ),
}


@pytest.mark.parametrize(("document", "expected"), FILES.values(), ids=FILES)
def test_a_file_that_svc_does_not_write_has_a_warning(document: Wire, expected: list[str]) -> None:
    """The files of svc have the names of the tasks."""
    assert names(document) == [("VJ143", name) for name in expected]


NOT_EXPANDED: dict[str, tuple[Wire, list[str]]] = {
    "a variable of svc": (running("python", "a.py", "--n=${VC_WORKER_NUM}"), ["${VC_WORKER_NUM}"]),
    "a variable of the template": (running("train", "$MODE", env=ENV), ["$MODE"]),
    "a variable of the runtime": (running("train", "--name", "$HOSTNAME"), ["$HOSTNAME"]),
    "a variable of a Secret": (running("train", "${TOKEN}", envFrom=[{"secretRef": {"name": "a"}}]), ["${TOKEN}"]),
    "a file of a shell": (running("bash", "train.sh", "$MODE", env=ENV), ["$MODE"]),
    "args": (running("train", args=["--n=$VC_WORKER_NUM"]), ["$VC_WORKER_NUM"]),
    "args of the image": (
        job(task(containers=[container(args=["--n", "$VC_WORKER_NUM"])]), plugins={"svc": []}),
        ["$VC_WORKER_NUM"],
    ),
    "the output of a command": (
        running("mpirun", "--host", "$(cat /etc/volcano/worker.host)", "a"),
        ["$(cat /etc/volcano/worker.host)"],
    ),
    "the output of a command in backquotes": (running("train", "--at=`date`"), ["`date`"]),
    "a value": (running("train", env=[{"name": "NODES", "value": "${VC_WORKER_NUM}"}]), ["${VC_WORKER_NUM}"]),
}  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), NOT_EXPANDED.values(), ids=NOT_EXPANDED)
def test_a_variable_without_a_shell_has_a_warning(document: Wire, expected: list[str]) -> None:
    """Kubernetes expands only the form with parentheses."""
    assert names(document) == [("VJ144", text) for text in expected]


def test_messages_name_what_provides_a_name(snapshot: SnapshotAssertion) -> None:
    """They name the most similar name, the plugin or the option."""
    two_tasks = ("mpimaster", "mpiworker")
    documents = [
        script("echo $VC_TASK_INDEX"),
        script("echo $VC_TASK_INDEX", plugins={}),
        script("echo $VC_MASTER_HOST $VC_TASK_NUM $VC_worker_0_HOSTS $VC_FOO"),
        script("echo $VC_WORKERS_HOSTS", plugins={}),
        script("echo $VC_WORKER_NUM", plugins=[SvcPlugin(inject_hosts_env=False)]),
        script("echo $VC_POD_ADDRESS"),
        script("mpirun --host $MPI_HOST a", tasks=("master", "worker")),
        script("cat /etc/volcano/mpihost", tasks=two_tasks),
        script("cat /etc/volcano/x", tasks=two_tasks),
        script("cat /etc/volcano/worker.host", plugins={}),
        running("train", "$VC_WORKER_NUM", "$HOME"),
        running("train", "${VC_WORKER_HOST}"),
        running("train", "$(cat /etc/volcano/worker.host)"),
        job(
            task("master", containers=[container(command=["mpirun", "a"])]),
            task("worker", containers=[container(command=["sh", "-c", "echo $MPI_HOST"])]),
            plugins={"mpi": []},
        ),
    ]

    assert [str(warning) for document in documents for warning in warnings(document)] == snapshot


def test_an_option_that_native_mode_rejects_is_not_suggested() -> None:
    """Volcano's controllers cannot set a rank for each Pod."""
    document = script("train --rank=$PET_NODE_RANK", tasks=("master", "worker"), plugins=[PytorchPlugin()])

    assert [warning.hint for warning in warnings(document)] == ["set pytorch.torchrun"] * 2
    assert warnings(document, managed_by="volcano") == []


KNOWN: dict[str, Wire] = {
    "variables of svc": script("echo $VC_WORKER_HOSTS ${VC_WORKER_NUM} $(VC_WORKER_NUM)"),
    "a reference with a doubled dollar": running("train", "$$(VC_FOO)"),
    "a script that the image passes to a shell": job(
        task(containers=[container(args=["train --n $VC_WORKER_NUM $(date +%s)"])]), plugins={"svc": []}
    ),
    "variables of env": script("echo $VC_TASK_INDEX $VK_TASK_INDEX", plugins={"env": []}),
    "a variable of the template": script("echo $VC_RUN", env=[{"name": "VC_RUN", "value": "1"}]),
    "a variable of the script": script("VC_RUN=1; export VC_X=2\necho $VC_RUN $VC_X"),
    "variables that the script reads": script("read -r VC_A; for VC_B in 1 2; do echo $VC_A $VC_B; done"),
    "a variable with a default": script("echo ${VC_TASK_INDEX:-0} ${VC_TASK_INDEX}"),
    "a variable that the script tests": script('if [ -n "$VC_TASK_INDEX" ]; then echo $VC_TASK_INDEX; fi'),
    "a variable of Python with a default": running("python", "-c", "os.environ.get('VC_TASK_INDEX', '0')"),
    "a variable that Python sets": running("python", "-c", "os.environ['VC_RUN'] = '1'"),
    "a variable that Python tests": running("python", "-c", "'VC_RUN' in os.environ and os.environ['VC_RUN']"),
    "names that are no references": script("env | grep VC_MASTER; echo 'VC_ variables'"),
    "variables of the image": script("echo $CUDA_HOME $PATH $1 $@ $$"),
    "variables of pytorch": script("echo $MASTER_ADDR $RANK", tasks=("master", "worker"), plugins=[PytorchPlugin()]),
    "a variable of another task": script(
        "echo $MPI_HOST", tasks=("master", "worker"), plugins=[MpiPlugin(wait_for_workers=True)]
    ),
    "a variable of a plugin whose task does not exist": script("echo $MASTER_ADDR", tasks=("a", "b")),
    "a variable of a plugin beside an envFrom": script(
        "echo $MASTER_ADDR", tasks=("master", "worker"), envFrom=[{"configMapRef": {"name": "a"}}]
    ),
    "a variable of a file that the script reads": script(
        ". /etc/profile; echo $MASTER_ADDR", tasks=("master", "worker")
    ),
    "an unknown envFrom": script("echo $MASTER_ADDR", tasks=("master", "worker"), envFrom=Leaf("sources")),
    "files of svc": script("cat /etc/volcano/worker.host /etc/volcano/VC_WORKER_NUM", tasks=("worker",)),
    "a task with a dash": script("cat /etc/volcano/mpi_worker.host", tasks=("mpi-worker",)),
    "patterns of files": script("ls /etc/volcano /etc/volcano/*.host /etc/volcano/work*; cat /etc/volcano/$ROLE.host"),
    "the template's own folder": job(
        task(
            containers=[
                container(
                    command=["cat", "/etc/volcano/mine"], volumeMounts=[{"name": "a", "mountPath": "/etc/volcano"}]
                )
            ],
            volumes=[{"name": "a", "configMap": {"name": "other"}}],
        )
    ),
    "a file of the template": job(
        task(
            containers=[
                container(
                    command=["cat", "/etc/volcano/mine"],
                    volumeMounts=[{"name": "a", "mountPath": "/etc/volcano/mine", "subPath": "mine"}],
                )
            ],
            volumes=[{"name": "a", "configMap": {"name": "other"}}],
        ),
        plugins={"svc": []},
    ),
    "a variable in a shell": script("train --n=${VC_WORKER_NUM} $HOSTNAME"),
    "a variable in a shell behind a wrapper": running("tini", "--", "bash", "-c", "train $VC_WORKER_NUM"),
    "a variable of Kubernetes without a shell": running("train", "--n=$(VC_WORKER_NUM)"),
    "an escaped reference": running("train", "--n=$$(VC_WORKER_NUM)"),
    "a reference of another language": running("train", "out=${run.dir}", "name=${name}", "cost=$5"),
    "a program with its own variables": running("awk", "{print $NF}"),
    "code": running("perl", "-e", "print $VERSION"),
    "a remote shell": running("ssh", "host", "echo $HOSTNAME"),
    "args of the image's own command": job(task(containers=[container(args=["$HOSTNAME"])])),
    "a value that a shell expands": running("sh", "-c", "eval $RUN", env=[{"name": "RUN", "value": "echo $HOSTNAME"}]),
    "a value that a script evaluates": running(
        "bash", "-c", "eval $RUN", env=[{"name": "RUN", "value": "echo $VC_WORKER_NUM"}]
    ),
    "a value that is the script": running(
        "bash", "-c", "$(RUN)", env=[{"name": "RUN", "value": "echo $VC_WORKER_NUM"}]
    ),
    "an Output": script(Leaf("script")),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("document", KNOWN.values(), ids=KNOWN)
def test_names_that_exist_or_may_exist_have_no_warning(document: Wire) -> None:
    """The image, a script and an envFrom may provide variables."""
    assert warnings(document) == []


def test_a_secret_value_is_not_in_the_message() -> None:
    """Only the name is shown."""
    env = [{"name": "URL", "value": "https://user:hunter2@host/$(VC_TASK_INDEX)"}]

    (warning,) = warnings(running("train", env=env))

    assert warning.path == f"{MAIN}.env[0].value"
    assert "hunter2" not in str(warning)
