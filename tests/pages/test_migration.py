"""migrate-kubeflow.md, migrate-torchx.md and migrate-volcano.md: the original and the converted job are equivalent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.testing import run
from tests.pages.blocks import ROOT, blocks

Wire = dict[str, Any]


def of(page: str, language: str) -> list[str]:
    """Return the blocks of a page and language."""
    return [block.text for block in blocks() if block.key == (f"docs/{page}.md", language)]


def run_program(program: str) -> dict[str, Wire]:
    """Run a program of a page without arguments, and return its objects by type and name."""
    done = run(lambda: exec(program, {}))  # noqa: S102  # our own page
    assert done.warnings == []
    return done.manifests()


def containers(made: dict[str, Wire], *pods: str) -> list[Wire]:
    """Return the first containers of Pods."""
    return [made[f"Pod {pod}"]["spec"]["containers"][0] for pod in pods]


def variables(container: Wire) -> dict[str, str]:
    """Return the literal variables of a container."""
    return {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}


class TestPyTorchJob:
    """Example of Kubeflow, and the converted program."""

    JOB, _ = map(yaml.safe_load, of("migrate-kubeflow", "yaml"))
    ROLES: Wire = JOB["spec"]["pytorchReplicaSpecs"]

    def test_the_pods_are_the_same(self) -> None:
        """Names, namespace, containers and restart policies are compared."""
        made = run_program(of("migrate-kubeflow", "python")[0])

        expected = [
            f"Pod {self.JOB['metadata']['name']}-{role.lower()}-{index}"
            for role, spec in self.ROLES.items()
            for index in range(spec["replicas"])
        ]
        assert [name for name in made if name.startswith("Pod ")] == expected
        for role, spec in self.ROLES.items():
            pod = made[f"Pod pytorch-simple-{role.lower()}-0"]
            (given,) = spec["template"]["spec"]["containers"]
            assert given.items() <= pod["spec"]["containers"][0].items()
            assert pod["spec"]["restartPolicy"] == spec["restartPolicy"]
            assert pod["metadata"]["namespace"] == self.JOB["metadata"]["namespace"]

    def test_the_pods_have_the_variables_of_the_table(self) -> None:
        """The master address, ranks by Pod and the port name are set, and workers wait."""
        made = run_program(of("migrate-kubeflow", "python")[0])

        master, worker = containers(made, "pytorch-simple-master-0", "pytorch-simple-worker-0")
        told = {"MASTER_ADDR": "pytorch-simple-master-0.pytorch-simple", "MASTER_PORT": "23456", "WORLD_SIZE": "2"}
        assert told.items() <= variables(master).items()
        assert [variables(container)["RANK"] for container in (master, worker)] == ["0", "1"]
        assert {"name": "pytorchjob-port", "containerPort": 23456} in master["ports"]
        assert "initContainers" in made["Pod pytorch-simple-worker-0"]["spec"]


class TestMpiJob:
    """Example of the MPI operator, and the converted program."""

    _, JOB = map(yaml.safe_load, of("migrate-kubeflow", "yaml"))
    ROLES: Wire = JOB["spec"]["mpiReplicaSpecs"]

    def test_the_tasks_are_the_roles(self) -> None:
        """The native Job has replicas and containers of each role, with quantities as text."""
        walk = schema.SchemaPruner(quantities_as_text=True)
        spec = run_program(of("migrate-kubeflow", "python")[1])["Job pi"]["spec"]

        tasks = {task["name"]: task for task in spec["tasks"]}
        assert [*tasks] == [role.lower() for role in self.ROLES]
        for role, given in self.ROLES.items():
            task = tasks[role.lower()]
            assert task["replicas"] == given["replicas"]
            (container,) = walk.apply(given["template"], schema.POD_TEMPLATE, "")["spec"]["containers"]
            assert container.items() <= task["template"]["spec"]["containers"][0].items()

    def test_the_launcher_has_the_settings_of_the_table(self) -> None:
        """It has the host file with slots, Open MPI's variables, the path of the keys, and the wait."""
        made = run_program(of("migrate-kubeflow", "python")[1])
        spec = made["Job pi"]["spec"]
        pod = spec["tasks"][0]["template"]["spec"]

        files = [item["data"]["hostfile"] for item in made.values() if "hostfile" in item.get("data", {})]
        assert files == ["pi-worker-0.pi slots=1\npi-worker-1.pi slots=1\n"]
        told = {
            "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
            "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        }
        assert told.items() <= variables(pod["containers"][0]).items()
        assert f"--ssh-key-file-path={self.JOB['spec']['sshAuthMountPath']}" in spec["plugins"]["ssh"]
        assert [container["name"] for container in pod["initContainers"]] == ["wait-for-workers"]


class TestTorchx:
    """Output of `torchx run --dryrun`, and the converted program."""

    (TEXT,) = of("migrate-torchx", "yaml")
    (PROGRAM,) = of("migrate-torchx", "python")

    def test_the_job_of_torchx_is_accepted_unchanged(self) -> None:
        """Its only warning is about maxRetry. The second task finds the first by a variable of the svc plugin."""
        made = render(yaml.safe_load(self.TEXT))

        assert [(warning.path, warning.code) for warning in made.warnings] == [("spec.maxRetry", "VJ133")]
        names = {entry["name"] for entry in made.pods[1]["spec"]["containers"][0]["env"]}
        assert "VC_TRAIN_0_HOSTS" in names

    def test_the_program_has_the_same_pods_images_and_resources(self) -> None:
        """Limits, the memory of /dev/shm, and Istio annotations are included."""
        made = run_program(self.PROGRAM)
        theirs = render(yaml.safe_load(self.TEXT)).pods

        ours = [pod for name, pod in made.items() if name.startswith("Pod ")]
        assert len(ours) == len(theirs)
        for mine, given in zip(ours, theirs, strict=True):
            container, like = mine["spec"]["containers"][0], given["spec"]["containers"][0]
            assert container["image"] == like["image"]
            assert [container["resources"]["limits"][name] for name in ("cpu", "memory")] == ["2", "1024M"]
            assert "/dev/shm" in {mount["mountPath"] for mount in container["volumeMounts"]}
            assert mine["metadata"]["labels"]["sidecar.istio.io/inject"] == "false"
            assert mine["spec"]["restartPolicy"] == given["spec"]["restartPolicy"]

    def test_torchrun_reads_the_world_size_from_variables(self) -> None:
        """Two nodes run two processes each, as with TorchX's flags."""
        pods = containers(run_program(self.PROGRAM), "train-master-0", "train-worker-0")

        told = [{name: variables(pod)[name] for name in ("PET_NNODES", "PET_NPROC_PER_NODE")} for pod in pods]
        assert told == [{"PET_NNODES": "2", "PET_NPROC_PER_NODE": "2"}] * 2
        assert [variables(pod)["PET_NODE_RANK"] for pod in pods] == ["0", "1"]


class TestVolcano:
    """Example of Volcano: the programs read the file that the page shows."""

    @pytest.mark.parametrize("number", [0, 1])
    def test_the_file_of_the_page_is_accepted(
        self, number: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """Both modes are used."""
        (text,) = of("migrate-volcano", "yaml")
        (tmp_path / "job.yaml").write_text(text, "utf-8")
        monkeypatch.chdir(tmp_path)

        done = run(lambda: exec(of("migrate-volcano", "python")[number], {}))  # noqa: S102  # our own page

        assert (done.names("Pod"), done.names("Job")) in [
            (["pytorch-job-master-0", "pytorch-job-worker-0", "pytorch-job-worker-1"], []),
            ([], ["pytorch-job"]),
        ]
        assert bool(done.names("Job")) == bool(number)

    def test_the_file_equals_that_of_the_guide(self) -> None:
        """Only comments differ."""
        (text,) = of("migrate-volcano", "yaml")
        guide = (ROOT / "tests" / "documents" / "jobs" / "pytorch-guide-short.yaml").read_text("utf-8")

        assert yaml.safe_load(text) == yaml.safe_load(guide)
