"""The Pulumi component: the only part of the library that knows Pulumi."""

from __future__ import annotations

from pulumi_volcano_jobs.component.job import VolcanoJob
from pulumi_volcano_jobs.component.job_args import JobOptions, VolcanoJobArgs
from pulumi_volcano_jobs.component.kubernetes_object import KubernetesObject
from pulumi_volcano_jobs.component.queue import VolcanoQueue
from pulumi_volcano_jobs.component.queue_args import VolcanoQueueArgs

__all__ = ["JobOptions", "KubernetesObject", "VolcanoJob", "VolcanoJobArgs", "VolcanoQueue", "VolcanoQueueArgs"]
