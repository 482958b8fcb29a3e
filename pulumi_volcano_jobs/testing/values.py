"""Values as sent to the engine, with marks for secret and unknown values."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

from pulumi.runtime import rpc

from pulumi_volcano_jobs.core.tree import map_tree, scalars, whole_number

Wire = dict[str, Any]
"""A manifest, or another tree of plain values and marks."""

T = TypeVar("T")

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105  # a signature of Pulumi's protocol
_REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e"


class SecretValue:
    """A value that Pulumi keeps secret. Neither repr nor a failed assertion shows it; `reveal` returns it.

    It is equal to the same secret, but not to the plain value: `env["TOKEN"] == SecretValue("abc")` checks both.
    """

    # Not a dataclass: pytest would show the fields of two values that differ.
    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        """Mark a value as secret."""
        self._value = value

    def reveal(self) -> Any:
        """Return the value without any marks of secrets inside."""
        return reveal(self._value)

    def __eq__(self, other: object) -> bool:
        """Compare with another secret."""
        return isinstance(other, SecretValue) and self._value == other._value

    def __hash__(self) -> int:
        """Return a hash that does not depend on the value, which may be a mapping."""
        return hash(SecretValue)

    def __repr__(self) -> str:
        """Return the text that Pulumi shows for a secret."""
        return "[secret]"


class Unknown:
    """A value that a preview does not know, because its resource is not created yet. `UNKNOWN` is the only instance."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return a text like Pulumi's for an unknown value."""
        return "<unknown>"


UNKNOWN = Unknown()
"""A value that a preview does not know; compare with `is UNKNOWN`."""
Text: TypeAlias = str | SecretValue | Unknown
"""A string that may be secret, or unknown in a preview."""


def is_secret(value: object) -> bool:
    """Check whether a value is secret or contains a secret."""
    return any(isinstance(leaf, SecretValue) for leaf in scalars(value))


def is_unknown(value: object) -> bool:
    """Check whether a value is unknown or contains an unknown value, also inside of a secret."""
    return any(isinstance(leaf, Unknown) for leaf in scalars(reveal(value)))


def reveal(value: Any) -> Any:
    """Return a copy of a value without marks of secrets."""
    return map_tree(value, lambda item: item.reveal() if isinstance(item, SecretValue) else item)


def inner(value: Any, default: T, noun: str) -> T:
    """Return a list or mapping for lookups. If it is secret, each of its values is a secret.

    Args:
        value: the list or mapping, or None.
        default: the result for None.
        noun: the name of the value in the message.

    Raises:
        LookupError: if the value is unknown.
    """
    if reveal(value) is UNKNOWN:
        raise LookupError(f"{noun} is unknown in this preview")
    marked: T = map_tree(value.reveal(), SecretValue) if isinstance(value, SecretValue) else value
    return default if marked is None else marked


def read(tree: Any) -> Any:
    """Parse a value that was sent to the engine: marks for its signatures, and integers for whole floats."""
    if isinstance(tree, dict):
        signature = tree.get(_SIGNATURE)
        if signature == _SECRET:
            return SecretValue(read(tree["value"]))
        if signature == _REFERENCE:
            return tree["urn"]
        return {key: read(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [read(value) for value in tree]
    return UNKNOWN if tree == rpc.UNKNOWN else whole_number(tree)
