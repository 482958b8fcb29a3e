"""Problems say where, what and how; a JobError has all of them."""

from __future__ import annotations

import pickle

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.core.errors import JobError, Problem, RejectionStage, raise_if_any

LINES = {
    "a path and a reason": Problem("a.b", "Invalid", "it is wrong"),
    "no path, as of a whole file": Problem("", "Invalid", "it is wrong"),
    "a hint": Problem("a", "Invalid", "it is wrong", "fix it"),
    "a value": Problem("a", "Invalid", "it is wrong", value="'x'"),
    "all": Problem("a", "Invalid", "it is wrong", "fix it", "'x'"),
    "a code": Problem("a", "Warning", "it is odd", "fix it", code="VJ101"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_problem_is_one_line(name: str, snapshot: SnapshotAssertion) -> None:
    """The line has the path, the value, the reason and the fix; the place in a file is not part of it."""
    problem = LINES[name]

    assert str(problem) == snapshot
    assert str(problem.at(3, 4)) == str(problem)


def test_a_problem_keeps_all_else_when_it_is_placed() -> None:
    """The place in the file is added."""
    problem = Problem("a", "Warning", "r", "h", "v", RejectionStage.SCHEMA)

    assert problem.at(3, 4) == Problem("a", "Warning", "r", "h", "v", RejectionStage.SCHEMA, line=3, column=4)


@pytest.mark.parametrize(
    "text",
    ["x" * 5000, "x" * 1990, "x" * 140, "\u202e" * 90, "\u202e" * 5000],
    ids=["too long", "a long reason", "a long value", "hidden", "hidden and too long"],
)
def test_a_placed_problem_has_the_text_of_the_problem(text: str) -> None:
    """Long text is cut once, and the number of its characters stays right."""
    problem = Problem("a", "Invalid", text, text, text)
    placed = problem.at(3, 4)

    assert (placed.reason, placed.hint, placed.value) == (problem.reason, problem.hint, problem.value)
    assert len(problem.reason) <= 2000
    assert len(problem.value) <= 150


def test_an_error_s_text_is_a_line_for_each_problem() -> None:
    """In the order in which they stand in the file, each once."""
    late, early = Problem("b", "Invalid", "late").at(9, 1), Problem("a", "Invalid", "early").at(2, 5)
    same_line = Problem("c", "Invalid", "same line, further left").at(2, 1)

    error = JobError([late, early, same_line, late])

    assert error.problems == (same_line, early, late)
    assert str(error) == "c: Invalid value: same line, further left\na: Invalid value: early\nb: Invalid value: late"


def test_an_error_travels_between_processes() -> None:
    """As one of a pool that renders many jobs."""
    error = JobError([Problem("a", "Invalid", "it is wrong").at(2, 5)])

    assert pickle.loads(pickle.dumps(error)).problems == error.problems  # noqa: S301  # it is our own


def test_problems_without_a_place_keep_their_order() -> None:
    """They are told as they were found."""
    found = [Problem(path, "Invalid", "wrong") for path in "cab"]

    assert JobError(found).problems == tuple(found)


def test_the_first_stage_that_would_refuse_is_the_error_s() -> None:
    """Whatever the order of the problems."""
    stages = (RejectionStage.STRICT, RejectionStage.WEBHOOK, RejectionStage.API)

    assert (
        JobError(Problem(str(stage), "Invalid", "wrong", stage=stage) for stage in stages).stage
        is RejectionStage.WEBHOOK
    )


def test_the_stages_are_in_the_order_in_which_a_cluster_asks() -> None:
    """What only strictness minds comes last."""
    order = [
        RejectionStage.DECODE,
        RejectionStage.SCHEMA,
        RejectionStage.WEBHOOK,
        RejectionStage.CONTROLLER,
        RejectionStage.PLUGIN,
        RejectionStage.API,
        RejectionStage.STRICT,
    ]

    assert sorted(RejectionStage) == order


def test_an_error_is_a_value_error() -> None:
    """For callers who know nothing of this library."""
    assert issubclass(JobError, ValueError)


@pytest.mark.parametrize("problems", [[], [Problem("a", "Warning", "odd")]], ids=["none", "a warning"])
def test_warnings_alone_raise_nothing(problems: list[Problem]) -> None:
    """They are told, and the job is made."""
    raise_if_any(problems)


def test_warnings_are_left_out_of_the_error() -> None:
    """It holds what has to be mended."""
    wrong = Problem("b", "Invalid", "wrong")

    with pytest.raises(JobError) as refused:
        raise_if_any([Problem("a", "Warning", "odd"), wrong])

    assert refused.value.problems == (wrong,)
