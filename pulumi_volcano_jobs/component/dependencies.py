"""Outputs with values that this library computes, and that depend on resources."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pulumi


def output(value: pulumi.Input[Any], resources: Sequence[pulumi.Resource]) -> pulumi.Output[Any]:
    """Return an Output that depends on resources, and resolves after their registration. A preview knows its value."""
    # Output.all over the URNs would start several tasks for each resource.
    registered = asyncio.ensure_future(_registered(resources))
    return pulumi.Output({*resources}, registered, registered).apply(lambda _: value)


async def _registered(resources: Sequence[pulumi.Resource]) -> bool:
    for resource in resources:
        await resource.urn.future()
    return True
