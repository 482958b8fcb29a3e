"""Measure `pulumi up` by the number of Pods: `python -m benchmarks.scale 100 300`.

The engine and the provider write to a control plane on loopback, with the state in a folder. No scheduler and no
controller of Volcano runs: Pods stay pending, and a Volcano Job has no Pods. `make engine` builds these programs.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import jobs, table

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import definitions
import stack as stacks
from cluster import Cluster

SIZES = (100, 300)
FRAMEWORK = "pytorch"
VARIANTS: Mapping[str, Mapping[str, str]] = {
    "composed": {},
    "composed, compressed": {"PULUMI_DIY_BACKEND_ZSTD": "true"},
    "composed, without checkpoints": {"PULUMI_SKIP_CHECKPOINTS": "true"},
    "native": {},
    "by hand": {},
}
"""The measured programs, with the environment variables of the engine."""
COLUMNS = ["", "s", "CPU s of the engine", "CPU s of the program", "MB written", "MB of state", "MB of memory"]
STATES = ("dev.json", "dev.json.zst")
# 1,000 Pods take more than ten minutes for each operation.
TIMEOUT = 4 * 3600
PROGRAM = """
import json
import sys
from pathlib import Path

spec = json.loads((Path(__file__).parent / "spec.json").read_text("utf-8"))
if {variant!r} == "by hand":
    from benchmarks import by_hand

    by_hand.make(spec["tasks"])
else:
    from pulumi_volcano_jobs import VolcanoJob

    mode = "volcano" if {variant!r} == "native" else "pulumi"
    VolcanoJob("train", {{**spec, "managed_by": mode}})
"""


def measure(sizes: list[int]) -> None:
    """Start the control plane, and print a table for each size."""
    with (
        tempfile.TemporaryDirectory(prefix="volcano-jobs-scale-") as folder,
        Cluster(Path(folder), definitions.definitions()) as cluster,
    ):
        for size in sizes:
            runs = [
                table.apart("benchmarks.scale", variant, size, cluster.kubeconfig, timeout=TIMEOUT)
                for variant in VARIANTS
            ]
            table.show(f"{size} Pods", COLUMNS, [row for run in runs for row in run["rows"]])


def _run(variant: str, size: int, kubeconfig: str) -> list[list[Any]]:
    """Create a job, update it without an edit, edit its image, and delete it. Return a row for each operation."""
    stacks.put_engine_on_path()
    with tempfile.TemporaryDirectory(prefix="volcano-jobs-scale-") as name:
        folder = Path(name)
        spec = json.dumps(jobs.job(FRAMEWORK, size)["spec"])
        files = {
            "Pulumi.yaml": "name: scale\nruntime: python\n",
            "__main__.py": PROGRAM.format(variant=variant),
            "spec.json": spec,
        }
        for file, text in files.items():
            (folder / file).write_text(text, "utf-8")
        stack = stacks.open_stack(folder, folder / ".state", "dev")
        stack.workspace.env_vars = {**stack.workspace.env_vars, "KUBECONFIG": kubeconfig, **VARIANTS[variant]}

        def row(operation: str, run: Callable[..., Any]) -> list[Any]:
            with stacks.alone(stack):
                usage = _measure(lambda: run(color="never"))
            (state,) = (path for name in STATES for path in (folder / ".state" / "state").rglob(f"stacks/**/{name}"))
            return [f"{variant}: {operation}", *usage[:-1], state.stat().st_size / 1e6, usage[-1]]

        rows = [row("create", stack.up), row("no edit", stack.up)]
        (folder / "spec.json").write_text(spec.replace("train:1", "train:2"), "utf-8")
        return [*rows, row("another image", stack.up), row("delete", stack.destroy)]


def _measure(run: Callable[[], object]) -> list[float]:
    """Return the seconds, the CPU seconds of the engine and of the program, the megabytes written, and of memory.

    The program runs in this process. The engine and the provider are its children. The memory is the peak of the
    larger of both so far.
    """
    begin, program, before = time.perf_counter(), time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return [
        time.perf_counter() - begin,
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        time.process_time() - program,
        (after.ru_oublock - before.ru_oublock) * 512 / 1e6,
        after.ru_maxrss / 1024,
    ]


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in VARIANTS:
        json.dump({"rows": _run(sys.argv[1], int(sys.argv[2]), sys.argv[3])}, sys.stdout)
    else:
        measure([int(size) for size in sys.argv[1:]] or list(SIZES))
