"""The demo's project: the PyTorch job of Volcano's guide, from the first preview to the end."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.engine.conftest import ROOT, Project, Run, copy_example, short

pytestmark = pytest.mark.engine
DOCUMENTS = ROOT / "tests" / "documents" / "jobs"
# Jobs of every plugin, and one of every kind of object; no two of them have an object in common.
JOBS = [
    ROOT / "tests" / "cli" / "golden" / "job.yaml",
    *(DOCUMENTS / f"{name}.yaml" for name in ("env", "mpi", "pytorch", "ray", "ssh", "tensorflow")),
]
KEYS = ("authorized_keys", "id_rsa", "id_rsa.pub")
# All in which a manifest that the provider writes may differ from what the command line prints for the same job.
DIFFERENCES = {
    "instructions": "annotations pulumi.com/* are between the component and Pulumi: what to wait for, a Pod's world",
    "amounts": "the provider writes quantities of resources as strings, as the API server does: 2 becomes '2'",
    "keys": "the command line shows placeholders, the provider writes real keys: both are there, and that is compared",
}
# Each resource of the demo with its parent. The provider of the Stash is Pulumi's own, which it does not count.
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
    """Give what the command line prints for jobs, by kind and name."""
    command = [Path(sys.executable).parent / "volcano-jobs", "render", *jobs]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return by_name(yaml.safe_load_all(done.stdout))


def by_name(manifests: Any) -> dict[str, Any]:
    """Key manifests by kind and name, without what may differ (see DIFFERENCES)."""
    return {f"{item['kind']} {item['metadata']['name']}": normal(item) for item in manifests}


def normal(manifest: Any) -> Any:
    """Take out of a manifest what may differ."""
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
    """Write all amounts of resources as strings."""
    if isinstance(tree, dict):
        return {
            name: with_amounts(value, key if key in ("limits", "requests") else name) for name, value in tree.items()
        }
    if isinstance(tree, list):
        return [with_amounts(item) for item in tree]
    return str(tree) if key in ("limits", "requests") else tree


@dataclass
class Demo:
    """What happened to the demo's stack, step by step."""

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
    """Run the demo once, all of it, and keep what happened."""
    project = copy_example("pytorch", tmp_path_factory.mktemp("demo"))
    return Demo(
        preview=project.preview(),
        first=project.up(),
        resources=project.resources(),
        manifests=project.manifests(),
        outputs={key: output.value for key, output in project.stack.outputs().items()},
        preview_again=project.preview(),
        second=project.up(),
        destroyed=project.destroy(),
        left=project.resources(),
        files_left=project.files(),
    )


def test_up_makes_each_resource_below_its_parent(demo: Demo) -> None:
    """The job parents its plugins and tasks, and those what they made."""
    parents = {short(item["urn"]): short(item["parent"]) if "parent" in item else "" for item in demo.resources}

    assert parents == RESOURCES
    assert {item["type"] for item in demo.resources} == TYPES


def test_preview_shows_what_up_does(demo: Demo) -> None:
    """The same steps to the same resources, and nothing hidden until it happens."""
    assert demo.preview.urns == demo.first.urns
    assert demo.preview.steps == demo.first.steps == dict.fromkeys(RESOURCES, "create")


def test_a_second_up_changes_nothing(demo: Demo) -> None:
    """Neither it nor its preview shows a change."""
    assert demo.preview_again.changes == demo.second.changes == {"same": len(COUNTED)}


def test_outputs_are_plain(demo: Demo) -> None:
    """The program's exports can be read without a secret's key."""
    assert demo.outputs["pods"] == ["pytorch-job-master-0", "pytorch-job-worker-0", "pytorch-job-worker-1"]
    assert demo.outputs["namespace"] == "default"


def test_what_is_written_is_what_the_command_line_prints(demo: Demo) -> None:
    """The composed job and the rendered one are the same manifests."""
    assert by_name(demo.manifests.values()) == rendered(ROOT / "examples" / "pytorch" / "job.yaml")


def test_destroy_leaves_nothing(demo: Demo) -> None:
    """All resources are deleted, and so are their files."""
    assert demo.destroyed.changes == {"delete": len(COUNTED)}
    assert demo.left == []
    assert demo.files_left == []


def test_jobs_of_all_plugins_are_written_as_the_command_line_prints_them(tmp_path: Path) -> None:
    """Every kind of object, keys by presence; the differences are those listed above and no others."""
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
