"""Look-ups that say what there is when something is missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn, TypeVar

T = TypeVar("T")


class NotFound(KeyError):  # noqa: N818  # it reads as what it is; that it is an error is said by KeyError
    """What was asked for is not there; the message says what is."""

    def __str__(self) -> str:
        """Give the message as it is; a KeyError would quote it."""
        return str(self.args[0])


class NamedItems(dict[str, T]):
    """Things by name; asking for one that is not there names those that are."""

    def __init__(self, noun: str, items: Iterable[tuple[str, T]] = (), where: str = "") -> None:
        """Take the things.

        Args:
            noun: what each of them is, such as `Service`.
            items: the names and the things.
            where: where they are, such as `the job train`.
        """
        super().__init__(items)
        self._what = noun
        self._where = where

    def __missing__(self, name: str) -> NoReturn:
        """Say what there is."""
        # One of a long list is found by its place in the alphabet; a slow transform may change the order of resources.
        raise NotFound(missing(self._what, name, sorted(self), self._where))


def missing(noun: str, name: object, known: Iterable[str], where: str = "") -> str:
    """Say that something is not there, and what is."""
    names = ", ".join(known)
    known_text = f"there are {names}" if ", " in names else f"there is {names}" if names else "there are none"
    return f"no {noun} {name}{f' in {where}' if where else ''}; {known_text}"
