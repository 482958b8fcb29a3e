"""Measure a program's part of `pulumi up`: `VolcanoJob` and a program without it that creates the same resources."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import pulumi
from pulumi.runtime import mocks, stack

from benchmarks import jobs, table

SIZES = (100, 1000)
RUNS = 3
FRAMEWORK = "pytorch"


class Engine(mocks.Mocks):
    """Mock engine that returns the inputs as outputs and records them."""

    def __init__(self) -> None:
        """Create an engine without resources."""
        self.seen: dict[str, Any] = {}

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], None]:
        """Raise an error, because neither program calls a function."""
        raise NotImplementedError(args.token)

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        """Record a resource."""
        self.seen[f"{args.typ} {args.name}"] = args.inputs
        return f"id-of-{args.name}", args.inputs


def measure() -> None:
    """Check that both programs create the same Pods, and print the table."""
    rows = []
    for size in SIZES:
        runs = {
            kind: [table.apart("benchmarks.program", kind, size) for _ in range(RUNS)]
            for kind in ("component", "by-hand")
        }
        _compare(runs["component"][0]["pods"], runs["by-hand"][0]["pods"])
        for part in ("program", "with imports"):
            component, hand = (min(run[part] for run in runs[kind]) for kind in ("component", "by-hand"))
            rows.append([f"{size} Pods, {part}", component, hand, component / hand, "<= 1"])
    table.show("The program's part of `up`", ["", "component s", "by hand s", "ratio", "target"], rows)


def _compare(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Exit if the programs do not create the same Pods."""
    if ours != theirs:
        name = next(name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name))
        raise SystemExit(f"the two programs differ in {name}:\n{ours.get(name)}\n{theirs.get(name)}")


def _component(size: int) -> None:
    from pulumi_volcano_jobs import VolcanoJob  # noqa: PLC0415  # the import is measured

    VolcanoJob("train", jobs.job(FRAMEWORK, size)["spec"])


def _by_hand(size: int) -> None:
    from benchmarks import by_hand  # noqa: PLC0415  # the import is measured

    by_hand.make(jobs.job(FRAMEWORK, size)["spec"]["tasks"])


def _run(kind: str, size: int) -> dict[str, Any]:
    begin = time.process_time()
    if kind == "component":
        import pulumi_volcano_jobs.component  # noqa: F401, PLC0415  # the import is measured

        program = _component
    else:
        import benchmarks.by_hand  # noqa: F401, PLC0415  # the import is measured

        program = _by_hand
    imported = time.process_time()
    engine = Engine()

    async def run() -> None:
        pulumi.runtime.set_mocks(engine, preview=False)
        await stack.run_pulumi_func(lambda: program(size))

    asyncio.run(run())
    end = time.process_time()
    return {
        "program": end - imported,
        "with imports": end - begin,
        "pods": _pods(engine),
    }


def _pods(engine: Engine) -> dict[str, Any]:
    """Return the specs of the Pods, by resource."""
    return {name: inputs["spec"] for name, inputs in engine.seen.items() if name.startswith("kubernetes:core/v1:Pod ")}


if __name__ == "__main__":
    json.dump(_run(sys.argv[1], int(sys.argv[2])), sys.stdout)
