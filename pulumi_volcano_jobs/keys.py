"""ssh key pairs: what stands for one, and how one is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pulumi_volcano_jobs.manifest import Placeholder

RSA_BITS = 2048


@dataclass(frozen=True)
class KeyPair:
    """A private key (PEM) and its public key (one OpenSSH line); never shown by repr. Both may be leaves."""

    private: Any = field(repr=False)
    public: Any = field(repr=False)


PLACEHOLDERS = KeyPair(Placeholder("<private>"), Placeholder("<public>"))
"""What manifests show where keys are not asked for."""


def generate() -> KeyPair:
    """Make a key pair as Volcano's ssh plugin does: 2048-bit RSA, PKCS#1 PEM, an OpenSSH line with a newline.

    Takes 0.1 to 0.3 s; it releases the interpreter lock meanwhile.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415  # heavy, and seldom needed
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415

    key = rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return KeyPair(private.decode(), public.decode() + "\n")
