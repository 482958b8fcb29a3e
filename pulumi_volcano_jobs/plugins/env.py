"""The env plugin: a Pod's index in its task, as variables (upstream: pkg/controllers/job/plugins/env)."""

from __future__ import annotations

from pulumi_volcano_jobs.kubernetes.manifest import Pod
from pulumi_volcano_jobs.plugins.base import Plugin, Stage
from pulumi_volcano_jobs.plugins.context import JobContext


class EnvPlugin(Plugin):
    """Give every container, init containers too, its Pod's index in the task, from 0.

    `VK_TASK_INDEX` is the old name of `VC_TASK_INDEX`.
    """

    name = "env"
    stage = Stage.BASE

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Set both variables."""
        for container in pod.all_containers:
            container.set_env("VK_TASK_INDEX", str(pod.index))
            container.set_env("VC_TASK_INDEX", str(pod.index))
