"""Effect of scaling on running Pods and on new Pods, by plugin and `on_scale`."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from tests.cluster.conftest import VOLUMES, Changes, Manifest, Objects, Space, Stack, changes, task

# The first task, for plugins with a fixed task name.
FIRST = {"env": "master", "svc": "master", "ssh": "master", "pytorch": "master", "mpi": "master", "tensorflow": "ps"}
FIRST |= {"ray": "head", "hcclrank": "master"}
# Whether the job has host lists, and whether it has an ssh configuration: both depend on the replicas.
HAS_HOSTS = {"svc", "ssh", "pytorch", "mpi", "tensorflow", "ray"}
HAS_KEYS = {"ssh", "mpi"}
MODES = ("keep", "restart")
STEPS = ("up", "down", "image")
JOBS = [(plugin, mode) for plugin in FIRST for mode in MODES]


def job(plugin: str, mode: str, workers: int, image: str) -> Manifest:
    """Return a job with one master Pod and some workers."""
    plugins: Manifest = {plugin: []} | ({"svc": []} if plugin == "ssh" else {})
    tasks = [task(FIRST[plugin]), task("worker", workers, image=image)]
    if plugin == "ray":
        for each in tasks:
            each["template"]["spec"]["containers"][0]["name"] = each["name"]
    return {"plugins": plugins, "tasks": tasks, "on_scale": mode}


@pytest.fixture(scope="module")
def stages(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Objects]:
    """Create a job for each plugin and mode; add a worker to each, remove it, and edit the image."""
    stack = Stack(tmp_path_factory.mktemp("scale"), new_space())
    stack.skip_checkpoints()

    def make(workers: int, image: str = "example.org/image:1") -> Objects:
        return stack.make(**{f"{plugin}-{mode}": job(plugin, mode, workers, image) for plugin, mode in JOBS})

    return {"first": make(1), "up": make(2), "down": make(1), "image": make(1, "example.org/image:2")}


def of_job(found: Objects, plugin: str, mode: str) -> Objects:
    """Return the objects of one job."""
    name = f"{plugin}-{mode}"
    return {key: item for key, item in found.items() if f"{key.partition(' ')[2]}-".startswith(f"{name}-")}


def expected(step: str, plugin: str, mode: str) -> Changes:
    """Return the expected changes of a step for a job."""
    name = f"{plugin}-{mode}"
    pods = [f"Pod {name}-{FIRST[plugin]}-0", f"Pod {name}-worker-0"]
    if step == "image":
        return dict.fromkeys(pods, "replaced")
    found = {f"PodGroup {name}": "updated", f"Pod {name}-worker-1": "made" if step == "up" else "deleted"}
    if plugin in HAS_HOSTS:
        found[f"ConfigMap {name}-svc"] = "replaced"
    if plugin in HAS_KEYS:
        found[f"Secret {name}-ssh"] = "replaced"
    return found | (dict.fromkeys(pods, "replaced") if mode == "restart" else {})


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("plugin", "mode"), JOBS)
def test_scaling_replaces_only_the_expected_pods(stages: dict[str, Objects], step: str, plugin: str, mode: str) -> None:
    """Kept Pods are the same objects with the same content; a new image replaces all Pods in every mode."""
    order = list(stages)
    before, after = stages[order[order.index(step) - 1]], stages[step]

    found = changes(of_job(before, plugin, mode), of_job(after, plugin, mode))

    assert found == expected(step, plugin, mode)


@pytest.mark.parametrize(("stage", "workers"), [("first", 1), ("up", 2), ("down", 1), ("image", 1)])
@pytest.mark.parametrize(("plugin", "mode"), JOBS)
def test_shared_objects_have_the_new_size(
    stages: dict[str, Objects], stage: str, workers: int, plugin: str, mode: str
) -> None:
    """The PodGroup requires all Pods; host lists and the ssh configuration have all workers."""
    name, made = f"{plugin}-{mode}", of_job(stages[stage], plugin, mode)
    hosts = [f"{name}-worker-{index}" for index in range(workers)]

    assert made[f"PodGroup {name}"]["spec"]["minMember"] == 1 + workers
    assert (f"ConfigMap {name}-svc" in made) == (plugin in HAS_HOSTS)
    assert (f"Secret {name}-ssh" in made) == (plugin in HAS_KEYS)
    if plugin in HAS_HOSTS:
        listed = made[f"ConfigMap {name}-svc"]["data"]["worker.host"].split()
        assert [host.partition(".")[0] for host in listed] == hosts
    if plugin in HAS_KEYS:
        config = base64.b64decode(made[f"Secret {name}-ssh"]["data"]["config"]).decode()
        named = [line.split()[1] for line in config.splitlines() if line.startswith("Host ")]
        assert [host for host in named if "-worker-" in host] == hosts


@pytest.mark.parametrize("mode", MODES)
def test_kept_pods_keep_their_world_size(stages: dict[str, Objects], mode: str) -> None:
    """With a new worker, WORLD_SIZE differs between old and new Pods only with `keep`."""
    worlds = {
        name.rpartition(f"pytorch-{mode}-")[2]: variable["value"]
        for name, item in of_job(stages["up"], "pytorch", mode).items()
        if name.startswith("Pod ")
        for variable in item["spec"]["containers"][0]["env"]
        if variable["name"] == "WORLD_SIZE"
    }

    old = "2" if mode == "keep" else "3"
    assert worlds == {"master-0": old, "worker-0": old, "worker-1": "3"}


@pytest.mark.parametrize("mode", MODES)
def test_a_new_worker_has_the_next_rank(stages: dict[str, Objects], mode: str) -> None:
    """Masters precede workers, so a new worker changes no existing rank."""
    ranks = {
        name.rpartition(f"hcclrank-{mode}-")[2]: item["metadata"]["annotations"]["hccl/rankIndex"]
        for name, item in of_job(stages["up"], "hcclrank", mode).items()
        if name.startswith("Pod ")
    }

    assert ranks == {"master-0": "0", "worker-0": "1", "worker-1": "2"}


def test_a_job_scaled_to_zero_keeps_its_key_and_its_claim(
    new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The Pods come back to the same objects; Volcano scales its Job in place."""
    stack = Stack(tmp_path_factory.mktemp("zero"), new_space())

    def make(replicas: int) -> Objects:
        tasks = [task("master", replicas), task("worker", 2 * replicas)]
        composed = {"plugins": {"pytorch": [], "ssh": []}, "tasks": tasks, "volumes": VOLUMES}
        return stack.make(ours=composed, theirs={"plugins": {"pytorch": []}, "tasks": tasks, "managed_by": "volcano"})

    first, zero, again = make(1), make(0), make(1)

    pods = [f"Pod ours-{name}" for name in ("master-0", "worker-0", "worker-1")]
    scaled = {"PodGroup ours": "updated", "ConfigMap ours-svc": "replaced", "Secret ours-ssh": "replaced"}
    scaled["Job theirs"] = "updated"
    assert changes(first, zero) == dict.fromkeys(pods, "deleted") | scaled
    assert changes(zero, again) == dict.fromkeys(pods, "made") | scaled
    assert zero["PodGroup ours"]["spec"].get("minMember", 0) == 0
    assert len({found["Secret ours-ssh"]["data"]["id_rsa"] for found in (first, zero, again)}) == 1
