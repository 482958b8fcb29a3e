"""A Ray cluster: a head, workers that join it, and a Service for its dashboard and clients."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from pulumi_volcano_jobs import ContainerDict, PodTemplateSpecDict, RayPlugin, SvcPlugin, VolcanoJob


def template(container: str) -> PodTemplateSpecDict:
    """Return the Pod template of a task. The plugin finds the container by its name and writes its command."""
    ray: ContainerDict = {
        "name": container,
        "image": "rayproject/ray:latest-py311-cpu",
        "resources": {"limits": {"cpu": 2, "memory": "4Gi"}},
    }
    return {"spec": {"containers": [ray], "restartPolicy": "OnFailure"}}


opts = pulumi.ResourceOptions()
if not pulumi.Config().get_bool("cluster"):  # no cluster: the provider writes the manifests into a folder
    rendered = Path(__file__).with_name("rendered")
    rendered.mkdir(mode=0o700, exist_ok=True)  # ssh keys lie there in plain text
    opts.provider = kubernetes.Provider("files", render_yaml_to_directory=str(rendered), kubeconfig="")

job = VolcanoJob(
    "ray-cluster-job",
    queue="default",
    min_available=3,
    plugins=[RayPlugin(), SvcPlugin()],
    policies=[{"event": "PodEvicted", "action": "RestartJob"}],
    tasks=[
        {"name": "head", "replicas": 1, "template": template("head")},
        {"name": "worker", "replicas": 2, "template": template("worker")},
    ],
    # Workers come and go in a Ray cluster: an edit of one task leaves the other alone.
    restart="pod",
    opts=opts,
)

pulumi.export("dashboard_url", job.ray.dashboard_url)
pulumi.export("client_url", job.ray.client_url)
pulumi.export("workers", job.tasks["worker"].hosts)
