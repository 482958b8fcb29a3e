"""The change from one mode to the other, as a preview sees it."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi


def unknown_while_changed(
    name: str, namespace: pulumi.Output[Any], of_mode: pulumi.CustomResource, opts: pulumi.ResourceOptions
) -> pulumi.Output[Any]:
    """Return the namespace, unknown in the preview of an update that changes the mode.

    In that preview the objects of the old mode exist, and those of the new mode have the same names: the API server
    rejects a dry run of them. The provider skips the dry run of an object with an unknown field. The preview of a new
    job knows the namespace, so that the API server validates its objects.

    Args:
        name: the component's name.
        namespace: the namespace.
        of_mode: the resource that another mode replaces; in a preview its id is unknown while it is created.
        opts: options of the marker: a resource that no mode replaces, whose id is unknown for a new job only.
    """
    marker = pulumi.Stash(f"{name}-created", input=True, opts=opts)
    if not pulumi.runtime.is_dry_run():
        return namespace

    async def is_known() -> bool:
        is_new = not await marker.id.is_known()
        return await namespace.is_known() and (is_new or await of_mode.id.is_known())

    future = asyncio.ensure_future(is_known())
    return pulumi.Output(namespace.resources(), namespace.future(), future, namespace.is_secret())
