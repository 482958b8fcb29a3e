"""Run a Ray cluster whose dashboard is open to the namespace `apps`, and publish its address there."""

import pulumi
import pulumi_kubernetes as kubernetes

from pulumi_volcano_jobs import Allow, PodTemplateSpecDict, RayPlugin, SvcPlugin, VolcanoJob

CLIENTS = "apps"

config = pulumi.Config()


def pod(container: str) -> PodTemplateSpecDict:
    """Return the template of a role. The plugin finds the container by its name and sets its command."""
    return {
        "spec": {
            "restartPolicy": "OnFailure",
            "containers": [
                {
                    "name": container,
                    "image": config.get("image") or "rayproject/ray:2.52.0-py311",
                    "resources": {"limits": {"cpu": 4, "memory": "16Gi"}},
                },
            ],
        },
    }


allow_clients = Allow(task="head", ports=["dashboard"], namespaces={"kubernetes.io/metadata.name": CLIENTS})

job = VolcanoJob(
    "tune",
    namespace="research",
    defaults="recommended",
    plugins=[RayPlugin(probes=True), SvcPlugin(allow=[allow_clients])],
    tasks=[
        {"name": "head", "replicas": 1, "template": pod("head")},
        {"name": "worker", "replicas": config.get_int("workers") or 3, "template": pod("worker")},
    ],
    # A worker that changes does not restart the cluster.
    restart="pod",
)

# Clients find the address after the cluster exists.
kubernetes.core.v1.ConfigMap(
    "ray-address",
    metadata={"name": "ray-address", "namespace": CLIENTS},
    data={"RAY_ADDRESS": job.ray.dashboard_url},
)

pulumi.export("dashboard_url", job.ray.dashboard_url)
