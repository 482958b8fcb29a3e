"""Queues with extend clusters: Volcano's controller updates every Job in them."""

from __future__ import annotations

from typing import Any

import pulumi

from pulumi_volcano_jobs.component.per_program import PerProgram

FORCE = "pulumi.com/patchForce"
"""The annotation with which the provider overrides other field managers of an object."""

_forwarding: PerProgram[list[tuple[pulumi.Output[str], str]]] = PerProgram(list)


def register_queue(queue: pulumi.Output[str], name: str) -> None:
    """Register a queue with extend clusters, by the Output that jobs refer to and by its name."""
    _forwarding.get().append((queue, name))


def is_forwarding(queue: Any) -> bool:
    """Return whether a job's queue is one of the program's queues with extend clusters."""
    return any(queue is output or (isinstance(queue, str) and queue == name) for output, name in _forwarding.get())
