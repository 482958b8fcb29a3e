"""An unknown value is passed on unchanged, and reading it is an error."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.core.leaf import Derived, Leaf, LeafError, derive, has_leaf, leaves, substitute

LOOKS: dict[str, Callable[[Any], object]] = {
    "str": str,
    "format": "{}".format,
    "an f-string": lambda leaf: f"{leaf}",
    "a format with a width": lambda leaf: f"{leaf:>5}",
    "the % operator": lambda leaf: "%s" % leaf,  # noqa: UP031  # that is what is tested
    "bool": bool,
    "not": lambda leaf: not leaf,
    "or": lambda leaf: leaf or "default",
    "and": lambda leaf: leaf and "more",
    "a condition": lambda leaf: 1 if leaf else 2,
    "equality": lambda leaf: leaf == "a",
    "equality from the other side": lambda leaf: "a" == leaf,  # noqa: SIM300  # that is what is tested
    "equality with itself": lambda leaf: leaf == leaf,  # noqa: PLR0124  # that is what is tested
    "inequality": lambda leaf: leaf != "a",
    "less": lambda leaf: leaf < 1,
    "less or equal": lambda leaf: leaf <= 1,
    "greater": lambda leaf: leaf > 1,
    "greater or equal": lambda leaf: leaf >= 1,
    "max": lambda leaf: max(leaf, 1),
    "sorting": lambda leaf: sorted([leaf, 1]),
    "iteration": list,
    "unpacking": lambda leaf: [*leaf],
    "a loop": lambda leaf: [item for item in leaf],  # noqa: C416  # that is what is tested
    "len": len,
    "membership": lambda leaf: "a" in leaf,
    "membership in a list": lambda leaf: leaf in ["a", "b"],
    "an item": lambda leaf: leaf[0],
    "a slice": lambda leaf: leaf[:1],
    "a sum": lambda leaf: leaf + "a",
    "a sum from the other side": lambda leaf: "a" + leaf,
    "int": int,
    "float": float,
}
NO_KEYS: dict[str, Callable[[Any], object]] = {
    "hash": hash,
    "a set": lambda leaf: {leaf},
    "a key": lambda leaf: {leaf: 1},
    "membership in a set": lambda leaf: leaf in {"a", "b"},
    "a look-up": {"a": 1}.get,
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("derived", [False, True], ids=["a leaf", "a derived value"])
def test_reading_an_unknown_value_is_an_error(look: Callable[[Any], object], derived: bool) -> None:  # noqa: FBT001
    """The error has the path of the value; `<Leaf ...>` is never written into a manifest."""
    leaf = Leaf("spec.queue")
    value = Derived(str.upper, leaf) if derived else leaf

    with pytest.raises(LeafError, match=r"^spec\.queue ") as refused:
        look(value)

    assert refused.value.path == "spec.queue"
    assert str(refused.value) == str(LeafError("spec.queue"))


def test_the_error_of_an_unknown_value_has_the_reason(snapshot: SnapshotAssertion) -> None:
    """The value is known later."""
    assert str(LeafError("spec.queue")) == snapshot


@pytest.mark.parametrize("look", NO_KEYS.values(), ids=NO_KEYS)
def test_an_unknown_value_cannot_be_a_key(look: Callable[[Any], object]) -> None:
    """A set or dict would compare it."""
    with pytest.raises(TypeError, match="unhashable"):
        look(Leaf("spec.queue"))


def test_repr_shows_the_place() -> None:
    """Debuggers and assertion messages use it."""
    assert repr([Leaf("spec.queue")]) == "[<Leaf spec.queue>]"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
def test_a_copy_is_the_same_leaf(copied: Callable[[Any], Any]) -> None:
    """The resolver finds a leaf by its identity."""
    leaf = Leaf("a")

    assert copied([leaf])[0] is leaf


def test_leaves_are_found_at_any_depth_in_order() -> None:
    """In mappings, lists and tuples; a derived value is one leaf."""
    first, second, third = Leaf("a"), Leaf("b"), Derived(len, [Leaf("c"), Leaf("d")])

    found = list(leaves({"x": [first, 1, ("y", second)], "z": {"w": third}, "s": "text"}))

    assert [leaf.path for leaf in found] == ["a", "b", "c, d"]
    assert all(one is other for one, other in zip(found, [first, second, third], strict=True))


@pytest.mark.parametrize(
    ("tree", "found"),
    [
        ({}, False),
        ("text", False),
        (None, False),
        ([1, {"a": ["b"]}], False),
        (Leaf("a"), True),
        ([1, {"a": (Leaf("a"),)}], True),
        (Derived(len, Leaf("a")), True),
    ],
    ids=repr,
)
def test_a_tree_has_leaves_at_any_depth(tree: Any, found: bool) -> None:  # noqa: FBT001
    """A single leaf is also a tree."""
    assert has_leaf(tree) is found


def test_a_function_of_known_values_runs_at_once() -> None:
    """The result is a plain value."""
    assert derive(lambda a, b: a + b["c"], "x", {"c": "y"}) == "xy"


def test_a_function_of_an_unknown_value_runs_when_it_is_known() -> None:
    """The value can be at any depth in the arguments."""
    leaf = Leaf("a")

    value = derive(lambda a, b: a + b["c"][0], "x", {"c": [leaf]})

    assert isinstance(value, Derived)
    assert value.path == "a"
    assert substitute(value, lambda asked: {"a": "y"}[asked.path]) == "xy"


def test_a_value_derived_from_a_derived_one_is_resolved() -> None:
    """The resolver receives plain leaves only."""
    asked: list[Leaf] = []
    inner = derive(str.upper, Leaf("a"))
    outer = derive(lambda text, more: text + more, inner, "!")

    def resolve(leaf: Leaf) -> str:
        asked.append(leaf)
        return "x"

    assert substitute({"k": [outer]}, resolve) == {"k": ["X!"]}
    assert [leaf.path for leaf in asked] == ["a"]


def test_substituting_copies_the_tree() -> None:
    """The tree keeps its leaves; tuples become lists, as in JSON."""
    leaf, plain = Leaf("a"), {"deep": [1]}
    tree = {"x": (leaf, plain)}

    done = substitute(tree, lambda _: "known")

    assert done == {"x": ["known", {"deep": [1]}]}
    assert tree["x"][0] is leaf
    assert done["x"][1] is not plain
