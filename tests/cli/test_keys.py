"""Private ssh keys on the command line are shown only on request."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.plugins import ssh_keys
from tests.cli.conftest import NATIVE_PLACEHOLDERS, PLACEHOLDERS, Answer, Shell
from tests.conftest import job

PAIR = ssh_keys.generate()
ARGUMENTS = [f"--ssh-private-key={PAIR.private}", f"--ssh-public-key={PAIR.public.strip()}"]
WAYS = [
    (),
    ("--format", "json"),
    ("--lenient",),
    ("--managed-by", "volcano"),
    ("--managed-by", "volcano", "--format", "json"),
]


def with_ssh(*arguments: str, **plugins: list[str]) -> dict[str, Any]:
    """Return a job with the ssh plugin and svc, which it requires."""
    return job(plugins={"ssh": list(arguments), "svc": [], **plugins})


def secret(answer: Answer) -> dict[str, str]:
    """Return the data of the only printed Secret."""
    (found,) = [document["data"] for document in answer.documents() if document["kind"] == "Secret"]
    return dict(found)


def spellings(key: str) -> Iterator[str]:
    """Return the encodings in which a key or a part of it might be printed: plain, base64, or JSON."""
    for line in key.strip().splitlines()[1:3] or [key.split()[1]]:
        yield line
        # The middle of its base64 text, for each offset that it can have in a longer text.
        for shift in range(3):
            yield base64.b64encode(b" " * shift + line.encode()).decode()[4:-4]
    yield json.dumps(key)[1:-1]
    yield base64.b64encode(key.encode()).decode()


def assert_no_private_key(text: str) -> None:
    """Check that a text contains no private key in any encoding."""
    for mark in (b"PRIVATE KEY", b"OPENSSH PRIVATE"):
        for shift in range(3):
            assert base64.b64encode(b" " * shift + mark).decode()[4:-4] not in text
        assert mark.decode() not in text


class TestHidden:
    """Without `--show-keys`, keys are placeholders."""

    @pytest.mark.parametrize("way", WAYS, ids=" ".join)
    def test_no_private_key_is_generated_without_show_keys(self, shell: Shell, way: tuple[str, ...]) -> None:
        """The output contains no private key in any encoding."""
        answer = shell("render", shell.write("job.yaml", with_ssh()), *way)

        assert answer.code == 0
        assert_no_private_key(answer.out + answer.err)

    def test_placeholders_are_not_valid_base64(self, shell: Shell) -> None:
        """The API server therefore rejects them."""
        data = secret(shell.without_keys(shell.write("job.yaml", with_ssh())))

        assert {key: value for key, value in data.items() if key != "config"} == {
            "authorized_keys": "<public>",
            "id_rsa": "<private>",
            "id_rsa.pub": "<public>",
        }
        assert "Host train-worker-0" in base64.b64decode(data["config"]).decode()

    @pytest.mark.parametrize("way", WAYS, ids=" ".join)
    def test_a_given_key_is_hidden(self, shell: Shell, way: tuple[str, ...]) -> None:
        """It is hidden as text and as base64, in the Secret and in the arguments of the Job."""
        answer = shell("render", shell.write("job.yaml", with_ssh(*ARGUMENTS)), *way)

        assert (answer.code, answer.err) == (0, NATIVE_PLACEHOLDERS if "volcano" in way else PLACEHOLDERS)
        assert_no_private_key(answer.out)
        assert "<private>" in answer.out
        assert [found for found in spellings(PAIR.private) if found in answer.out] == []
        assert [found for found in spellings(PAIR.public) if found in answer.out] == []

    @pytest.mark.parametrize(
        "arguments",
        [
            [ARGUMENTS[0]],
            [*ARGUMENTS, "--ssh-port=abc"],
            ["--no-such-flag", *ARGUMENTS],
            [f"-ssh-private-key={PAIR.private}"],
            ["--ssh-private-key", PAIR.private],
            [PAIR.private],
            [f"--ssh-privat-key={PAIR.private}"],
        ],
        ids=[
            "without its public key",
            "beside a bad value",
            "behind an unknown flag",
            "with one dash",
            "as an argument of its own",
            "bare",
            "misspelt flag",
        ],
    )
    @pytest.mark.parametrize("command", ["validate", "render"])
    def test_problems_show_no_key(self, shell: Shell, command: str, arguments: list[str]) -> None:
        """The argument with the key is invalid."""
        answer = shell(command, shell.write("job.yaml", with_ssh(*arguments)))

        assert answer.code == 1
        assert "spec.plugins.ssh" in "".join(answer.lines)
        assert_no_private_key(answer.out + answer.err)
        assert [found for found in spellings(PAIR.private) if found in answer.out + answer.err] == []

    def test_files_in_a_folder_have_no_keys(self, shell: Shell) -> None:
        """The files have the printed content."""
        shell.good("render", shell.write("job.yaml", with_ssh(*ARGUMENTS)), "-o", "out")

        written = "".join(path.read_text("utf-8") for path in (shell.folder / "out").iterdir())
        assert_no_private_key(written)
        assert [found for found in spellings(PAIR.private) if found in written] == []


class TestSaid:
    """The message about placeholders."""

    @pytest.mark.parametrize("manager", ["pulumi", "volcano"])
    def test_the_message_names_the_option(self, shell: Shell, manager: str, snapshot: SnapshotAssertion) -> None:
        """The consequence of placeholders depends on who manages the Pods."""
        file = shell.write("job.yaml", with_ssh(*ARGUMENTS))

        assert shell("render", "--managed-by", manager, file).err == snapshot

    def test_the_message_is_printed_once_for_several_jobs(self, shell: Shell) -> None:
        """Each of the two jobs has a Secret."""
        second = with_ssh()
        second["metadata"]["name"] = "other"

        shell.without_keys(shell.write("jobs.yaml", with_ssh(), second))

    @pytest.mark.parametrize(
        "way",
        [
            ("--show-keys",),
            ("--set", "ssh.key_secret=team"),
            ("--managed-by", "volcano"),
            ("-o", "out"),
        ],
        ids=" ".join,
    )
    def test_no_message_without_placeholders(self, shell: Shell, way: tuple[str, ...]) -> None:
        """With --show-keys, an existing Secret, a Job without a given key, or a folder."""
        shell.good("render", shell.write("job.yaml", with_ssh()), *way)

    def test_no_message_for_a_job_without_ssh(self, shell: Shell) -> None:
        """The job has no keys."""
        shell.good("render", shell.write("job.yaml", job()))

    @pytest.mark.parametrize("command", ["validate", "explain", "graph"])
    def test_other_commands_print_no_message(self, shell: Shell, command: str) -> None:
        """Their output is not applied to a cluster."""
        shell.good(command, shell.write("job.yaml", with_ssh()))


class TestShown:
    """With `--show-keys`, keys are real."""

    def pair(self, answer: Answer) -> tuple[rsa.RSAPrivateKey, bytes]:
        """Load the private key of a Secret, and return it with the public one; check the second copy of each."""
        data = {key: base64.b64decode(value, validate=True) for key, value in secret(answer).items()}
        private = serialization.load_pem_private_key(data["id_rsa"], password=None)
        assert isinstance(private, rsa.RSAPrivateKey)
        assert data["authorized_keys"] == data["id_rsa.pub"]
        return private, data["id_rsa.pub"]

    def test_show_keys_generates_a_pair(self, shell: Shell) -> None:
        """It is a valid RSA pair of 2048 bits."""
        answer = shell.good("render", "--show-keys", shell.write("job.yaml", with_ssh()))

        private, public = self.pair(answer)
        form = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        assert private.public_key().public_bytes(*form) == public.strip()
        assert private.key_size == 2048
        assert public.endswith(b"\n")

    @pytest.mark.parametrize(("kind", "begins"), [("ed25519", "ssh-ed25519 "), ("ecdsa", "ecdsa-sha2-nistp256 ")])
    def test_show_keys_generates_a_pair_of_the_requested_type(self, shell: Shell, kind: str, begins: str) -> None:
        """The file names follow the type."""
        file = shell.write("job.yaml", with_ssh())

        data = secret(shell.good("render", "--show-keys", "--set", f"ssh.key_type={kind}", file))

        decoded = {key: base64.b64decode(value, validate=True).decode() for key, value in data.items()}
        assert decoded.keys() == {f"id_{kind}", f"id_{kind}.pub", "authorized_keys", "config"}
        assert decoded[f"id_{kind}"].startswith("-----BEGIN OPENSSH PRIVATE KEY-----\n")
        assert decoded[f"id_{kind}.pub"].startswith(begins)

    def test_no_pair_is_generated_with_an_existing_secret(self, shell: Shell) -> None:
        """The pair exists only in the cluster."""
        file = shell.write("job.yaml", with_ssh())

        assert secret(shell.good("render", "--show-keys", "--set", "ssh.key_secret=team", file)).keys() == {"config"}

    def test_each_run_and_each_job_has_a_different_pair(self, shell: Shell) -> None:
        """A key of one job gives no access to another job."""
        second = with_ssh()
        second["metadata"]["name"] = "other"
        file = shell.write("jobs.yaml", with_ssh(), second)

        runs = [shell.good("render", "--show-keys", file).documents() for _ in range(2)]

        found = {item["data"]["id_rsa"] for documents in runs for item in documents if item["kind"] == "Secret"}
        assert len(found) == 4

    def test_show_keys_prints_a_given_pair(self, shell: Shell) -> None:
        """No pair is generated."""
        answer = shell.good("render", "--show-keys", shell.write("job.yaml", with_ssh(*ARGUMENTS)))

        data = {key: base64.b64decode(value).decode() for key, value in secret(answer).items()}
        assert data["id_rsa"] == PAIR.private
        assert data["id_rsa.pub"] == data["authorized_keys"] == PAIR.public.strip()

    def test_the_native_job_has_the_given_pair(self, shell: Shell) -> None:
        """Volcano's controller reads it from the argument."""
        file = shell.write("job.yaml", with_ssh(*ARGUMENTS))

        (document,) = shell.good("render", "--show-keys", "--managed-by", "volcano", file).documents()

        assert document["spec"]["plugins"]["ssh"] == ARGUMENTS

    def test_show_keys_has_no_effect_without_ssh(self, shell: Shell) -> None:
        """The job has no key."""
        file = shell.write("job.yaml", job())

        assert shell.good("render", "--show-keys", file).out == shell.good("render", file).out

    def test_mpi_adds_ssh_and_a_pair(self, shell: Shell) -> None:
        """Plugins that another plugin requires also have real keys."""
        document = job(plugins={"mpi": []})
        document["spec"]["tasks"] = [{**document["spec"]["tasks"][0], "name": name} for name in ("master", "worker")]

        file = shell.write("job.yaml", document)
        private, _ = self.pair(shell.good("render", "--ignore", "VJ102", "--show-keys", file))

        assert private.key_size == 2048
