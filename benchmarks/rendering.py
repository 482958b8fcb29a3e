"""Measure rendering: the time per Pod, its growth with the size of the job, and its ratio to `json.dumps`."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import jobs, table
from pulumi_volcano_jobs import render

SIZES = (100, 1000, 5000)
RUNS = 5
TARGETS = {"pytorch": 0.06, "mpi": 0.06, "ray": 0.06, "tensorflow": 0.5}
"""Milliseconds per Pod for a job of 1,000 Pods."""
GROWTH = 1.1
DUMPS = 3.0
# TF_CONFIG lists all Pods in every Pod: a gigabyte for 5,000 Pods.
QUADRATIC = {"tensorflow"}


def measure() -> None:
    """Print the tables."""
    found = {(name, size): _measure(name, size) for name in TARGETS for size in SIZES if _is_possible(name, size)}
    rows = []
    for (name, size), (rendering, dumping, megabytes) in found.items():
        target = f"<= {TARGETS[name]}" if size == 1000 else ""  # noqa: PLR2004  # TARGETS apply to this size
        limit = "" if name in QUADRATIC else f"<= {DUMPS}"
        rows.append([name, size, rendering / size, target, megabytes, rendering / dumping, limit])
    columns = ["ssh, svc, env and", "Pods", "ms/Pod", "target", "MB of JSON", "of json.dumps", "target"]
    table.show("Rendering", columns, rows)
    growth = [
        [name, found[name, SIZES[-1]][0] / SIZES[-1] / (found[name, SIZES[0]][0] / SIZES[0]), f"<= {GROWTH}"]
        for name in TARGETS
        if (name, SIZES[-1]) in found
    ]
    table.show(f"Time for each Pod at {SIZES[-1]} Pods, of that at {SIZES[0]}", ["", "ratio", "target"], growth)
    table.show(
        f"Memory for {SIZES[-1]} Pods",
        ["", "MB at most", "MB before"],
        [
            [name, *table.apart("benchmarks.rendering", name, SIZES[-1]).values()]
            for name in TARGETS
            if name not in QUADRATIC
        ],
    )


def _is_possible(name: str, size: int) -> bool:
    return name not in QUADRATIC or size <= jobs.MOST_WITH_HOSTS


def _measure(name: str, size: int) -> tuple[float, float, float]:
    """Return the milliseconds of rendering and of `json.dumps`, and the size of the output in megabytes."""
    document = jobs.job(name, size)
    # Measured first, because live objects slow down Python's garbage collector.
    rendering = _best(lambda: render(document))
    rendered = render(document)
    manifests = [*rendered.objects, *rendered.pods]
    return rendering, _best(lambda: json.dumps(manifests)), len(json.dumps(manifests)) / 1e6


def _best(call: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        gc.collect()
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times) * 1000


def _peak() -> float:
    """Return the peak memory of this process in megabytes. getrusage would include the memory of its parent."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    before = _peak()
    made = render(jobs.job(sys.argv[1], int(sys.argv[2])))
    json.dump({"peak": _peak(), "before": before}, sys.stdout)
