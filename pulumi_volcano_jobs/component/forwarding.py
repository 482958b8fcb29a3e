"""Queues with extend clusters: Volcano's controller updates every Job in them."""

from __future__ import annotations

import weakref
from typing import Any

import pulumi
from pulumi.runtime import settings

FORCE = "pulumi.com/patchForce"
"""The annotation that lets the provider override other field managers of an object."""

# By the connection to the engine: a process may run several programs, one after another.
_forwarding: weakref.WeakKeyDictionary[Any, list[tuple[pulumi.Output[str], str]]] = weakref.WeakKeyDictionary()


def note(queue: pulumi.Output[str], name: str) -> None:
    """Note a queue of the program with extend clusters, by the Output that jobs are given and by its name."""
    _forwarding.setdefault(settings.get_monitor(), []).append((queue, name))


def is_forwarding(queue: Any) -> bool:
    """Return whether a job's queue is one of the program's queues with extend clusters."""
    noted = _forwarding.get(settings.get_monitor(), [])
    return any(queue is output or (isinstance(queue, str) and queue == name) for output, name in noted)
