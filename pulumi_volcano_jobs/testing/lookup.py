"""Lookups whose errors list the available names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn, TypeVar

T = TypeVar("T")


class NotFound(KeyError):  # noqa: N818  # the name states the problem, and KeyError that it is an error
    """A lookup of a name that does not exist; the message lists the existing names."""

    def __str__(self) -> str:
        """Return the message without the quotes of KeyError."""
        return str(self.args[0])


class NamedItems(dict[str, T]):
    """Items by name. A lookup of a missing name raises an error that lists the existing names."""

    def __init__(self, noun: str, items: Iterable[tuple[str, T]] = (), where: str = "") -> None:
        """Store the items.

        Args:
            noun: the kind of the items, such as `Service`.
            items: the names and the items.
            where: the owner of the items, such as `the job train`.
        """
        super().__init__(items)
        self._what = noun
        self._where = where

    def __missing__(self, name: str) -> NoReturn:
        """Raise an error that lists the names."""
        # Sorted, to make a name in a long list easy to find: a slow transform may change the order of resources.
        raise NotFound(missing(self._what, name, sorted(self), self._where))


def missing(noun: str, name: object, known: Iterable[str], where: str = "") -> str:
    """Return the message for a missing item."""
    names = ", ".join(known)
    known_text = f"there are {names}" if ", " in names else f"there is {names}" if names else "there are none"
    return f"no {noun} {name}{f' in {where}' if where else ''}; {known_text}"
