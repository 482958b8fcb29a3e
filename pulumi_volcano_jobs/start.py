"""The entry point of the command line, which also handles Ctrl-C while the modules are loaded."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it."""
    try:
        from pulumi_volcano_jobs.cli import main as run  # noqa: PLC0415  # this import takes most of the start-up time

        run()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
