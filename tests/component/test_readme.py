"""The programs of the README run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from pulumi_volcano_jobs.testing import run
from tests.readme import ROOT, programs

PODS = {"readme_0": 3, "readme_1": 4}


@pytest.mark.parametrize("name", PODS)
def test_a_program_of_the_readme_runs(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It makes the Pods that it says; the one that reads a file finds the example's."""
    (tmp_path / "job.yaml").write_text((ROOT / "examples/pytorch/job.yaml").read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)

    done = run(lambda: exec(programs()[name], {}))  # noqa: S102  # our own page

    assert len(done.names("Pod")) == PODS[name]


def test_the_readme_has_no_other_program() -> None:
    """None is left out above."""
    assert {name for name in programs() if name.startswith("readme")} == PODS.keys()
