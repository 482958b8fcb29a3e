"""Parameter servers and workers, each with its TF_CONFIG; the templates are written as in YAML."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from pulumi_volcano_jobs import ContainerDict, PodTemplateSpecDict, SvcPlugin, TensorflowPlugin, VolcanoJob

TRAIN = """\
import os
import json
tf_config = json.loads(os.environ['TF_CONFIG'])
print(f"TF_CONFIG: {tf_config}")
# TensorFlow训练代码...
"""


def template(cpu: int, memory: str) -> PodTemplateSpecDict:
    """Return the Pod template of a task: one container that trains."""
    container: ContainerDict = {
        "name": "tensorflow",
        "image": "tensorflow/tensorflow:2.4.0",
        "command": ["python", "-c", TRAIN],
        "resources": {"limits": {"cpu": cpu, "memory": memory}},
    }
    return {"spec": {"containers": [container], "restartPolicy": "OnFailure"}}


opts = pulumi.ResourceOptions()
if not pulumi.Config().get_bool("cluster"):  # no cluster: the provider writes the manifests into a folder
    rendered = Path(__file__).with_name("rendered")
    rendered.mkdir(mode=0o700, exist_ok=True)  # ssh keys lie there in plain text
    opts.provider = kubernetes.Provider("files", render_yaml_to_directory=str(rendered), kubeconfig="")

job = VolcanoJob(
    "tensorflow-training",
    queue="default",
    min_available=4,
    plugins=[TensorflowPlugin(ps="ps", worker="worker", port=2222), SvcPlugin()],
    tasks=[
        {"name": "ps", "replicas": 2, "template": template(4, "8Gi")},
        {"name": "worker", "replicas": 3, "template": template(2, "4Gi")},
    ],
    # A parameter server's place may be taken by a new Pod: an edit of the workers leaves it alone.
    restart="pod",
    opts=opts,
)

pulumi.export("cluster", job.tensorflow.cluster)
pulumi.export("pods", job.pod_names)
