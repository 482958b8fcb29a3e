"""The arguments of `VolcanoJob`, as typed dictionaries."""

from __future__ import annotations

from collections.abc import Sequence

from pulumi_volcano_jobs.component.job_fields import JobFields
from pulumi_volcano_jobs.spec.job_defaults import JobDefaults
from pulumi_volcano_jobs.spec.options import Claims, OnScale, RenderOptions, Restart, Unsupported, WaitFor


class JobOptions(RenderOptions, total=False):
    """What is not in a Volcano Job: what an update does to Pods that run, and how the job is checked."""

    restart: Restart
    """`gang` (the default): an edit that replaces one Pod replaces all, since a rank cannot rejoin a dead world.
    `pod`: only the Pods of the task that was edited, for Ray and parameter servers."""
    on_scale: OnScale
    """`keep`: Pods that run keep what they were created with, as with Volcano. `restart`: they are replaced.
    Default: restart if a plugin builds a world of fixed size (pytorch, mpi, tensorflow), else keep."""
    run: str
    """A token of your choice; another one runs the job again."""
    key_rotation: str
    """A token of your choice; another one makes a new ssh key pair and replaces the Pods."""
    wait_for: WaitFor
    """With `managed_by="volcano"`: `running` or `succeeded` makes `up` wait for that phase of the Job, or for its end;
    a Job that failed, was aborted or terminated fails the update. `created` (the default) waits for nothing."""
    wait_timeout: str
    """How long `wait_for` waits, such as `"30m"` or `"1h30m"`; `"1h"` by default."""
    claims: Claims
    """`keep`: the claims that the job made, and what is on them, outlive it; by default they go with it (`delete`)."""
    unsupported: Unsupported
    """What to do about policies and the like, which nobody enacts on Pods that Pulumi manages: `warn` (the default),
    `error` or `ignore`."""
    ignore_warnings: Sequence[str]
    """Codes of warnings to leave out, such as `["VJ103"]`; docs/warnings.md has them all."""
    job_defaults: JobDefaults
    """Defaults that several jobs share; they count before those of the stack's configuration (`volcano-jobs:queue` and
    so on), and behind the job's own arguments (docs/stack.md)."""
    kubernetes_version: str
    """The version of the cluster, such as `"1.31"`: fields of templates that it does not know are refused."""
    volcano_version: str
    """The version of Volcano in the cluster, such as `"1.15"` or `"1.15.1"`: fields, plugins and flags that it lacks
    are errors. By default nothing is assumed."""


class VolcanoJobArgs(JobFields, JobOptions, total=False):
    """A Volcano Job (`batch.volcano.sh/v1alpha1`) with snake_case names; `tasks` is required.

    Any value may be an Output, except values that decide which objects exist or what their names are.
    """
