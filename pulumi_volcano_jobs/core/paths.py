"""Paths of fields in a job, as messages show them: `spec.tasks[0].template.spec.containers[1].env[RANK]`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from pydantic.alias_generators import to_camel

LONGEST_SHOWN = 400
"""Maximum length of a path in a message. A problem below a longer path is reported at that path."""
_JOINT = re.compile(r"[.\[]")
# Names and paths of fields are shorter. Longer ones contain keys that users choose.
_LONGEST_NAME, _LONGEST = 100, 1000


def join(parent: str, *keys: str | int) -> str:
    """Append keys and list positions to a path."""
    for key in keys:
        if isinstance(key, int):
            parent += f"[{key}]"
        else:
            parent += f".{key}" if parent else key
    return parent


def from_location(location: Iterable[str | int], *, metadata: frozenset[str]) -> str:
    """Return the path in a Volcano Job of a pydantic location in the flat `Job`."""
    first, *rest = location
    root = "metadata" if first in metadata else "spec"
    return join(root, first, *rest)


def with_parents(path: str) -> Iterator[str]:
    """Yield a path and its parents, innermost first.

    Only the first 1,000 characters are split, because each yielded path is a copy and keys can be long.
    """
    yield path
    yield from (path[:end] for end in reversed([match.start() for match in _JOINT.finditer(path, 0, _LONGEST)]))


def with_root(path: str, rename: Callable[[str], str]) -> str:
    """Return a path whose first name is replaced by the result of `rename`."""
    joint = _JOINT.search(path)
    end = joint.start() if joint else len(path)
    return rename(path[:end]) + path[end:]


def wire_name(name: str) -> str:
    """Return a field name in camelCase. Long text stays as it is, because pydantic's expression backtracks on it."""
    return to_camel(name) if len(name) <= _LONGEST_NAME else name
