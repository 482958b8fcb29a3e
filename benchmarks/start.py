"""Measure start-up: the import of the library, compared with the import of pydantic, and `volcano-jobs --help`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from benchmarks import table

RUNS = 10
PROGRAM = Path(sys.executable).parent / "volcano-jobs"


def measure() -> None:
    """Print the table. The runs of all commands alternate, so that load on the machine affects each command alike."""
    commands = {
        "python": [sys.executable, "-c", "pass"],
        "pydantic": [sys.executable, "-c", "import pydantic"],
        "library": [sys.executable, "-c", "import pulumi_volcano_jobs"],
        "job": [sys.executable, "-c", "from pulumi_volcano_jobs import VolcanoJob"],
        "pulumi": [sys.executable, "-c", "import pulumi"],
        "help": [str(PROGRAM), "--help"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times[name].append(time.perf_counter() - start)
    bare, pydantic, library, job, pulumi, shown = (min(times[name]) for name in commands)
    rows = [
        ["python -c pass", bare, "", ""],
        ["import pydantic", pydantic, (pydantic - bare) / (pydantic - bare), ""],
        ["import pulumi_volcano_jobs", library, (library - bare) / (pydantic - bare), "<= 2"],
        ["from pulumi_volcano_jobs import VolcanoJob", job, (job - bare) / (pydantic - bare), ""],
        ["import pulumi", pulumi, (pulumi - bare) / (pydantic - bare), ""],
        ["volcano-jobs --help", shown, "", "<= 0.4 s"],
    ]
    table.show("Start-up (the ratio excludes the start of Python)", ["", "s", "of pydantic's", "target"], rows)
