"""The programs of the README run unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from pulumi_volcano_jobs.testing import run
from tests.readme import ROOT, programs

PODS = {"readme_0": 3, "readme_1": 4}


@pytest.mark.parametrize("name", PODS)
def test_a_program_of_the_readme_runs(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It creates the documented Pods; the program that reads a file gets the file of the example."""
    (tmp_path / "job.yaml").write_text((ROOT / "examples/pytorch/job.yaml").read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)

    done = run(lambda: exec(programs()[name], {}))  # noqa: S102  # our own page

    assert len(done.names("Pod")) == PODS[name]


def test_all_programs_of_the_readme_are_tested() -> None:
    """The list above is complete."""
    assert {name for name in programs() if name.startswith("readme")} == PODS.keys()
