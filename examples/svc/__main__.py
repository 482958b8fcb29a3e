"""Addresses and host lists for the Pods of a job, from its YAML: each Pod finds the others by name."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from pulumi_volcano_jobs import VolcanoJob

opts = pulumi.ResourceOptions()
if not pulumi.Config().get_bool("cluster"):  # no cluster: the provider writes the manifests into a folder
    rendered = Path(__file__).with_name("rendered")
    rendered.mkdir(mode=0o700, exist_ok=True)  # ssh keys lie there in plain text
    opts.provider = kubernetes.Provider("files", render_yaml_to_directory=str(rendered), kubeconfig="")

job = VolcanoJob.from_yaml("tensorflow-dist-mnist", Path(__file__).with_name("job.yaml"), opts=opts)

pulumi.export("service", job.svc.service_name)
pulumi.export("host_lists", job.svc.config_map_name)
pulumi.export("ps", job.tasks["ps"].hosts)
pulumi.export("workers", job.tasks["worker"].hosts)
