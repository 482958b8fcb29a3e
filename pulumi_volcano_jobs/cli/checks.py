"""How a job is checked: options that all commands have, declared once."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from pulumi_volcano_jobs.cli.files import STDIN, Report, cluster_facts, give_up
from pulumi_volcano_jobs.cli.options import Manager
from pulumi_volcano_jobs.core.errors import Problem, loud, unknown_codes
from pulumi_volcano_jobs.core.text import may_be_key
from pulumi_volcano_jobs.files import job_file, yaml_reader
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.spec import releases
from pulumi_volcano_jobs.spec.cluster import ClusterFacts


class Winner(enum.Enum):
    """Who counts where a template and a plugin set the same."""

    ERROR = "error"
    PLUGIN = "plugin"
    USER = "user"


class DefaultsOf(enum.Enum):
    """Whose defaults plugins have."""

    VOLCANO = "volcano"
    RECOMMENDED = "recommended"


@dataclass(frozen=True)
class Checks:
    """How a job is checked."""

    lenient: bool
    on_conflict: Winner
    defaults: DefaultsOf
    plugin_options: Mapping[str, Mapping[str, Any]]
    ignored: frozenset[str]
    cluster: ClusterFacts

    def settings(self, managed_by: Manager = Manager.PULUMI) -> dict[str, Any]:
        """Give them as arguments of `render`."""
        return {"strict": not self.lenient, "cluster": self.cluster, **self._choices(managed_by)}

    def options(self, managed_by: Manager) -> dict[str, Any]:
        """Give those that a program must say, too, as options of the component."""
        rest = {
            "ignore_warnings": sorted(self.ignored),
            "kubernetes_version": self.cluster.kubernetes_version,
            "volcano_version": self.cluster.volcano_version,
        }
        return self._choices(managed_by) | {name: value for name, value in rest.items() if value}

    def arguments(self) -> list[str]:
        """Give those that another command needs to take the same jobs."""
        chosen = self._choices(Manager.PULUMI)
        words = ["--lenient"] if self.lenient else []
        words += ["--on-conflict", self.on_conflict.value] if "on_conflict" in chosen else []
        words += ["--defaults", self.defaults.value] if "defaults" in chosen else []
        for plugin, settings in self.plugin_options.items():
            for name, value in settings.items():
                # The arguments are printed: the user types a key again.
                shown = "…" if may_be_key(name) else job_file.scalar(value)
                words += ["--set", f"{plugin}.{name}={shown}"]
        return words

    def _choices(self, managed_by: Manager) -> dict[str, Any]:
        """Give what is not as it is by default."""
        chosen = {
            "managed_by": (managed_by, Manager.PULUMI),
            "on_conflict": (self.on_conflict, Winner.ERROR),
            "defaults": (self.defaults, DefaultsOf.VOLCANO),
        }
        others = {name: value.value for name, (value, default) in chosen.items() if value is not default}
        return others | ({"plugin_options": self.plugin_options} if self.plugin_options else {})

    def heard(self, report: Report) -> Report:
        """Let a report leave out the warnings that are switched off."""

        def tell(file: str, problems: Iterable[Problem]) -> None:
            report(file, loud(problems, self.ignored))

        return tell


def _checks(
    *,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Do what Volcano does with mistakes, instead of reporting them.")
    ] = False,
    on_conflict: Annotated[
        Winner,
        typer.Option("--on-conflict", help="Who counts where a template and a plugin set the same; error: nobody."),
    ] = Winner.ERROR,
    defaults: Annotated[
        DefaultsOf, typer.Option("--defaults", help="recommended: options that make a job run at once are on.")
    ] = DefaultsOf.VOLCANO,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PLUGIN.OPTION=VALUE", help="An option of a plugin; can be given several times."),
    ] = None,
    ignore: Annotated[
        str, typer.Option("--ignore", metavar="CODES", help="Warnings to leave out, such as VJ103,VJ105.")
    ] = "",
    kubernetes_version: Annotated[
        str,
        typer.Option("--kubernetes-version", metavar="1.N", help="Report fields that this version does not know."),
    ] = "",
    volcano_version: Annotated[
        str,
        typer.Option(
            "--volcano-version",
            metavar="1.N",
            help="Report fields, plugins and flags that this version of Volcano lacks.",
        ),
    ] = "",
    cluster: Annotated[
        Path | None,
        typer.Option(
            "--cluster",
            metavar="FILE",
            help="What `kubectl get priorityclasses,queues.scheduling.volcano.sh,pvc -A -o yaml` prints; "
            "without it nothing is assumed about the cluster.",
        ),
    ] = None,
) -> Checks:
    codes = [code.strip() for code in ignore.split(",") if code.strip()]
    for problem in unknown_codes(codes, "--ignore"):
        give_up(str(problem))
    versions = schema.versions()
    if kubernetes_version and kubernetes_version not in versions:
        give_up(f"--kubernetes-version {kubernetes_version} is none of {versions[0]} to {versions[-1]}")
    for problem in releases.problems(volcano_version, "--volcano-version") if volcano_version else ():
        give_up(str(problem))
    facts = replace(cluster_facts(cluster), kubernetes_version=kubernetes_version, volcano_version=volcano_version)
    return Checks(lenient, on_conflict, defaults, _plugin_options(settings or ()), frozenset(codes), facts)


def _plugin_options(settings: Iterable[str]) -> dict[str, dict[str, Any]]:
    options: dict[str, dict[str, Any]] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        plugin, dot, setting = name.partition(".")
        if not (plugin and dot and setting and equals):
            # The value may be a key.
            place = f"--set {name}" if equals or dot else "--set"
            give_up(f"{place}: write PLUGIN.OPTION=VALUE, such as --set pytorch.port=29500")
        try:
            ((read,),) = yaml_reader.load(f"- {value}") if value else (("",),)
        except (yaml_reader.Refused, ValueError):
            give_up(f"--set {name}: the value is no YAML")
        options.setdefault(plugin, {})[setting] = read
    return options


def refuse_choice(checks: Checks, managed_by: Manager) -> None:
    """End a command that asks of Volcano what it does not do."""
    if managed_by is Manager.VOLCANO and checks.on_conflict is Winner.USER:
        give_up("--on-conflict user needs --managed-by pulumi: Volcano's plugins write over what the template sets")


def with_checks(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Checks` behind its own; it takes them as `checks`."""
    shared = inspect.signature(_checks, eval_str=True).parameters
    own = [item for item in inspect.signature(command, eval_str=True).parameters.values() if item.name != "checks"]

    def run(**given: Any) -> None:
        if str(given["cluster"]) == STDIN and STDIN in given["files"]:
            give_up("- is given as --cluster and as FILE: standard input can be read once")
        checks = _checks(**{name: given.pop(name) for name in shared})
        command(checks=checks, **given)

    # typer reads both.
    parameters = [*own, *shared.values()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # Python's own protocol
    run.__annotations__ = {item.name: item.annotation for item in parameters}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run
