"""Options of a job beside its fields, and the rule for the values of each.

The component adds options of its own to those of `render` (`component.job_args.JobOptions`); their rules are here too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypedDict, get_args

from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, not_supported, unknown_codes, wrong_type
from pulumi_volcano_jobs.core.leaf import Text
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.spec import releases

ManagedBy = Literal["pulumi", "volcano"]
OnConflict = Literal["error", "plugin", "user"]
Defaults = Literal["volcano", "recommended"]
Restart = Literal["gang", "pod"]
OnScale = Literal["restart", "keep"]
Claims = Literal["delete", "keep"]
WaitFor = Literal["created", "running", "succeeded"]
Unsupported = Literal["error", "warn", "ignore"]
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
_ONLY_COMPOSED: Mapping[str, tuple[str, str]] = {
    "restart": ("an edit replaces the whole Job, or none of its Pods", "remove it"),
    "on_scale": ("Volcano adds and removes Pods and leaves the others alone", "remove it; another `run` restarts all"),
}


class RenderOptions(TypedDict, total=False):
    """What `render` and `VolcanoJob` are told beside the job."""

    managed_by: ManagedBy
    """`pulumi` (the default): the job is composed of Pods and what they need. `volcano`: it is one `batch.volcano.sh`
    Job, which Volcano's controllers make all that of, and enact policies, retries and clean-up."""
    on_conflict: OnConflict
    """Who counts where a template and a plugin set the same variable, mount path, port name or volume: `error` (the
    default) refuses the job, `plugin` is what Volcano does, `user` keeps what the template has."""
    defaults: Defaults
    """`volcano` (the default): plugins do what Volcano's do. `recommended`: options that make a job run at once are on,
    unless they are given otherwise (docs/frameworks.md)."""
    plugin_options: Mapping[str, Mapping[str, Any]]
    """Settings of plugins by the plugin's name, for jobs that come from YAML: `{"pytorch": {"torchrun": True}}`."""
    image_registry: Text
    """A registry, perhaps with a path, that is put before each image that names none, init containers' and plugins'
    too: with `ghcr.io/team` the image `train:1` is `ghcr.io/team/train:1`."""


def check_options(options: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is none of the choices; whether a plugin has such an option is seen with the job."""
    for name in RenderOptions.__annotations__:
        if name in options:
            yield from one_of_its_values(name, options[name], name)
    yield from check_plugin_options(options.get("plugin_options", {}))


def has_few_values(name: str) -> bool:
    """Check whether an option is a word or a version, and not a free text."""
    return name in _WORDS or name in _VERSIONS


def one_of_its_values(name: str, value: Any, path: str) -> Iterator[Problem]:
    """Yield a Problem if a word or a version is not one of the values that the option has."""
    if name == "volcano_version":
        yield from releases.check_release(value, path)
        return
    words = schema.versions() if name == "kubernetes_version" else _WORDS.get(name, (value,))
    if value not in words:
        yield not_supported(path, value, words)


def check_plugin_options(options: Any) -> Iterator[Problem]:
    """Yield what has not the form of `plugin_options`."""
    path = "plugin_options"
    if bound_problems := bounds.check_bounds(options, path):
        yield from bound_problems
        return
    if not _has_names(options):
        hint = 'for example {"pytorch": {"wait_master_enabled": True}}'
        yield wrong_type(path, "a mapping", hint, stage=RejectionStage.STRICT)
        return
    for name, settings in options.items():
        if not _has_names(settings):
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
    """Yield a Problem for each option that does not work with `managed_by`."""
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


def of_timeout(options: Mapping[str, str], *, known: bool) -> Iterator[Problem]:
    """Yield the problems of `wait_timeout`; without `known`, `wait_for` is wrong and not compared with it."""
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
