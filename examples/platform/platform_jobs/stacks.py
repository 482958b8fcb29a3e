"""How a stack finds the others."""

from __future__ import annotations

import pulumi


def queues() -> pulumi.StackReference:
    """Refer to the stack that owns the queues: `queues().require_output("vision")` is the queue of that team.

    It is the stack of the same name: `training` in `dev` uses the queues of `dev`.
    """
    return pulumi.StackReference(f"{pulumi.get_organization()}/platform-queues/{pulumi.get_stack()}")
