"""Measure the times that users wait for: `make bench`, or `python -m benchmarks start` for one part.

Each figure is the best of several runs. Times are CPU times, except for start-up times. Measurements of imports and
memory run in a separate process. The tables show a target for each figure, but no benchmark fails.
"""

from __future__ import annotations

import sys

from benchmarks import program, rendering, start

PARTS = {"rendering": rendering.measure, "program": program.measure, "start": start.measure}


def main() -> None:
    """Run the parts in the arguments, or all parts."""
    for name in sys.argv[1:] or PARTS:
        if name not in PARTS:
            raise SystemExit(f"unsupported part {name!r}: supported parts: {', '.join(PARTS)}")
        PARTS[name]()


main()
