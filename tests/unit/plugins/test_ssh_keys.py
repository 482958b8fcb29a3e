"""Key pairs of the user are checked before rendering, and no message has a key."""

from __future__ import annotations

import base64

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import SshPlugin, render
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.plugins import ssh_keys
from tests.conftest import Wire, job, problems, typed


def private(kind: serialization.PrivateFormat) -> tuple[str, str]:
    """Create a key pair in a format."""
    key = ed25519.Ed25519PrivateKey.generate()
    hiding = serialization.NoEncryption()
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return key.private_bytes(serialization.Encoding.PEM, kind, hiding).decode(), public.decode()


FORMATS = [serialization.PrivateFormat.OpenSSH, serialization.PrivateFormat.PKCS8]


def encrypted_pem() -> str:
    """Create an encrypted key in PEM."""
    hiding = serialization.BestAvailableEncryption(b"s3cret")
    key = ed25519.Ed25519PrivateKey.generate()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hiding).decode()


def encrypted_openssh() -> str:
    """Return the beginning of an encrypted OpenSSH key. A complete one needs bcrypt."""

    def text(value: bytes) -> bytes:
        return len(value).to_bytes(4, "big") + value

    options = text(b"0" * 16) + (16).to_bytes(4, "big")
    count = (1).to_bytes(4, "big")
    public = text(b"ssh-ed25519") + text(b"1" * 32)
    parts = [text(b"aes256-ctr"), text(b"bcrypt"), text(options), count, text(public), text(b"2" * 160)]
    body = base64.b64encode(b"openssh-key-v1\0" + b"".join(parts)).decode()
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n"


def with_keys(private: str, public: str = "ssh-rsa AAAA") -> Wire:
    """Return a job with a key pair."""
    return job(plugins=[SshPlugin(ssh_private_key=private, ssh_public_key=public)])


def message_of(document: Wire, key: str) -> str:
    """Return the message about a key of a job that has no other problem."""
    found = problems(document)
    assert typed(found) == [(f"spec.plugins.ssh.{key}", "Invalid")]
    return str(found[0])


def test_an_encrypted_key_is_rejected_and_not_shown(snapshot: SnapshotAssertion) -> None:
    """Both formats have the same message."""
    message = message_of(with_keys(encrypted_pem()), "ssh_private_key")

    assert message == snapshot
    assert message_of(with_keys(encrypted_openssh()), "ssh_private_key") == message


def test_a_public_key_of_another_pair_is_rejected_and_not_shown(snapshot: SnapshotAssertion) -> None:
    """Both formats have the same message. The right key can be one of several, and can have a comment."""
    other = ssh_keys.generate().public
    pairs = [private(kind) for kind in FORMATS]

    (message,) = {message_of(with_keys(mine, other), "ssh_public_key") for mine, _ in pairs}

    assert message == snapshot
    for mine, public in pairs:
        assert render(with_keys(mine, f"{other}{public} me@home")).objects
        assert render(with_keys(mine, other), strict=False).objects


def test_keys_that_are_not_known_yet_are_accepted() -> None:
    """Both keys or one of them can be unknown."""
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


def test_text_that_is_not_a_private_key_is_rejected_and_not_shown(snapshot: SnapshotAssertion) -> None:
    """Otherwise only the log of a Pod would have the error of ssh."""
    documents = {name: with_keys(text) for name, text in NO_KEYS.items()}

    messages = {name: message_of(document, "ssh_private_key") for name, document in documents.items()}

    assert messages == dict.fromkeys(NO_KEYS, messages["text"])
    assert messages["text"] == snapshot
    assert all(render(document, strict=False).objects for document in documents.values())
