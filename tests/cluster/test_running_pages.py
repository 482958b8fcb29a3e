"""The commands of the pages about running jobs, on the real API server: docs/data.md, gpus.md, registries.md."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cluster.conftest import Space
from tests.conftest import CLAIM
from tests.deadlines import DEADLINE
from tests.pages.running import PAGES, blocks

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
# `kubectl exec` needs a kubelet.
LINES = [
    line
    for page in PAGES
    for block in blocks(page, "sh")
    for line in block.splitlines()
    if line.startswith("kubectl ") and not line.startswith("kubectl exec ")
]


@pytest.fixture
def output(space: Space, tmp_path: Path) -> str:
    """Run the commands in a namespace with the claim of the page, beside a file with credentials."""
    metadata = {"name": "train-pvc-checkpoints", "namespace": space.name}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": CLAIM}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": space.name}}
    space.cluster.apply([claim, account])
    (tmp_path / "config.json").write_text('{"auths": {"ghcr.io": {"username": "robot"}}}', "utf-8")
    printed = []
    for line in LINES:
        # These options may follow the others of each command.
        options = ["--namespace", space.name, "--kubeconfig", str(space.cluster.kubeconfig)]
        done = subprocess.run(
            [*shlex.split(line), *options], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=DEADLINE
        )
        assert done.returncode == 0, (line, done.stderr)
        printed.append(done.stdout)
    return "".join(printed)


def test_the_commands_run(space: Space, output: str) -> None:
    """They delete the claim, list nodes, create the Secret, and change the account."""
    assert "NODE" in output
    assert "GPUS" in output
    assert "TAINTS" in output
    assert "GPU.PRODUCT" in output
    assert '"cpu"' in output
    assert space.cluster.list("PersistentVolumeClaim", space.name) == {}
    assert space.cluster.get("Secret", "registry", space.name)["type"] == "kubernetes.io/dockerconfigjson"
    account = space.cluster.get("ServiceAccount", "default", space.name)
    assert account["imagePullSecrets"] == [{"name": "registry"}]
