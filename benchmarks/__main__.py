"""Measure what users wait for, side by side in one run: `make bench`, or some parts: `python -m benchmarks start`.

Times are CPU time (but for starts), the best of several runs, in a process of its own where imports or memory count.
Nothing here passes or fails: a target stands beside each figure.
"""

from __future__ import annotations

import sys

from benchmarks import program, rendering, start

PARTS = {"rendering": rendering.measure, "program": program.measure, "start": start.measure}


def main() -> None:
    """Print the parts that are asked for, or all."""
    for name in sys.argv[1:] or PARTS:
        if name not in PARTS:
            raise SystemExit(f"there is no part {name!r}; there are {', '.join(PARTS)}")
        PARTS[name]()


main()
