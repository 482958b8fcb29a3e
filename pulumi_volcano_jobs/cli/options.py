"""What every command can be told, and how the checks that all of them make are chosen."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from pulumi_volcano_jobs.cluster import ClusterFacts


class Manager(enum.Enum):
    """Who makes the Pods."""

    PULUMI = "pulumi"
    VOLCANO = "volcano"


Files = Annotated[list[str], typer.Argument(metavar="FILE", help="Volcano Job files; - is standard input.")]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Do what Volcano does with mistakes, instead of reporting them.")
]
Cluster = Annotated[
    Path | None,
    typer.Option(
        "--cluster",
        metavar="FILE",
        help="What `kubectl get priorityclasses,queues.scheduling.volcano.sh,pvc -A -o yaml` prints; "
        "without it nothing is assumed about the cluster.",
    ),
]


@dataclass(frozen=True)
class Checks:
    """How a job is checked, the same for all commands."""

    lenient: bool
    cluster: ClusterFacts

    def settings(self) -> dict[str, Any]:
        """Give them as arguments of `render`."""
        return {"strict": not self.lenient, "cluster": self.cluster}
