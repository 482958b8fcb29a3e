"""Releases of Volcano: the known versions and their order.

The first release that has a plugin, a flag or a job field is declared there: `since` of a plugin and of its flags,
`Since` of a job field. Each fact was read from the release tags of volcano-sh/volcano up to v1.15.1, and from master
(ed72c7c) for 1.16.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pulumi_volcano_jobs.core.errors import Problem, value_text


@dataclass(frozen=True)
class _Minor:
    """A minor release."""

    kubernetes: str
    """The Kubernetes version of the Pod template in its resource definition."""
    patches: int
    """The number of its releases; 0 before the first one."""


_MINORS = {
    "1.9": _Minor("1.29", 2),
    "1.10": _Minor("1.30", 3),
    "1.11": _Minor("1.31", 3),
    "1.12": _Minor("1.32", 5),
    "1.13": _Minor("1.33", 4),
    "1.14": _Minor("1.34", 5),
    "1.15": _Minor("1.35", 2),
    "1.16": _Minor("1.36", 0),
}
MINORS = tuple(_MINORS)
"""The known minor releases. Each means its first patch release."""
KNOWN = frozenset({*MINORS, *(f"{name}.{patch}" for name, minor in _MINORS.items() for patch in range(minor.patches))})
"""All known releases."""


@dataclass(frozen=True)
class Since:
    """The first release that has a field, as an annotation of its type."""

    version: str


def check_release(value: object, path: str) -> Iterator[Problem]:
    """Yield a Problem if a value is not a known release of Volcano."""
    if isinstance(value, str) and value in KNOWN:
        return
    reason = f'supported values: {", ".join(map(value_text, MINORS))}, and their releases such as "1.15.1"'
    hint = "set the version of Volcano in the cluster, or omit it"
    yield Problem(path, "NotSupported", reason, hint, value_text(value))


def is_older(version: str, since: str) -> bool:
    """Return whether a release is older than another; False if either is not given."""
    return bool(version and since) and order(version) < order(since)


def order(version: str) -> tuple[int, ...]:
    """Return a key that sorts versions; "" is the oldest, and 1.15 equals 1.15.0."""
    return (*map(int, version.split(".")), 0)[:3] if version else ()


def embedded_kubernetes(version: str) -> str:
    """Return the Kubernetes version whose fields a known release stores in Pod templates."""
    return _MINORS[".".join(version.split(".")[:2])].kubernetes
