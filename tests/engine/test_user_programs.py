"""Five programs that users would write: run by the real engine and Kubernetes provider, type-checked and tested.

They have no code for a machine without a cluster: `kubernetes:renderYamlToDirectory` of the stack configures the
provider.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from pulumi import automation

from tests.conftest import Wire
from tests.engine.conftest import ROOT, Project

pytestmark = pytest.mark.engine
PROGRAMS = ROOT / "tests" / "user_programs"
NAMES = sorted(path.parent.name for path in PROGRAMS.glob("*/__main__.py"))
IMAGE = "ghcr.io/example/train:1"
TOKEN = "hunter2"
WRAPPER = "wrapper"
CLAIM = {"claimName": "data"}
STRICT = {"typeCheckingMode": "strict"}


class Program(Project):
    """A copy of a program, after two updates."""

    def __init__(self, name: str, folder: Path) -> None:
        """Copy the program, configure its stack, and update it."""
        shutil.copytree(PROGRAMS / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        rendered = folder / "rendered"
        rendered.mkdir(mode=0o700)
        project = name.replace("_", "-")
        super().__init__(folder, config={f"{project}:image": IMAGE, "kubernetes:renderYamlToDirectory": str(rendered)})
        self.stack.set_config(f"{project}:token", automation.ConfigValue(TOKEN, secret=True))
        with pytest.MonkeyPatch.context() as patched:
            # Pulumi's Python host adds the folder of a program to the import path.
            patched.syspath_prepend(folder)
            self.first, self.second = self.up(), self.up()
        self.objects = self.manifests()

    def spec(self, name: str) -> Wire:
        """Return the spec of an object, by kind and name."""
        return dict(self.objects[name]["spec"])

    def container(self, pod: str) -> Wire:
        """Return the only container of a Pod."""
        (container,) = self.spec(f"Pod {pod}")["containers"]
        return dict(container)

    def env(self, pod: str) -> dict[str, str]:
        """Return the variables of a Pod that have plain values."""
        return {entry["name"]: entry["value"] for entry in self.container(pod)["env"] if "value" in entry}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Program]:
    """Provide the programs after two updates."""
    return {name: Program(name, tmp_path_factory.mktemp("programs") / name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_second_up_changes_nothing(programs: Mapping[str, Program], name: str) -> None:
    """All resources of the first update stay the same."""
    program = programs[name]
    created = sum(program.first.changes.values())

    assert program.first.changes == {"create": created}
    assert program.second.changes == {"same": created}


@pytest.mark.parametrize("name", NAMES)
def test_a_program_has_no_warnings(programs: Mapping[str, Program], name: str) -> None:
    """It is a model for others."""
    events = [event.diagnostic_event for event in programs[name].first.events if event.diagnostic_event]

    assert [event.message for event in events if re.search(r"VJ\d{3}", event.message)] == []


def test_torchrun_starts_16_processes_on_2_nodes(programs: Mapping[str, Program]) -> None:
    """The worker waits for the master, and all GPUs are part of the gang."""
    program = programs["torchrun"]
    settings = {"PET_NNODES": "2", "PET_NPROC_PER_NODE": "8", "PET_MASTER_ADDR": "llm-master-0.llm"}

    for rank, pod in enumerate(("llm-master-0", "llm-worker-0")):
        assert {**settings, "PET_NODE_RANK": str(rank)}.items() <= program.env(pod).items()
        assert program.container(pod)["resources"]["limits"]["nvidia.com/gpu"] == "8"
    (wait,) = program.spec("Pod llm-worker-0")["initContainers"]
    assert wait["name"] == "wait-for-master"
    (group,) = (item["spec"] for name, item in program.objects.items() if name.startswith("PodGroup "))
    assert (group["minMember"], group["minResources"]["requests.nvidia.com/gpu"]) == (2, "16")
    assert program.outputs() == {"master_address": "llm-master-0.llm"}


def test_the_pods_of_torchrun_share_a_claim_and_a_pull_secret(programs: Mapping[str, Program]) -> None:
    """The Pods are created after both, and the token is not in the state."""
    program = programs["torchrun"]

    for pod in ("llm-master-0", "llm-worker-0"):
        spec = program.spec(f"Pod {pod}")
        (volume,) = (item["name"] for item in spec["volumes"] if item.get("persistentVolumeClaim") == CLAIM)
        assert {"mountPath": "/data", "name": volume} in program.container(pod)["volumeMounts"]
        assert spec["imagePullSecrets"] == [{"name": "registry"}]
        assert program.first.order.index(f"Pod {pod}") > max(
            program.first.order.index(name) for name in ("Secret registry", "PersistentVolumeClaim data")
        )
    login = base64.b64decode(program.objects["Secret registry"]["data"][".dockerconfigjson"])
    assert json.loads(login) == {"auths": {"ghcr.io": {"username": "robot", "password": TOKEN}}}
    assert TOKEN not in json.dumps(program.resources())


def test_the_dashboard_of_ray_is_open_to_the_other_namespace(programs: Mapping[str, Program]) -> None:
    """Its clients reach this port of the head only, and its probes are the kubelet's."""
    spec = programs["ray_dashboard"].spec("NetworkPolicy tune-allow-head")

    (rule,) = spec["ingress"]
    assert spec["podSelector"]["matchLabels"]["volcano.sh/task-spec"] == "head"
    assert rule["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "apps"}}}]
    assert rule["ports"] == [{"port": "dashboard", "protocol": "TCP"}]
    (port,) = (p for p in programs["ray_dashboard"].container("tune-head-0")["ports"] if p["name"] == "dashboard")
    assert port["containerPort"] == 8265


def test_the_address_of_ray_is_published_after_the_cluster_exists(programs: Mapping[str, Program]) -> None:
    """It is valid in the other namespace."""
    program = programs["ray_dashboard"]
    address = "http://tune-head-svc.research.svc:8265"

    settings = program.objects["ConfigMap ray-address"]
    assert (settings["metadata"]["namespace"], settings["data"]) == ("apps", {"RAY_ADDRESS": address})
    assert program.outputs() == {"dashboard_url": address}
    assert program.dependencies("ConfigMap ray-address") == ["Pod tune-head-0", "Service tune-ray-head-svc"]
    assert program.objects["Service tune-head-svc"]["metadata"]["namespace"] == "research"


def test_open_mpi_finds_its_workers_in_the_host_file(programs: Mapping[str, Program]) -> None:
    """Each worker has as many slots as CPUs, and mpiexec starts as many processes."""
    program = programs["openmpi"]
    master = program.container("solver-master-0")

    workers = [f"solver-worker-{index}.solver" for index in range(2)]
    assert program.objects["ConfigMap solver-mpi"]["data"] == {
        "hostfile": "".join(f"{worker} slots=4\n" for worker in workers)
    }
    assert {"mountPath": "/etc/mpi", "name": "solver-mpi"} in master["volumeMounts"]
    assert program.env("solver-master-0")["OMPI_MCA_orte_default_hostfile"] == "/etc/mpi/hostfile"
    assert master["command"] == ["mpiexec", "-n", "8", "/home/mpiuser/pi"]
    assert program.outputs() == {"hosts": workers}


def test_open_mpi_connects_as_a_user_other_than_root(programs: Mapping[str, Program]) -> None:
    """The group of the Pod can read the key, and sshd uses a port above 1024."""
    program = programs["openmpi"]

    for pod in ("solver-master-0", "solver-worker-0", "solver-worker-1"):
        spec = program.spec(f"Pod {pod}")
        (keys,) = (item["secret"] for item in spec["volumes"] if "secret" in item)
        assert (spec["securityContext"]["runAsUser"], spec["securityContext"]["fsGroup"]) == (1000, 1000)
        assert keys["defaultMode"] == 0o640
        (mount,) = (item for item in program.container(pod)["volumeMounts"] if item["name"] == "solver-ssh")
        assert mount["mountPath"] == "/home/mpiuser/.ssh"
        assert program.container(pod)["ports"] == [{"containerPort": 2222, "name": "mpijob-port"}]
    config = base64.b64decode(program.objects["Secret solver-ssh"]["data"]["config"]).decode()
    assert config.count("Port 2222") == 3
    assert program.env("solver-master-0")["OMPI_MCA_plm_rsh_args"] == "-p 2222"


def test_only_the_evaluator_has_the_evaluator_in_its_cluster(programs: Mapping[str, Program]) -> None:
    """The chief does not wait for it, and every Pod has its role and index."""
    program = programs["parameter_servers"]
    servers = {
        role: [f"recommender-{role}-{index}.recommender:2222" for index in range(number)]
        for role, number in {"chief": 1, "ps": 2, "worker": 4}.items()
    }
    evaluator = {"evaluator": ["recommender-evaluator-0.recommender:2222"]}

    for pod in (name.removeprefix("Pod ") for name in program.objects if name.startswith("Pod ")):
        _, role, index = pod.split("-")
        settings = json.loads(program.env(pod)["TF_CONFIG"])
        assert settings["task"] == {"type": role, "index": int(index)}
        assert settings["cluster"] == servers | (evaluator if role == "evaluator" else {})
    assert program.outputs() == {"cluster": servers}


def test_the_wrapper_registers_its_job_as_a_child(programs: Mapping[str, Program]) -> None:
    """The component passes None for the queue, so the job is in the default queue."""
    program = programs[WRAPPER]
    urns = {item["urn"].split("::")[2]: item["urn"] for item in program.resources()}

    assert "platform:index:TrainingJob$volcano-jobs:index:VolcanoJob" in urns
    assert program.objects["Pod train-worker-0"]["metadata"]["labels"]["volcano.sh/queue-name"] == "default"
    assert program.container("train-master-0")["command"] == ["torchrun", "train.py", "--epochs=3"]
    assert program.outputs() == {"master_address": "train-master-0.train"}


def run_module(folder: Path, *command: str, **environment: str) -> str:
    """Run a module in a folder, and check that it succeeds."""
    # The plugins of our own tests take as long as the tests of the program.
    common = {"PYTHONPATH": str(ROOT), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    env = os.environ | common | environment
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def number_of_tests() -> int:
    """Return the number of tests of the wrapper."""
    return sum(path.read_text("utf-8").count("\ndef test_") for path in (PROGRAMS / WRAPPER).glob("test_*.py"))


def test_the_tests_of_the_wrapper_pass(programs: Mapping[str, Program]) -> None:
    """They use Pulumi's mocks, and the helpers of the library, with warnings as errors."""
    # Pulumi's mocks leave the event loops of their threads open.
    options = ("-p", "no:cacheprovider", "-W", "error", "-W", "ignore::ResourceWarning")

    assert f"{number_of_tests()} passed" in run_module(programs[WRAPPER].folder, "pytest", "-q", *options)


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """Provide a folder with copies of all programs."""
    shutil.copytree(PROGRAMS, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "conftest.py"))
    return tmp_path


def test_mypy_accepts_the_programs(copies: Path) -> None:
    """In strict mode."""
    options = ("--strict", "--explicit-package-bases", "--config-file=")

    assert run_module(copies, "mypy", *options, ".", MYPYPATH=WRAPPER).startswith("Success")


def test_pyright_accepts_the_programs(copies: Path) -> None:
    """In strict mode."""
    (copies / "pyrightconfig.json").write_text(json.dumps(STRICT), "utf-8")
    options = ("--outputjson", "--warnings", f"--pythonpath={sys.executable}")

    summary = json.loads(run_module(copies, "pyright", *options))["summary"]
    assert summary["filesAnalyzed"] == len([*copies.rglob("*.py")])
