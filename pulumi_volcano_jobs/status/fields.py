"""Read fields of recorded objects, which may lack any field or have values of another type."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

Object = Mapping[str, Any]
# Python 3.10 reads neither `Z` nor more than six digits of a fraction.
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?(?:Z|\+00:00)")


def value(tree: Any, *keys: str) -> Any:
    """Return the value below nested keys, or None."""
    for key in keys:
        if not isinstance(tree, Mapping):
            return None
        tree = tree.get(key)
    return tree


def mapping(tree: Any, *keys: str) -> Object:
    """Return the mapping below nested keys, or an empty one."""
    found = value(tree, *keys)
    return found if isinstance(found, Mapping) else {}


def listed(tree: Any, *keys: str) -> list[Object]:
    """Return the mappings in the list below nested keys."""
    found = value(tree, *keys)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def texts(tree: Any, *keys: str) -> list[str]:
    """Return the strings in the list below nested keys."""
    found = value(tree, *keys)
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def text(tree: Any, *keys: str) -> str:
    """Return the string below nested keys, or an empty one."""
    found = value(tree, *keys)
    return found if isinstance(found, str) else ""


def number(tree: Any, *keys: str) -> int:
    """Return the integer below nested keys, or 0."""
    found = value(tree, *keys)
    return found if isinstance(found, int) else 0


def time(tree: Any, *keys: str) -> dt.datetime | None:
    """Return the time below nested keys, or None."""
    match = _TIME.fullmatch(text(tree, *keys))
    if not match:
        return None
    try:
        second = dt.datetime.fromisoformat(match[1])
    except ValueError:
        return None
    return second.replace(microsecond=int((match[2] or "0").ljust(6, "0")), tzinfo=dt.timezone.utc)


def name_of(item: Object) -> str:
    """Return the name of an object."""
    return text(item, "metadata", "name")


def namespace_of(item: Object) -> str:
    """Return the namespace of an object."""
    return text(item, "metadata", "namespace")


def condition(item: Object, kind: str) -> Object:
    """Return the condition of a type, or an empty mapping."""
    return next((entry for entry in listed(item, "status", "conditions") if entry.get("type") == kind), {})
