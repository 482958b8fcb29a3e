"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pulumi_volcano_jobs.spec.options import Defaults, OnConflict

# typer would list the argument with its Python type, so `FILE_HELP` describes it.
Files = Annotated[list[str], typer.Argument(metavar="FILE", hidden=True)]
FILE_HELP = (
    "FILE is a file that kubectl apply accepts, a folder of such files (*.yaml, *.yml, *.json), or - for standard "
    "input."
)
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Handle mistakes as Volcano does, and report them as warnings.")
]
Conflict = Annotated[
    OnConflict,
    typer.Option(
        "--on-conflict",
        help="Which value to use if a template and a plugin set the same variable, mount path, port, volume or "
        "command; error: reject the job, or warn if it is a command.",
    ),
]
PluginDefaults = Annotated[
    Defaults,
    typer.Option("--defaults", help="recommended: turn on the options that most jobs need to start and run."),
]
PluginSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PLUGIN.OPTION=VALUE", help="Set an option of a plugin. Can be repeated."),
]
Ignore = Annotated[
    str, typer.Option("--ignore", metavar="CODES", help="Codes of warnings to ignore, such as VJ103,VJ105.")
]
KubernetesVersion = Annotated[
    str,
    typer.Option(
        "--kubernetes-version", metavar="1.N", help="Report fields that this version of Kubernetes does not support."
    ),
]
VolcanoVersion = Annotated[
    str,
    typer.Option(
        "--volcano-version",
        metavar="1.N",
        help="Report fields, plugins and flags that this version of Volcano does not support.",
    ),
]
Cluster = Annotated[
    Path | None,
    typer.Option(
        "--cluster",
        metavar="FILE",
        help="PriorityClasses, Queues and claims of the cluster, from `kubectl get -o yaml` (see `validate --help`). "
        "Without it, nothing is assumed about the cluster.",
    ),
]
Quiet = Annotated[
    bool, typer.Option("-q", "--quiet", help="Print neither findings nor notes. The exit code shows errors.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that this command did not write.")]
ForceAny = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]
