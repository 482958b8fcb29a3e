"""The golden cases: Jobs, and what Volcano's own plugins make of them in a simulated cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from pulumi_volcano_jobs import ClusterFacts
from tests import upstream

HERE = Path(__file__).parent


def read(file: Path) -> Any:
    """Return the document of a YAML file. There are many files, and libyaml is ten times faster than `safe_load`."""
    return yaml.load(file.read_text("utf-8"), Loader=yaml.CSafeLoader)


def golden(name: str) -> dict[str, Any]:
    """Return the Job of a written case."""
    document: dict[str, Any] = read(HERE / "cases" / f"{name}.yaml")
    return document


def expected(case: Path) -> dict[str, Any]:
    """Return what Volcano makes of a case."""
    found: dict[str, Any] = json.loads((case.parents[1] / "expected" / f"{case.stem}.json").read_text("utf-8"))
    return found


CLUSTER = ClusterFacts.from_objects([read(HERE / "cluster.yaml")])
"""The simulated cluster."""
WRITTEN = sorted((HERE / "cases").glob("*.yaml"))
"""The cases of this folder."""
REAL = sorted((upstream.CASES / "cases").glob("real-*.yaml"))
"""The Jobs in Volcano's repository. Not all clones have them."""
META = {case.stem: expected(case)["meta"] for case in (*WRITTEN, *REAL)}
"""How Volcano treats each case, by name: whether it accepts the case, and what it changes and deletes later."""
CREATED = [case for case in (*WRITTEN, *REAL) if META[case.stem]["stage"] == "created"]
"""The cases that Volcano accepts."""
