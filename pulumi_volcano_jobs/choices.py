"""What is decided of a job beside its description: who makes the Pods, who counts in a conflict, plugins' options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from pulumi_volcano_jobs.leaf import Text

ManagedBy = Literal["pulumi", "volcano"]
OnConflict = Literal["error", "plugin", "user"]
Defaults = Literal["volcano", "recommended"]


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
