"""The programs of docs/frameworks.md run unchanged."""

from __future__ import annotations

import re

import pytest

from pulumi_volcano_jobs.testing import run
from tests.readme import ROOT

TEXT = (ROOT / "docs" / "frameworks.md").read_text("utf-8")
PROGRAMS = dict(enumerate(re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)))


@pytest.mark.parametrize("number", PROGRAMS)
def test_a_program_runs(number: int) -> None:
    """Users copy these programs, so they also log no warning."""
    done = run(lambda: exec(PROGRAMS[number], {}))  # noqa: S102  # our own page

    assert done.names("Pod") or done.names("Job")
    assert done.warnings == []
