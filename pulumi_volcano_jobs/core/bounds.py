"""Limits on the size and nesting depth of a job's data, from YAML or from a program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, key_text

MOST_VALUES = 500_000
"""Maximum number of keys and values in a file or in a job's arguments.

The API server accepts far fewer, but YAML aliases multiply them.
"""
MOST_LEVELS = 100
"""Maximum nesting depth of lists and mappings. A Job has about twenty levels."""
# Classes that hold data: models and plugins of this package, and args classes of Pulumi providers.
_MARKS = ("__pydantic_fields__", "__dataclass_fields__", "_pulumi_input_type")
_Entry = tuple["str | int", Any]


def check_bounds(tree: Any, path: str = "") -> list[Problem]:
    """Return a Problem if data is nested too deep, contains itself or has too many values.

    Args:
        tree: mappings and lists with their values; models, plugins and args classes are checked like mappings.
        path: the path of the tree.
    """
    keys: list[str | int] = []
    open_trees: list[Iterator[_Entry]] = [_entries(tree)]
    values = 0
    while open_trees:
        for key, value in open_trees[-1]:
            values += 1
            if values > MOST_VALUES:
                reason = f"must have at most {MOST_VALUES} keys and values, including each use of a shared value"
                return [Problem(path, "TooMany", reason, "split it into several jobs", stage=RejectionStage.DECODE)]
            if isinstance(value, _PLAIN):
                continue
            keys.append(key)
            if len(keys) >= MOST_LEVELS:
                reason = f"may not be nested more than {MOST_LEVELS} levels deep, and may not contain itself"
                return [
                    Problem(
                        _path_of(path, keys), "Invalid", reason, "remove levels of nesting", stage=RejectionStage.DECODE
                    )
                ]
            open_trees.append(_entries(value))
            break
        else:
            open_trees.pop()
            del keys[-1:]
    return []


_PLAIN = (str, int, float, bytes, type(None))


def _entries(value: Any) -> Iterator[_Entry]:
    if isinstance(value, Mapping):
        return iter(value.items())
    if isinstance(value, (list, tuple)):
        return enumerate(value)
    if any(hasattr(type(value), mark) for mark in _MARKS):
        return _fields(value)
    return iter(())


def _fields(value: Any) -> Iterator[_Entry]:
    extra: Mapping[str, Any] = getattr(value, "model_extra", None) or {}
    yield from (*getattr(value, "__dict__", {}).items(), *extra.items())


def _path_of(path: str, keys: Iterable[str | int]) -> str:
    """Return the path of nested keys, without the keys after the length that a message shows."""
    for key in keys:
        if len(path) <= paths.LONGEST_SHOWN:
            path = f"{path}[{key_text(key)}]" if isinstance(key, int) else paths.join(path, key_text(key))
    return path
