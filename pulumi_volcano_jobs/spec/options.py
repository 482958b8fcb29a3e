"""Options of a job in addition to its fields, and the checks of their values.

`component.job_args.JobOptions` adds more options, which this module also checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypedDict, get_args

from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.errors import (
    Problem,
    RejectionStage,
    not_supported,
    unknown_codes,
    value_text,
    wrong_type,
)
from pulumi_volcano_jobs.core.leaf import Text
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_VOLCANO, Option, Phrase
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.spec import releases

ManagedBy = Literal["pulumi", "volcano"]
"""Who creates and manages the Pods."""
OnConflict = Literal["error", "plugin", "user"]
"""The behavior if a template and a plugin set the same field."""
Defaults = Literal["volcano", "recommended"]
"""The defaults of the settings of plugins."""
Restart = Literal["gang", "pod"]
"""Which Pods an edit of one task replaces."""
OnScale = Literal["restart", "keep"]
"""What happens to running Pods if the number of Pods changes."""
Claims = Literal["delete", "keep"]
"""What happens to the claims of a deleted job."""
WaitFor = Literal["created", "running", "succeeded"]
"""The state of a Job that `pulumi up` waits for."""
Unsupported = Literal["error", "warn", "ignore"]
"""The behavior if a job has fields that need Volcano's controllers."""
_WORDS: Mapping[str, tuple[str, ...]] = {
    "managed_by": get_args(ManagedBy),
    "on_conflict": get_args(OnConflict),
    "defaults": get_args(Defaults),
    "restart": get_args(Restart),
    "on_scale": get_args(OnScale),
    "claims": get_args(Claims),
    "wait_for": get_args(WaitFor),
    "unsupported": get_args(Unsupported),
}
_VERSIONS = ("kubernetes_version", "volcano_version")
_DURATION = re.compile(r"(?=.*[1-9])(\d+h)?(\d+m)?(\d+s)?", re.ASCII)
_NO_EFFECT = Phrase("has no effect with ", MANAGED_BY_VOLCANO, ": ")
_ONLY_COMPOSED: Mapping[str, tuple[str, str]] = {
    "restart": ("an edit replaces the whole Job, or none of its Pods", "remove it"),
    "on_scale": (
        "Volcano adds and removes Pods without restarting the other Pods",
        "remove it, and change `run` to restart all Pods",
    ),
}


class RenderOptions(TypedDict, total=False):
    """Options of `render` and `VolcanoJob` in addition to the fields of the job. None means "not set"."""

    managed_by: ManagedBy | None
    """`pulumi` (the default): Pulumi manages the Pods and all other objects of the job. `volcano`: Pulumi manages one
    `batch.volcano.sh` Job, and Volcano's controllers create its objects and apply policies, retries and clean-up."""
    on_conflict: OnConflict | None
    """The behavior if a template and a plugin set the same variable, mount path, port, volume or command. `error` (the
    default) rejects the job; a command has only a warning, because Volcano's ray plugin always replaces it. `plugin`
    uses the value of the plugin, as Volcano does. `user` keeps the template's."""
    defaults: Defaults | None
    """`volcano` (the default): plugins behave as in Volcano. `recommended`: options that most jobs need are enabled,
    unless the job sets them (docs/frameworks.md)."""
    plugin_options: Mapping[str, Mapping[str, Any] | None] | None
    """Settings of plugins by the plugin's name, for jobs that come from YAML: `{"pytorch": {"torchrun": True}}`."""
    image_registry: Text | None
    """A registry, with an optional path, that prefixes all images without a registry, including images of init
    containers and plugins. With `ghcr.io/team`, the image `train:1` becomes `ghcr.io/team/train:1`."""


def check_options(options: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a Problem for each unknown option or unsupported value. Settings of plugins are checked with the job."""
    for name, value in options.items():
        if name not in RenderOptions.__annotations__:
            yield Problem(name, "Forbidden", "unknown option", suggestion(name, RenderOptions.__annotations__))
        elif value is not None:
            yield from one_of_its_values(name, value, name)
    yield from check_plugin_options(options.get("plugin_options") or {})
    yield from _of_conflicts(options)


def has_few_values(name: str) -> bool:
    """Check whether an option has a fixed set of values."""
    return name in _WORDS or name in _VERSIONS


def one_of_its_values(name: str, value: Any, path: str) -> Iterator[Problem]:
    """Yield a Problem if a value is not one of the supported values of its option."""
    if name == "volcano_version":
        yield from releases.check_release(value, path)
        return
    words = schema.versions() if name == "kubernetes_version" else _WORDS.get(name, (value,))
    if value not in words:
        yield not_supported(path, value, words)


def check_plugin_options(options: Any) -> Iterator[Problem]:
    """Yield the problems of `plugin_options`."""
    path = "plugin_options"
    if bound_problems := bounds.check_bounds(options, path):
        yield from bound_problems
        return
    if not _has_names(options):
        hint = 'for example {"pytorch": {"wait_master_enabled": True}}'
        yield wrong_type(path, "a mapping", hint, stage=RejectionStage.STRICT)
        return
    for name, settings in options.items():
        if settings is not None and not _has_names(settings):
            hint = 'for example {"port": 29500}'
            yield wrong_type(f"{path}.{name}", "a mapping of options", hint, stage=RejectionStage.STRICT)


def _has_names(mapping: Any) -> bool:
    return isinstance(mapping, Mapping) and all(isinstance(name, str) for name in mapping)


def of_codes(codes: Any) -> Iterator[Problem]:
    """Yield the problems of `ignore_warnings`."""
    path = "ignore_warnings"
    if isinstance(codes, (list, tuple)) and all(isinstance(code, str) for code in codes):
        yield from unknown_codes(codes, path)
    else:
        yield wrong_type(path, "a list of codes", 'for example ["VJ103"]', stage=RejectionStage.STRICT)


def of_mode(options: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a Problem for each option that `managed_by` does not support."""
    yield from _of_conflicts(options)
    if options.get("managed_by") == "volcano":
        for key, (effect, hint) in _ONLY_COMPOSED.items():
            if key in options:
                yield Problem(key, "Forbidden", Phrase(_NO_EFFECT, effect), hint)
    elif options.get("wait_for", "created") != "created":
        wait = "Pulumi waits for each Pod separately, so a failed Pod would not end the wait for the other Pods"
        command = "kubectl wait pod -l volcano.sh/job-name=NAME --for=jsonpath='{.status.phase}'=Succeeded --timeout=1h"
        fix = Phrase("set ", MANAGED_BY_VOLCANO, f", or run `{command}` after `pulumi up`")
        yield Problem("wait_for", "Forbidden", Phrase("needs ", MANAGED_BY_VOLCANO, f": {wait}"), fix)


def _of_conflicts(options: Mapping[str, Any]) -> Iterator[Problem]:
    if options.get("managed_by") == "volcano" and options.get("on_conflict") == "user":
        reason = Phrase(_NO_EFFECT, "Volcano's plugins override the template")
        plugin = Option("on_conflict", "plugin")
        fix = Phrase("set ", plugin, ", or remove the conflicting values from the template")
        yield Problem("on_conflict", "Forbidden", reason, fix)


def duration_of(seconds: int) -> str:
    """Return seconds as text for `wait_timeout`, in the largest unit that needs no fraction."""
    length, unit = next((length, unit) for length, unit in ((3600, "h"), (60, "m"), (1, "s")) if not seconds % length)
    return f"{seconds // length}{unit}"


def of_timeout(options: Mapping[str, str], *, known: bool) -> Iterator[Problem]:
    """Yield the problems of `wait_timeout`. Without `known`, `wait_for` is invalid and is not compared with it."""
    timeout = options.get("wait_timeout")
    if timeout is None:
        return
    if not _DURATION.fullmatch(timeout):
        hint = 'write hours, minutes and seconds, such as "90s", "30m" or "1h30m"'
        yield Problem("wait_timeout", "Invalid", "must be a positive duration", hint, value=value_text(timeout))
    elif known and options.get("wait_for", "created") == "created":
        created, running, succeeded = (Option("wait_for", phase) for phase in get_args(WaitFor))
        hint = Phrase("set ", running, " or ", succeeded, ", or remove it")
        yield Problem("wait_timeout", "Forbidden", Phrase("has no effect with ", created), hint)
