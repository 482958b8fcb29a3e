"""Phrases that combine several values."""

from __future__ import annotations

import pytest

from pulumi_volcano_jobs.core.phrases import crop, span


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("a", "a", "a"),
        ("0", "9", "0..9"),
        ("1", "12", "1..12"),
        ("train-worker-0", "train-worker-3", "train-worker-{0..3}"),
        ("train-worker-0.train", "train-worker-19.train", "train-worker-{0..19}.train"),
        ("job2-10", "job2-12", "job2-{10..12}"),
        ("a-0-x0", "a-9-x0", "a-{0..9}-x0"),
        ('{"index":0}', '{"index":2}', '{"index":{0..2}}'),
        ("a-0-0", "a-1-1", "a-0-0 to a-1-1"),
        ("left", "right", "left to right"),
        ("", "1", " to 1"),
    ],
)
def test_names_that_differ_by_a_number_are_one_item(first: str, last: str, expected: str) -> None:
    """In the form that a shell expands. Other names are separate items."""
    assert span(first, last) == expected


def test_a_value_of_120_characters_is_not_cut() -> None:
    """A longer value loses its middle and keeps its end."""
    long = "a" * 90 + "b" * 31

    assert crop(long[1:]) == long[1:]
    assert crop(long) == f"{'a' * 80} … {'a' * 9}{'b' * 31}"
