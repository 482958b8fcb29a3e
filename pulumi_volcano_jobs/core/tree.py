"""Trees of mappings and sequences, as YAML and JSON have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core import paths


def map_tree(tree: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of a tree, of dicts and lists, with `change` applied to each value that is not one of these."""
    if isinstance(tree, Mapping):
        return {key: map_tree(value, change) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [map_tree(value, change) for value in tree]
    return change(tree)


def scalars(tree: Any) -> Iterator[Any]:
    """Yield the values of a tree that are neither mappings nor sequences."""
    if isinstance(tree, (Mapping, list, tuple)):
        for value in tree.values() if isinstance(tree, Mapping) else tree:
            yield from scalars(value)
    else:
        yield tree


def placed_scalars(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a tree, and its empty mappings and lists, each with its path."""
    if isinstance(tree, Mapping) and tree:
        for key, value in tree.items():
            yield from placed_scalars(value, paths.join(path, str(key)))
    elif isinstance(tree, (list, tuple)) and tree:
        for index, value in enumerate(tree):
            yield from placed_scalars(value, paths.join(path, index))
    else:
        yield path, tree


def without_none(value: Any) -> Any:
    """Return a copy of a mapping without the entries that are None; return any other value unchanged."""
    return {key: item for key, item in value.items() if item is not None} if isinstance(value, Mapping) else value


def whole_number(value: Any) -> Any:
    """Return a float without a fraction as an integer, because Pulumi transfers all numbers as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
