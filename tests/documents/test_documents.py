"""The examples of the plugin guides render to the objects and output that the guides show.

`jobs/` has the unchanged examples of the guides, and `fragments/` one that is not a complete job.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pulumi_volcano_jobs import (
    EnvPlugin,
    MpiPlugin,
    Plugin,
    PytorchPlugin,
    RayPlugin,
    Rendered,
    SshPlugin,
    SvcPlugin,
    TensorflowPlugin,
    render,
)
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.plugins.settings import flags_of
from tests.conftest import Wire, job, places, problems, task
from tests.deadlines import DEADLINE

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in (HERE / "jobs").glob("*.yaml"))
WITH_QUEUE_TWICE = {"env", "ray", "svc"}
GUIDES_OF_PYTORCH = ["pytorch", "pytorch-guide", "pytorch-guide-short", "pytorch-guide-zh"]
# A gang that starts with one of three Pods, and a dashboard that only listens on localhost.
WARNED = {
    "mpi": ["VJ103"],
    "pytorch-guide": ["VJ103"],
    "pytorch-guide-short": ["VJ103"],
    "pytorch-guide-zh": ["VJ103"],
    "ray": ["VJ105"],
    "ssh": ["VJ141"],
    "tensorflow": ["VJ103"],
}
GUIDES_WITH_WAITING = ["pytorch-guide", "pytorch-guide-zh"]


def read(name: str, folder: str = "jobs") -> job_file.Document:
    """Read an example."""
    (document,) = job_file.read((HERE / folder / f"{name}.yaml").read_text("utf-8"), f"{name}.yaml")
    return document


def rendered(name: str) -> Rendered:
    """Render an example in strict mode."""
    return render(read(name).job())


def object_of(made: Rendered, kind: str, name: str) -> Wire:
    """Return the only object of a kind and name."""
    (found,) = (item for item in made.objects if (item["kind"], item["metadata"]["name"]) == (kind, name))
    return found


def pod_of(made: Rendered, name: str) -> Wire:
    """Return the Pod with a name."""
    (found,) = (pod for pod in made.pods if pod["metadata"]["name"] == name)
    return found


def resolved_env(made: Rendered, pod: str, container: int = 0) -> dict[str, str]:
    """Return the variables of a container as its shell sees them, with ConfigMaps resolved."""

    def value(entry: Wire) -> str:
        if "valueFrom" not in entry:
            return str(entry["value"])
        reference = entry["valueFrom"]["configMapKeyRef"]
        return str(object_of(made, "ConfigMap", reference["name"])["data"][reference["key"]])

    entries = pod_of(made, pod)["spec"]["containers"][container].get("env", [])
    return {entry["name"]: value(entry) for entry in entries}


def grep(env: dict[str, str], pattern: str) -> dict[str, str]:
    """Return the variables that `env | grep -E PATTERN` prints."""
    return {name: value for name, value in env.items() if re.search(pattern, f"{name}={value}")}


def file_in(made: Rendered, pod: str, path: str) -> str:
    """Return a file that a ConfigMap or Secret mounts into a container."""
    spec = pod_of(made, pod)["spec"]
    (mount,) = (m for m in spec["containers"][0]["volumeMounts"] if path.startswith(m["mountPath"] + "/"))
    (volume,) = (v for v in spec["volumes"] if v["name"] == mount["name"])
    inside = "/".join(filter(None, [mount.get("subPath", ""), path.removeprefix(mount["mountPath"] + "/")]))
    if "configMap" in volume:
        return str(object_of(made, "ConfigMap", volume["configMap"]["name"])["data"][inside])
    (key,) = (item["key"] for item in volume["secret"]["items"] if item["path"] == inside)
    data = object_of(made, "Secret", volume["secret"]["secretName"])["data"]
    return base64.b64decode(data[key]).decode()


@pytest.mark.parametrize("path", sorted(HERE.glob("*/*.yaml")), ids=lambda path: path.stem)
def test_an_example_has_the_notice_of_its_licence(path: Path) -> None:
    """The first line names the authors and the licence, and the notice file exists."""
    first, _, _ = path.read_text("utf-8").partition("\n")

    assert first.endswith(". Copyright The Volcano Authors, Apache-2.0: see ../NOTICE.")
    notice = (HERE / "NOTICE").read_text("utf-8")
    assert "Copyright The Volcano Authors" in notice
    assert "Apache License, Version 2.0" in notice


@pytest.mark.parametrize("name", NAMES)
def test_an_example_renders_in_strict_mode(name: str) -> None:
    """Only warnings about known pitfalls are logged."""
    assert [warning.code for warning in rendered(name).warnings] == WARNED.get(name, [])


@pytest.mark.parametrize("name", sorted({*NAMES} - WITH_QUEUE_TWICE))
def test_an_example_has_no_yaml_warning(name: str) -> None:
    """Examples with a duplicate key have their own test."""
    assert read(name).problems == ()


@pytest.mark.parametrize("name", sorted(WITH_QUEUE_TWICE))
def test_a_duplicate_queue_is_a_warning(name: str) -> None:
    """Three examples set the queue twice to the same value; the warning has the second line."""
    lines = (HERE / "jobs" / f"{name}.yaml").read_text("utf-8").splitlines()

    (problem,) = read(name).problems

    assert (problem.path, problem.warning) == ("spec.queue", True)
    assert [number for number, line in enumerate(lines, 1) if line == "  queue: default"][1:] == [problem.line]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_a_pod_for_each_replica(name: str) -> None:
    """Pod names consist of job, task and index."""
    document = read(name).data

    pods = [pod["metadata"]["name"] for pod in rendered(name).pods]

    tasks = [(task["name"], task["replicas"]) for task in document["spec"]["tasks"]]
    assert pods == [f"{document['metadata']['name']}-{name}-{i}" for name, size in tasks for i in range(size)]


class TestSsh:
    """Section about the ssh plugin."""

    def test_the_ssh_config_equals_the_documented_one_plus_ports(self) -> None:
        """The guide shows `cat /root/.ssh/config` in the master, from a version without Port lines."""
        config = file_in(rendered("ssh"), "mpi-job-mpimaster-0", "/root/.ssh/config")

        assert [line for line in config.splitlines() if not line.startswith("  Port ")] == [
            "StrictHostKeyChecking no",
            "UserKnownHostsFile /dev/null",
            "Host mpi-job-mpimaster-0",
            "  HostName mpi-job-mpimaster-0.mpi-job",
            "Host mpi-job-mpiworker-0",
            "  HostName mpi-job-mpiworker-0.mpi-job",
            "Host mpi-job-mpiworker-1",
            "  HostName mpi-job-mpiworker-1.mpi-job",
        ]
        assert config.count("  Port 22\n") == len(rendered("ssh").pods)

    def test_the_secret_holds_the_four_files(self) -> None:
        """`{JobName}-ssh` has both keys, the authorized keys and the configuration."""
        secret = object_of(rendered("ssh"), "Secret", "mpi-job-ssh")

        assert list(secret["data"]) == ["id_rsa", "id_rsa.pub", "authorized_keys", "config"]
        assert secret["data"]["authorized_keys"] == secret["data"]["id_rsa.pub"]

    def test_every_container_mounts_the_keys(self) -> None:
        """Init containers are included."""
        document = read("ssh").data
        template = document["spec"]["tasks"][0]["template"]["spec"]
        template["initContainers"] = [{"name": "early", "image": "example.org/early:1"}]

        spec = render(document).pods[0]["spec"]

        mount = {"mountPath": "/root/.ssh", "name": "mpi-job-ssh", "subPath": ".ssh"}
        assert [mount in c["volumeMounts"] for c in spec["containers"] + spec["initContainers"]] == [True, True]

    def test_the_host_file_that_the_script_reads_lists_the_workers(self) -> None:
        """The command of the master reads /etc/volcano/mpiworker.host into MPI_HOST."""
        hosts = file_in(rendered("ssh"), "mpi-job-mpimaster-0", "/etc/volcano/mpiworker.host")

        assert hosts == "mpi-job-mpiworker-0.mpi-job\nmpi-job-mpiworker-1.mpi-job"


class TestSvc:
    """Section about the svc plugin."""

    def test_the_service_is_headless_and_has_no_ports(self) -> None:
        """The guide shows `kubectl get service`."""
        service = object_of(rendered("svc"), "Service", "tensorflow-dist-mnist")

        assert service["spec"] == {
            "clusterIP": "None",
            "selector": {
                "volcano.sh/job-name": "tensorflow-dist-mnist",
                "volcano.sh/job-namespace": "default",
            },
        }

    @pytest.mark.parametrize("index", range(3))
    def test_the_variables_equal_the_documented_ones(self, index: int) -> None:
        """`env | grep VC_` differs between Pods only in the index of the Pod."""
        made = rendered("svc")
        pod = made.pods[index]["metadata"]["name"]

        env = grep(resolved_env(made, pod), "VC_.*(HOSTS|NUM)=")

        assert env == {
            "VC_PS_HOSTS": "tensorflow-dist-mnist-ps-0.tensorflow-dist-mnist",
            "VC_PS_NUM": "1",
            "VC_WORKER_HOSTS": "tensorflow-dist-mnist-worker-0.tensorflow-dist-mnist,"
            "tensorflow-dist-mnist-worker-1.tensorflow-dist-mnist",
            "VC_WORKER_NUM": "2",
        }

    @pytest.mark.parametrize(
        ("path", "hosts"),
        [
            ("/etc/volcano/ps.host", ["ps-0"]),
            ("/etc/volcano/worker.host", ["worker-0", "worker-1"]),
        ],
    )
    def test_the_host_files_equal_the_documented_ones(self, path: str, hosts: list[str]) -> None:
        """`cat /etc/volcano/...` prints one address per line."""
        text = file_in(rendered("svc"), "tensorflow-dist-mnist-ps-0", path)

        assert text.split("\n") == [f"tensorflow-dist-mnist-{host}.tensorflow-dist-mnist" for host in hosts]

    def test_hostname_and_subdomain_give_the_documented_name(self) -> None:
        """{PodName}.{JobName}.{Namespace}.svc.cluster.local resolves by the Service with that name."""
        for pod in rendered("svc").pods:
            spec, name = pod["spec"], pod["metadata"]["name"]
            assert (spec["hostname"], spec["subdomain"]) == (name, "tensorflow-dist-mnist")

    def test_members_can_reach_each_other(self) -> None:
        """The NetworkPolicy selects and admits the Pods of the job."""
        policy = object_of(rendered("svc"), "NetworkPolicy", "tensorflow-dist-mnist")["spec"]

        members = {
            "matchLabels": {
                "volcano.sh/job-name": "tensorflow-dist-mnist",
                "volcano.sh/job-namespace": "default",
            },
        }
        assert policy == {
            "podSelector": members,
            "ingress": [{"from": [{"podSelector": members}]}],
            "policyTypes": ["Ingress"],
        }

    def test_the_network_policy_can_be_disabled(self) -> None:
        """The argument is --disable-network-policy=true."""
        document = read("svc").data
        document["spec"]["plugins"]["svc"] = ["--disable-network-policy=true"]

        kinds = {item["kind"] for item in render(document).objects}

        assert kinds == {"ConfigMap", "PodGroup", "Service"}

    def test_addresses_of_pods_that_are_not_ready_can_be_published(self) -> None:
        """The argument is --publish-not-ready-addresses=true."""
        document = read("svc").data
        document["spec"]["plugins"]["svc"] = ["--publish-not-ready-addresses=true"]

        service = object_of(render(document), "Service", "tensorflow-dist-mnist")

        assert service["spec"]["publishNotReadyAddresses"] is True

    def test_a_task_name_is_converted_to_a_variable_name(self) -> None:
        """Dashes become underscores, and letters upper case."""
        made = render(job(task("big-worker", 1), plugins={"svc": []}))

        env = resolved_env(made, "train-big-worker-0")

        assert env == {"VC_BIG_WORKER_HOSTS": "train-big-worker-0.train", "VC_BIG_WORKER_NUM": "1"}


class TestEnv:
    """Section about the env plugin."""

    @pytest.mark.parametrize(
        ("pod", "index"),
        [
            ("tensorflow-dist-mnist-ps-0", "0"),
            ("tensorflow-dist-mnist-worker-0", "0"),
            ("tensorflow-dist-mnist-worker-1", "1"),
        ],
    )
    @pytest.mark.parametrize("name", ["env", "svc"])
    def test_the_task_index_equals_the_documented_one(self, name: str, pod: str, index: str) -> None:
        """The guide shows `env | grep TASK_INDEX`."""
        env = grep(resolved_env(rendered(name), pod), "TASK_INDEX")

        assert env == {"VK_TASK_INDEX": index, "VC_TASK_INDEX": index}


class TestPytorch:
    """Guide to the PyTorch plugin, with four examples."""

    @pytest.mark.parametrize(
        ("pod", "rank"),
        [("pytorch-job-master-0", "0"), ("pytorch-job-worker-0", "1"), ("pytorch-job-worker-1", "2")],
    )
    @pytest.mark.parametrize("name", GUIDES_OF_PYTORCH)
    def test_the_variables_equal_the_documented_ones(self, name: str, pod: str, rank: str) -> None:
        """The guide shows `env | grep -E "MASTER|WORLD|RANK"`; svc's variables for the master task are excluded."""
        env = grep(resolved_env(rendered(name), pod), "^(MASTER|WORLD|RANK)")

        assert env == {
            "MASTER_ADDR": "pytorch-job-master-0.pytorch-job",
            "MASTER_PORT": "23456",
            "WORLD_SIZE": "3",
            "RANK": rank,
        }

    @pytest.mark.parametrize("name", GUIDES_OF_PYTORCH)
    def test_all_containers_open_the_port(self, name: str) -> None:
        """Containers of workers are included."""
        ports = [container["ports"] for pod in rendered(name).pods for container in pod["spec"]["containers"]]

        assert ports == [[{"name": "pytorchjob-port", "containerPort": 23456}]] * 3

    @pytest.mark.parametrize("name", GUIDES_OF_PYTORCH)
    def test_svc_is_added(self, name: str) -> None:
        """It does not matter whether the example lists it."""
        made = rendered(name)

        assert object_of(made, "Service", "pytorch-job")["spec"]["clusterIP"] == "None"
        assert [plugin.name for plugin in made.plugins] == ["svc", "pytorch"]

    @pytest.mark.parametrize(
        ("name", "waiting"),
        [(name, name in GUIDES_WITH_WAITING) for name in GUIDES_OF_PYTORCH],
    )
    def test_only_workers_wait_and_only_on_request(self, name: str, waiting: bool) -> None:  # noqa: FBT001
        """The argument is --wait-master-enabled=true."""
        inits = {pod["metadata"]["name"]: pod["spec"].get("initContainers", []) for pod in rendered(name).pods}

        names = {pod: [container["name"] for container in found] for pod, found in inits.items()}
        expected = ["wait-for-master"] if waiting else []
        assert names == {
            "pytorch-job-master-0": [],
            "pytorch-job-worker-0": expected,
            "pytorch-job-worker-1": expected,
        }

    @pytest.mark.parametrize("name", GUIDES_WITH_WAITING)
    def test_the_init_container_has_the_image_and_checks_the_master_port(self, name: str) -> None:
        """The argument is --wait-master-image; nc is tried first."""
        (init,) = pod_of(rendered(name), "pytorch-job-worker-1")["spec"]["initContainers"]

        assert init["image"] == "busybox:1.36.1"
        assert init["command"][:2] == ["sh", "-c"]
        assert "nc -z pytorch-job-master-0.pytorch-job 23456" in init["command"][2]

    @pytest.mark.parametrize(
        ("args", "image"),
        [
            (["--wait-master-enabled=true"], "busybox:1.36.1"),
            (["--wait-master-enabled=true", "--wait-master-image=busybox:latest"], "busybox:latest"),
        ],
    )
    def test_the_image_of_the_init_container_can_be_changed(self, args: list[str], image: str) -> None:
        """The values are those of the guide."""
        document = read("pytorch-guide").data
        document["spec"]["plugins"]["pytorch"] = args

        (init,) = render(document).pods[1]["spec"]["initContainers"]

        assert init["image"] == image


class TestWaitScript:
    """The script of the init container, run by a real shell with stubs of nc, bash and sleep."""

    def run(self, folder: Path, *, master: str, args: list[str]) -> subprocess.CompletedProcess[str]:
        """Run the script of a worker; `master` is the shell code that nc and bash run."""
        document = read("pytorch-guide").data
        document["spec"]["plugins"]["pytorch"] = ["--wait-master-enabled=true", *args]
        (init,) = render(document).pods[1]["spec"]["initContainers"]
        for name, code in (("nc", master), ("bash", master), ("sleep", ":")):
            tool = folder / name
            tool.write_text(f'#!/bin/sh\necho "{name} $*" >> {folder}/log\n{code}\n', "utf-8")
            tool.chmod(0o755)
        shell, *rest = init["command"]
        return subprocess.run(
            [f"/bin/{shell}", *rest],
            env={"PATH": str(folder)},
            capture_output=True,
            text=True,
            check=False,
            timeout=DEADLINE,
        )

    def test_the_script_ends_when_the_master_accepts_connections(self, tmp_path: Path) -> None:
        """It calls netcat once."""
        done = self.run(tmp_path, master="exit 0", args=[])

        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / "log").read_text("utf-8") == "nc -z pytorch-job-master-0.pytorch-job 23456\n"

    def test_the_script_falls_back_to_bash_if_netcat_fails(self, tmp_path: Path) -> None:
        """Bash connects by /dev/tcp."""
        done = self.run(tmp_path, master='case "$0" in */nc) exit 1;; *) exit 0;; esac', args=[])

        assert done.returncode == 0
        log = (tmp_path / "log").read_text("utf-8").splitlines()
        assert log[1] == "bash -c echo > /dev/tcp/pytorch-job-master-0.pytorch-job/23456"

    def test_the_script_retries_until_the_master_accepts_connections(self, tmp_path: Path) -> None:
        """The interval is two seconds."""
        done = self.run(tmp_path, master=f"[ $(/bin/grep -c nc {tmp_path}/log) -ge 3 ]", args=[])

        assert done.returncode == 0
        assert (tmp_path / "log").read_text("utf-8").splitlines().count("sleep 2") == 2

    def test_the_script_fails_with_a_message_after_the_timeout(self, tmp_path: Path) -> None:
        """A timeout of 10 seconds allows five sleeps and six attempts."""
        done = self.run(tmp_path, master="exit 1", args=["--wait-master-timeout=10"])

        (message,) = re.findall(r'echo "(.*)" >&2\n', done.args[-1])
        assert (done.returncode, done.stderr) == (1, f"{message}\n")
        assert "pytorch-job-master-0.pytorch-job:23456" in message
        assert " 10 s" in message
        log = (tmp_path / "log").read_text("utf-8").splitlines()
        assert [sum(line.startswith(tool) for line in log) for tool in ("nc ", "sleep ")] == [6, 5]

    def test_the_default_timeout_is_300_seconds(self, tmp_path: Path) -> None:
        """The interval is two seconds."""
        done = self.run(tmp_path, master="exit 1", args=[])

        assert done.returncode == 1
        assert (tmp_path / "log").read_text("utf-8").splitlines().count("sleep 2") == 150


class TestTensorflow:
    """Section about the TensorFlow plugin."""

    @pytest.mark.parametrize(
        ("pod", "role", "index"),
        [
            ("tensorflow-training-ps-0", "ps", 0),
            ("tensorflow-training-ps-1", "ps", 1),
            ("tensorflow-training-worker-0", "worker", 0),
            ("tensorflow-training-worker-1", "worker", 1),
            ("tensorflow-training-worker-2", "worker", 2),
        ],
    )
    def test_tf_config_equals_the_documented_one(self, pod: str, role: str, index: int) -> None:
        """The cluster is the same in each Pod."""
        config = json.loads(resolved_env(rendered("tensorflow"), pod)["TF_CONFIG"])

        assert config == {
            "cluster": {
                "ps": [
                    "tensorflow-training-ps-0.tensorflow-training:2222",
                    "tensorflow-training-ps-1.tensorflow-training:2222",
                ],
                "worker": [
                    "tensorflow-training-worker-0.tensorflow-training:2222",
                    "tensorflow-training-worker-1.tensorflow-training:2222",
                    "tensorflow-training-worker-2.tensorflow-training:2222",
                ],
            },
            "task": {"type": role, "index": index},
        }

    def test_the_roles_are_in_the_documented_order(self) -> None:
        """The order of the tasks does not matter: ps, worker, chief."""
        document = job(task("chief"), task("worker", 2), task("ps", 2), plugins={"tensorflow": []})

        text = resolved_env(render(document), "train-worker-0")["TF_CONFIG"]

        assert list(json.loads(text)["cluster"]) == ["ps", "worker", "chief"]

    def test_a_job_with_one_pod_has_no_tf_config(self) -> None:
        """The only task has replicas=1."""
        document = read("tensorflow").data
        document["spec"] |= {"tasks": [document["spec"]["tasks"][1] | {"replicas": 1}], "minAvailable": 1}
        document["spec"]["plugins"]["tensorflow"] = []

        env = resolved_env(render(document), "tensorflow-training-worker-0")

        assert "TF_CONFIG" not in env

    def test_a_task_with_another_name_is_not_in_the_cluster(self) -> None:
        """Task names must match the arguments."""
        document = job(task("worker", 2), task("loader"), plugins={"tensorflow": []})

        config = json.loads(resolved_env(render(document), "train-loader-0")["TF_CONFIG"])

        assert config == {
            "cluster": {"worker": ["train-worker-0.train:2222", "train-worker-1.train:2222"]},
            "task": {"type": "loader", "index": 0},
        }


class TestMpi:
    """Section about the MPI plugin."""

    def test_mpi_host_equals_the_documented_one(self) -> None:
        """The guide shows `env | grep MPI_HOST` in the master."""
        env = resolved_env(rendered("mpi"), "lm-mpi-job-mpimaster-0")

        assert env["MPI_HOST"] == "lm-mpi-job-mpiworker-0.lm-mpi-job,lm-mpi-job-mpiworker-1.lm-mpi-job"

    def test_only_the_master_has_mpi_host(self) -> None:
        """Workers do not start mpiexec."""
        made = rendered("mpi")

        having = [
            pod["metadata"]["name"] for pod in made.pods if "MPI_HOST" in resolved_env(made, pod["metadata"]["name"])
        ]
        assert having == ["lm-mpi-job-mpimaster-0"]

    def test_all_containers_open_the_sshd_port(self) -> None:
        """Master and workers are included."""
        ports = [container["ports"] for pod in rendered("mpi").pods for container in pod["spec"]["containers"]]

        assert ports == [[{"name": "mpijob-port", "containerPort": 22}]] * 3

    def test_ssh_and_svc_are_added(self) -> None:
        """`ssh lm-mpi-job-mpiworker-0` works from the master, because the ssh configuration has the host."""
        made = rendered("mpi")

        config = file_in(made, "lm-mpi-job-mpimaster-0", "/root/.ssh/config")

        assert [plugin.name for plugin in made.plugins] == ["ssh", "svc", "mpi"]
        assert "Host lm-mpi-job-mpiworker-0\n  HostName lm-mpi-job-mpiworker-0.lm-mpi-job\n" in config


class TestRay:
    """Section about the Ray plugin."""

    def test_the_services_equal_the_documented_ones(self) -> None:
        """`kubectl get service` lists a headless one without ports, and that of the head with three ports."""
        made = rendered("ray")

        services = {
            item["metadata"]["name"]: (
                item["spec"].get("clusterIP"),
                ",".join(f"{port['port']}/{port['protocol']}" for port in item["spec"].get("ports", [])),
            )
            for item in made.objects
            if item["kind"] == "Service"
        }

        assert services == {
            "ray-cluster-job": ("None", ""),
            "ray-cluster-job-head-svc": (None, "6379/TCP,8265/TCP,10001/TCP"),
        }

    def test_the_head_service_refers_to_ports_by_name(self) -> None:
        """It selects the Pod of the head."""
        made = rendered("ray")
        spec = object_of(made, "Service", "ray-cluster-job-head-svc")["spec"]
        head = pod_of(made, "ray-cluster-job-head-0")

        declared = {port["name"]: port["containerPort"] for port in head["spec"]["containers"][0]["ports"]}

        assert {port["targetPort"]: port["port"] for port in spec["ports"]} == declared
        assert spec["selector"].items() <= head["metadata"]["labels"].items()

    @pytest.mark.parametrize(
        ("pod", "command"),
        [
            (
                "ray-cluster-job-head-0",
                (
                    "ray start --head --block --dashboard-host=0.0.0.0 --port=6379 --dashboard-port=8265"
                    " --ray-client-server-port=10001"
                ),
            ),
            ("ray-cluster-job-worker-0", "ray start --block --address=ray-cluster-job-head-0.ray-cluster-job:6379"),
            ("ray-cluster-job-worker-1", "ray start --block --address=ray-cluster-job-head-0.ray-cluster-job:6379"),
        ],
    )
    def test_head_and_workers_start_ray(self, pod: str, command: str) -> None:
        """The example has no command."""
        (container,) = pod_of(rendered("ray"), pod)["spec"]["containers"]

        assert container["command"] == ["sh", "-c", command]

    def test_workers_open_no_port(self) -> None:
        """Only the head listens."""
        (container,) = pod_of(rendered("ray"), "ray-cluster-job-worker-0")["spec"]["containers"]

        assert "ports" not in container

    def test_strict_mode_accepts_the_documented_name_of_the_client_port(self) -> None:
        """The guide has --clientServerPort but Volcano's code --clientPort; a warning has the place of the argument."""
        document, meant = read("ray").data, read("ray").data
        document["spec"]["plugins"]["ray"] = ["--port=6380", "--clientServerPort=10002"]
        meant["spec"]["plugins"]["ray"] = ["--port=6380", "--clientPort=10002"]

        made = render(document)

        assert [warning.path for warning in made.warnings if warning.code == "VJ114"] == ["spec.plugins.ray[1]"]
        assert (made.objects, made.pods) == (render(meant).objects, render(meant).pods)
        assert made.job.to_manifest()["spec"]["plugins"]["ray"] == ["--clientPort=10002", "--port=6380"]

    def test_lenient_mode_ignores_the_documented_name_of_the_client_port(self) -> None:
        """Volcano drops the unknown flag and all later ones."""
        document, without = read("ray").data, read("ray").data
        document["spec"]["plugins"]["ray"] = ["--clientServerPort=10002", "--port=6380"]

        made = render(document, strict=False)

        assert made.objects == render(without, strict=False).objects
        assert made.job.to_manifest()["spec"]["plugins"]["ray"] == ["--clientServerPort=10002", "--port=6380"]


TABLES: dict[type[Plugin], dict[str, Any]] = {
    SshPlugin: {"ssh-key-file-path": "/root/.ssh", "ssh-private-key": "", "ssh-public-key": ""},
    SvcPlugin: {"publish-not-ready-addresses": False, "disable-network-policy": False},
    EnvPlugin: {},
    PytorchPlugin: {
        "master": "master",
        "worker": "worker",
        "port": 23456,
        "wait-master-enabled": False,
        "wait-master-timeout": 300,
        "wait-master-image": "busybox:1.36.1",
    },
    TensorflowPlugin: {"ps": "ps", "worker": "worker", "chief": "chief", "evaluator": "evaluator", "port": 2222},
    MpiPlugin: {"master": "master", "worker": "worker", "port": 22},
    RayPlugin: {
        "head": "head",
        "worker": "worker",
        "headContainer": "head",
        "workerContainer": "worker",
        "port": 6379,
        "dashboardPort": 8265,
        "clientServerPort": 10001,
    },
}
EXAMPLES: list[tuple[type[Plugin], str, dict[str, Any]]] = [
    (SshPlugin, "--ssh-key-file-path=/home/user/.ssh", {"ssh_key_file_path": "/home/user/.ssh"}),
    (
        SshPlugin,
        "--ssh-private-key=-----BEGIN RSA PRIVATE KEY-----...",
        {"ssh_private_key": "-----BEGIN RSA PRIVATE KEY-----..."},
    ),
    (SshPlugin, "--ssh-public-key=ssh-rsa AAAAB3...", {"ssh_public_key": "ssh-rsa AAAAB3..."}),
    (SvcPlugin, "--publish-not-ready-addresses=true", {"publish_not_ready_addresses": True}),
    (SvcPlugin, "--disable-network-policy=true", {"disable_network_policy": True}),
    (PytorchPlugin, "--master=main", {"master": "main"}),
    (PytorchPlugin, "--worker=node", {"worker": "node"}),
    (PytorchPlugin, "--port=29500", {"port": 29500}),
    (PytorchPlugin, "--wait-master-enabled=true", {"wait_master_enabled": True}),
    (PytorchPlugin, "--wait-master-timeout=600", {"wait_master_timeout": 600}),
    (PytorchPlugin, "--wait-master-image=busybox:latest", {"wait_master_image": "busybox:latest"}),
    (TensorflowPlugin, "--ps=ps-role", {"ps": "ps-role"}),
    (TensorflowPlugin, "--worker=worker-role", {"worker": "worker-role"}),
    (TensorflowPlugin, "--chief=chief-role", {"chief": "chief-role"}),
    (TensorflowPlugin, "--evaluator=evaluator-role", {"evaluator": "evaluator-role"}),
    (TensorflowPlugin, "--port=3333", {"port": 3333}),
    (MpiPlugin, "--master=mpimaster", {"master": "mpimaster"}),
    (MpiPlugin, "--worker=mpiworker", {"worker": "mpiworker"}),
    (MpiPlugin, "--port=5000", {"port": 5000}),
    (RayPlugin, "--head=ray-head", {"head": "ray-head"}),
    (RayPlugin, "--worker=ray-worker", {"worker": "ray-worker"}),
    (RayPlugin, "--headContainer=ray-head-container", {"head_container": "ray-head-container"}),
    (RayPlugin, "--workerContainer=ray-worker-container", {"worker_container": "ray-worker-container"}),
    (RayPlugin, "--port=6380", {"port": 6380}),
    (RayPlugin, "--dashboardPort=8266", {"dashboard_port": 8266}),
    (RayPlugin, "--clientServerPort=10002", {"client_port": 10002}),
]


@pytest.mark.parametrize(
    ("plugin", "argument", "default"),
    [(plugin, argument, default) for plugin, table in TABLES.items() for argument, default in table.items()],
    ids=[f"{plugin.name}-{argument}" for plugin, table in TABLES.items() for argument in table],
)
def test_an_argument_has_the_documented_default(plugin: type[Plugin], argument: str, default: Any) -> None:
    """The defaults are in the tables of parameters."""
    known = plugin.aliases.get(argument, argument)
    value = getattr(plugin(), flags_of(plugin)[known])

    assert (value, type(value)) == (default, type(default))


@pytest.mark.parametrize(
    ("plugin", "argument", "settings"),
    EXAMPLES,
    ids=[f"{plugin.name}{argument.partition('=')[0]}" for plugin, argument, _ in EXAMPLES],
)
def test_the_documented_example_of_an_argument_is_parsed(
    plugin: type[Plugin],
    argument: str,
    settings: dict[str, Any],
) -> None:
    """It is in the last column of the tables; all other settings keep their defaults."""
    assert plugin.from_args([argument]) == plugin(**settings)


def test_ray_containers_are_named_like_their_tasks_by_default() -> None:
    """The defaults are head and worker; a job with other container names gets an error."""
    document = read("ray").data
    for part in document["spec"]["tasks"]:
        part["template"]["spec"]["containers"][0]["name"] = "ray"

    found = [(problem.path, problem.reason.partition(":")[0]) for problem in problems(document)]
    assert found == [("spec.plugins.ray", "--headContainer"), ("spec.plugins.ray", "--workerContainer")]


def test_the_overview_example_renders_with_tasks() -> None:
    """The overview omits its tasks, so those of the PyTorch section are added."""
    document = read("plugins", "fragments").data
    document["spec"]["tasks"] = read("pytorch").data["spec"]["tasks"]

    made = render(document)

    assert made.plugins == (
        EnvPlugin(),
        SshPlugin(),
        SvcPlugin(publish_not_ready_addresses=True),
        PytorchPlugin(master="master", worker="worker"),
    )


def test_the_overview_example_without_tasks_is_rejected() -> None:
    """A job needs at least one task."""
    document = read("plugins", "fragments").data

    assert places(document) == ["spec.tasks"]
