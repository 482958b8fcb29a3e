"""Values as they went over the wire to the engine, with marks for what is secret and what is not known yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

from pulumi.runtime import rpc

from pulumi_volcano_jobs.core.tree import map_tree, whole_number

Wire = dict[str, Any]
"""A manifest, or another tree of plain values and marks."""

T = TypeVar("T")

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105  # a signature of the wire
_REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e"


class SecretValue:
    """A value that Pulumi keeps secret. Neither repr nor a failed assertion shows it; `reveal` gives it.

    It equals the same secret, and not the plain value: `env["TOKEN"] == SecretValue("abc")` checks both.
    """

    # No dataclass: pytest would show the fields of two that differ.
    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        """Mark a value."""
        self._value = value

    def reveal(self) -> Any:
        """Give the value; all marks inside are taken off, too."""
        return reveal(self._value)

    def __eq__(self, other: object) -> bool:
        """Compare with another secret."""
        return isinstance(other, SecretValue) and self._value == other._value

    def __hash__(self) -> int:
        """Hash the mark, not the value, which may be a mapping."""
        return hash(SecretValue)

    def __repr__(self) -> str:
        """Say what Pulumi says."""
        return "[secret]"


class Unknown:
    """What is not known in a preview: it comes from a resource that is not made yet. `UNKNOWN` is the only one."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Say so."""
        return "<unknown>"


UNKNOWN = Unknown()
"""What is not known in a preview; compare with `is UNKNOWN`."""
Text: TypeAlias = str | SecretValue | Unknown
"""A text that may be secret, or not known in a preview."""


def is_secret(value: object) -> bool:
    """Tell whether a value, or something in it, is secret."""
    return any(isinstance(leaf, SecretValue) for _, leaf in leaves(value))


def is_unknown(value: object) -> bool:
    """Tell whether a value, or something in it, is not known; a secret may be unknown, too."""
    return any(isinstance(leaf, Unknown) for _, leaf in leaves(reveal(value)))


def reveal(value: Any) -> Any:
    """Copy a value without marks of secrets."""
    return map_tree(value, lambda item: item.reveal() if isinstance(item, SecretValue) else item)


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all values of a tree with their places, such as `spec.containers[0].image`; a secret is one value."""
    if isinstance(tree, Mapping) and tree:
        for key, value in tree.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(tree, list) and tree:
        for index, value in enumerate(tree):
            yield from leaves(value, f"{path}[{index}]")
    else:
        yield path, tree


def inner(value: Any, default: T, noun: str) -> T:
    """Give a list or mapping to look into; of a secret one, each value is a secret.

    Args:
        value: what is there, or None.
        default: what an absent one is.
        noun: what it is, for the message.

    Raises:
        LookupError: if it is not known.
    """
    if reveal(value) is UNKNOWN:
        raise LookupError(f"{noun} is not known in this preview")
    marked: T = map_tree(value.reveal(), SecretValue) if isinstance(value, SecretValue) else value
    return default if marked is None else marked


def read(tree: Any) -> Any:
    """Read a value off the wire: marks for its signatures, whole numbers for whole floats."""
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
