"""Transforms: they run for all that is below a job."""

from __future__ import annotations

from typing import Any

import pulumi

from pulumi_volcano_jobs.testing import run
from tests.component.programs import needs_transforms, new_job
from tests.component.test_stack_docs import PROGRAMS
from tests.conftest import task

POD = "Pod train-worker-0"


@needs_transforms
def test_a_jobs_transforms_see_all_that_is_below_it() -> None:
    """Once each; one that changes nothing leaves everything as it is without."""
    asked: list[str] = []

    def note(args: pulumi.ResourceTransformArgs) -> None:
        asked.append(f"{args.type_.rpartition(':')[2]} {args.name}")

    def program(*transforms: pulumi.ResourceTransform) -> None:
        new_job("train", {"tasks": [task()]}, pulumi.ResourceOptions(transforms=list(transforms)))

    done, without = run(lambda: program(note)), run(program)

    assert sorted(asked) == sorted(done.resources)
    assert done.manifests() == without.manifests()


@needs_transforms
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
