"""The PyTorch job of Volcano's guide, from its YAML."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from pulumi_volcano_jobs import VolcanoJob

opts = pulumi.ResourceOptions()
if not pulumi.Config().get_bool("cluster"):  # no cluster: the provider writes the manifests into a folder
    rendered = Path(__file__).with_name("rendered")
    rendered.mkdir(mode=0o700, exist_ok=True)  # ssh keys lie there in plain text
    opts.provider = kubernetes.Provider("files", render_yaml_to_directory=str(rendered), kubeconfig="")

job = VolcanoJob.from_yaml("pytorch-job", Path(__file__).with_name("job.yaml"), opts=opts)

pulumi.export("master_address", job.pytorch.master_address)
pulumi.export("world_size", job.pytorch.world_size)
pulumi.export("pods", job.pod_names)
pulumi.export("namespace", job.namespace)
