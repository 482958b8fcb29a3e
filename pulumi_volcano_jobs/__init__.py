"""Distributed jobs on Kubernetes with Volcano's job plugins, from Pulumi programs.

Each name is loaded on first use: importing the package takes no time, and all but `VolcanoJob` and `VolcanoQueue` work
without Pulumi.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pulumi_volcano_jobs import presets
    from pulumi_volcano_jobs.component import (
        KubernetesObject,
        VolcanoJob,
        VolcanoJobArgs,
        VolcanoQueue,
        VolcanoQueueArgs,
    )
    from pulumi_volcano_jobs.core.errors import JobError, Problem
    from pulumi_volcano_jobs.files.job_file import load_jobs
    from pulumi_volcano_jobs.kubernetes.manifest import Container, ObjectRef, Pod
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
    from pulumi_volcano_jobs.plugins.base import JobUpdate, Stage
    from pulumi_volcano_jobs.plugins.context import JobContext
    from pulumi_volcano_jobs.plugins.settings import flag
    from pulumi_volcano_jobs.plugins.ssh_keys import KeyPair
    from pulumi_volcano_jobs.plugins.svc_allow import Allow
    from pulumi_volcano_jobs.rendering.renderer import Rendered, render
    from pulumi_volcano_jobs.spec.cluster import ClusterFacts, Queue
    from pulumi_volcano_jobs.spec.job_defaults import JobDefaults
    from pulumi_volcano_jobs.spec.model import DependsOn, Job, NetworkTopology, PartitionPolicy, Policy, Task, Volume

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
    "KubernetesObject",
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

_HOMES = {
    "component": "KubernetesObject VolcanoJob VolcanoJobArgs VolcanoQueue VolcanoQueueArgs",
    "core.errors": "JobError Problem",
    "files.job_file": "load_jobs",
    "kubernetes.manifest": "Container ObjectRef Pod",
    "plugins": (
        "EnvPlugin HcclrankPlugin MpiPlugin Plugin PytorchPlugin RayPlugin SshPlugin SvcPlugin TensorflowPlugin"
        " register"
    ),
    "plugins.base": "JobUpdate Stage",
    "plugins.context": "JobContext",
    "plugins.settings": "flag",
    "plugins.ssh_keys": "KeyPair",
    "plugins.svc_allow": "Allow",
    "rendering.renderer": "Rendered render",
    "spec.cluster": "ClusterFacts Queue",
    "spec.job_defaults": "JobDefaults",
    "spec.model": "DependsOn Job NetworkTopology PartitionPolicy Policy Task Volume",
}
"""The public names by the module that they are from; `presets` is itself one."""
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Load the module that has a name, when it is first asked for."""
    if name == "presets":
        return import_module(f"{__name__}.presets")
    if name not in _MODULE_OF:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
