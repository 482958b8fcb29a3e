"""The warning about jobs whose Pods make the state of a stack large."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.component import state_size
from pulumi_volcano_jobs.testing import run
from tests.component.programs import new_job
from tests.conftest import task

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
MANY = 5


@pytest.fixture(autouse=True)
def low_limit(monkeypatch: pytest.MonkeyPatch) -> int:
    """Lower the limit, because a program with many Pods takes seconds. Return the limit of users."""
    limit = state_size.MANY_PODS
    monkeypatch.setattr(state_size, "MANY_PODS", MANY)
    return limit


def warnings_of(pods: int = MANY, organization: str = "organization", **options: Any) -> list[str]:
    """Return the warnings about a job with one master and its workers."""

    def program() -> None:
        new_job("train", {"tasks": [task("master"), task("worker", pods - 1)], **options})

    return list(run(program, organization=organization).warnings)


def test_a_job_with_many_pods_has_one_warning(snapshot: SnapshotAssertion) -> None:
    """It counts the Pods of all tasks, and names the other mode."""
    (warning,) = warnings_of()

    assert warning == snapshot


def test_a_job_with_fewer_pods_has_no_warning() -> None:
    """The number of Pods is below the limit."""
    assert warnings_of(MANY - 1) == []


@pytest.mark.parametrize(
    "without",
    [{"managed_by": "volcano"}, {"ignore_warnings": ["VJ153"]}, {"organization": "example"}],
    ids=["native mode", "an ignored code", "Pulumi Cloud"],
)
def test_many_pods_can_be_without_a_warning(without: dict[str, Any]) -> None:
    """One Job has all Pods, the user ignores the warning, or Pulumi Cloud receives only the changed resources."""
    assert warnings_of(**without) == []


def test_the_page_names_the_limit(low_limit: int) -> None:
    """docs/scale.md has the figures behind it."""
    assert f"From {low_limit} Pods on" in PAGE.read_text("utf-8")
