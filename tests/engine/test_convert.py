"""Converted programs run unchanged on the real engine and create the objects of their files."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.files import job_file
from tests.commands import run_command
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
    result = run_command(*arguments)
    assert result.exit_code == 0, result.output
    return bytes(result.stdout_bytes)


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
        (item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]): item.get(
            "spec", item.get("data")
        )
        for item in manifests
    }


def test_a_yaml_program_creates_the_objects_of_the_file(jobs: Path, tmp_path: Path) -> None:
    """The printed command sets the secret."""
    project = YamlProject(tmp_path)
    (tmp_path / "Pulumi.yaml").write_bytes(command("convert", "--language", "yaml", str(jobs)))
    project.without_cluster()
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

    project.up()

    assert written(tmp_path / "rendered") == described(jobs)
    assert BYTES not in project.said
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


NEIGHBORS = """\
apiVersion: v1
kind: Namespace
metadata: {name: research}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: research}
data: {train.sh: "echo ${HOME} $$"}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: research}
data: {password: aHVudGVyMg==}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: research}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: team}
spec: {weight: 2, reclaimable: true, parent: root}
---
"""


@pytest.mark.parametrize("language", ["python", "yaml"])
def test_a_program_creates_the_other_objects_of_the_file(language: str, tmp_path: Path) -> None:
    """The objects are those that `volcano-jobs render` prints. The value of the Secret comes from the stack."""
    document = job(task(priorityClassName="high"), queue="team", priorityClassName="high")
    document["metadata"]["namespace"] = "research"
    file, project = tmp_path / "all.yaml", tmp_path / "project"
    rendered = project / "rendered"
    file.write_text(NEIGHBORS + job_file.dump([document]), "utf-8")
    project.mkdir()
    program = command("convert", "--language", language, str(file))
    password = {"credentials-password": "aHVudGVyMg=="}
    if language == "python":
        (project / "Pulumi.yaml").write_text("name: tests\nruntime: python\n", "utf-8")
        (project / "__main__.py").write_bytes(program)
        files = {"kubernetes:renderYamlToDirectory": str(rendered), "kubernetes:kubeconfig": ""}
        Project(project, config=files | password).up()
    else:
        stack = YamlProject(project)
        (project / "Pulumi.yaml").write_bytes(program)
        stack.without_cluster(**password)
        stack.up()

    assert b"aHVudGVyMg" not in program
    assert written(rendered) == contents(list(yaml.safe_load_all(command("render", str(file)))))
