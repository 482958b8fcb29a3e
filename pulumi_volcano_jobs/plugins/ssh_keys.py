"""ssh key pairs: what stands for one, and how one is made."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.kubernetes.manifest import Placeholder

KeyType = Literal["rsa", "ed25519", "ecdsa"]
"""The kinds of key pairs, as ssh-keygen calls them."""
RSA_BITS = 2048


class KeyProblem(NamedTuple):
    """What is wrong with one of a pair's keys, and the way out."""

    part: Literal["private", "public"]
    reason: str
    hint: str


@dataclass(frozen=True, eq=False, repr=False)
class KeyPair(Sealed):
    """A private key (PEM) and its public key (one OpenSSH line); never shown by repr. Both may be leaves."""

    private: Any = field(repr=False)
    """The private key."""
    public: Any = field(repr=False)
    """The public key."""

    @property
    def is_dsa(self) -> bool:
        """Whether a key of the pair is known to be a DSA key."""
        private, public = self.private, self.public
        is_named = isinstance(private, str) and "BEGIN DSA PRIVATE KEY" in private
        return is_named or (isinstance(public, str) and "ssh-dss" in public.split())

    def fault(self) -> KeyProblem | None:
        """Say what is wrong with a given pair, as far as it is known; never with the key in it."""
        if not isinstance(self.private, str) or isinstance(self.private, Placeholder):
            return None
        public_line = _public_line(self.private)
        if isinstance(public_line, KeyProblem) or not isinstance(self.public, str):
            return public_line if isinstance(public_line, KeyProblem) else None
        # Several keys may be authorised, with options and comments.
        if not public_line or public_line.split()[1] in self.public.split():
            return None
        return KeyProblem(
            "public", "this key does not belong to the private key", "make it with: ssh-keygen -y -f FILE"
        )


KeyFactory = Callable[[KeyType], KeyPair]
"""Generates a key pair of a type."""
PLACEHOLDERS = KeyPair(Placeholder("<private>"), Placeholder("<public>"))
"""What manifests show where keys are not asked for."""


def generate(kind: KeyType = "rsa") -> KeyPair:
    """Make a key pair.

    An RSA pair is what Volcano's ssh plugin makes: 2048 bits, PKCS#1 PEM. It takes 0.1 to 0.3 s, and releases the
    interpreter lock meanwhile. The others are what ssh-keygen makes: OpenSSH's own format, and P-256 for ecdsa. The
    public key is an OpenSSH line with a newline.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415  # heavy, and seldom needed
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa  # noqa: PLC0415

    key: Any
    # Older releases of OpenSSH read ed25519 keys in no other format.
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
    """Give the public key of a private one as an OpenSSH line (empty if unknown), or what is wrong."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  # heavy, and seldom needed
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
        # ssh may know more kinds of keys.
        return ""
    except (TypeError, ValueError) as error:
        # Older releases of cryptography take an encrypted key in OpenSSH's format for a bad value.
        if isinstance(error, TypeError) or "password-protected" in str(error):
            reason = "this key is encrypted, and nobody can enter its passphrase in a Pod"
            return KeyProblem("private", reason, "take the passphrase off a copy of it: ssh-keygen -p -f FILE")
        reason = "this is no private key that ssh could read: neither PEM nor OpenSSH's own format"
        hint = "give the file's whole contents, with its first and last line and all line ends"
        return KeyProblem("private", reason, hint)
    return str(public.decode())
