"""Distributed jobs on Kubernetes with Volcano's job plugins, from Pulumi programs.

`VolcanoJob` and `VolcanoQueue` are loaded on first use: everything else works without Pulumi.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pulumi_volcano_jobs import presets
from pulumi_volcano_jobs.cluster import ClusterFacts, Queue
from pulumi_volcano_jobs.context import JobContext
from pulumi_volcano_jobs.errors import JobError, Problem
from pulumi_volcano_jobs.jobfile import load_jobs
from pulumi_volcano_jobs.keys import KeyPair
from pulumi_volcano_jobs.manifest import Container, ObjectRef, Pod
from pulumi_volcano_jobs.model import (
    DependsOn,
    Job,
    NetworkTopology,
    PartitionPolicy,
    Policy,
    Task,
    Volume,
)
from pulumi_volcano_jobs.plugins import (
    EnvPlugin,
    HcclrankPlugin,
    MpiPlugin,
    Plugin,
    PytorchPlugin,
    RayPlugin,
    SshPlugin,
    SvcPlugin,
    TensorflowPlugin,
    register,
)
from pulumi_volcano_jobs.plugins.access import Allow
from pulumi_volcano_jobs.plugins.base import JobUpdate, Stage, flag
from pulumi_volcano_jobs.render import Rendered, render
from pulumi_volcano_jobs.shared import JobDefaults

if TYPE_CHECKING:
    from pulumi_volcano_jobs.component import VolcanoJob, VolcanoJobArgs, VolcanoQueue, VolcanoQueueArgs

__all__ = [
    "Allow",
    "ClusterFacts",
    "Container",
    "DependsOn",
    "EnvPlugin",
    "HcclrankPlugin",
    "Job",
    "JobContext",
    "JobDefaults",
    "JobError",
    "JobUpdate",
    "KeyPair",
    "MpiPlugin",
    "NetworkTopology",
    "ObjectRef",
    "PartitionPolicy",
    "Plugin",
    "Pod",
    "Policy",
    "Problem",
    "PytorchPlugin",
    "Queue",
    "RayPlugin",
    "Rendered",
    "SshPlugin",
    "Stage",
    "SvcPlugin",
    "Task",
    "TensorflowPlugin",
    "VolcanoJob",
    "VolcanoJobArgs",
    "VolcanoQueue",
    "VolcanoQueueArgs",
    "Volume",
    "flag",
    "load_jobs",
    "presets",
    "register",
    "render",
]

_OF_COMPONENT = frozenset({"VolcanoJob", "VolcanoJobArgs", "VolcanoQueue", "VolcanoQueueArgs"})


def __getattr__(name: str) -> Any:
    """Load the component, and with it Pulumi, when it is first asked for."""
    if name not in _OF_COMPONENT:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from pulumi_volcano_jobs import component  # noqa: PLC0415  # the rest of the library works without Pulumi

    return getattr(component, name)


def __dir__() -> list[str]:
    return __all__
