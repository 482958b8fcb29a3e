"""Durations of Volcano's types, as Go reads them."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.core.errors import RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes import duration
from tests.conftest import job, problems, task, typed

# Errors of `time.ParseDuration` in Go 1.26 without the prefix "time: ".
MESSAGES = {
    "1d": 'unknown unit "d" in duration "1d"',
    "10": 'missing unit in duration "10"',
    "soon": 'invalid duration "soon"',
    "": 'invalid duration ""',
    "-": 'invalid duration "-"',
    ".s": 'invalid duration ".s"',
    "1 h": 'unknown unit " h" in duration "1 h"',
    "1h 30m": 'unknown unit "h " in duration "1h 30m"',
    "1hs": 'unknown unit "hs" in duration "1hs"',
    "1h1": 'missing unit in duration "1h1"',
    "1..5s": 'missing unit in duration "1..5s"',
    "9223372036854775808ns": 'invalid duration "9223372036854775808ns"',
    "99999999999999999999h": 'invalid duration "99999999999999999999h"',
    "2562048h": 'invalid duration "2562048h"',
}
VALID = (
    *("0", "+0", "1h30m", "1.5h", ".5s", "1.s", "-5m", "1µs", "00000000000000000000001s"),
    *("9223372036854775807ns", "2562047h47m16.854775807s"),
)
POLICY = {"event": "PodFailed", "action": "RestartJob"}


@pytest.mark.parametrize("text", MESSAGES)
def test_an_invalid_duration_has_the_message_of_go(text: str) -> None:
    """Word for word, so that a search engine finds it."""
    assert duration.problem(text) == MESSAGES[text]


@pytest.mark.parametrize("text", VALID)
def test_a_valid_duration_has_no_message(text: str) -> None:
    """Fractions, signs, small units and the largest duration."""
    assert duration.problem(text) == ""


def test_a_duration_can_begin_with_thousands_of_zeros() -> None:
    """Python does not read as many digits as Go."""
    assert duration.problem(f"{'0' * 5000}1s") == ""


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("1d", 'write "24h"'),
        ("2w", 'write "336h"'),
        ("10", 'write "10s"'),
        ("5 m", 'write "5m"'),
    ],
)
def test_the_fix_is_the_most_similar_duration(text: str, fix: str) -> None:
    """Days and weeks become hours, and a number without a unit becomes seconds."""
    assert duration.fix(text) == fix


def test_a_text_without_a_similar_duration_has_a_general_fix(snapshot: SnapshotAssertion) -> None:
    """The fix names the units."""
    assert duration.fix("soon") == snapshot
    assert duration.fix("2562048h") == duration.fix("soon")


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
@pytest.mark.parametrize("managed_by", ["pulumi", "volcano"])
def test_durations_of_a_job_are_checked_in_both_modes(
    managed_by: Any,
    strict: bool,  # noqa: FBT001
) -> None:
    """The decoder of Volcano's webhook rejects the whole Job, and composed Pods ignore the field."""
    document = job(
        {**task(), "policies": [{**POLICY, "timeout": "10"}]},
        policies=[{**POLICY, "timeout": "1d"}],
        runningEstimate="1d",
    )

    found = problems(document, managed_by=managed_by, strict=strict)

    assert typed(found) == [
        ("spec.policies[0].timeout", "Invalid"),
        ("spec.runningEstimate", "Invalid"),
        ("spec.tasks[0].policies[0].timeout", "Invalid"),
    ]
    assert [problem.hint for problem in found] == [duration.fix("1d"), duration.fix("1d"), duration.fix("10")]
    assert {problem.stage for problem in found} == {RejectionStage.DECODE}


def test_the_error_of_a_duration_has_the_message_of_go_and_the_fix(snapshot: SnapshotAssertion) -> None:
    """It also has the value."""
    (found,) = problems(job(runningEstimate="1d"))

    assert MESSAGES["1d"] in found.reason
    assert str(found) == snapshot


def test_a_number_is_not_a_duration(snapshot: SnapshotAssertion) -> None:
    """Kubernetes' durations are strings."""
    (found,) = problems(job(policies=[{**POLICY, "timeout": 10}]))

    assert typed([found]) == [("spec.policies[0].timeout", "TypeInvalid")]
    assert str(found) == snapshot


def test_a_number_of_thousands_of_digits_is_not_a_duration(snapshot: SnapshotAssertion) -> None:
    """Python does not write such a number."""
    (found,) = problems(job(runningEstimate=10**5000))

    assert typed([found]) == [("spec.runningEstimate", "TypeInvalid")]
    assert str(found) == snapshot


def test_an_output_is_not_a_duration() -> None:
    """It is checked when the program runs."""
    (found,) = problems(job(runningEstimate=Leaf("estimate")))

    assert typed([found]) == [("spec.runningEstimate", "TypeInvalid")]
    assert "Output" in found.reason
