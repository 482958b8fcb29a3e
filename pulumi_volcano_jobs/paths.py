"""Places in a job, spelled as users read them: `spec.tasks[0].template.spec.containers[1].env[RANK]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_JOINT = re.compile(r"[.\[]")


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


def around(path: str) -> Iterator[str]:
    """Yield a path and the paths of everything that it is in."""
    yield path
    yield from (path[: match.start()] for match in _JOINT.finditer(path))
