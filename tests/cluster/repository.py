"""A repository of a platform team, in which the commands of docs/ run with the real engine and API server."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.conftest import Space
from tests.conftest import container, job, task
from tests.engine.conftest import ROOT
from tests.engine.test_policies import Pack
from tests.engine.yamlproject import YamlProject, output_of
from tests.pages.blocks import blocks

POLICY = """
from pulumi_volcano_jobs import policy

policy.pack(queues=["research"], registries=["ghcr.io/me"])
"""


class Repository(YamlProject):
    """A repository with a project, a stack `dev`, job files, a policy pack and a kubeconfig."""

    def __init__(self, folder: Path, space: Space, **fields: Any) -> None:
        """Create the repository; its job runs in a namespace of the cluster. The keywords are fields of the job."""
        super().__init__(folder)
        self.space = space
        self.fields = fields
        self.pack = Pack(folder / "policy", POLICY)
        self.environment["PYTHONPATH"] = str(ROOT)
        config = yaml.safe_load(space.cluster.kubeconfig.read_text("utf-8"))
        config["contexts"][0]["context"]["namespace"] = space.name
        (folder / "kubeconfig").write_text(yaml.safe_dump(config), "utf-8")
        self.environment["KUBECONFIG"] = str(folder / "kubeconfig")
        (folder / "jobs").mkdir()
        self.edit("ghcr.io/me/train:1")
        self.done("stack", "init", "dev")
        self.done("config", "set", "volcano-jobs:namespace", space.name)

    def edit(self, image: str) -> None:
        """Set the image of the job in the program and in the file."""
        resources = {"requests": {"cpu": "1", "memory": "1Gi"}}
        tasks = [task("worker", 2, containers=[container(image=image, resources=resources)])]
        document = job(*tasks, queue="research", plugins={"svc": []})
        train = {"type": "volcano-jobs:index:VolcanoJob", "properties": document["spec"] | self.fields}
        program = {"name": "tests", "runtime": "yaml", "resources": {"train": train}}
        (self.folder / "Pulumi.yaml").write_text(yaml.safe_dump(program), "utf-8")
        (self.folder / "jobs" / "job.yaml").write_text(yaml.safe_dump(document), "utf-8")

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a line of a shell without a terminal."""
        # The pack starts with a script, because no registry has Pulumi's Python host.
        line = line.replace("--policy-pack policy", f"--policy-pack {shlex.quote(str(self.pack.starter))}")
        return self.execute("bash", "-ec", line)

    def succeeds(self, line: str) -> str:
        """Run a line, check that it succeeds, and return its output."""
        return output_of(self.run(line))

    def images(self) -> set[str]:
        """Return the images of the Pods in the cluster."""
        return {pod["spec"]["containers"][0]["image"] for pod in self.space.pods().values()}


def shell_lines(page: str, *skipped: str) -> list[str]:
    """Return the lines of the shell blocks of a page, without those that begin with one of these words."""
    lines = [line.strip() for block in blocks() if block.key == (page, "sh") for line in block.text.splitlines()]
    assert all(any(line.startswith(word) for line in lines) for word in skipped)
    return [line for line in lines if not line.startswith(skipped)]
