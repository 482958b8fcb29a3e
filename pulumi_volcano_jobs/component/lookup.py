"""Lookups by name, index and attribute, whose errors list the existing ones. `pulumi up` shows no traceback of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeVar, overload

import pulumi

from pulumi_volcano_jobs.core.errors import attribute_error
from pulumi_volcano_jobs.core.suggestions import missing

T = TypeVar("T")


class NotFound(KeyError, pulumi.RunError):  # noqa: N818  # the name states the problem, and KeyError that it is an error
    """A lookup of a name that does not exist; the message lists the existing names."""

    def __str__(self) -> str:
        """Return the message without the quotes of KeyError."""
        return str(self.args[0])


class IndexNotFound(IndexError, pulumi.RunError):  # noqa: N818  # as above
    """A lookup of an index that does not exist; the message has the last index."""


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


class IndexedItems(list[T]):
    """Items by index. A lookup of a missing index raises an error that has the last index."""

    def __init__(self, noun: str, items: Iterable[T] = (), where: str = "") -> None:
        """Store the items; the arguments are those of `NamedItems`."""
        super().__init__(items)
        self._what = noun
        self._where = where

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> T: ...

    @overload
    def __getitem__(self, index: slice, /) -> list[T]: ...

    def __getitem__(self, index: Any, /) -> Any:
        """Return an item, or raise an error that has the last index."""
        try:
            return super().__getitem__(index)
        except IndexError:
            known = f"the last index is {len(self) - 1}" if self else "there are none"
            raise IndexNotFound(f"no {self._what} {index} in {self._where}; {known}") from None


class NamedAttributes:
    """Base of resources whose missing attributes are errors that list the existing ones."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an error with the attributes that a program reads. Python looks up private names itself."""
            if name.startswith("_"):
                raise AttributeError(name)
            raise attribute_error(self._missing_attribute(name))

    def _missing_attribute(self, name: str) -> str:
        """Return the message for a missing attribute."""
        return missing("attribute", name, sorted(_public_names(self)), type(self).__name__)


def _public_names(resource: object) -> set[str]:
    """Return the attributes that the classes of this package declare, without methods, and those that they set."""
    own = [kind for kind in type(resource).__mro__ if kind.__module__.startswith("pulumi_volcano_jobs.")]
    properties = {name for kind in own for name, value in vars(kind).items() if isinstance(value, property)}
    declared = {name for kind in own for name in vars(kind).get("__annotations__", ())}
    return {name for name in (*properties, *declared, *vars(resource)) if not name.startswith("_")}
