"""The arguments of `VolcanoJob`, as typed dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pulumi_volcano_jobs.component.job_fields import JobFields, JobSettings, TaskOverrides
from pulumi_volcano_jobs.spec.job_defaults import JobDefaults
from pulumi_volcano_jobs.spec.options import Claims, OnScale, RenderOptions, Restart, Unsupported, WaitFor


class JobOptions(RenderOptions, total=False):
    """Options in addition to the fields of a Volcano Job: the effect of updates on running Pods, and checks."""

    restart: Restart | None
    """`gang` (the default): an edit that replaces a Pod replaces all Pods, because a rank cannot rejoin a running gang.
    `pod`: an edit replaces only the Pods of the edited task, for Ray and parameter servers."""
    on_scale: OnScale | None
    """`keep`: running Pods are not changed, as in Volcano. `restart`: scaling replaces them. The default is `restart`
    if a plugin passes the number of Pods to its Pods (pytorch, mpi, tensorflow), otherwise `keep`."""
    run: str | None
    """A token of your choice. A new value runs the job again."""
    key_rotation: str | None
    """A token of your choice. A new value generates a new ssh key pair and replaces the Pods."""
    wait_for: WaitFor | None
    """With `managed_by="volcano"`: `running` or `succeeded` makes `up` wait for that phase of the Job or for its end. A
    Job that failed, was aborted or was terminated fails the update. `created` (the default) does not wait."""
    wait_timeout: str | None
    """How long `wait_for` waits, such as `"30m"` or `"1h30m"`; `"1h"` by default."""
    claims: Claims | None
    """`delete` (the default): claims that the job creates are deleted with it. `keep`: the claims and their data are
    kept."""
    unsupported: Unsupported | None
    """The reaction to fields such as policies, which are ignored because no controller manages these Pods: `warn` (the
    default), `error` or `ignore`."""
    ignore_warnings: Sequence[str] | None
    """Codes of warnings to ignore, such as `["VJ103"]`; docs/warnings.md lists all codes."""
    job_defaults: JobDefaults | None
    """Defaults that several jobs share. They override the configuration of the stack (`volcano-jobs:queue` and so
    on); arguments of the job override both (docs/stack.md)."""
    kubernetes_version: str | None
    """The version of the cluster, such as `"1.31"`. Template fields that it does not have are errors."""
    volcano_version: str | None
    """The version of Volcano in the cluster, such as `"1.15"` or `"1.15.1"`. Fields, plugins and flags that it does not
    have are errors. By default the version is not checked."""


class VolcanoJobArgs(JobFields, JobOptions, total=False):
    """A Volcano Job (`batch.volcano.sh/v1alpha1`) with snake_case names; `tasks` is required.

    Any value may be an Output, except values that decide which objects exist or what their names are. An argument that
    is None is not set.
    """


class VolcanoJobOverrides(JobSettings, JobOptions, total=False):
    """Fields that override those of a job from a file or of a `Job`, and options."""

    tasks: Mapping[str, TaskOverrides]
    """Fields of tasks by the name of the task, such as `{"worker": {"replicas": 4}}`. A task cannot be added, removed
    or renamed."""
