"""Train with torchrun on 2 nodes with 8 GPUs each. The Pods share a claim, and the registry of the image is private."""

import pulumi
import pulumi_kubernetes as kubernetes

from pulumi_volcano_jobs import PodTemplateSpecDict, PytorchPlugin, VolcanoJob, presets

NODES = 2
GPUS = 8
CLAIM = "data"

config = pulumi.Config()

login = {"username": "robot", "password": config.require_secret("token")}
registry = kubernetes.core.v1.Secret(
    "registry",
    metadata={"name": "registry"},
    type="kubernetes.io/dockerconfigjson",
    string_data={".dockerconfigjson": pulumi.Output.json_dumps({"auths": {"ghcr.io": login}})},
)
data = kubernetes.core.v1.PersistentVolumeClaim(
    CLAIM,
    metadata={"name": CLAIM},
    spec={"access_modes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Ti"}}},
)

amounts = {presets.NVIDIA_GPU: str(GPUS), "cpu": "96", "memory": "1000Gi"}
pod: PodTemplateSpecDict = {
    "spec": {
        "restartPolicy": "OnFailure",
        "imagePullSecrets": [{"name": registry.metadata.name}],
        "containers": [
            {
                "name": "train",
                "image": config.require("image"),
                "command": ["torchrun", "train.py", "--data=/data"],
                "resources": {"requests": amounts, "limits": amounts},
            },
        ],
    },
}
pod = presets.apply(pod, presets.shm("128Gi"), presets.gpu_tolerations())

job = VolcanoJob(
    "llm",
    defaults="recommended",
    plugins=[PytorchPlugin()],
    volumes=[{"mount_path": "/data", "volume_claim_name": CLAIM}],
    tasks=[
        {"name": "master", "replicas": 1, "template": pod},
        {"name": "worker", "replicas": NODES - 1, "template": pod},
    ],
    opts=pulumi.ResourceOptions(depends_on=[data]),
)

pulumi.export("master_address", job.pytorch.master_address)
