"""Go and TypeScript projects with SDKs generated from the committed schema, run by the real engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import build
import packageschema
import yaml

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.kubernetes.manifest import ObjectRef
from tests.engine.yamlproject import CommandLine

HOST = Path(__file__).with_name("host.py")
EXAMPLES = packageschema.ROOT / "examples"
TOKEN = "only for the job"
POD = {
    "spec": {
        "restartPolicy": "OnFailure",
        "containers": [
            {
                "name": "train",
                "image": "ghcr.io/me/train:1",
                "command": ["python", "train.py"],
                "env": [{"name": "TOKEN", "value": TOKEN}],
            },
        ],
    },
}
JOB = {
    "queue": "research",
    "plugins": {"pytorch": ["--port=29500"], "ssh": []},
    "tasks": [
        {"name": "master", "replicas": 1, "template": POD},
        {"name": "worker", "replicas": 2, "template": POD},
    ],
}
"""The job of both examples."""


def run(command: list[str | Path], folder: Path, **environment: str) -> str:
    """Run a command, and check that it succeeds."""
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def generate(language: str, folder: Path) -> None:
    """Generate an SDK from the committed schema, as `pulumi package add` does."""
    (path,) = build.ensure(["sdkgen"], lambda _: None)
    run([path / "sdkgen", packageschema.COMMITTED, language, folder], packageschema.ROOT)


def copy_example(name: str, folder: Path) -> Path:
    """Copy an example without generated files."""
    made = shutil.ignore_patterns("sdks", "node_modules", "bin", "rendered")
    return Path(shutil.copytree(EXAMPLES / name, folder / name, ignore=made))


class Project(CommandLine):
    """A project with a built program, and with the test language host on PATH."""

    def __init__(self, folder: Path, options: Mapping[str, str]) -> None:
        """Use the project in the folder; the runtime options are those of a built program."""
        super().__init__(folder)
        settings = yaml.safe_load((folder / "Pulumi.yaml").read_text("utf-8"))
        language = settings["runtime"]
        settings["runtime"] = {"name": language, "options": dict(options)}
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump(settings), "utf-8")
        bin_folder = folder / "host"
        bin_folder.mkdir()
        host = bin_folder / f"pulumi-language-{language}"
        host.write_text(f"#!{sys.executable}\n{HOST.read_text('utf-8')}", "utf-8")
        host.chmod(0o755)
        self.environment["PATH"] = os.pathsep.join([str(bin_folder), self.environment["PATH"]])


def check_manifests(project: CommandLine) -> None:
    """Run the example; check that the manifests equal those of the Python job, and that the token is a secret."""
    project.without_cluster(token=TOKEN)
    up = project.done("up", "--yes", "--skip-preview")

    rendered = render({"name": "train", **JOB})
    expected = {ObjectRef.of(item): item for item in (*rendered.objects, *rendered.pods)}
    written = {ObjectRef.of(item): item for item in project.manifests().values()}
    assert written.keys() == expected.keys()
    pods = {ref: item["spec"] for ref, item in written.items() if item["kind"] == "Pod"}
    assert pods == {ref: item["spec"] for ref, item in expected.items() if item["kind"] == "Pod"}
    assert project.outputs() == {
        "pods": ["train-master-0", "train-worker-0", "train-worker-1"],
        "workers": ["train-worker-0.train", "train-worker-1.train"],
    }
    assert TOKEN not in up
    assert TOKEN not in project.state()
    assert project.steps() == {}
