"""The ssh key of a job: generated once, kept in the state, and never shown."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization

from pulumi_volcano_jobs.plugins import ssh_keys
from tests.engine.conftest import Project, Run, Steps

pytestmark = pytest.mark.engine
PROGRAM = """
def task(name, replicas):
    pod = {"restartPolicy": "OnFailure", "containers": [{"name": "main", "image": "example.org/mpi:1"}]}
    return {"name": name, "replicas": replicas, "template": {"spec": pod}}


args = {"tasks": [task("master", 1), task("worker", config.get_int("workers") or 1)], "plugins": {"mpi": []}}
if rotation := config.get("rotation"):
    args["key_rotation"] = rotation
if options := config.get_object("ssh"):
    args["plugin_options"] = {"ssh": options}
job = VolcanoJob("train", args, opts)
pulumi.export("public_key", job.ssh.public_key)
pulumi.export("private_key", job.ssh.private_key)
"""
PODS = ["Pod train-master-0", "Pod train-worker-0"]
HOSTS = {"ConfigMap train-svc": "replace", "PodGroup train": "update", "Secret train-ssh": "replace"}
# Pods mount a key by its file name, which depends on its type and its Secret.
SPECS = {"Task train-master": "update", "Task train-worker": "update"}


def mpi(folder: Path) -> Project:
    """Create the project of an MPI job, which has an ssh key."""
    return Project(folder, PROGRAM)


def pair(project: Project) -> tuple[str, str]:
    """Return the private and the public key of the written Secret."""
    data = project.manifests()["Secret train-ssh"]["data"]
    private, public, authorized = (
        base64.b64decode(data[key], validate=True).decode() for key in ("id_rsa", "id_rsa.pub", "authorized_keys")
    )
    assert public == authorized
    return private, public


def spellings(private: str) -> Iterator[str]:
    """Return the encodings of a private key: each of its lines, its base64, and escaped as JSON."""
    yield from private.splitlines()[1:3]
    yield json.dumps(private)[1:-1]
    encoded = base64.b64encode(private.encode()).decode()
    # The middle of the key: all keys begin alike, and the end can be padded.
    yield encoded[100:200]
    # Base64 of base64, as in a Secret within another document.
    yield base64.b64encode(encoded.encode()).decode()[100:200]


def shown(private: str, text: str) -> list[str]:
    """Return the encodings of a private key that occur in a text."""
    return [spelling for spelling in spellings(private) if spelling in text]


@pytest.mark.parametrize(
    "write",
    [
        lambda key: f"text {key} text",
        lambda key: json.dumps({"data": {"id_rsa": key}}),
        lambda key: json.dumps({"plaintext": json.dumps(key)}),
        repr,
        lambda key: base64.b64encode(key.encode()).decode(),
        lambda key: json.dumps({"plaintext": json.dumps(base64.b64encode(key.encode()).decode())}),
        lambda key: base64.b64encode(base64.b64encode(key.encode())).decode(),
    ],
    ids=["plain", "JSON", "JSON in JSON", "Python", "base64", "base64 in JSON", "base64 of base64"],
)
def test_the_search_finds_a_key_in_each_encoding(write: Callable[[str], str]) -> None:
    """Otherwise the tests below would prove nothing."""
    private, other = ssh_keys.generate().private, ssh_keys.generate().private

    assert shown(private, write(private)) != []
    assert shown(other, write(private)) == []


@dataclass
class Life:
    """Results of creating, scaling and rotating a job with a key."""

    preview: Run
    first: Run
    first_pair: tuple[str, str]
    outputs: dict[str, Any]
    scaled: Steps
    scaled_pair: tuple[str, str]
    rotated_preview: Run
    rotated: Run
    rotated_pair: tuple[str, str]
    last: Run
    last_pair: tuple[str, str]
    state: dict[str, str]
    output: str
    destroyed: Run


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Run the job through all steps once, and keep the results."""
    project = mpi(tmp_path_factory.mktemp("keys"))
    preview, first = project.preview(), project.up()
    first_pair, outputs = pair(project), project.stack.outputs()
    project.configure(workers="2")
    scaled = project.up()
    scaled_pair = pair(project)
    project.configure(rotation="2026")
    rotated_preview, rotated = project.preview(), project.up()
    rotated_pair = pair(project)
    last = project.up()
    last_pair = pair(project)
    state = {str(path): path.read_text("utf-8", "replace") for path in project.state.rglob("*") if path.is_file()}
    return Life(
        preview=preview,
        first=first,
        first_pair=first_pair,
        outputs={key: (output.value, output.secret) for key, output in outputs.items()},
        scaled=scaled.steps,
        scaled_pair=scaled_pair,
        rotated_preview=rotated_preview,
        rotated=rotated,
        rotated_pair=rotated_pair,
        last=last,
        last_pair=last_pair,
        state=state,
        output="".join(run.text for run in (preview, first, scaled, rotated_preview, rotated, last)),
        destroyed=project.destroy(),
    )


def test_the_secret_holds_a_pair(life: Life) -> None:
    """The private key is valid, and the public key belongs to it."""
    private, public = life.first_pair

    key = serialization.load_pem_private_key(private.encode(), password=None)
    form = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    assert key.public_key().public_bytes(*form).decode() == public.strip()


def test_scaling_keeps_the_key(life: Life) -> None:
    """An additional worker changes the host lists, also in the Secret."""
    assert life.scaled == {
        **dict.fromkeys(PODS, "replace"),
        **HOSTS,
        "Pod train-worker-1": "create",
        # It has the hosts in a variable.
        "Task train-master": "update",
    }
    assert life.scaled_pair == life.first_pair


def test_a_new_rotation_token_generates_a_new_key(life: Life) -> None:
    """The old key is deleted from the state and all Pods are replaced, as in the preview."""
    assert life.rotated.steps == {
        **dict.fromkeys([*PODS, "Pod train-worker-1"], "replace"),
        "Secret train-ssh": "replace",
        "Stash train-ssh-key": "delete",
        "Stash train-ssh-key-2026": "create",
    }
    assert life.rotated_preview.urns == life.rotated.urns
    assert life.rotated_pair[0] != life.first_pair[0]
    assert life.rotated_pair[1] != life.first_pair[1]


def test_the_same_rotation_token_keeps_the_key(life: Life) -> None:
    """An update without an edit changes nothing."""
    assert life.last.steps == {}
    assert life.last_pair == life.rotated_pair


def test_outputs_show_the_public_key_and_hide_the_private_one(life: Life) -> None:
    """The public key is for `authorized_keys` of other machines; the private key is a secret of the stack."""
    assert life.outputs["public_key"] == (life.first_pair[1], False)
    assert life.outputs["private_key"] == (life.first_pair[0], True)


def test_no_output_of_the_engine_shows_a_private_key(life: Life) -> None:
    """Text and JSON events of previews and updates are searched."""
    assert "Secret" in life.output
    assert shown(life.first_pair[0], life.output) == []
    assert shown(life.rotated_pair[0], life.output) == []
    assert "PRIVATE KEY" not in life.output


def test_the_state_holds_only_encrypted_private_keys(life: Life) -> None:
    """The state, its history, its backups and the logs of the engine are searched."""
    stacks = [text for path, text in life.state.items() if path.endswith(("dev.json", "dev.json.bak"))]
    assert stacks
    assert all('"ciphertext"' in text for text in stacks)
    for path, text in life.state.items():
        for private in (life.first_pair[0], life.rotated_pair[0]):
            assert shown(private, text) == [], path
        assert "PRIVATE KEY" not in text, path


def test_destroy_deletes_the_key(life: Life) -> None:
    """The state has no resource of the job."""
    assert life.destroyed.steps["Stash train-ssh-key-2026"] == "delete"
    assert set(life.destroyed.steps.values()) == {"delete"}


def test_only_a_new_key_type_generates_a_new_key(tmp_path: Path) -> None:
    """Aliases and modes keep it, and a pair of an existing Secret is not stored; the preview shows replaced Pods."""
    project, everywhere = mpi(tmp_path), {**dict.fromkeys(PODS, "replace"), "Secret train-ssh": "replace"}
    project.up()
    project.configure(ssh='{"address_aliases": true, "file_modes": "by-user"}')
    assert project.up().steps == everywhere
    project.configure(ssh='{"key_type": "ed25519"}')
    previewed, typed = project.preview(), project.up()
    assert typed.steps == {
        **everywhere,
        **SPECS,
        "Stash train-ssh-key": "delete",
        "Stash train-ssh-ed25519-key": "create",
    }
    assert previewed.urns == typed.urns
    assert project.outputs()["public_key"].startswith("ssh-ed25519 ")
    assert project.up().steps == {}
    project.configure(ssh='{"key_secret": "team"}')
    assert project.up().steps == {
        **everywhere,
        **SPECS,
        "Stash train-ssh-ed25519-key": "delete",
    }
    assert list(project.manifests()["Secret train-ssh"]["data"]) == ["config"]


def test_a_saved_plan_of_a_first_update_can_be_applied(tmp_path: Path) -> None:
    """The key is unknown in the plan, so any key satisfies it; a later preview knows the key."""
    project, plan = mpi(tmp_path / "project"), str(tmp_path / "plan.json")
    seen = {}

    preview = project.preview(plan=plan)
    project.up(plan=plan)
    seen["first"] = pair(project)
    later = project.preview()

    assert "ssh-rsa" not in preview.text
    assert later.steps == {}
    assert pair(project) == seen["first"]


def test_a_forced_replacement_of_the_key_replaces_pods_and_secret(tmp_path: Path) -> None:
    """No Pod keeps the old key, and another update changes nothing."""
    project = mpi(tmp_path)
    project.up()
    before = pair(project)
    (urn,) = (item["urn"] for item in project.resources() if item["urn"].endswith("::train-ssh-key"))

    forced = project.up(replace=[urn])

    assert pair(project) != before
    assert {
        name: forced.steps.get(name) for name in (*PODS, "Stash train-ssh-key", "Secret train-ssh")
    } == dict.fromkeys((*PODS, "Stash train-ssh-key", "Secret train-ssh"), "replace")
    assert project.up().steps == {}
