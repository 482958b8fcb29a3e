"""Train a model with the component of the platform team."""

import pulumi
from training_job import TrainingJob

config = pulumi.Config()

train = TrainingJob(
    "train",
    image=config.require("image"),
    script=["train.py", "--epochs=3"],
    nodes=2,
    queue=config.get("queue"),
)

pulumi.export("master_address", train.master_address)
