"""The programs on the pages of the plugins and presets run unchanged."""

from __future__ import annotations

import pytest

from pulumi_volcano_jobs.testing import run
from tests.pages.blocks import Block, blocks

PAGES = ("pytorch", "tensorflow", "mpi", "ray", "svc", "ssh", "presets")
PROGRAMS = [block for block in blocks() if block.key in {(f"docs/{page}.md", "python") for page in PAGES}]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_a_program_runs(program: Block) -> None:
    """Users copy these programs, so they also log no warning."""
    done = run(lambda: exec(program.text, {}))  # noqa: S102  # our own page

    assert done.names("Pod") or done.names("Job")
    assert done.warnings == []
