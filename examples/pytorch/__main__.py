"""The PyTorch job of Volcano's guide, from its YAML.

Without a cluster (the default) the provider writes the manifests into the folder `rendered`; with
`pulumi config set cluster true` they go to the cluster that kubectl talks to.
"""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from pulumi_volcano_jobs import VolcanoJob

HERE = Path(__file__).parent

opts = pulumi.ResourceOptions()
if not pulumi.Config().get_bool("cluster"):
    rendered = HERE / "rendered"
    rendered.mkdir(mode=0o700, exist_ok=True)  # ssh keys of other jobs would lie there in plain text
    # An empty kubeconfig: with KUBECONFIG set, the provider would refuse to write files.
    opts.provider = kubernetes.Provider("files", render_yaml_to_directory=str(rendered), kubeconfig="")

job = VolcanoJob.from_yaml("pytorch-job", HERE / "job.yaml", opts=opts)

pulumi.export("pods", job.pod_names)
pulumi.export("namespace", job.namespace)
