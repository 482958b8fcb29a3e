"""`TrainingJob`: the component that a platform team offers for PyTorch jobs."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from pulumi_volcano_jobs import PodTemplateSpecDict, PytorchPlugin, TaskArgs, VolcanoJob, presets


class TrainingJob(pulumi.ComponentResource):
    """A PyTorch job with torchrun on each node."""

    job: VolcanoJob
    master_address: pulumi.Output[str]
    """The address of the master inside the namespace."""

    def __init__(  # noqa: PLR0913  # each argument has a name
        self,
        name: str,
        *,
        image: pulumi.Input[str],
        script: Sequence[pulumi.Input[str]],
        nodes: int = 1,
        gpus: int = 8,
        queue: pulumi.Input[str] | None = None,
        priority_class_name: pulumi.Input[str] | None = None,
        port: int | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the job.

        Args:
            name: the name of the resource and of the job.
            image: the image of all Pods.
            script: the script that torchrun starts, and its arguments.
            nodes: the number of Pods.
            gpus: the number of GPUs of each Pod.
            queue: the queue of the job; by default, the default of the stack.
            priority_class_name: the PriorityClass of the job.
            port: the port of the master.
            opts: the options of the resource.
        """
        super().__init__("platform:index:TrainingJob", name, {}, opts)
        amounts = {presets.NVIDIA_GPU: gpus}
        pod: PodTemplateSpecDict = {
            "spec": {
                "restartPolicy": "OnFailure",
                "containers": [
                    {
                        "name": "train",
                        "image": image,
                        "command": ["torchrun", *script],
                        "resources": {"requests": amounts, "limits": amounts},
                    },
                ],
            },
        }
        tasks: list[TaskArgs] = [{"name": "master", "replicas": 1, "template": pod}]
        if nodes > 1:
            tasks.append({"name": "worker", "replicas": nodes - 1, "template": pod})
        # An argument that is None has the default of VolcanoJob.
        self.job = VolcanoJob(
            name,
            queue=queue,
            priority_class_name=priority_class_name,
            defaults="recommended",
            plugins=[PytorchPlugin(port=port)],
            tasks=tasks,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.master_address = self.job.pytorch.master_address
        self.register_outputs({"masterAddress": self.master_address})
