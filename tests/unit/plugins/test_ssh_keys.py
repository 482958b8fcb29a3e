"""Given ssh keys are looked at before a Pod has them; none is ever shown."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from pulumi_volcano_jobs import SshPlugin, render
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.plugins import ssh_keys
from tests.conftest import job, refused


def private(kind: serialization.PrivateFormat) -> tuple[str, str]:
    """Make a key pair in a format."""
    key = ed25519.Ed25519PrivateKey.generate()
    hiding = serialization.NoEncryption()
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return key.private_bytes(serialization.Encoding.PEM, kind, hiding).decode(), public.decode()


FORMATS = [serialization.PrivateFormat.OpenSSH, serialization.PrivateFormat.PKCS8]


def encrypted_pem() -> str:
    """Make an encrypted key in PEM."""
    hiding = serialization.BestAvailableEncryption(b"s3cret")
    key = ed25519.Ed25519PrivateKey.generate()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hiding).decode()


def encrypted_openssh() -> str:
    """Make what begins as an encrypted key in OpenSSH's format does; to make a real one needs bcrypt."""

    def text(value: bytes) -> bytes:
        return len(value).to_bytes(4, "big") + value

    options = text(b"0" * 16) + (16).to_bytes(4, "big")
    count = (1).to_bytes(4, "big")
    public = text(b"ssh-ed25519") + text(b"1" * 32)
    parts = [text(b"aes256-ctr"), text(b"bcrypt"), text(options), count, text(public), text(b"2" * 160)]
    body = base64.b64encode(b"openssh-key-v1\0" + b"".join(parts)).decode()
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n"


@pytest.mark.parametrize("make", [encrypted_pem, encrypted_openssh])
def test_an_encrypted_key_is_told_and_not_shown(make: Callable[[], str]) -> None:
    """In either format."""
    error = refused(job(plugins=[SshPlugin(ssh_private_key=make(), ssh_public_key="ssh-rsa AAAA")]))

    assert str(error) == (
        "spec.plugins.ssh.ssh_private_key: this key is encrypted, and nobody can enter its passphrase in a Pod: take"
        " the passphrase off a copy of it: ssh-keygen -p -f FILE"
    )


@pytest.mark.parametrize("kind", FORMATS)
def test_a_public_key_of_another_pair_is_told_and_not_shown(kind: serialization.PrivateFormat) -> None:
    """Nobody could log in; the right one among several, with a comment, is taken."""
    mine, public = private(kind)
    other = ssh_keys.generate().public

    error = refused(job(plugins=[SshPlugin(ssh_private_key=mine, ssh_public_key=other)]))

    assert str(error) == (
        "spec.plugins.ssh.ssh_public_key: this key does not belong to the private key: make it with: ssh-keygen -y -f"
        " FILE"
    )
    assert render(job(plugins=[SshPlugin(ssh_private_key=mine, ssh_public_key=f"{other}{public} me@home")])).objects
    assert render(job(plugins=[SshPlugin(ssh_private_key=mine, ssh_public_key=other)]), strict=False).objects


def test_keys_that_are_not_known_yet_pass() -> None:
    """Both, or one of them; and a pair of ours."""
    pair = ssh_keys.generate()
    for one, two in ((Leaf("a"), Leaf("b")), (pair.private, Leaf("b")), (Leaf("a"), "x"), (pair.private, pair.public)):
        assert render(job(plugins=[SshPlugin(ssh_private_key=one, ssh_public_key=two)])).objects


NO_KEYS = {
    "text": "no-k3y",
    "a path": "/root/.ssh/id_rsa",
    "a public key": "ssh-ed25519 AAAA me@home",
    "a certificate": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    "a key cut off": ssh_keys.generate().private[:600],
}


@pytest.mark.parametrize("private", NO_KEYS.values(), ids=NO_KEYS)
def test_what_is_no_private_key_is_told_and_not_shown(private: str) -> None:
    """Ssh would say so in the log of a Pod, much later."""
    document = job(plugins=[SshPlugin(ssh_private_key=private, ssh_public_key="ssh-rsa AAAA")])

    assert str(refused(document)) == (
        "spec.plugins.ssh.ssh_private_key: this is no private key that ssh could read: neither PEM nor OpenSSH's own"
        " format: give the file's whole contents, with its first and last line and all line ends"
    )
    assert render(document, strict=False).objects
