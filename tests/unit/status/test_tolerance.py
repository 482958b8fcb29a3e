"""Recorded objects can lack any field, and have values of another type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pulumi_volcano_jobs.status.job import JobView, jobs_in
from pulumi_volcano_jobs.status.objects import RecordedObjects
from pulumi_volcano_jobs.status.summary import status_of
from pulumi_volcano_jobs.status.tables import as_json, tables
from tests.cli.states import STATES
from tests.conftest import Wire

JUNK = (None, 7, "x", [], {}, [None], {"a": None}, [{}])


DEEPEST = 5


def broken(tree: Any) -> Iterator[Any]:
    """Yield copies of a tree, each with one value replaced. Junk rotates, so that the test stays fast."""
    for number, replace in enumerate(_places(tree, DEEPEST)):
        yield replace(JUNK[number % len(JUNK)])
        yield replace(JUNK[(number + 3) % len(JUNK)])


def _places(tree: Any, levels: int) -> Iterator[Callable[[Any], Any]]:
    """Yield functions that return a copy of a tree with the value at one place replaced."""
    yield lambda junk: junk
    if isinstance(tree, dict) and levels:
        for key, value in tree.items():
            for inner in _places(value, levels - 1):
                yield lambda junk, key=key, inner=inner: {**tree, key: inner(junk)}
    elif isinstance(tree, list) and tree and levels:
        for inner in _places(tree[0], levels - 1):
            yield lambda junk, inner=inner: [inner(junk), *tree[1:]]


@pytest.mark.parametrize("name", [name for name in STATES if name != "many-pods"])
def test_any_value_can_be_of_another_type(name: str) -> None:
    """One object of each kind is broken, at one place at a time."""
    objects = STATES[name]()
    for kind in {item["kind"] for item in objects}:
        position = next(index for index, item in enumerate(objects) if item["kind"] == kind)
        for changed in broken(objects[position]):
            _show([*objects[:position], changed, *objects[position + 1 :]])


def _show(items: list[Wire]) -> None:
    objects = RecordedObjects(items)
    for namespace, job in jobs_in(objects):
        status = status_of(JobView(job, namespace, objects, objects.recorded_at()))
        assert as_json(status)
        assert tables(status).title
