"""The env plugin, which sets variables with a Pod's index (upstream: pkg/controllers/job/plugins/env)."""

from __future__ import annotations

from pulumi_volcano_jobs.kubernetes.manifest import Pod
from pulumi_volcano_jobs.plugins.base import Plugin, Stage
from pulumi_volcano_jobs.plugins.context import JobContext


class EnvPlugin(Plugin):
    """Set VC_TASK_INDEX in every container and init container: the index of the Pod in its task, from 0.

    `VK_TASK_INDEX` is the old name of this variable.
    """

    name = "env"
    stage = Stage.BASE

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Set the index variables."""
        for container in pod.all_containers:
            container.set_env("VK_TASK_INDEX", str(pod.index))
            container.set_env("VC_TASK_INDEX", str(pod.index))
