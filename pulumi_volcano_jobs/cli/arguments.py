"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pulumi_volcano_jobs.spec.options import Defaults, OnConflict

Files = Annotated[list[str], typer.Argument(metavar="FILE", help="Volcano Job files; - is standard input.")]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Do what Volcano does with mistakes, instead of reporting them.")
]
Conflict = Annotated[
    OnConflict,
    typer.Option("--on-conflict", help="Who counts where a template and a plugin set the same; error: nobody."),
]
PluginDefaults = Annotated[
    Defaults, typer.Option("--defaults", help="recommended: options that make a job run at once are on.")
]
PluginSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PLUGIN.OPTION=VALUE", help="An option of a plugin; can be given several times."),
]
Ignore = Annotated[str, typer.Option("--ignore", metavar="CODES", help="Warnings to leave out, such as VJ103,VJ105.")]
KubernetesVersion = Annotated[
    str,
    typer.Option("--kubernetes-version", metavar="1.N", help="Report fields that this version does not know."),
]
VolcanoVersion = Annotated[
    str,
    typer.Option(
        "--volcano-version",
        metavar="1.N",
        help="Report fields, plugins and flags that this version of Volcano lacks.",
    ),
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
