"""Phrases that combine several values."""

from __future__ import annotations

import pickle

import pytest

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_PULUMI, Option, Phrase, Spelling, crop, listed, span, spelled


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


SCHEMA = Spelling(str.upper, "{}: {}")


def test_a_phrase_has_the_spelling_of_python() -> None:
    """It is a str, so code that only prints it does not know spellings."""
    assert Phrase("use ", MANAGED_BY_PULUMI) == 'use managed_by="pulumi"'


def test_a_phrase_within_a_phrase_keeps_its_options() -> None:
    """A hint that is added to another hint is in the spelling of the other one."""
    phrase = Phrase(Phrase("use ", MANAGED_BY_PULUMI), ", or omit ", Option("run"))

    assert spelled(phrase, SCHEMA) == "use MANAGED_BY: pulumi, or omit RUN"


def test_text_without_options_has_one_spelling() -> None:
    """A value of a user that looks like an option does not change."""
    assert spelled('managed_by="pulumi"', SCHEMA) == 'managed_by="pulumi"'


def test_a_problem_has_its_options_in_the_spelling_of_its_reader() -> None:
    """Escaping does not lose options, and a copy of a problem keeps them."""
    problem = Problem("a", "Forbidden", Phrase("a\x00b ", Option("run")), Phrase("set ", MANAGED_BY_PULUMI)).at(1, 2)

    assert str(problem) == 'a: Forbidden: a\\x00b run: set managed_by="pulumi"'
    assert str(problem.spelled(SCHEMA)) == "a: Forbidden: a\\x00b RUN: set MANAGED_BY: pulumi"


def test_a_pickled_phrase_keeps_its_options() -> None:
    """Errors travel between processes."""
    phrase = pickle.loads(pickle.dumps(Phrase("set ", MANAGED_BY_PULUMI)))  # noqa: S301  # it is our own

    assert spelled(phrase, SCHEMA) == "set MANAGED_BY: pulumi"


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["a"], "the task a"), (["a", "b"], "the tasks a and b"), (["a", "b", "c"], "the tasks a, b and c")],
)
def test_names_follow_their_noun(names: list[str], expected: str) -> None:
    """In the singular or in the plural."""
    assert listed("task", names) == expected
