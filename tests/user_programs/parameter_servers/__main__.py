"""Train a TensorFlow model with parameter servers, while an evaluator reads the checkpoints."""

import pulumi

from pulumi_volcano_jobs import PodTemplateSpecDict, TaskArgs, TensorflowPlugin, VolcanoJob

config = pulumi.Config()

# All roles run the same program: TF_CONFIG has the role of each Pod.
pod: PodTemplateSpecDict = {
    "spec": {
        "restartPolicy": "OnFailure",
        "containers": [{"name": "train", "image": config.require("image"), "command": ["python", "train.py"]}],
    },
}
replicas = {"chief": 1, "ps": 2, "worker": config.get_int("workers") or 4, "evaluator": 1}
tasks: list[TaskArgs] = [{"name": role, "replicas": number, "template": pod} for role, number in replicas.items()]

job = VolcanoJob(
    "recommender",
    plugins=[TensorflowPlugin(strategy="ParameterServerStrategy", evaluator_in_cluster="own")],
    tasks=tasks,
    # The program ends its servers.
    ignore_warnings=["VJ141"],
)

pulumi.export("cluster", job.tensorflow.cluster)
