"""Key pairs of the ssh plugin: made once, valid, and never shown."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from pulumi_volcano_jobs import Job, JobError, KeyPair, SshPlugin, SvcPlugin, Task, VolcanoJob, render
from pulumi_volcano_jobs.component.plugin_components import POD_SPEC
from pulumi_volcano_jobs.testing import Result, SecretValue, computed, failed, is_unknown, reveal, run
from tests.component.programs import new_job
from tests.conftest import BYTES, PAIR, Wire, ssh_plugin, task

PRIVATE, PUBLIC = PAIR.private, PAIR.public
GIVEN = ssh_plugin()
NO_PAIR = ["train-created", "train-managed-by"]


def made(*, preview: bool = False, **options: Any) -> Result:
    """Run a program with a job whose key pair is generated."""

    def program() -> Wire:
        job = new_job("train", {"plugins": [SshPlugin(), SvcPlugin()], "tasks": [task()], **options})
        return {"private": job.ssh.private_key, "public": job.ssh.public_key}

    return run(program, preview=preview)


def test_a_generated_pair_is_valid_and_only_its_private_key_is_a_secret() -> None:
    """It is an RSA key of 2048 bits, as Volcano makes them; the public key belongs to it."""
    outputs = made().outputs

    key = serialization.load_pem_private_key(outputs["private"].reveal().encode(), password=None)
    assert isinstance(key, rsa.RSAPrivateKey)
    assert key.key_size == 2048
    line = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    assert outputs["public"] == f"{line.decode()}\n"


def test_a_preview_of_a_first_update_does_not_know_the_pair() -> None:
    """The update generates it; a preview that shows another one is wrong, and a saved plan with it cannot be met."""
    preview = made(preview=True)

    assert {name: is_unknown(value) for name, value in preview.outputs.items()} == {"private": True, "public": True}
    assert is_unknown(reveal(preview.resources["Stash train-ssh-key"].inputs["input"]))


def test_the_secret_holds_the_pair() -> None:
    """Private key, public key and the keys that may log in, each base64."""
    done = made()
    (data,) = (manifest["data"] for name, manifest in done.manifests().items() if name.startswith("Secret "))

    assert isinstance(data, SecretValue)
    decoded = {name: base64.b64decode(value).decode() for name, value in data.reveal().items()}
    assert decoded.pop("config").startswith("StrictHostKeyChecking no\n")
    assert decoded == {
        "id_rsa": done.outputs["private"].reveal(),
        "id_rsa.pub": done.outputs["public"],
        "authorized_keys": done.outputs["public"],
    }


def test_the_state_keeps_the_pair_as_a_secret() -> None:
    """What the Stash is given is a secret as a whole, and later runs do not change it."""
    stash = made().resources["Stash train-ssh-key"]

    assert isinstance(stash.inputs["input"], SecretValue)
    assert list(stash.ignore_changes) == ["input"]


def test_another_rotation_is_another_stash() -> None:
    """A new name makes a new pair; the old one goes with its resource."""
    assert sorted(made().names("Stash")) == [*NO_PAIR, "train-ssh-key"]
    assert sorted(made(key_rotation="2026-11").names("Stash")) == [*NO_PAIR, "train-ssh-key-2026-11"]


TYPES: dict[str, tuple[Wire, str]] = {
    "rsa": ({}, "train-ssh-key"),
    "rsa, rotated": ({"key_rotation": "2"}, "train-ssh-key-2"),
    "rsa, rotated to a type's name": ({"key_rotation": "ed25519"}, "train-ssh-key-ed25519"),
    "ed25519": ({"key_type": "ed25519"}, "train-ssh-ed25519-key"),
    "ed25519, rotated": ({"key_type": "ed25519", "key_rotation": "2"}, "train-ssh-ed25519-key-2"),
    "ecdsa": ({"key_type": "ecdsa"}, "train-ssh-ecdsa-key"),
}


@pytest.mark.parametrize(("given", "stash"), TYPES.values(), ids=TYPES)
def test_another_type_is_another_stash(given: Wire, stash: str) -> None:
    """So a new pair is made with it; the name of an RSA pair's is what it always was."""
    kind = given.get("key_type", "rsa")
    done = made(
        **{key: value for key, value in given.items() if key != "key_type"}, plugin_options={"ssh": {"key_type": kind}}
    )

    # A pair that is made at once may come first.
    assert sorted(done.names("Stash")) == [*NO_PAIR, stash]
    assert done.outputs["public"].split()[0] in {f"ssh-{kind}", "ecdsa-sha2-nistp256"}
    marks = {"rsa": "BEGIN RSA PRIVATE KEY"}
    assert marks.get(kind, "BEGIN OPENSSH PRIVATE KEY") in done.outputs["private"].reveal()


OTHERWISE: dict[str, Wire] = {
    "modes and aliases": {"plugin_options": {"ssh": {"file_modes": "by-user", "address_aliases": True}}},
    "a port and a path": {"plugin_options": {"ssh": {"ssh_port": 2222, "ssh_key_file_path": "/home/me/.ssh"}}},
    "the recommended options": {"defaults": "recommended"},
    "more Pods": {"tasks": [task(replicas=3)]},
    "another run": {"run": "2"},
}


@pytest.mark.parametrize("options", OTHERWISE.values(), ids=OTHERWISE)
def test_nothing_else_makes_a_new_pair(options: Wire) -> None:
    """The Stash, which keeps the pair, is the same resource with the same options."""
    before, after = (run_of.resources["Stash train-ssh-key"] for run_of in (made(), made(**options)))

    assert (before.ignore_changes, before.replace_on_changes) == (after.ignore_changes, after.replace_on_changes)
    assert after.replacement_trigger is None


class TestKeySecret:
    """A pair in a Secret of the cluster comes to no program and to no state."""

    def run(self, name: Callable[[], pulumi.Input[str]], *, preview: bool = False) -> Result:
        """Run a program with a job whose pair is in a Secret."""

        def program() -> Wire:
            plugins = [SshPlugin(key_secret=name()), SvcPlugin()]
            job = new_job("train", {"plugins": plugins, "tasks": [task()]})
            return {"secret": job.ssh.secret_name, "private": job.ssh.private_key, "public": job.ssh.public_key}

        return run(program, preview=preview)

    def test_no_pair_is_made(self) -> None:
        """There is no Stash, and the job's own Secret has the configuration alone."""
        done = self.run(lambda: "team")

        assert sorted(done.names("Stash")) == NO_PAIR
        (data,) = (manifest["data"] for name, manifest in done.manifests().items() if name.startswith("Secret "))
        assert list(data.reveal()) == ["config"]
        assert done.outputs == {"secret": "team"}

    @pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
    def test_its_name_may_be_an_output(self, *, preview: bool) -> None:
        """Of a Secret of the same program; nothing else is unknown for it but the digest of the Pods."""
        done = self.run(lambda: computed("team-1a2b"), preview=preview)

        name = "volumes[0].projected.sources[0].secret.name"
        places = {
            f"Pod train-worker-0: spec.{name}",
            f"Task train-worker: {POD_SPEC}.{name}",
            "Pod train-worker-0: (trigger)",
            "SshPlugin train-ssh has: secret_name",
        }
        assert done.unknown() == (places if preview else set())
        if not preview:
            assert done.leaves()[f"Pod train-worker-0: spec.{name}"] == "team-1a2b"


def test_two_jobs_have_two_pairs() -> None:
    """A key is for one job alone."""

    def program() -> Wire:
        return {
            name: new_job(name, {"plugins": {"ssh": [], "svc": []}, "tasks": [task()]}).ssh.public_key for name in "ab"
        }

    outputs = run(program).outputs

    assert outputs["a"] != outputs["b"]


def test_a_given_pair_is_used_as_it_is() -> None:
    """Nothing is generated, and nothing kept beside the Secret."""

    def program() -> Wire:
        job = new_job("train", {"plugins": [GIVEN, SvcPlugin()], "tasks": [task()]})
        return {"private": job.ssh.private_key, "public": job.ssh.public_key}

    done = run(program)

    assert sorted(done.names("Stash")) == NO_PAIR
    assert done.outputs["private"].reveal() == PRIVATE
    assert done.outputs["public"] == PUBLIC


ARGUMENTS = ["--ssh-private-key", PRIVATE, f"--ssh-public-key={PUBLIC}"]
ONE_ARGUMENT = [f"--ssh-private-key={PRIVATE}", f"--ssh-public-key={PUBLIC}"]


@pytest.mark.parametrize("arguments", [ARGUMENTS, ONE_ARGUMENT], ids=["two arguments", "one argument"])
def test_a_key_among_volcano_s_arguments_is_a_secret(arguments: list[str]) -> None:
    """It is nowhere in the registrations but under a mark."""
    done = run(lambda: {"made": new_job("train", {"plugins": {"ssh": arguments, "svc": []}, "tasks": [task()]}).name})

    assert done.secret() == {"Secret train-ssh: data", "SshPlugin train-ssh has: private_key"}
    assert [place for place, leaf in done.leaves().items() if BYTES in str(reveal(leaf))] == [
        "SshPlugin train-ssh has: private_key",
    ]


SHOWN: dict[str, Any] = {
    "the plugin": GIVEN,
    "a Job": Job(name="train", plugins=[GIVEN], tasks=[Task(name="worker", replicas=1)]),
    "a pair": KeyPair(PRIVATE, PUBLIC),
    "what is rendered, redacted": render({"name": "train", "plugins": [GIVEN], "tasks": [task()]}, redact=True),
}


@pytest.mark.parametrize("what", SHOWN)
@pytest.mark.parametrize("show", [repr, str])
def test_no_key_is_shown(what: str, show: Any) -> None:
    """Neither repr nor str has any of it."""
    assert BYTES not in show(SHOWN[what])


WRONG: dict[str, Any] = {
    "without a public key": {"plugins": [SshPlugin(ssh_private_key=PRIVATE)]},
    "as a public key alone": {"plugins": [SshPlugin(ssh_public_key=PRIVATE)]},
    "in a list": lambda: {"plugins": [SshPlugin(ssh_private_key=[PRIVATE], ssh_public_key="a")]},  # type: ignore[arg-type]  # it is wrong
    "in a list of arguments": {"plugins": {"ssh": ["--ssh-private-key", [PRIVATE]]}},
    "behind a flag that there is not": {"plugins": {"ssh": [f"--ssh-key={PRIVATE}"]}},
    "without a flag": {"plugins": {"ssh": [PRIVATE]}},
    "as the arguments": {"plugins": {"ssh": PRIVATE}},
    "as a port": {"plugins": {"ssh": [f"--ssh-port={PRIVATE}"]}},
    "as a plugin": {"plugins": [PRIVATE]},
    "as an annotation that is none": {"annotations": {"key": [PRIVATE]}},
    "as a variable": {"tasks": [task(containers=[{"name": "main", "env": [{"name": "A", "value": [PRIVATE]}]}])]},
    "as a template": {"tasks": [{"name": "worker", "replicas": 1, "template": PRIVATE}]},
}


def wrong(where: str) -> Wire:
    """Return the arguments of a job with a key in a wrong place."""
    fields = WRONG[where]
    return {"tasks": [task()], **(fields() if callable(fields) else fields)}


@pytest.mark.parametrize("where", WRONG)
def test_no_error_shows_a_key_that_was_given(where: str) -> None:
    """The place and the rule are told, the value is not."""
    error, _ = failed(lambda: {"made": new_job("train", wrong(where)).name})

    assert isinstance(error, pulumi.RunError)
    assert BYTES not in str(error)
    assert BYTES not in repr(error)
    assert BYTES not in str(getattr(error, "errors", ""))


@pytest.mark.parametrize("where", WRONG)
def test_no_error_of_the_core_shows_a_key_that_was_given(where: str) -> None:
    """The same without Pulumi."""
    with pytest.raises(JobError) as caught:
        render({"name": "train", **wrong(where)})

    assert BYTES not in str(caught.value)
    assert BYTES not in repr(caught.value)
    assert [problem for problem in caught.value.problems if BYTES in repr(problem)] == []


def test_no_warning_shows_a_key() -> None:
    """A job that is warned of keeps its keys to itself."""
    done = run(lambda: {"made": VolcanoJob("train", {"plugins": [GIVEN], "tasks": [task()]}).name})

    assert done.warnings
    assert BYTES not in "".join(done.warnings)
