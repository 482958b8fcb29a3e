"""The options of a job, taken out of its arguments; the rules for each option are in `spec.options`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.core.errors import Problem, Stage, wrong_type
from pulumi_volcano_jobs.spec.options import Choices, of_codes, of_mode, of_plugins, of_timeout, one_of_its_values

_CODES, _PLUGINS, _REGISTRY = "ignore_warnings", "plugin_options", "image_registry"
_NOT_PLAIN = frozenset({_CODES, _PLUGINS, _REGISTRY})


def take(given: dict[str, Any], *, mode_is_shared: bool = False) -> tuple[JobOptions, list[Problem]]:
    """Remove the options from the arguments of a job; return them and their problems.

    If `managed_by` is a default that jobs share (`mode_is_shared`), options that this mode lacks are ignored with a
    warning. If the job sets `managed_by` itself, they are errors.
    """
    options: Any = {key: given.pop(key) for key in JobOptions.__annotations__ if key in given}
    # Others would be compared with something although they are wrong already, and an Output may not be.
    plain = {key: value for key, value in options.items() if isinstance(value, str) and key not in _NOT_PLAIN}
    mistyped = [
        wrong_type(key, "a plain string: it decides what an update does", stage=Stage.STRICT)
        for key in options.keys() - plain.keys() - _NOT_PLAIN
    ]
    wrong = [problem for key, value in plain.items() for problem in one_of_its_values(key, value, key)]
    refused = {problem.path for problem in (*mistyped, *wrong)}
    fits = {key: value for key, value in plain.items() if key not in refused}
    modes = [] if "managed_by" in refused else list(of_mode(fits))
    if mode_is_shared and fits.get("managed_by") == "volcano":
        modes = [_ignored(problem) for problem in modes]
        options = _without(options, {problem.path for problem in modes})
    timeout = of_timeout(fits, known="wait_for" not in refused)
    rest = [*of_codes(options.get(_CODES, ())), *of_plugins(options.get(_PLUGINS, {}))]
    refused |= {problem.path.partition(".")[0] for problem in rest}
    options = {key: value for key, value in options.items() if key not in refused}
    return options, [*mistyped, *wrong, *modes, *timeout, *rest]


def choices(options: JobOptions) -> Choices:
    """Give those of the options that `render` takes."""
    found: Any = {key: options[key] for key in Choices.__annotations__ if key in options}  # type: ignore[literal-required]  # they are its keys
    chosen: Choices = found
    return chosen


def _ignored(problem: Problem) -> Problem:
    reason = f"ignored, because volcano-jobs:managedBy or job_defaults selects the mode: {problem.reason}"
    hint = f'{problem.hint}, or set managed_by="pulumi" on this job'
    return replace(problem, type="Warning", reason=reason, hint=hint, code="VJ122")


def _without(options: Mapping[str, Any], ignored: Collection[str]) -> dict[str, Any]:
    """Return the options without the ignored ones; of a conflict, Volcano's plugins take precedence."""
    kept = {key: value for key, value in options.items() if key not in ignored}
    return kept | ({"on_conflict": "plugin"} if "on_conflict" in ignored else {})
