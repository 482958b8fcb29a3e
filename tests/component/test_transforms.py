"""Transforms under mocks: Pulumi hands them to the engine, which runs them; a test calls them as functions."""

from __future__ import annotations

from typing import Any

import pulumi

from tests.component.harness import new_job, run
from tests.component.test_stack_docs import PROGRAMS
from tests.conftest import task

POD = "Pod train-worker-0"


def test_a_jobs_transforms_are_handed_to_the_engine() -> None:
    """Once, for all that is below the job; a program that has some runs under mocks as without."""
    asked: list[str] = []

    def note(args: pulumi.ResourceTransformArgs) -> None:
        asked.append(args.name)

    def program(*transforms: pulumi.ResourceTransform) -> None:
        new_job("train", {"tasks": [task()]}, pulumi.ResourceOptions(transforms=list(transforms)))

    done, without = run(lambda: program(note)), run(program)

    counts = {name: len(item.request.transforms) for name, item in done.resources.items()}
    assert counts == dict.fromkeys(done.resources, 0) | {"VolcanoJob train": 1}
    assert done.manifests() == without.manifests()
    assert asked == []


def test_the_pages_transform_labels_pods_and_nothing_else() -> None:
    """It gives no options: those of a Pod have the digest."""
    page: dict[str, Any] = {}
    done = run(lambda: exec(PROGRAMS[2], page))  # noqa: S102  # our own page
    found = {}
    for name, item in done.resources.items():
        kind = item.request.type
        args = pulumi.ResourceTransformArgs(True, kind, name, item.inputs, pulumi.ResourceOptions())  # noqa: FBT003  # as Pulumi has it
        if result := page["add_cost_centre"](args):
            found[name] = result

    assert sorted(found) == ["Pod train-worker-0", "Pod train-worker-1"]
    before = done.resources[POD].inputs
    labels = {**before["metadata"]["labels"], "cost-centre": "4711"}
    assert found[POD].props == {**before, "metadata": {**before["metadata"], "labels": labels}}
    assert found[POD].opts is None
