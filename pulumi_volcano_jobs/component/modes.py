"""Changes from one mode to another."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi


def namespace_of_mode(
    name: str, mode: str, namespace: pulumi.Output[str], parent: pulumi.Resource
) -> pulumi.Output[Any]:
    """Return the namespace for the objects of a mode, as an Output of a resource that another mode replaces.

    Objects of both modes have the same names. All of them depend on this resource, so the engine deletes the objects of
    the old mode before it creates those of the new one.

    A preview of the change runs while the objects of the old mode exist, so the API server would reject a dry run of
    the new ones. The provider skips the dry run of an object with an unknown field: the namespace is unknown then. The
    preview of a new job knows it, so that the API server validates the objects.

    Args:
        name: the component's name.
        mode: the mode of the job.
        namespace: the namespace of the job.
        parent: the component.
    """
    of_mode = pulumi.Stash(
        f"{name}-managed-by",
        input=namespace,
        opts=pulumi.ResourceOptions(parent=parent, replacement_trigger=mode, delete_before_replace=True),
    )
    # No mode replaces this marker. In a preview, the id of a resource is unknown until it is created.
    marker = pulumi.Stash(f"{name}-created", input=True, opts=pulumi.ResourceOptions(parent=parent))
    known: pulumi.Output[Any] = of_mode.input
    if not pulumi.runtime.is_dry_run():
        return known

    async def is_known() -> bool:
        is_new = not await marker.id.is_known()
        return await known.is_known() and (is_new or await of_mode.id.is_known())

    return pulumi.Output(known.resources(), known.future(), asyncio.ensure_future(is_known()), known.is_secret())
