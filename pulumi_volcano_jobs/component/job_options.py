"""Removal of the options from the arguments of a job; `spec.options` has the checks of each option."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, wrong_type
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_PULUMI, Option, Phrase
from pulumi_volcano_jobs.core.tree import without_none
from pulumi_volcano_jobs.spec.options import (
    RenderOptions,
    check_plugin_options,
    duration_of,
    of_codes,
    of_mode,
    of_timeout,
    one_of_its_values,
)

_CODES, _PLUGINS, _REGISTRY = "ignore_warnings", "plugin_options", "image_registry"
_NOT_PLAIN = frozenset({_CODES, _PLUGINS, _REGISTRY})


def pop_options(job_args: dict[str, Any], *, mode_is_shared: bool = False) -> tuple[JobOptions, list[Problem]]:
    """Remove the options from the arguments of a job; return those that are not None, and their problems.

    If `managed_by` is a default that jobs share (`mode_is_shared`), options that this mode lacks are ignored with a
    warning. If the job sets `managed_by` itself, they are errors.
    """
    options: Any = without_none({key: job_args.pop(key, None) for key in JobOptions.__annotations__})
    # Values of a wrong type are reported below, and an Output cannot be compared.
    plain = {key: value for key, value in options.items() if isinstance(value, str) and key not in _NOT_PLAIN}
    type_problems = [_wrong_option(key, options[key]) for key in options.keys() - plain.keys() - _NOT_PLAIN]
    value_problems = [problem for key, value in plain.items() for problem in one_of_its_values(key, value, key)]
    rejected = {problem.path for problem in (*type_problems, *value_problems)}
    valid = {key: value for key, value in plain.items() if key not in rejected}
    mode_problems = [] if "managed_by" in rejected else list(of_mode(valid))
    if mode_is_shared and valid.get("managed_by") == "volcano":
        mode_problems = [_ignored(problem) for problem in mode_problems]
        options = _without(options, {problem.path for problem in mode_problems})
    timeout_problems = of_timeout(valid, known="wait_for" not in rejected)
    other_problems = [*of_codes(options.get(_CODES, ())), *check_plugin_options(options.get(_PLUGINS, {}))]
    rejected |= {problem.path.partition(".")[0] for problem in other_problems}
    options = {key: value for key, value in options.items() if key not in rejected}
    return options, [*type_problems, *value_problems, *mode_problems, *timeout_problems, *other_problems]


def render_options(options: JobOptions) -> RenderOptions:
    """Return the options that `render` accepts."""
    selected: Any = {key: options[key] for key in RenderOptions.__annotations__ if key in options}  # type: ignore[literal-required]  # all are keys of JobOptions
    result: RenderOptions = selected
    return result


def _wrong_option(key: str, value: object) -> Problem:
    if key == "wait_timeout" and type(value) is int and value > 0:
        hint = f'write "{duration_of(value)}"'
        return wrong_type(key, "a string", hint, str(value), RejectionStage.STRICT)
    reason = "a plain string, because it decides how an update changes the job"
    return wrong_type(key, reason, stage=RejectionStage.STRICT)


def _ignored(problem: Problem) -> Problem:
    shared = Option("job_defaults")
    reason = Phrase("ignored, because volcano-jobs:managedBy or ", shared, " sets the mode: ", problem.reason)
    hint = Phrase(problem.hint, ", or set ", MANAGED_BY_PULUMI, " on this job")
    return replace(problem, type="Warning", reason=reason, hint=hint, code="VJ122")


def _without(options: Mapping[str, Any], ignored: Collection[str]) -> dict[str, Any]:
    """Return the options without the ignored ones; of a conflict, Volcano's plugins take precedence."""
    remaining = {key: value for key, value in options.items() if key not in ignored}
    return remaining | ({"on_conflict": "plugin"} if "on_conflict" in ignored else {})
