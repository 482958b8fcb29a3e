"""The Pulumi component: the only part of the library that knows Pulumi."""

from __future__ import annotations

from pulumi_volcano_jobs.component.job_args import JobOptions, VolcanoJobArgs, VolcanoJobOverrides
from pulumi_volcano_jobs.component.job_fields import (
    DependsOnArgs,
    NetworkTopologyArgs,
    PartitionPolicyArgs,
    PolicyArgs,
    TaskArgs,
    TaskOverrides,
    VolumeArgs,
)
from pulumi_volcano_jobs.component.kubernetes_args import pod_template
from pulumi_volcano_jobs.component.kubernetes_object import KubernetesObject
from pulumi_volcano_jobs.component.queue_args import VolcanoQueueArgs
from pulumi_volcano_jobs.component.volcano_job import VolcanoJob
from pulumi_volcano_jobs.component.volcano_queue import VolcanoQueue

__all__ = [
    "DependsOnArgs",
    "JobOptions",
    "KubernetesObject",
    "NetworkTopologyArgs",
    "PartitionPolicyArgs",
    "PolicyArgs",
    "TaskArgs",
    "TaskOverrides",
    "VolcanoJob",
    "VolcanoJobArgs",
    "VolcanoJobOverrides",
    "VolcanoQueue",
    "VolcanoQueueArgs",
    "VolumeArgs",
    "pod_template",
]
