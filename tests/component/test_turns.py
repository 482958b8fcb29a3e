"""A program registers its resources in the same order in every run, whatever its transforms wait for."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.testing import failed, run, transforms
from tests.component.programs import needs_transforms

MANY = 40
"""More than Python has threads for."""


class Slow(mocks.Mocks):
    """The first resource takes long."""

    def call(self, args: mocks.MockCallArgs) -> Any:
        """Answer any function."""
        return {"zone": f"zone of {args.args['of']}"}

    def new_resource(self, args: mocks.MockResourceArgs) -> Any:
        """Make a resource."""
        if args.name == "0":
            time.sleep(0.1)
        return f"id-of-{args.name}", args.inputs


class Thing(pulumi.CustomResource):
    """A resource of another provider."""

    zone: pulumi.Output[str]

    def __init__(self, name: str, zone: Any = "", opts: pulumi.ResourceOptions | None = None) -> None:
        """Make one."""
        super().__init__("acme:index:Thing", name, {"zone": zone}, opts)


def test_what_waits_for_a_slow_resource_is_not_overtaken() -> None:
    """An engine promises no order; tests want the same one every time."""

    def program() -> None:
        things = [Thing(str(index)) for index in range(3)]
        for thing in things:
            Thing(f"{thing._name} and on", thing.zone)

    assert run(program, mocks=Slow()).names("Thing") == ["0", "1", "2", "0 and on", "1 and on", "2 and on"]


@needs_transforms
def test_transforms_may_ask_functions() -> None:
    """Each holds up a thread meanwhile, and the function needs one too."""

    def zone(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
        found = pulumi.runtime.invoke_output("acme:index:zone", {"of": args.name})
        return pulumi.ResourceTransformResult({**args.props, "zone": found.apply(lambda it: it["zone"])}, args.opts)

    def program() -> None:
        for index in range(MANY):
            Thing(str(index), opts=pulumi.ResourceOptions(transforms=[zone]))

    result = run(program, mocks=Slow())

    assert {item.name: item.inputs["zone"] for item in result.resources.values()} == {
        str(index): f"zone of {index}" for index in range(MANY)
    }
    assert result.names("Thing") == [str(index) for index in range(MANY)]


@needs_transforms
def test_a_transform_may_wait_for_a_resource_that_comes_later() -> None:
    """What is behind it in the line goes first."""

    def program() -> None:
        late = Thing("late", Thing("later", Thing("latest").zone).zone)

        def follow(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
            return pulumi.ResourceTransformResult({**args.props, "zone": late.urn}, args.opts)

        Thing("early", opts=pulumi.ResourceOptions(transforms=[follow]))

    result = run(program, mocks=Slow())

    assert result.names("Thing") == ["latest", "later", "late", "early"]
    assert result.resources["Thing early"].inputs["zone"] == result.resources["Thing late"].urn


@needs_transforms
def test_many_resources_with_transforms_keep_their_order() -> None:
    """Although the event loop is busy, so that each transform takes long."""

    def program() -> None:
        for index in range(400):
            Thing(str(index), opts=pulumi.ResourceOptions(transforms=[lambda _: time.sleep(0.002)]))

    assert run(program).names("Thing") == [str(index) for index in range(400)]


@needs_transforms
def test_a_transform_may_make_a_resource() -> None:
    """Also one with a transform."""

    def add(args: pulumi.ResourceTransformArgs) -> None:
        if args.name == "first":
            Thing("second", opts=pulumi.ResourceOptions(transforms=[add]))

    result = run(lambda: Thing("first", opts=pulumi.ResourceOptions(transforms=[add])))

    assert sorted(result.names("Thing")) == ["first", "second"]


@needs_transforms
def test_a_transform_that_never_ends_is_an_error(monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    """The message has the resource."""
    monkeypatch.setattr(transforms, "_PATIENCE", 0.4)

    async def wait(_: pulumi.ResourceTransformArgs) -> None:
        await asyncio.Event().wait()

    error, _ = failed(lambda: Thing("endless", opts=pulumi.ResourceOptions(transforms=[wait])))

    assert str(error) == snapshot
