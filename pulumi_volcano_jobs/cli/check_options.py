"""The options of all commands that configure the checks of a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pulumi_volcano_jobs.cli.files import cluster_facts
from pulumi_volcano_jobs.cli.findings import Report, print_note, silent
from pulumi_volcano_jobs.cli.output import STDIN, exit_with_usage_error
from pulumi_volcano_jobs.core.errors import unknown_codes, without_ignored
from pulumi_volcano_jobs.core.text import may_be_key
from pulumi_volcano_jobs.files import job_file, yaml_reader
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.spec import releases
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.options import Defaults, ManagedBy, OnConflict


@dataclass(frozen=True)
class Checks:
    """Options that configure the checks of a job."""

    lenient: bool
    on_conflict: OnConflict
    defaults: Defaults
    plugin_options: Mapping[str, Mapping[str, Any]]
    ignored: frozenset[str]
    cluster: ClusterFacts
    quiet: bool = False
    namespace: str = "default"
    """The namespace of objects that do not set one."""

    @classmethod
    def read(
        cls,
        files: Sequence[str],
        *,
        lenient: bool,
        on_conflict: OnConflict,
        defaults: Defaults,
        plugin_settings: Sequence[str] | None,
        ignore: str,
        kubernetes_version: str,
        volcano_version: str,
        cluster: Path | None,
        quiet: bool,
        namespace: str = "",
    ) -> Checks:
        """Read the options that all commands share. If one is invalid, exit with a message."""
        if str(cluster) == STDIN and STDIN in files:
            exit_with_usage_error("- is set as --cluster and as FILE, but standard input can be read only once")
        codes = [code.strip() for code in ignore.split(",") if code.strip()]
        for problem in unknown_codes(codes, "--ignore"):
            exit_with_usage_error(str(problem))
        versions = schema.versions()
        if kubernetes_version and kubernetes_version not in versions:
            exit_with_usage_error(
                f"--kubernetes-version {kubernetes_version} is not supported: set {versions[0]} to {versions[-1]}"
            )
        for problem in releases.check_release(volcano_version, "--volcano-version") if volcano_version else ():
            exit_with_usage_error(str(problem))
        facts = replace(cluster_facts(cluster), kubernetes_version=kubernetes_version, volcano_version=volcano_version)
        plugin_options = _plugin_options(plugin_settings or ())
        return cls(
            lenient, on_conflict, defaults, plugin_options, frozenset(codes), facts, quiet, namespace or "default"
        )

    def with_objects(self, objects: Iterable[Mapping[str, Any]]) -> Checks:
        """Return the options with the objects of the files as facts of the cluster."""
        return replace(self, cluster=self.cluster.with_objects(objects))

    def settings(self, managed_by: ManagedBy = "pulumi") -> dict[str, Any]:
        """Return the options as arguments of `render`."""
        return {"strict": not self.lenient, "cluster": self.cluster, **self._choices(managed_by)}

    def options(self, managed_by: ManagedBy) -> dict[str, Any]:
        """Return the options that a program must also set, as options of the component."""
        other_options = {
            "ignore_warnings": sorted(self.ignored),
            "kubernetes_version": self.cluster.kubernetes_version,
            "volcano_version": self.cluster.volcano_version,
        }
        return self._choices(managed_by) | {name: value for name, value in other_options.items() if value}

    def arguments(self) -> list[str]:
        """Return the command-line arguments with which another command accepts the same jobs."""
        choices = self._choices("pulumi")
        arguments = ["--lenient"] if self.lenient else []
        arguments += ["--on-conflict", self.on_conflict] if "on_conflict" in choices else []
        arguments += ["--defaults", self.defaults] if "defaults" in choices else []
        for plugin, settings in self.plugin_options.items():
            for name, value in settings.items():
                # The arguments are printed. The user has to type a private key again.
                shown = "…" if may_be_key(name) else job_file.scalar(value)
                arguments += ["--set", f"{plugin}.{name}={shown}"]
        return arguments

    def _choices(self, managed_by: ManagedBy) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        choices = {
            "managed_by": (managed_by, "pulumi"),
            "on_conflict": (self.on_conflict, "error"),
            "defaults": (self.defaults, "volcano"),
        }
        others: dict[str, Any] = {name: value for name, (value, default) in choices.items() if value != default}
        return others | ({"plugin_options": self.plugin_options} if self.plugin_options else {})

    def filtered(self, report: Report) -> Report:
        """Return a report without the ignored warnings."""
        return lambda file, problems: report(file, without_ignored(problems, self.ignored))

    def unless_quiet(self, report: Report) -> Report:
        """Return a report of text, or one that reports nothing with `--quiet`."""
        return silent if self.quiet else report

    def note(self, text: str) -> None:
        """Print a note to standard error, unless `--quiet` is set."""
        if not self.quiet:
            print_note(text)


def _plugin_options(settings: Iterable[str]) -> dict[str, dict[str, Any]]:
    options: dict[str, dict[str, Any]] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        plugin, dot, setting = name.partition(".")
        if not (plugin and dot and setting and equals):
            # The value may be a private key.
            place = f"--set {name}" if equals or dot else "--set"
            exit_with_usage_error(f"{place} must be PLUGIN.OPTION=VALUE, such as --set pytorch.port=29500")
        try:
            ((read,),) = yaml_reader.load(f"- {value}") if value else (("",),)
        except (yaml_reader.YamlError, ValueError):
            exit_with_usage_error(f"--set {name}: the value must be valid YAML")
        options.setdefault(plugin, {})[setting] = read
    return options


def reject_choice(checks: Checks, managed_by: ManagedBy) -> None:
    """Exit if the options need something that Volcano's controllers cannot do."""
    if managed_by == "volcano" and checks.on_conflict == "user":
        exit_with_usage_error(
            "--on-conflict user needs --managed-by pulumi, because Volcano's plugins override the template"
        )
