"""What is Pulumi's own about a job, taken out of its arguments and checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

from pulumi_volcano_jobs.admission.controllers import Unsupported
from pulumi_volcano_jobs.component.job_args import Claims, JobOptions, OnScale, Restart, WaitFor
from pulumi_volcano_jobs.core.errors import Problem, not_one_of, unknown_codes
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.spec import releases
from pulumi_volcano_jobs.spec.options import WORDS, Choices, of_plugins

_CHOICES: Mapping[str, tuple[str, ...]] = {
    **WORDS,
    "restart": get_args(Restart),
    "on_scale": get_args(OnScale),
    "claims": get_args(Claims),
    "wait_for": get_args(WaitFor),
    "unsupported": get_args(Unsupported),
    "kubernetes_version": schema.versions(),
}
_DURATION = re.compile(r"(?=.*[1-9])(\d+h)?(\d+m)?(\d+s)?", re.ASCII)
_CODES, _PLUGINS, _REGISTRY = "ignore_warnings", "plugin_options", "image_registry"
_VOLCANO = "volcano_version"
_NOT_PLAIN = frozenset({_CODES, _PLUGINS, _REGISTRY})
_ONLY_COMPOSED: Mapping[str, tuple[str, str]] = {
    "restart": ("an edit replaces the whole Job, or none of its Pods", "remove it"),
    "on_scale": ("Volcano adds and removes Pods and leaves the others alone", "remove it; another `run` restarts all"),
}


def take(given: dict[str, Any], *, mode_is_shared: bool = False) -> tuple[JobOptions, list[Problem]]:
    """Remove the options from the arguments of a job; return them and their problems.

    If `managed_by` is a default that jobs share (`mode_is_shared`), options that this mode lacks are ignored with a
    warning. If the job sets `managed_by` itself, they are errors.
    """
    options: Any = {key: given.pop(key) for key in JobOptions.__annotations__ if key in given}
    # Others would be compared with something although they are wrong already, and an Output may not be.
    plain = {key: value for key, value in options.items() if isinstance(value, str) and key not in _NOT_PLAIN}
    mistyped = [
        Problem(key, "TypeInvalid", "this must be a plain string: it decides what an update does")
        for key in options.keys() - plain.keys() - _NOT_PLAIN
    ]
    wrong = [
        not_one_of(key, value, _CHOICES[key])
        for key, value in plain.items()
        if value not in _CHOICES.get(key, (value,))
    ]
    wrong += releases.problems(plain[_VOLCANO], _VOLCANO) if _VOLCANO in plain else ()
    refused = {problem.path for problem in (*mistyped, *wrong)}
    fits = {key: value for key, value in plain.items() if key not in refused}
    modes = [] if "managed_by" in refused else list(_of_mode(fits))
    if mode_is_shared and fits.get("managed_by") == "volcano":
        modes = [_ignored(problem) for problem in modes]
        options = _without(options, {problem.path for problem in modes})
    timeout = _of_timeout(fits, known="wait_for" not in refused)
    rest = [*_of_codes(options.get(_CODES, ())), *of_plugins(options.get(_PLUGINS, {}))]
    refused |= {problem.path.partition(".")[0] for problem in rest}
    options = {key: value for key, value in options.items() if key not in refused}
    return options, [*mistyped, *wrong, *modes, *timeout, *rest]


def choices(options: JobOptions) -> Choices:
    """Give those of the options that `render` takes."""
    found: Any = {key: options[key] for key in Choices.__annotations__ if key in options}  # type: ignore[literal-required]  # they are its keys
    chosen: Choices = found
    return chosen


def _of_codes(codes: Any) -> Iterator[Problem]:
    if isinstance(codes, (list, tuple)) and all(isinstance(code, str) for code in codes):
        yield from unknown_codes(codes, _CODES)
    else:
        yield Problem(_CODES, "TypeInvalid", "this must be a list of codes", 'for example ["VJ103"]')


def _of_mode(options: Mapping[str, str]) -> Iterator[Problem]:
    """Yield what the mode cannot do."""
    if options.get("managed_by") == "volcano":
        if options.get("on_conflict") == "user":
            reason = 'with managed_by="volcano" the plugins are Volcano\'s, and what they set counts'
            yield Problem("on_conflict", "Forbidden", reason, 'say on_conflict="plugin", or remove the template\'s own')
        for key, (reason, hint) in _ONLY_COMPOSED.items():
            if key in options:
                yield Problem(key, "Forbidden", f'with managed_by="volcano" this does nothing, since {reason}', hint)
    elif options.get("wait_for", "created") != "created":
        reason = "the Pods of a gang cannot be waited for one by one, since a failed one would not end the others' wait"
        command = "kubectl wait pod -l volcano.sh/job-name=NAME --for=jsonpath='{.status.phase}'=Succeeded --timeout=1h"
        yield Problem(
            "wait_for", "Forbidden", reason, f'managed_by="volcano" can; or run `{command}` after `pulumi up`'
        )


def _ignored(problem: Problem) -> Problem:
    reason = f"ignored, because volcano-jobs:managedBy or job_defaults selects the mode: {problem.reason}"
    hint = f'{problem.hint}, or set managed_by="pulumi" on this job'
    return replace(problem, type="Warning", reason=reason, hint=hint, code="VJ122")


def _without(options: Mapping[str, Any], ignored: Collection[str]) -> dict[str, Any]:
    """Return the options without the ignored ones; of a conflict, Volcano's plugins take precedence."""
    kept = {key: value for key, value in options.items() if key not in ignored}
    return kept | ({"on_conflict": "plugin"} if "on_conflict" in ignored else {})


def _of_timeout(options: Mapping[str, str], *, known: bool) -> Iterator[Problem]:
    timeout = options.get("wait_timeout")
    if timeout is None:
        return
    if not _DURATION.fullmatch(timeout):
        hint = 'write hours, minutes and seconds, such as "90s", "30m" or "1h30m"'
        yield Problem("wait_timeout", "Invalid", "this is no duration above 0", hint, value=repr(timeout))
    elif known and options.get("wait_for", "created") == "created":
        yield Problem(
            "wait_timeout", "Forbidden", "nothing is waited for", 'say wait_for="running" or "succeeded", or remove it'
        )
