"""Places in a job, spelled as users read them: `spec.tasks[0].template.spec.containers[1].env[RANK]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pydantic.alias_generators import to_camel

LONGEST_SHOWN = 400
"""Characters of a path that a message shows. What is below a longer path is reported at that path."""
_JOINT = re.compile(r"[.\[]")
# No field has a longer name or path: longer ones contain keys that the user chose.
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
    """Spell a pydantic location of the flat `Job` as the place in Volcano's document."""
    first, *rest = location
    root = "metadata" if first in metadata else "spec"
    return join(root, first, *rest)


def with_parents(path: str) -> Iterator[str]:
    """Yield a path and the paths that contain it, the nearest first.

    Only the first 1,000 characters are split: each path that is yielded is a copy, and users choose long keys.
    """
    yield path
    yield from (path[:end] for end in reversed([match.start() for match in _JOINT.finditer(path, 0, _LONGEST)]))


def wire_name(name: str) -> str:
    """Return the name of a field in camelCase, and long text as it is: pydantic's expression backtracks over it."""
    return to_camel(name) if len(name) <= _LONGEST_NAME else name
