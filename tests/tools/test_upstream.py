"""Only tests that compare with Volcano's own files are skipped, and the summary counts them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests import upstream
from tests.conftest import pytest_terminal_summary


class Reporter:
    """A terminal reporter that keeps its lines."""

    def __init__(self, *reasons: str) -> None:
        """Report a skipped test for each reason."""
        self.stats = {"skipped": [SimpleNamespace(longrepr=("test.py", 1, f"Skipped: {text}")) for text in reasons]}
        self.lines: list[str] = []

    def write_line(self, line: str) -> None:
        """Keep a line."""
        self.lines.append(line)


def summary(*reasons: str) -> list[str]:
    """Return the lines of the summary of a run whose tests are skipped for these reasons."""
    reporter: Any = Reporter(*reasons)
    pytest_terminal_summary(reporter)
    lines: list[str] = reporter.lines
    return lines


def test_the_summary_counts_tests_without_volcanos_files() -> None:
    """Other reasons are not part of the count."""
    assert summary(upstream.MISSING, "no ssh", upstream.MISSING) == [f"2 skipped: each {upstream.MISSING}"]


def test_the_summary_has_no_line_if_no_test_needs_volcanos_files() -> None:
    """As with the files."""
    assert summary("no ssh") == []
