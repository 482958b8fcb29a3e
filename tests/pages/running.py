"""The pages about running jobs, and their programs."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("data", "gpus", "registries", "secrets")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def text(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / "docs" / f"{page}.md").read_text("utf-8")


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a language in a page."""
    return [code for found, code in _FENCE.findall(text(page)) if found == language]


def programs(page: str) -> list[str]:
    """Return the Pulumi programs of a page."""
    return [code for code in blocks(page, "python") if "pulumi_volcano_jobs" in code]


(TRAIN,) = (code for code in blocks("data", "python") if code.startswith("# train.py"))
"""The PyTorch program that resumes from a checkpoint."""


def resuming_job() -> None:
    """Create the job that runs TRAIN."""
    exec(programs("data")[-1], {})  # noqa: S102  # our own page
