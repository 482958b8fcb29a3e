"""torch.distributed over gloo: ranks connect, reconnect after a kill, and workers wait for a master."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs.plugins import pytorch, wait_containers
from pulumi_volcano_jobs.testing import run
from tests.pages.running import TRAIN as RESUMING
from tests.pages.running import resuming_job
from tests.workloads.conftest import Render, job, task
from tests.workloads.player import Cluster, Image

# A process that finds the file ends training for all; each prints one line with values from torch itself.
TRAIN = """
import os, socket, time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
told = False
while True:
    sums = torch.tensor([rank + 1.0, os.path.exists("/tmp/enough")])
    dist.all_reduce(sums)
    if not told:
        print(f"rank {rank} of {size} on {socket.gethostname()}: the sum is {sums[0]:.0f}\\n", end="", flush=True)
    if sums[1]:
        break
    told = True
    time.sleep(0.1)
"""
PYTHON = "/usr/bin/python3"
INLINE = (PYTHON, "-c", TRAIN)
TORCHRUN = ("torchrun", "/opt/train.py")
HOSTS = ("train-master-0", "train-worker-0", "train-worker-1")
"""Timeout in seconds; an idle machine needs a few, but torch is large, and torchrun imports it twice."""

# Python 3.11 does not list a flag with value zero in an enumeration, but torch before 2.0 expects it: without these
# its torchrun fails at start (https://github.com/meta-llama/llama/issues/86). These variables set local rank 9.
MENDED = {"PET_REDIRECTS": "9:0", "PET_TEE": "9:0"}

LISTEN = f"until test -e /tmp/listens; do sleep 0.2; done; exec {PYTHON} -m http.server 23456"
CLOSED = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "closed"},
    "spec": {"podSelector": {}, "policyTypes": ["Egress"]},
}
WAIT = "wait-for-master"
# The messages of the scripts, in script order.
UNABLE, WAITING, GAVE_UP, LAST_TRY, SO_FAR, ANSWERS = re.findall(r'\bsay "(.+)"', wait_containers.SCRIPT)
NO_LISTENER, NO_NAME, NO_ANSWER = re.findall(r'\bwhy="(.+)"', wait_containers.SCRIPT)
VOLCANO_WAITING, _, VOLCANO_ANSWERS = re.findall(r'\becho "(.+)"', pytorch._WAIT_SCRIPT)


def message(text: str, name: str = "train", **values: object) -> str:
    """Return a message of the script in the Pods of a job, with the values of its variables."""
    values = {"MASTER_ADDR": f"{name}-master-0.{name}", "MASTER_PORT": 23456, **values}
    return f"{WAIT}: " + re.sub(r"\$(\w+)", lambda match: str(values.get(match[1], match[0])), text)


def after_seconds(text: str) -> str:
    """Return a pattern of a message that ends in a number of seconds."""
    before, _, after = text.partition("$")
    assert after.endswith(" s")
    return f"{re.escape(before)}[0-9]+ s"


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Image]:
    """Return images: one with torch, one with bash but without nc, and one with neither."""
    train, resuming, no_nc, little = (tmp_path_factory.mktemp("image") for _ in range(4))
    (train / "opt").mkdir()
    (train / "opt" / "train.py").write_text(TRAIN)
    (resuming / "workspace").mkdir()
    (resuming / "workspace" / "train.py").write_text(RESUMING)
    # An overlayfs whiteout: it hides a file of the layers below.
    (no_nc / "usr" / "bin").mkdir(parents=True)
    os.mknod(no_nc / "usr" / "bin" / "nc", stat.S_IFCHR, os.makedev(0, 0))
    (little / "bin-only").mkdir()
    (little / "bin-only" / "sh").symlink_to("/usr/bin/dash")
    for layer in (train, resuming, no_nc, little):
        for folder in [layer, *(path for path in layer.rglob("*") if path.is_dir())]:
            folder.chmod(0o755)
    env = Image().env
    return {
        "train": Image({**env, **MENDED}, layer=train),
        "ghcr.io/me/train:1": Image(layer=resuming),
        "nc": Image(),
        "bash": Image(layer=no_nc),
        "little": Image({"PATH": "/bin-only"}, layer=little),
    }


def gang(*command: str, workers: int = 2) -> dict[str, Any]:
    """Return a job with one master and some workers."""
    tasks = {name: task(count, *command, image="train") for name, count in (("master", 1), ("worker", workers))}
    return job("train", {"pytorch": []}, **tasks)


def lines(cluster: Cluster, pod: str, container: str = "") -> list[str]:
    """Return the output lines of a container."""
    return cluster.pods[pod].log(container).splitlines()


def ranks(cluster: Cluster) -> list[str]:
    """Return the output lines of the processes of all Pods, over all their runs."""
    stages = (line for pod in cluster.pods for line in lines(cluster, pod))
    return sorted(line for line in stages if line.startswith("rank "))


def world(*hosts: str) -> list[str]:
    """Return the output lines of connected processes, in rank order."""
    total = sum(range(len(hosts) + 1))
    return [f"rank {rank} of {len(hosts)} on {host}: the sum is {total}" for rank, host in enumerate(hosts)]


def wait_for_worlds(cluster: Cluster, *expected: str) -> None:
    """Wait until exactly these lines are printed."""
    cluster.wait(lambda: len(ranks(cluster)) >= len(expected), "world")
    assert ranks(cluster) == sorted(expected)


def create_file(cluster: Cluster, pods: Sequence[str], file: str) -> None:
    """Create a file in Pods for which their programs wait."""
    for name in pods:

        def create(name: str = name) -> bool:
            return cluster.pods[name].execute("touch", file).returncode == 0

        cluster.wait(create, f"{file} in {name}")


def finish(cluster: Cluster) -> None:
    """End the training, and wait until all have succeeded."""
    create_file(cluster, ["train-master-0"], "/tmp/enough")
    cluster.wait_for("Succeeded", *cluster.pods)


def restarts(cluster: Cluster) -> dict[str, int]:
    """Return the number of restarts of each Pod's program."""
    return {name: pod.containers[0].restarts for name, pod in sorted(cluster.pods.items())}


def test_a_job_without_options_trains_and_survives_a_kill(cluster: Cluster, render: Render) -> None:
    """Workers that start before the master need no wait, because this version of torch waits itself."""
    cluster.apply(render(gang(*INLINE)), delays={"train-master-0": 10})
    wait_for_worlds(cluster, *world(*HOSTS))
    assert restarts(cluster) == dict.fromkeys(HOSTS, 0)
    assert "(train-master-0.train, 23456) cannot be retrieved" in cluster.pods["train-worker-0"].log()

    cluster.pods["train-worker-0"].kill()
    wait_for_worlds(cluster, *world(*HOSTS), *world(*HOSTS))
    finish(cluster)
    assert min(restarts(cluster).values()) >= 1


def test_workers_of_the_recommended_job_wait_for_the_master(cluster: Cluster, render: Render) -> None:
    """Each Pod has two processes, which torchrun starts."""
    options = ("--defaults", "recommended", "--set", "pytorch.nproc_per_node=2")
    twice = world(*(host for host in HOSTS for _ in range(2)))

    cluster.apply(render(gang(*TORCHRUN), *options), delays={"train-master-0": 10})
    wait_for_worlds(cluster, *twice)
    assert restarts(cluster) == dict.fromkeys(HOSTS, 0)
    first, *others = lines(cluster, "train-worker-0", WAIT)
    assert first == message(WAITING, limit=1800)
    assert others[0] == message(SO_FAR.replace("$why", NO_NAME))
    assert re.fullmatch(after_seconds(message(ANSWERS)), others[-1])
    finish(cluster)


def meet(cluster: Cluster, hosts: Sequence[str], before: Mapping[str, int]) -> None:
    """Wait until each process of these Pods is connected again, counted from the given numbers of lines."""
    end = f": the sum is {sum(range(len(hosts) + 1))}"

    def met() -> bool:
        new = {host: lines(cluster, host)[before.get(host, 0) :] for host in hosts}
        return all(
            any(line.endswith(f" of {len(hosts)} on {host}{end}") for line in stages) for host, stages in new.items()
        )

    cluster.wait(met, f"world of {len(hosts)}")


def printed(cluster: Cluster) -> dict[str, int]:
    """Return the number of lines that each Pod has printed."""
    return {name: len(lines(cluster, name)) for name in cluster.pods}


def test_an_elastic_job_survives_lost_and_new_workers(cluster: Cluster, render: Render) -> None:
    """A killed worker restarts, the others continue without a deleted one, and a new worker joins."""
    options = ("--set", "pytorch.min_nodes=2", "--set", "pytorch.max_nodes=3")
    cluster.apply(render(gang(*TORCHRUN), *options))
    meet(cluster, HOSTS, {})

    before = printed(cluster)
    cluster.pods["train-worker-0"].kill()
    meet(cluster, HOSTS, before)

    before = printed(cluster)
    cluster.apply(render(gang(*TORCHRUN, workers=1), *options), keep=True)
    meet(cluster, HOSTS[:2], before)

    before = printed(cluster)
    cluster.apply(render(gang(*TORCHRUN), *options), keep=True)
    meet(cluster, HOSTS, before)
    finish(cluster)
    assert (restarts(cluster)["train-master-0"], restarts(cluster)["train-worker-1"]) == (0, 0)


def waiting(name: str, options: Sequence[str], *, image: str, timeout: int) -> tuple[dict[str, Any], Sequence[str]]:
    """Return a job whose worker waits for a master that becomes ready and listens on request."""
    ready = {"exec": {"command": ["test", "-e", "/tmp/ready"]}, "periodSeconds": 1}
    master = task(1, "sh", "-c", LISTEN, image="nc", container={"readinessProbe": ready})
    arguments = ["--wait-master-enabled=true", f"--wait-master-timeout={timeout}"]
    tasks = {"master": master, "worker": task(1, "true", image=image)}
    return job(name, {"pytorch": arguments}, **tasks), options


CHECKED = ("--set", "pytorch.wait_master_script=checked")
JOBS = {
    "by-nc": waiting("by-nc", CHECKED, image="nc", timeout=600),
    "by-bash": waiting("by-bash", CHECKED, image="bash", timeout=600),
    "volcano-nc": waiting("volcano-nc", ("--set", "pytorch.wait_master_image=nc"), image="nc", timeout=600),
    "volcano-bash": waiting("volcano-bash", ("--set", "pytorch.wait_master_image=bash"), image="nc", timeout=600),
    "in-vain": waiting("in-vain", CHECKED, image="bash", timeout=1),
    "unable": waiting("unable", CHECKED, image="little", timeout=600),
}


def test_waiting_workers_print_each_stage(cluster: Cluster, render: Render) -> None:
    """Messages differ by stage and by tool, netcat or bash; Volcano's script only prints the end."""
    rendered = b"".join(b"---\n" + render(document, *options) for document, options in JOBS.values())
    masters = [f"{name}-master-0" for name in JOBS if name not in {"in-vain", "unable"}]

    def stages(name: str) -> list[str]:
        return lines(cluster, f"{name}-worker-0", WAIT)

    def has_last_stage(name: str, words: str) -> bool:
        return stages(name)[-1:] == [words]

    def wait_for_stage(words: str) -> None:
        for name in ("by-nc", "by-bash"):
            expected = message(SO_FAR.replace("$why", words), name)
            cluster.wait(partial(has_last_stage, name, expected), expected)

    cluster.apply(rendered + b"---\n" + yaml.safe_dump(CLOSED).encode())
    wait_for_stage(NO_NAME)
    create_file(cluster, masters, "/tmp/ready")
    wait_for_stage(NO_ANSWER)
    cluster.apply(rendered)
    wait_for_stage(NO_LISTENER)
    create_file(cluster, masters, "/tmp/listens")
    cluster.wait_for("Succeeded", *(f"{name.removesuffix('-master-0')}-worker-0" for name in masters))

    for name in ("by-nc", "by-bash"):
        first, *_, last = stages(name)
        assert first == message(WAITING, name, limit=600)
        assert re.fullmatch(after_seconds(message(ANSWERS)), last)
        assert len(stages(name)) == 5
    for name in ("volcano-nc", "volcano-bash"):
        first, last = stages(name)
        assert first == VOLCANO_WAITING.format(address=f"{name}-master-0.{name}", port=23456, timeout=600)
        assert re.fullmatch(after_seconds(VOLCANO_ANSWERS), last)
    vain, unable = (cluster.pods[f"{name}-worker-0"].init[0] for name in ("in-vain", "unable"))
    cluster.wait(lambda: bool(vain.message), "end of the time")
    assert (vain.exit_codes[0], unable.exit_codes[0]) == (1, 2)
    first, _, gave_up, last_try, *_ = vain.message.splitlines()
    assert first == message(WAITING, "in-vain", limit=1)
    seconds = re.search(r"[0-9]+", gave_up.removeprefix(WAIT))
    assert seconds
    assert gave_up == message(GAVE_UP.replace("$why", NO_NAME), "in-vain", waited=seconds[0])
    assert last_try.startswith(message(LAST_TRY.partition("$")[0]) + "bash: ")
    assert unable.message == message(UNABLE).replace("$2", "busybox:1.36.1") + "\n"


def test_the_job_of_the_page_about_data_resumes_from_its_checkpoint(cluster: Cluster) -> None:
    """In another run of the job, and after a kill, all ranks continue after the last saved epoch."""
    started = re.compile(r"rank \d of 3 starts with epoch (\d+)")

    def starts() -> dict[str, list[int]]:
        return {pod: [int(epoch) for epoch in started.findall(cluster.pods[pod].log())] for pod in HOSTS}

    def saved() -> list[int]:
        return [int(epoch) for epoch in re.findall(r"saved epoch (\d+)", cluster.pods["train-master-0"].log())]

    first = run(resuming_job, config={"epochs": "20"}).manifests()
    cluster.apply(yaml.safe_dump_all(first.values()).encode())
    cluster.wait_for("Succeeded", *HOSTS)
    assert starts() == {pod: [0] for pod in HOSTS}
    assert saved() == list(range(20))

    second = run(resuming_job, config={"epochs": "1000000", "run": "2"}).manifests()
    cluster.apply(yaml.safe_dump_all(second.values()).encode())
    cluster.wait(lambda: len(saved()) > 3, "checkpoint")
    before = saved()[-1]
    cluster.pods["train-worker-0"].kill()
    cluster.wait(lambda: min(map(len, starts().values())) > 1, "restart of all ranks")
    assert {epochs[0] for epochs in starts().values()} == {20}
    (resumed,) = {epochs[-1] for epochs in starts().values()}
    assert resumed > before
