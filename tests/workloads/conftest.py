"""Rendered jobs, run with the real programs of each framework by a small Pod runtime."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import workloads
import yaml

from tests.commands import run_command
from tests.workloads.player import Cluster, Image, Node

PLAYER = ("crun", "curl", "dnsmasq", "ip", "nft", "nsenter", "unshare")
PROGRAMS = {
    "network_policy": (),
    "openmpi": ("mpiexec", "mpiexec.hydra", "mpicc", "/usr/sbin/sshd"),
    "openssh": ("/usr/sbin/sshd",),
    "player": (),
    "pytorch": ("nc", "/usr/lib/python3/dist-packages/torch"),
    "ray": ("ray",),
    "tensorflow": ("tensorflow",),
}
"""Requirements of a framework besides the player: a file, a command, or an environment of `tools/workloads.py`."""
USERS = "mpiuser:x:1000:1000::/home/mpiuser:/bin/bash\n"
GROUPS = "mpiuser:x:1000:\n"
SHADOWS = "mpiuser:*:19000:0:99999:7:::\n"

Render = Callable[..., bytes]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test of this folder with its framework, which ends the name of its module."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            framework = item.path.stem.removeprefix("test_")
            item.add_marker(pytest.mark.workloads)
            item.add_marker(getattr(pytest.mark, framework))
            missing = _missing(framework)
            if missing and "CI" not in os.environ:
                item.add_marker(pytest.mark.skip(reason=f"needs {missing}: `make test-workloads` installs it"))


def _missing(framework: str) -> str:
    """Return the requirements of a framework's tests that this machine lacks."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "root on Linux"
    wanted = [*PLAYER, *PROGRAMS[framework]]
    return ", ".join(name for name in wanted if not _is_there(name))


def _is_there(name: str) -> bool:
    if name in workloads.ENVIRONMENTS:
        return (workloads.environment(name) / workloads.READY).exists()
    return bool(shutil.which(name)) or Path(name).exists()


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    """Start a node for the tests of a module."""
    with contextlib.closing(Node()) as started:
        yield started


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Image]:
    """Return images: each is the root of this machine with the user mpiuser; some have a Python environment on PATH."""
    layer = tmp_path_factory.mktemp("image")
    etc, home = layer / "etc", layer / "home" / "mpiuser"
    etc.mkdir()
    home.mkdir(parents=True)
    os.chown(home, 1000, 1000)
    for name, lines in (("passwd", USERS), ("group", GROUPS), ("shadow", SHADOWS)):
        here = [line for line in Path("/etc", name).read_text("utf-8").splitlines() if line.split(":")[2:3] != ["1000"]]
        (etc / name).write_text("\n".join(here) + "\n" + lines)
    layer.chmod(0o755)
    machine = Image(layer=layer)
    environments = {name: workloads.environment(name) for name in workloads.ENVIRONMENTS}
    return {"machine": machine} | {
        name: Image({"PATH": f"{folder}/bin:{machine.env['PATH']}"}, layer=layer, folders=[folder])
        for name, folder in environments.items()
    }


@pytest.fixture
def cluster(node: Node, images: Mapping[str, Image], request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Return an empty cluster; its Pods are stopped at the end of the test."""
    seed = request.config.getoption("randomly_seed", 0)
    with contextlib.closing(Cluster(node, images, seed)) as started:
        yield started


@pytest.fixture
def render(tmp_path: Path) -> Render:
    """Render a job by the command line with additional options, and return the unchanged output."""

    def run(job: Mapping[str, Any], *options: str) -> bytes:
        file = tmp_path / "job.yaml"
        file.write_text(yaml.safe_dump(dict(job)), "utf-8")
        done = run_command("render", str(file), "--show-keys", *options)
        assert done.exit_code == 0, done.stderr
        rendered: bytes = done.stdout_bytes
        return rendered

    return run


def job(name: str, plugins: Mapping[str, list[str]], **tasks: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Volcano Job; each task has `replicas` and `template`."""
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"plugins": dict(plugins), "tasks": [{"name": task, **rest} for task, rest in tasks.items()]},
    }


def task(
    replicas: int, *command: str, image: str = "machine", policy: str = "OnFailure", **spec: Any
) -> dict[str, Any]:
    """Return a task whose Pods run one command; `spec` has more fields of the Pod spec."""
    container = {"name": "main", "image": image, "command": list(command), **spec.pop("container", {})}
    return {
        "replicas": replicas,
        "template": {"spec": {"restartPolicy": policy, "containers": [container], **spec}},
    }
