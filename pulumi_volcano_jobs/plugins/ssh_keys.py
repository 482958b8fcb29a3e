"""ssh key pairs: placeholders, validation and generation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pulumi_volcano_jobs.core.calls import checked_constructor
from pulumi_volcano_jobs.core.errors import raise_if_any, wrong_type
from pulumi_volcano_jobs.core.leaf import may_be_output
from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.kubernetes.manifest import Placeholder

KeyType = Literal["rsa", "ed25519", "ecdsa"]
"""Types of key pairs, with the names of ssh-keygen."""
RSA_BITS = 2048


class KeyProblem(NamedTuple):
    """A problem of one key of a pair."""

    part: Literal["private", "public"]
    reason: str
    hint: str


@checked_constructor
@dataclass(frozen=True, eq=False, repr=False)
class KeyPair(Sealed):
    """A private key (PEM) and its public key (one OpenSSH line). Both may be leaves. repr omits them."""

    private: Any = field(repr=False)
    """The private key."""
    public: Any = field(repr=False)
    """The public key."""

    def __post_init__(self) -> None:
        """Reject keys of a wrong type."""
        keys = {"private": self.private, "public": self.public}
        wrong = [name for name, key in keys.items() if not isinstance(key, str) and not may_be_output(key)]
        raise_if_any(wrong_type(f"KeyPair.{name}", "a string", "pass the text of the key") for name in wrong)

    @property
    def is_dsa(self) -> bool:
        """Whether a key of the pair is known to be a DSA key."""
        private, public = self.private, self.public
        is_named = isinstance(private, str) and "BEGIN DSA PRIVATE KEY" in private
        return is_named or (isinstance(public, str) and "ssh-dss" in public.split())

    def fault(self) -> KeyProblem | None:
        """Return the problem of a configured pair, if its keys are known. The text never contains a key."""
        if not isinstance(self.private, str) or isinstance(self.private, Placeholder):
            return None
        public_line = _public_line(self.private)
        if isinstance(public_line, KeyProblem) or not isinstance(self.public, str):
            return public_line if isinstance(public_line, KeyProblem) else None
        # The text may contain several authorized keys, with options and comments.
        if not public_line or public_line.split()[1] in self.public.split():
            return None
        return KeyProblem(
            "public", "does not match the private key", "generate it from the private key: ssh-keygen -y -f FILE"
        )


KeyFactory = Callable[[KeyType], KeyPair]
"""A function that generates a key pair of a type."""
PLACEHOLDERS = KeyPair(Placeholder("<private>"), Placeholder("<public>"))
"""Placeholders in manifests that are rendered without keys."""


def generate(kind: KeyType = "rsa") -> KeyPair:
    """Generate a key pair.

    An RSA pair is like the pair of Volcano's ssh plugin: 2048 bits, PKCS#1 PEM. This takes 0.1 to 0.3 s, and releases
    the interpreter lock. The other types are like the pairs of ssh-keygen: in OpenSSH format, and P-256 for ecdsa. The
    public key is an OpenSSH line with a newline.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415  # slow to import, and rarely needed
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa  # noqa: PLC0415

    key: Any
    # Older releases of OpenSSH read ed25519 keys only in this format.
    private_format = serialization.PrivateFormat.OpenSSH
    if kind == "ed25519":
        key = ed25519.Ed25519PrivateKey.generate()
    elif kind == "ecdsa":
        key = ec.generate_private_key(ec.SECP256R1())
    else:
        key = rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS)
        private_format = serialization.PrivateFormat.TraditionalOpenSSL
    private = key.private_bytes(serialization.Encoding.PEM, private_format, serialization.NoEncryption())
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return KeyPair(private.decode(), public.decode() + "\n")


def _public_line(private: str) -> str | KeyProblem:
    """Return the public key of a private key as an OpenSSH line (empty if unknown), or a KeyProblem."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  # slow to import, and rarely needed
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415

    text = private.encode()
    try:
        key: Any
        with warnings.catch_warnings():
            # cryptography's warning about DSA is for developers; the ssh plugin has one for users (VJ126).
            warnings.simplefilter("ignore")
            if "OPENSSH PRIVATE KEY" in private:
                key = serialization.load_ssh_private_key(text, None)
            else:
                key = serialization.load_pem_private_key(text, None, unsafe_skip_rsa_key_validation=True)
            public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    except NotImplementedError:
        reason = "OpenSSH does not support ECDSA keys with a compressed point"
        return KeyProblem("private", reason, "generate another key: ssh-keygen -t ecdsa -f FILE")
    except UnsupportedAlgorithm:
        # ssh may support other types of keys.
        return ""
    except (TypeError, ValueError) as error:
        # Older releases of cryptography raise ValueError for an encrypted key in OpenSSH format.
        if isinstance(error, TypeError) or "password-protected" in str(error):
            reason = "may not be encrypted, because a Pod cannot enter the passphrase"
            return KeyProblem("private", reason, "remove the passphrase from a copy of the key: ssh-keygen -p -f FILE")
        reason = "must be a private key in PEM or OpenSSH format"
        hint = "set the whole contents of the file, including the first line, the last line and all line breaks"
        return KeyProblem("private", reason, hint)
    return str(public.decode())
