"""Leaves, which replace Pulumi Outputs in otherwise plain data.

The core does not import Pulumi. A `Leaf` represents a value that is not known yet, and the caller replaces it with
`substitute` after rendering. Code that reads the value of a Leaf raises `LeafError`; otherwise, manifests would
contain the text `<Leaf ...>`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NoReturn, Protocol, TypeAlias, TypeVar, runtime_checkable

from pulumi_volcano_jobs.core.tree import map_tree, scalars

Resolver = Callable[["Leaf"], Any]


_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


@runtime_checkable
class OutputLike(Protocol[_T_co]):
    """A Pulumi Output, for code that does not import Pulumi."""

    def apply(self, func: Callable[[_T_co], Any]) -> Any:
        """Return an Output of the result of `func`."""
        ...


Input: TypeAlias = _T | Awaitable[_T] | OutputLike[_T]
"""`pulumi.Input`: a value, or an Output of it in a Pulumi program."""
Text: TypeAlias = str | OutputLike[str]
"""Text, or an Output of text in a Pulumi program."""


class LeafError(TypeError):
    """An attempt to read a value that is not known yet."""

    def __init__(self, path: str) -> None:
        """Store the path of the value."""
        self.path = path
        super().__init__(f"{path} is not known yet, so its value cannot be read here")


class Leaf:
    """A value that is not known yet, at the field `path`."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        """Store the path of the field."""
        self.path = path

    def __repr__(self) -> str:
        """Show the path instead of a value."""
        return f"<Leaf {self.path}>"

    def _refuse(self, *_args: object) -> NoReturn:
        raise LeafError(self.path)

    __str__ = __format__ = __bool__ = __iter__ = __len__ = __int__ = __float__ = _refuse
    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __getitem__ = __contains__ = __add__ = __radd__ = _refuse
    __hash__ = None  # type: ignore[assignment]  # sets and dicts compare their keys

    def __copy__(self) -> Leaf:
        """Return the same leaf, because leaves are resolved by identity."""
        return self

    def __deepcopy__(self, _memo: object) -> Leaf:
        """Return the same leaf, because leaves are resolved by identity."""
        return self


class Derived(Leaf):
    """The result of a pure function `fn` whose arguments contain leaves, at any depth."""

    __slots__ = ("args", "fn")

    def __init__(self, fn: Callable[..., Any], *args: Any) -> None:
        """Store the function and its arguments."""
        super().__init__(", ".join(leaf.path for leaf in leaves(args)))
        self.fn = fn
        self.args = args


def leaves(tree: Any) -> Iterator[Leaf]:
    """Return the leaves of a tree. A Derived is one leaf."""
    return (value for value in scalars(tree) if isinstance(value, Leaf))


def has_leaf(tree: Any) -> bool:
    """Check whether a tree contains a leaf."""
    return next(leaves(tree), None) is not None


def is_given(value: Any) -> bool:
    """Check whether a value is set: not empty, or not known yet."""
    return isinstance(value, Leaf) or bool(value)


def may_be_output(value: Any) -> bool:
    """Check whether a value is a leaf, or similar to an Output, which a leaf replaces later."""
    return isinstance(value, Leaf) or hasattr(value, "apply")


def is_valid_unicode(text: str) -> bool:
    """Check whether text can be encoded in UTF-8. A lone surrogate cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def derive(fn: Callable[..., Any], *args: Any) -> Any:
    """Return `fn(*args)` if all arguments are known, and a Derived otherwise."""
    return Derived(fn, *args) if has_leaf(args) else fn(*args)


def substitute(tree: Any, resolve: Resolver) -> Any:
    """Return a copy of a tree with each leaf replaced by its value.

    `resolve` returns the value of a plain leaf. A Derived is computed from its resolved arguments.
    """

    def value_of(value: Any) -> Any:
        if isinstance(value, Derived):
            return value.fn(*(substitute(arg, resolve) for arg in value.args))
        return resolve(value) if isinstance(value, Leaf) else value

    return map_tree(tree, value_of)
