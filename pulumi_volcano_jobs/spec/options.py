"""What is decided of a job beside its description: who makes the Pods, who counts in a conflict, plugins' options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypedDict, get_args

from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.errors import Problem, not_one_of
from pulumi_volcano_jobs.core.leaf import Text

ManagedBy = Literal["pulumi", "volcano"]
OnConflict = Literal["error", "plugin", "user"]
Defaults = Literal["volcano", "recommended"]
WORDS: Mapping[str, tuple[str, ...]] = {
    "managed_by": get_args(ManagedBy),
    "on_conflict": get_args(OnConflict),
    "defaults": get_args(Defaults),
}
"""What each choice of one word may be."""


class Choices(TypedDict, total=False):
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


def wrong_choices(choices: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is none of the choices; whether a plugin has such an option is seen with the job."""
    for name, words in WORDS.items():
        if name in choices and choices[name] not in words:
            yield not_one_of(name, choices[name], words)
    yield from of_plugins(choices.get("plugin_options", {}))


def of_plugins(given: Any) -> Iterator[Problem]:
    """Yield what has not the form of `plugin_options`."""
    path = "plugin_options"
    if found := bounds.problems(given, path):
        yield from found
        return
    if not _has_names(given):
        yield Problem(
            path, "TypeInvalid", "this must be a mapping", 'for example {"pytorch": {"wait_master_enabled": True}}'
        )
        return
    for name, settings in given.items():
        if not _has_names(settings):
            yield Problem(
                f"{path}.{name}", "TypeInvalid", "this must be a mapping of options", 'for example {"port": 29500}'
            )


def _has_names(given: Any) -> bool:
    return isinstance(given, Mapping) and all(isinstance(name, str) for name in given)
