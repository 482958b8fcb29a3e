"""The start of the command line: Ctrl-C while its modules are loaded ends it as Ctrl-C later does."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it."""
    try:
        from pulumi_volcano_jobs.cli import main as run  # noqa: PLC0415  # loading it takes most of the start

        run()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
