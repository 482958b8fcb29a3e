"""The training jobs of our teams, in the queues of another stack."""

import pulumi

from platform_jobs import Queues, TrainingJob, TrainingJobArgs

tag = pulumi.Config().get("tag") or "stable"
queues = Queues()

resnet = TrainingJob(
    "resnet",
    TrainingJobArgs(
        team="vision",
        queue=queues.of("vision"),
        image=f"resnet:{tag}",
        script="train.py",
        arguments=["--epochs=90"],
    ),
)
llm = TrainingJob(
    "llm",
    TrainingJobArgs(
        team="language",
        queue=queues.of("language"),
        image=f"llm:{tag}",
        script="pretrain.py",
        nodes=3,
        gpus=8,
    ),
)

pulumi.export("queues", {job: made.queue for job, made in (("resnet", resnet), ("llm", llm))})
pulumi.export("pods", llm.pods)
pulumi.export("master_address", llm.master_address)
