"""The rule of ours; `pulumi_volcano_jobs` tests its own."""

from __future__ import annotations

import pytest

from platform_jobs import TEAMS
from platform_jobs.rules import QUEUE_LABEL, team_problems

GOOD = {**TEAMS["vision"].labels, QUEUE_LABEL: "team-vision"}


def test_a_pod_with_its_team_s_labels_passes() -> None:
    """As `TrainingJob` makes them."""
    assert list(team_problems(GOOD)) == []


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        (
            {QUEUE_LABEL: "team-vision"},
            "the label team must be one of language, vision: make the job with platform_jobs.TrainingJob",
        ),
        (
            {**GOOD, "cost-centre": "1"},
            "the label cost-centre of team vision must be 4711: leave it to TrainingJob",
        ),
        (
            {**GOOD, QUEUE_LABEL: "team-language"},
            "team vision must use its own queue, team-vision: give Queues().of('vision')",
        ),
    ],
    ids=["no team", "another cost centre", "the queue of another"],
)
def test_other_pods_do_not(labels: dict[str, str], problem: str) -> None:
    """One sentence says what to do."""
    assert list(team_problems(labels)) == [problem]
