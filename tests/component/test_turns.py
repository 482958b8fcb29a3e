"""A program registers its resources in the same order in each run."""

from __future__ import annotations

import time
from typing import Any

import pulumi
from pulumi.runtime import mocks

from pulumi_volcano_jobs.testing import run


class Slow(mocks.Mocks):
    """Mocks whose first resource takes long to create."""

    def call(self, args: mocks.MockCallArgs) -> Any:
        """Return nothing, because no function is called."""
        raise NotImplementedError(args.token)

    def new_resource(self, args: mocks.MockResourceArgs) -> Any:
        """Return the state of the resource."""
        if args.name == "0":
            time.sleep(0.1)
        return f"id-of-{args.name}", args.inputs


class Thing(pulumi.CustomResource):
    """A resource of another provider."""

    zone: pulumi.Output[str]

    def __init__(self, name: str, zone: Any = "", opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the resource."""
        super().__init__("acme:index:Thing", name, {"zone": zone}, opts)


def test_resources_that_wait_for_a_slow_resource_keep_their_order() -> None:
    """An engine guarantees no order, but tests need a stable one."""

    def program() -> None:
        things = [Thing(str(index)) for index in range(3)]
        for thing in things:
            Thing(f"{thing._name} and on", thing.zone)

    assert run(program, mocks=Slow()).names("Thing") == ["0", "1", "2", "0 and on", "1 and on", "2 and on"]
