"""How large and how deep the data of a job may be, whether it comes from YAML or from a program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, Stage, key_text

MOST_VALUES = 500_000
"""In a file, or in the arguments of a job; the API server takes far less, but aliases multiply."""
MOST_LEVELS = 100
"""Of lists and mappings in each other; a Job has some twenty."""
# Classes that hold data: our models and plugins, and args classes of Pulumi's providers.
_MARKS = ("__pydantic_fields__", "__dataclass_fields__", "_pulumi_input_type")
_Entry = tuple["str | int", Any]


def problems(tree: Any, path: str = "") -> list[Problem]:
    """Return a Problem if data is nested too deep, contains itself or has too many values.

    Args:
        tree: mappings, lists and what they hold; models, plugins and args classes count as mappings.
        path: the place of the tree.
    """
    keys: list[str | int] = []
    open_trees: list[Iterator[_Entry]] = [_entries(tree)]
    values = 0
    while open_trees:
        for key, value in open_trees[-1]:
            values += 1
            if values > MOST_VALUES:
                reason = f"Too many: may have at most {MOST_VALUES} keys and values, shared ones counted each time"
                return [Problem(path, reason, "write several jobs", stage=Stage.DECODE)]
            if isinstance(value, _PLAIN):
                continue
            keys.append(key)
            if len(keys) >= MOST_LEVELS:
                reason = f"Too deep: may not be nested more than {MOST_LEVELS} levels deep, or contain itself"
                return [Problem(_place(path, keys), reason, "write it flatter", stage=Stage.DECODE)]
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


def _place(path: str, keys: Iterable[str | int]) -> str:
    """Spell a place; what is below a long one is placed at what is around it."""
    for key in keys:
        if len(path) <= paths.LONGEST_SHOWN:
            path = f"{path}[{key_text(key)}]" if isinstance(key, int) else paths.join(path, key_text(key))
    return path
