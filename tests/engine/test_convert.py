"""Converted programs run unchanged on the real engine and create the objects of their files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.files import job_file
from tests.conftest import BYTES, PAIR, job, task
from tests.engine.conftest import Project
from tests.engine.yamlproject import YamlProject

pytestmark = pytest.mark.engine
GUIDE = Path(__file__).parents[1] / "documents" / "jobs" / "svc.yaml"
KEY = PAIR.private
PLUGINS = {"svc": [], "ssh": [f"--ssh-private-key={KEY}", f"--ssh-public-key={PAIR.public.strip()}"]}
SECRET = "train-default-ssh-private-key"
Manifests = Mapping[tuple[str, str, str], Any]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a file of three jobs: one with dollar signs and a given key, and two with the same name."""
    other = job(task("side-car", 2))
    other["metadata"]["namespace"] = "research"
    text = job_file.dump([job(task(name="a-b"), plugins=PLUGINS), other])
    file = tmp_path_factory.mktemp("jobs") / "jobs.yaml"
    file.write_text(f"{GUIDE.read_text('utf-8')}{text}", "utf-8")
    return file


def command(*arguments: str) -> bytes:
    """Run `volcano-jobs`."""
    program = Path(sys.executable).parent / "volcano-jobs"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run([program, *arguments], env=environment, capture_output=True, check=True).stdout


def described(file: Path) -> Manifests:
    """Return specs and data of the rendered file."""
    documents = job_file.read(file.read_text("utf-8"))
    made = [render(document.data) for document in documents]
    return contents([manifest for item in made for manifest in (*item.objects, *item.pods)])


def written(folder: Path) -> Manifests:
    """Return specs and data of the files that the provider wrote."""
    return contents([yaml.safe_load(path.read_text("utf-8")) for path in folder.rglob("*.yaml")])


def contents(manifests: list[dict[str, Any]]) -> Manifests:
    """Return specs and data by kind, namespace and name."""
    return {
        (item["kind"], item["metadata"]["namespace"], item["metadata"]["name"]): item.get("spec", item.get("data"))
        for item in manifests
    }


def test_a_yaml_program_creates_the_objects_of_the_file(jobs: Path, tmp_path: Path) -> None:
    """The printed command sets the secret."""
    project = YamlProject(tmp_path)
    (tmp_path / "Pulumi.yaml").write_bytes(command("convert", "--language", "yaml", str(jobs)))
    run = project.pulumi
    assert run("stack", "init", "dev").returncode == 0
    assert run("config", "set", "kubernetes:renderYamlToDirectory", str(tmp_path / "rendered")).returncode == 0
    assert run("config", "set", "kubernetes:kubeconfig", "").returncode == 0
    key = command("convert", "--show-secret", SECRET, str(jobs))
    done = subprocess.run(
        ["pulumi", "config", "set", "--secret", SECRET],
        cwd=tmp_path,
        env=project.environment,
        input=key,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

    up = run("up", "--yes", "--skip-preview")

    assert up.returncode == 0, up.stdout + up.stderr
    assert written(tmp_path / "rendered") == described(jobs)
    assert BYTES not in up.stdout + up.stderr
    assert BYTES not in "".join(path.read_text("utf-8") for path in (tmp_path / "state").rglob("*.json"))


def test_a_python_program_creates_the_objects_of_the_file(jobs: Path, tmp_path: Path) -> None:
    """The key is a secret of the stack."""
    rendered = tmp_path / "rendered"
    config = {
        "kubernetes:renderYamlToDirectory": str(rendered),
        "kubernetes:kubeconfig": "",
        SECRET: KEY,
    }
    (tmp_path / "Pulumi.yaml").write_text("name: tests\nruntime: python\n", "utf-8")
    (tmp_path / "__main__.py").write_bytes(command("convert", str(jobs)))

    Project(tmp_path, config=config).up()

    assert written(rendered) == described(jobs)
