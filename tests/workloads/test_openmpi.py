"""mpiexec starts ranks from MPI_HOST and from the host file, and a real program counts them."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs.plugins import mpi_hostfile
from tests.conftest import PAIR
from tests.workloads.conftest import Render, job, task
from tests.workloads.player import Cluster, Image

GUIDE = Path(__file__).parents[1] / "documents" / "jobs" / "mpi.yaml"
PROGRAM = Path(__file__).with_name("mpi_hello_world.c")
IMAGE = "volcanosh/example-mpi:0.0.3"
KEYS = [f"--ssh-private-key={PAIR.private}", f"--ssh-public-key={PAIR.public}"]
RECOMMENDED = ("--defaults", "recommended")
ROOT = "--allow-run-as-root"
SERVER = "mkdir -p /run/sshd && exec /usr/sbin/sshd -D -p {port}"
USERS_SERVER = """
ssh-keygen -q -t ed25519 -N '' -f /tmp/host_key
exec /usr/sbin/sshd -D -e -p 2222 -h /tmp/host_key -o UsePAM=no -o PidFile=none
"""
# An idle master: `kubectl exec` runs mpiexec in it.
IDLE = "trap exit TERM; sleep infinity & wait"
RANK = re.compile(r"rank (\d+) of (\d+) on ([\w-]+)")
SUM = re.compile(r"all ranks together are (\d+)")
# The messages of the script that waits for workers, in script order.
NO_NAME, _ = re.findall(r'\breason="(.+)"', mpi_hostfile._WAIT_SCRIPT)
*_, ANSWER = re.findall(r'\becho "(.+)"', mpi_hostfile._WAIT_SCRIPT)


@pytest.fixture(scope="module")
def images(images: Mapping[str, Image], tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Image]:
    """Return the images, and the one of the guide, which has mpi_hello_world on PATH."""
    machine, layer = images["machine"], tmp_path_factory.mktemp("mpi") / "image"
    subprocess.run(["cp", "--archive", str(machine.layer), str(layer)], check=True)
    programs = layer / "usr" / "local" / "bin"
    programs.mkdir(parents=True)
    subprocess.run(["mpicc", "-o", str(programs / "mpi_hello_world"), str(PROGRAM)], check=True)
    return {**images, IMAGE: Image(machine.env, layer=layer)}


def training(
    master: str, workers: int = 2, server: str = SERVER.format(port=22), policy: str = "OnFailure", **spec: Any
) -> dict[str, Any]:
    """Return a job whose master runs a script, and whose workers have two CPUs each."""
    two = {"resources": {"requests": {"cpu": 2}}}
    tasks = {
        "master": task(1, "sh", "-c", master, image=IMAGE, policy=policy, **spec),
        "worker": task(workers, "sh", "-ec", server, image=IMAGE, container=two, **spec),
    }
    return job("train", {"mpi": [], "ssh": KEYS}, **tasks)


def ranks_by_host(said: str) -> dict[str, int]:
    """Count the ranks of each host; each rank prints its number, and mpi_hello_world prints the sum."""
    found = RANK.findall(said)
    size = len(found)
    assert sorted(int(rank) for rank, *_ in found) == list(range(size)), said
    assert {of for _, of, _ in found} == {str(size)}, said
    assert set(SUM.findall(said)) <= {str(sum(range(size)))}, said
    return dict(Counter(host for *_, host in found))


def ready(cluster: Cluster) -> None:
    """Wait until all Pods run, including those that wait for other Pods."""
    cluster.wait_for("Ready", *cluster.pods)


def execute(cluster: Cluster, command: str) -> str:
    """Run a command in the idle master, and return its output and that of the launcher."""
    return cluster.pods["train-master-0"].execute("sh", "-c", f"{command} 2>&1").stdout


def serves(cluster: Cluster, host: str) -> bool:
    """Return whether the idle master can log in to a host."""
    return f"\n{host}\n" in execute(cluster, f"ssh {host}.train hostname")


def allocated(said: str) -> list[str]:
    """Return hosts and slots from --display-allocation."""
    return [f"{host} {slots}" for host, slots in re.findall(r"^\t(\S+): flags=\S+ slots=(\d+)", said, re.MULTILINE)]


@pytest.mark.parametrize("is_first", [True, False], ids=["master first", "master last"])
def test_the_example_of_the_guide_runs_unchanged(cluster: Cluster, render: Render, *, is_first: bool) -> None:
    """A master that starts early fails until its workers run, and is restarted."""
    master, workers = "lm-mpi-job-mpimaster-0", [f"lm-mpi-job-mpiworker-{index}" for index in range(2)]
    delays = dict(zip(workers, (10, 5), strict=True)) if is_first else {master: 5}
    cluster.apply(
        render(yaml.safe_load(GUIDE.read_text("utf-8"))), first=[master] if is_first else workers, delays=delays
    )

    cluster.wait_for("Succeeded", master)
    pod = cluster.pods[master]
    assert f"MPI_HOST: {workers[0]}.lm-mpi-job,{workers[1]}.lm-mpi-job\n" in pod.log()
    assert ranks_by_host(pod.log()) == dict.fromkeys(workers, 1)
    if is_first:
        assert pod.containers[0].exit_codes[0] == 255
        assert "ssh: Could not resolve hostname lm-mpi-job-mpiworker-" in pod.log()


def test_a_master_without_restarts_needs_the_wait(cluster: Cluster, render: Render) -> None:
    """Without the wait an early master fails for good, as VJ102 warns; with it, the order of starts does not matter."""
    given = training(f"mpiexec {ROOT} --host $MPI_HOST mpi_hello_world", policy="Never")
    delays = {"train-worker-0": 10, "train-worker-1": 5}
    cluster.apply(render(given), first=["train-master-0"], delays=delays)
    cluster.wait_for("Failed", "train-master-0")
    assert "ssh: Could not resolve hostname train-worker-" in cluster.pods["train-master-0"].log()

    waiting = render(given, "--set", "mpi.wait_for_workers=true")
    cluster.apply(waiting, first=["train-master-0"], delays=delays, restart=True)
    cluster.wait_for("Succeeded", "train-master-0")
    pod = cluster.pods["train-master-0"]
    assert pod.containers[0].exit_codes == [0]
    assert ranks_by_host(pod.log()) == {"train-worker-0": 1, "train-worker-1": 1}
    said = pod.log("wait-for-workers")
    assert f"train-worker-0.train: {NO_NAME}" in said
    assert said.endswith(f"{ANSWER.replace('$total', '2')}\n")


def test_the_recommended_job_uses_the_host_file(cluster: Cluster, render: Render) -> None:
    """The host file has a slot for each requested CPU, and the program names no host."""
    cluster.apply(render(training(f"mpiexec {ROOT} -np 4 mpi_hello_world", policy="Never"), *RECOMMENDED))

    cluster.wait_for("Succeeded", "train-master-0")
    assert ranks_by_host(cluster.pods["train-master-0"].log()) == {"train-worker-0": 2, "train-worker-1": 2}


def test_the_host_file_follows_a_scale_without_a_restart(cluster: Cluster, render: Render) -> None:
    """MPI_HOST has one slot for each host, and the host file the configured slots."""
    refusal = "There are not enough slots available in the system to satisfy the {}\nslots that were requested"
    cluster.apply(render(training(IDLE), *RECOMMENDED))
    ready(cluster)
    before = cluster.pods["train-master-0"]

    each = {"train-worker-0": 1, "train-worker-1": 1}
    assert ranks_by_host(execute(cluster, f"mpiexec {ROOT} --host $MPI_HOST mpi_hello_world")) == each
    assert refusal.format(4) in execute(cluster, f"mpiexec {ROOT} --host $MPI_HOST -np 4 mpi_hello_world")
    assert refusal.format(5) in execute(cluster, f"mpiexec {ROOT} -np 5 mpi_hello_world")

    for workers in (3, 1):
        cluster.apply(render(training(IDLE, workers), *RECOMMENDED), keep=True)
        last = f"train-worker-{workers - 1}"
        cluster.wait(partial(serves, cluster, last), f"sshd of {last}")
        said = execute(cluster, f"mpiexec {ROOT} mpi_hello_world")
        assert ranks_by_host(said) == {f"train-worker-{index}": 2 for index in range(workers)}
    assert cluster.pods["train-master-0"] is before


def test_mpiexec_runs_as_another_user_on_another_port(cluster: Cluster, render: Render) -> None:
    """Open MPI 4 uses short names, or full names with keep_fqdn; both reach port 2222."""
    given = training(IDLE, server=USERS_SERVER, securityContext={"runAsUser": 1000, "runAsGroup": 1000})
    given["spec"]["plugins"]["ssh"] = [*KEYS, "--ssh-key-file-path=/home/mpiuser/.ssh", "--ssh-port=2222"]
    for option, domain in ((), ""), (("--set", "mpi.keep_fqdn=true"), ".train"):
        cluster.apply(render(given, *RECOMMENDED, *option))
        ready(cluster)
        said = execute(cluster, "mpiexec --display-allocation mpi_hello_world")
        assert allocated(said) == [f"train-worker-{index}{domain} 2" for index in range(2)]
        assert ranks_by_host(said) == {"train-worker-0": 2, "train-worker-1": 2}


def test_mpiexec_runs_as_root_on_another_port(cluster: Cluster, render: Render) -> None:
    """Volcano's ssh configuration has the port for short names only; no host file is used."""
    given = training(IDLE, server=SERVER.format(port=2222))
    given["spec"]["plugins"] = {"mpi": ["--port=2222"], "ssh": [*KEYS, "--ssh-port=2222"]}
    for option in "false", "true":
        options = ("--set", "mpi.wait_for_workers=true", "--set", f"mpi.keep_fqdn={option}")
        cluster.apply(render(given, *options))
        ready(cluster)
        said = execute(cluster, f"mpiexec {ROOT} --host $MPI_HOST mpi_hello_world")
        assert ranks_by_host(said) == {"train-worker-0": 1, "train-worker-1": 1}


def test_the_master_can_run_ranks(cluster: Cluster, render: Render) -> None:
    """It has one slot, or as many as configured if it is alone; its ranks need no sshd."""
    given = training(IDLE)
    as_worker = (*RECOMMENDED, "--set", "mpi.master_as_worker=true")
    cluster.apply(render(given, *as_worker))
    ready(cluster)
    said = execute(cluster, f"mpiexec {ROOT} mpi_hello_world")
    assert ranks_by_host(said) == {"train-master-0": 1, "train-worker-0": 2, "train-worker-1": 2}

    del given["spec"]["tasks"][1]
    cluster.apply(render(given, *as_worker, "--set", "mpi.slots=3"))
    ready(cluster)
    assert ranks_by_host(execute(cluster, f"mpiexec {ROOT} mpi_hello_world")) == {"train-master-0": 3}


def test_mpich_runs_ranks_on_all_hosts(cluster: Cluster, render: Render) -> None:
    """Workers connect to an address of the master; its own ranks need no sshd."""
    given = training(IDLE, server=SERVER.format(port=2222))
    given["spec"]["plugins"]["ssh"] = [*KEYS, "--ssh-port=2222"]
    options = ("--set", "mpi.hostfile=mpich", "--set", "mpi.master_as_worker=true")
    cluster.apply(render(given, *RECOMMENDED, *options))
    ready(cluster)

    said = execute(cluster, "mpiexec.hydra sh -c 'echo rank $PMI_RANK of $PMI_SIZE on $(hostname)'")
    assert ranks_by_host(said) == {"train-master-0": 1, "train-worker-0": 2, "train-worker-1": 2}
