"""Read the plugins of a job with their settings: Volcano's arguments, and the options of this library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.admission import sshd_port
from pulumi_volcano_jobs.core.errors import JobError, Problem, RejectionStage, value_text
from pulumi_volcano_jobs.core.leaf import has_leaf
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.core.tree import whole_number, without_none
from pulumi_volcano_jobs.plugins import Plugin, registry
from pulumi_volcano_jobs.plugins.settings import facts_of
from pulumi_volcano_jobs.spec.fields import PluginSettings, Uses
from pulumi_volcano_jobs.spec.options import RenderOptions


def read(uses: Uses, *, strict: bool) -> tuple[dict[str, Plugin], list[Problem]]:
    """Return the plugins of a job, and their problems. Volcano's webhook rejects an unknown plugin."""
    plugins: dict[str, Plugin] = {}
    problems: list[Problem] = []
    for name, use in uses.items():
        path = f"spec.plugins.{name}"
        plugin = registry.find(name)
        if use is None:
            reason = "the API server drops null, so the job does not use this plugin"
            hint = f"write {name}: [] to use it, or remove it"
            problems.append(Problem(path, "Warning", reason, hint, code="VJ127"))
        elif isinstance(use, Plugin):
            plugins[name] = use
            if use.name != name:
                hint = f"use the key {value_text(use.name)}, or write plugins as a list"
                problems.append(
                    Problem(path, "Invalid", f"the value is the plugin {use.name}", hint, stage=RejectionStage.DECODE)
                )
        elif plugin is None:
            hint = suggestion(name, registry.names())
            problems.append(
                Problem(path, "NotSupported", "unknown plugin", hint, value_text(name), RejectionStage.WEBHOOK)
            )
        else:
            args = use.to_args() if isinstance(use, PluginSettings) else use
            plugins[name], found = plugin.read_args(args, strict=strict)
            problems += found
            problems += _alias_warnings(plugin, args, strict=strict)
    return plugins, problems


def _alias_warnings(plugin: type[Plugin], args: tuple[Any, ...] | list[Any], *, strict: bool) -> Iterator[Problem]:
    for position, argument in enumerate(args if strict else ()):
        name = str(argument).lstrip("-").partition("=")[0] if isinstance(argument, str) else ""
        if name in plugin.aliases:
            current_name = plugin.aliases[name]
            reason = f"Volcano's code has --{current_name} instead of the guide's --{name}, so --{current_name} is used"
            path = f"spec.plugins.{plugin.name}[{position}]"
            yield Problem(path, "Warning", reason, f"write --{current_name}", code="VJ114")


def with_required(plugins: Mapping[str, Plugin]) -> dict[str, Plugin]:
    """Return the plugins and the plugins that they require, which have default settings."""
    closed = dict(plugins)
    waiting = list(plugins.values())
    while waiting:
        for name in sorted(waiting.pop().requires - closed.keys()):
            plugin = registry.find(name)
            if plugin:
                closed[name] = plugin.model_construct()  # faster than plugin(), which validates
                waiting.append(closed[name])
    return closed


def with_options(
    plugins: Mapping[str, Plugin], choices: RenderOptions, volcano_version: str
) -> tuple[dict[str, Plugin], list[Problem]]:
    """Return the plugins with their options, without plugins that are invalid, and the problems."""
    chosen, problems = dict(plugins), []
    unsound: set[str] = set()
    for name, settings in without_none(choices.get("plugin_options") or {}).items():
        place = f"plugin_options.{name}"
        if name not in plugins:
            hint = suggestion(name, plugins) if plugins else "add it to the job's plugins"
            problems.append(Problem(place, "Forbidden", "the job does not use this plugin", hint))
            continue
        known = {setting for setting, facts in facts_of(type(plugins[name])).items() if "secret" not in facts}
        problems += [
            Problem(f"{place}.{setting}", "Forbidden", "unknown option of the plugin", suggestion(setting, known))
            for setting in settings
            if setting not in known
        ]
        try:
            chosen[name] = chosen[name].with_options(
                {key: whole_number(settings[key]) for key in settings if key in known}
            )
        except JobError as error:
            problems += error.problems
            unsound.add(name)
    is_recommended, native = choices.get("defaults") == "recommended", choices.get("managed_by") == "volcano"
    if is_recommended:
        chosen = {name: plugin.recommended(native=native, version=volcano_version) for name, plugin in chosen.items()}
    for name, plugin in chosen.items():
        if name not in unsound and (found := list(plugin.malformed())):
            problems += found
            unsound.add(name)
    sound = {name: plugin for name, plugin in chosen.items() if name not in unsound}
    if is_recommended:
        sound = sshd_port.with_one_port(sound, volcano_version if native else "")
    return sound, problems


def defaulted_uses(uses: Uses, read: Mapping[str, Plugin], plugins: Mapping[str, Plugin], *, strict: bool) -> Uses:
    """Return the plugins of a job with its arguments, and add required plugins and chosen options.

    A flag that only Volcano's guide uses is replaced by the flag in Volcano's code.
    """
    given: dict[str, Any] = {name: use for name, use in uses.items() if use is not None}
    for name, plugin in plugins.items():
        if not _are_same(plugin, read.get(name) or type(plugin).model_construct()) or (
            strict and plugin.aliases and name in given
        ):
            given[name] = plugin
        given.setdefault(name, ())
    return given


def _are_same(plugin: Plugin, other: Plugin) -> bool:
    # Comparing a leaf raises an error.
    return plugin is other or (not has_leaf([vars(plugin), vars(other)]) and plugin == other)
