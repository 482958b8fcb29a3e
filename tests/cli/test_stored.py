"""`kubectl get vcjob -o yaml | volcano-jobs COMMAND -`: Jobs that Volcano has stored."""

from __future__ import annotations

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.spec.naming import pod_group
from tests.cli.conftest import Shell
from tests.unit.spec.test_document import stored

LISTED = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}}


def kubectl_output() -> bytes:
    """Return the output of kubectl for two Jobs."""
    items = [stored(), stored(name="second", generateName="sec")]
    return yaml.safe_dump({**LISTED, "items": items}).encode()


@pytest.mark.parametrize("command", ["render", "validate", "explain", "graph", "convert"])
def test_every_command_accepts_stored_jobs(shell: Shell, command: str) -> None:
    """The claim has a warning. No field that the server sets is reported or printed."""
    answer = shell(command, "-", stdin=kubectl_output())

    assert answer.code == 0
    warned = {place.partition(": ")[2] for place in answer.places}
    assert warned <= {"warning: spec.volumes[0].volumeClaimName"}
    assert {line[-8:] for line in answer.lines} <= {" [VJ121]"}
    assert len(answer.lines) == (0 if command == "graph" else 2)
    assert not any(text in answer.out for text in ("managedFields", "resourceVersion", "phase", "foregroundDeletion"))


def test_the_stored_claim_is_mounted(shell: Shell) -> None:
    """Pods mount the existing claim, and no claim is rendered."""
    documents = shell("render", "-", "--ignore", "VJ121", stdin=kubectl_output()).documents()

    assert "PersistentVolumeClaim" not in {item["kind"] for item in documents}
    assert [item["metadata"]["name"] for item in documents if item["kind"] == "PodGroup"] == list(
        map(pod_group, ("train", "second"))
    )


def test_an_empty_list_is_rejected(shell: Shell, snapshot: SnapshotAssertion) -> None:
    """It is what kubectl prints for a namespace without Jobs."""
    answer = shell("validate", "-", stdin=yaml.safe_dump({**LISTED, "items": []}).encode())

    assert (answer.code, answer.err) == (1, "")
    assert answer.out == snapshot


def test_a_converted_job_keeps_the_claim(shell: Shell) -> None:
    """The program names the claim that exists."""
    program = shell("convert", "-", "--ignore", "VJ121", stdin=yaml.safe_dump(stored()).encode()).out

    assert '[{"mount_path": "/data", "volume_claim_name": "train-pvc-4bfb7"}]' in program
    assert '"volume_claim":' not in program
    assert "4711" not in program
