"""Values that are not known yet: opaque leaves in otherwise plain data.

The core never sees a Pulumi Output. What is not known arrives as a `Leaf`, travels through as it is, and whoever
knows the value puts it in at the end with `substitute`. Code that would look into one fails loudly instead of
writing `<Leaf ...>` into a manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Protocol, runtime_checkable

from pulumi_volcano_jobs.core.tree import map_tree, scalars

Resolver = Callable[["Leaf"], Any]


@runtime_checkable
class OutputLike(Protocol):
    """A Pulumi Output, seen from code that knows no Pulumi."""

    def apply(self, func: Callable[[Any], Any]) -> Any:
        """Compute something of the value once it is known."""
        ...


Text = str | OutputLike
"""Text that may be an Output in a Pulumi program."""


class LeafError(TypeError):
    """Something needed to look into a value that is not known yet."""

    def __init__(self, path: str) -> None:
        """Name the place of the value."""
        self.path = path
        super().__init__(f"{path} is not known yet here, so its value cannot be looked at")


class Leaf:
    """A value that is somebody else's to give; `path` says where it stands."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        """Stand for the value at `path`."""
        self.path = path

    def __repr__(self) -> str:
        """Show the place, never a value."""
        return f"<Leaf {self.path}>"

    def _refuse(self, *_args: object) -> NoReturn:
        raise LeafError(self.path)

    __str__ = __format__ = __bool__ = __iter__ = __len__ = __int__ = __float__ = _refuse
    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __getitem__ = __contains__ = __add__ = __radd__ = _refuse
    __hash__ = None  # type: ignore[assignment]  # a set or a dict key would compare it

    def __copy__(self) -> Leaf:
        """Stay the same leaf: its identity is what resolves it."""
        return self

    def __deepcopy__(self, _memo: object) -> Leaf:
        """Stay the same leaf: its identity is what resolves it."""
        return self


class Derived(Leaf):
    """A value computed by a pure `fn` from arguments that hold leaves, at any depth."""

    __slots__ = ("args", "fn")

    def __init__(self, fn: Callable[..., Any], *args: Any) -> None:
        """Stand for `fn(*args)`."""
        super().__init__(", ".join(leaf.path for leaf in leaves(args)))
        self.fn = fn
        self.args = args


def leaves(tree: Any) -> Iterator[Leaf]:
    """Return the leaves of a tree; a Derived is one leaf."""
    return (value for value in scalars(tree) if isinstance(value, Leaf))


def has_leaf(tree: Any) -> bool:
    """Tell whether any leaf is in the tree."""
    return next(leaves(tree), None) is not None


def is_given(value: Any) -> bool:
    """Tell whether a value is there: not empty, or not known yet."""
    return isinstance(value, Leaf) or bool(value)


def may_be_output(value: Any) -> bool:
    """Tell whether a value is not known yet: a leaf, or what looks like the Output that one will stand for."""
    return isinstance(value, Leaf) or hasattr(value, "apply")


def is_valid_unicode(text: str) -> bool:
    """Tell whether text can be written: half of a character outside of Unicode's first plane (a surrogate) cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def derive(fn: Callable[..., Any], *args: Any) -> Any:
    """Compute `fn(*args)` now if all is known, else give the Derived that stands for it."""
    return Derived(fn, *args) if has_leaf(args) else fn(*args)


def substitute(tree: Any, resolve: Resolver) -> Any:
    """Copy the tree with each leaf's value in its place.

    `resolve` is asked for plain leaves; a Derived is computed from its resolved arguments.
    """

    def value_of(value: Any) -> Any:
        if isinstance(value, Derived):
            return value.fn(*(substitute(arg, resolve) for arg in value.args))
        return resolve(value) if isinstance(value, Leaf) else value

    return map_tree(tree, value_of)
