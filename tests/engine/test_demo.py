"""The project of the demo: the PyTorch job of Volcano's guide, from the first preview to destroy."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deadlines import DEADLINE
from tests.engine.conftest import ROOT, Project, Run, copy_example, short

pytestmark = pytest.mark.engine
DOCUMENTS = ROOT / "tests" / "documents" / "jobs"
# Jobs of each plugin, and one with each kind of object; no two of them share an object.
JOBS = [
    ROOT / "tests" / "cli" / "golden" / "job.yaml",
    *(DOCUMENTS / f"{name}.yaml" for name in ("env", "mpi", "pytorch", "ray", "ssh", "tensorflow")),
]
KEYS = ("authorized_keys", "id_rsa", "id_rsa.pub")
# Allowed differences between a manifest that the provider writes and the one that the command line prints.
DIFFERENCES = {
    "instructions": "annotations pulumi.com/* are between the component and Pulumi: what to wait for, a Pod's world",
    "amounts": "the provider writes quantities of resources as strings, as the API server does: 2 becomes '2'",
    "keys": "the command line shows placeholders, the provider writes real keys: only their presence is compared",
}
# Each resource of the demo with its parent. The provider of the Stash is built into Pulumi, which does not list it.
RESOURCES = {
    "Stack volcano-jobs-demo-dev": "",
    "pulumi default": "",
    "kubernetes files": "Stack volcano-jobs-demo-dev",
    "VolcanoJob pytorch-job": "Stack volcano-jobs-demo-dev",
    "Stash pytorch-job-managed-by": "VolcanoJob pytorch-job",
    "Stash pytorch-job-created": "VolcanoJob pytorch-job",
    "PytorchPlugin pytorch-job-pytorch": "VolcanoJob pytorch-job",
    "SvcPlugin pytorch-job-svc": "VolcanoJob pytorch-job",
    "Task pytorch-job-master": "VolcanoJob pytorch-job",
    "Task pytorch-job-worker": "VolcanoJob pytorch-job",
    "PodGroup pytorch-job": "VolcanoJob pytorch-job",
    "ConfigMap pytorch-job-svc": "SvcPlugin pytorch-job-svc",
    "NetworkPolicy pytorch-job-svc": "SvcPlugin pytorch-job-svc",
    "Service pytorch-job-svc": "SvcPlugin pytorch-job-svc",
    "Pod pytorch-job-master-0": "Task pytorch-job-master",
    "Pod pytorch-job-worker-0": "Task pytorch-job-worker",
    "Pod pytorch-job-worker-1": "Task pytorch-job-worker",
}
COUNTED = RESOURCES.keys() - {"pulumi default"}
TYPES = {
    "pulumi:pulumi:Stack",
    "pulumi:index:Stash",
    "pulumi:providers:kubernetes",
    "pulumi:providers:pulumi",
    "volcano-jobs:index:VolcanoJob",
    "volcano-jobs:index:PytorchPlugin",
    "volcano-jobs:index:SvcPlugin",
    "volcano-jobs:index:Task",
    "kubernetes:scheduling.volcano.sh/v1beta1:PodGroup",
    "kubernetes:core/v1:ConfigMap",
    "kubernetes:networking.k8s.io/v1:NetworkPolicy",
    "kubernetes:core/v1:Service",
    "kubernetes:core/v1:Pod",
}


def rendered(*jobs: Path) -> dict[str, Any]:
    """Return the manifests that the command line prints for jobs, by kind and name."""
    command = [Path(sys.executable).parent / "volcano-jobs", "render", *jobs]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=DEADLINE)
    return by_name(yaml.safe_load_all(done.stdout))


def by_name(manifests: Any) -> dict[str, Any]:
    """Return manifests by kind and name, without the allowed differences (see DIFFERENCES)."""
    return {f"{item['kind']} {item['metadata']['name']}": normal(item) for item in manifests}


def normal(manifest: Any) -> Any:
    """Return a manifest without the allowed differences."""
    manifest = with_amounts(manifest)
    metadata = dict(manifest["metadata"])
    annotations = metadata.pop("annotations", {})
    kept = {key: value for key, value in annotations.items() if not key.startswith("pulumi.com/")}
    same = {**manifest, "metadata": metadata | ({"annotations": kept} if kept else {})}
    if manifest["kind"] == "Secret":
        data = {key: bool(value) if key in KEYS else value for key, value in manifest["data"].items()}
        same["data"] = data
    return same


def with_amounts(tree: Any, key: str = "") -> Any:
    """Return a manifest with all resource quantities as strings."""
    if isinstance(tree, dict):
        return {
            name: with_amounts(value, key if key in ("limits", "requests") else name) for name, value in tree.items()
        }
    if isinstance(tree, list):
        return [with_amounts(item) for item in tree]
    return str(tree) if key in ("limits", "requests") else tree


@dataclass
class Demo:
    """Results of the steps of the demo."""

    preview: Run
    first: Run
    resources: list[dict[str, Any]]
    manifests: dict[str, Any]
    outputs: dict[str, Any]
    preview_again: Run
    second: Run
    destroyed: Run
    left: list[dict[str, Any]]
    files_left: list[Path]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Run all steps of the demo once, and keep the results."""
    project = copy_example("pytorch", tmp_path_factory.mktemp("demo"))
    return Demo(
        preview=project.preview(),
        first=project.up(),
        resources=project.resources(),
        manifests=project.manifests(),
        outputs=project.outputs(),
        preview_again=project.preview(),
        second=project.up(),
        destroyed=project.destroy(),
        left=project.resources(),
        files_left=project.files(),
    )


def test_up_creates_each_resource_below_its_parent(demo: Demo) -> None:
    """The job is the parent of its plugins and tasks, which are parents of their objects."""
    parents = {short(item["urn"]): short(item["parent"]) if "parent" in item else "" for item in demo.resources}

    assert parents == RESOURCES
    assert {item["type"] for item in demo.resources} == TYPES


def test_preview_shows_the_steps_of_up(demo: Demo) -> None:
    """Resources and operations are the same."""
    assert demo.preview.urns == demo.first.urns
    assert demo.preview.steps == demo.first.steps == dict.fromkeys(RESOURCES, "create")


def test_a_second_up_changes_nothing(demo: Demo) -> None:
    """Its preview also shows no change."""
    assert demo.preview_again.changes == demo.second.changes == {"same": len(COUNTED)}


def test_outputs_are_plain(demo: Demo) -> None:
    """Exports can be read without the passphrase of the stack."""
    assert demo.outputs["pods"] == ["pytorch-job-master-0", "pytorch-job-worker-0", "pytorch-job-worker-1"]
    assert demo.outputs["namespace"] == "default"


def test_written_manifests_equal_those_of_the_command_line(demo: Demo) -> None:
    """The composed job equals the rendered one."""
    assert by_name(demo.manifests.values()) == rendered(ROOT / "examples" / "pytorch" / "job.yaml")


def test_destroy_deletes_all_resources(demo: Demo) -> None:
    """Their files are also deleted."""
    assert demo.destroyed.changes == {"delete": len(COUNTED)}
    assert demo.left == []
    assert demo.files_left == []


def test_jobs_of_all_plugins_equal_those_of_the_command_line(tmp_path: Path) -> None:
    """Each kind of object occurs, keys are compared by presence, and only the listed differences are allowed."""
    (tmp_path / "jobs").mkdir()
    for job in JOBS:
        shutil.copy(job, tmp_path / "jobs")
    program = """
for path in sorted((HERE / "jobs").glob("*.yaml")):
    VolcanoJob.from_yaml(path.stem, path, opts=opts)
"""
    project = Project(tmp_path, program)

    project.up()

    written = project.manifests()
    printed = rendered(*JOBS)
    assert by_name(written.values()) == printed
    assert {name.split()[0] for name in printed} == {
        "ConfigMap",
        "NetworkPolicy",
        "PersistentVolumeClaim",
        "Pod",
        "PodGroup",
        "Secret",
        "Service",
    }
    instructed = {
        key
        for item in written.values()
        for key in item["metadata"].get("annotations", {})
        if key.startswith("pulumi.com/")
    }
    assert instructed == {"pulumi.com/volcano-digest", "pulumi.com/volcano-replicas", "pulumi.com/waitFor"}
