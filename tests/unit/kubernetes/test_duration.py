"""Durations of Volcano's types, as Go reads them."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs.core.errors import Stage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes import duration
from tests.conftest import job, problems, task

# What `time.ParseDuration` of Go 1.26 returns, without its prefix "time: ".
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
        ("soon", 'use the units h, m and s, for example "1h30m"'),
        ("2562048h", 'use the units h, m and s, for example "1h30m"'),
    ],
)
def test_the_fix_is_the_duration_that_is_probably_meant(text: str, fix: str) -> None:
    """Days and weeks become hours, a number without a unit seconds."""
    assert duration.fix(text) == fix


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
@pytest.mark.parametrize("managed_by", ["pulumi", "volcano"])
def test_durations_of_a_job_are_checked_in_both_modes(managed_by: Any, strict: bool) -> None:  # noqa: FBT001
    """The decoder of Volcano's webhook rejects the whole Job, and composed Pods ignore the field."""
    document = job(
        {**task(), "policies": [{**POLICY, "timeout": "10"}]},
        policies=[{**POLICY, "timeout": "1d"}],
        runningEstimate="1d",
    )

    found = problems(document, managed_by=managed_by, strict=strict)

    unit = 'Invalid value: "1d": unknown unit "d" in duration "1d": write "24h"'
    assert [str(problem) for problem in found] == [
        f"spec.policies[0].timeout: {unit}",
        f"spec.runningEstimate: {unit}",
        'spec.tasks[0].policies[0].timeout: Invalid value: "10": missing unit in duration "10": write "10s"',
    ]
    assert {problem.stage for problem in found} == {Stage.DECODE}


def test_a_number_is_not_a_duration() -> None:
    """Kubernetes' durations are strings."""
    (found,) = problems(job(policies=[{**POLICY, "timeout": 10}]))

    assert str(found) == (
        'spec.policies[0].timeout: Invalid value: 10: must be a string: write a duration such as "10m"'
    )


def test_a_number_of_thousands_of_digits_is_not_a_duration() -> None:
    """Python does not write such a number."""
    (found,) = problems(job(runningEstimate=10**5000))

    assert str(found) == (
        "spec.runningEstimate: Invalid value: a number of thousands of digits: must be a string: write a duration such"
        ' as "10m"'
    )


def test_an_output_is_not_a_duration() -> None:
    """It is checked when the program runs."""
    (found,) = problems(job(runningEstimate=Leaf("estimate")))

    assert "spec.runningEstimate: this must be a plain value, not an Output" in str(found)
