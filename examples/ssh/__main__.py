"""Login without a password among the Pods of a job; the templates are pulumi_kubernetes' own args classes."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.core.v1 import (
    ContainerArgs,
    ContainerPortArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    ResourceRequirementsArgs,
)

from pulumi_volcano_jobs import PodTemplateSpecDict, SshPlugin, SvcPlugin, VolcanoJob, pod_template

IMAGE = "lyd911/mindspore-gpu-example:0.2.0"  # it brings sshd, which the plugin does not

MASTER = """\
mkdir -p /var/run/sshd; /usr/sbin/sshd;
MPI_HOST=`cat /etc/volcano/mpiworker.host | tr "\\n" ","`;
sleep 10;
mpiexec --allow-run-as-root --host ${MPI_HOST} -np 2 python /tmp/gpu-test.py;
"""
WORKER = """\
mkdir -p /var/run/sshd; /usr/sbin/sshd -D;
"""


def template(name: str, script: str, resources: ResourceRequirementsArgs | None = None) -> PodTemplateSpecDict:
    """Return the Pod template of a task: one container that runs a script."""
    container = ContainerArgs(
        name=name,
        image=IMAGE,
        command=["/bin/bash", "-c", script],
        ports=[ContainerPortArgs(container_port=22, name="mpijob-port")],
        resources=resources,
        working_dir="/home",
    )
    return pod_template(PodTemplateSpecArgs(spec=PodSpecArgs(containers=[container], restart_policy="OnFailure")))


opts = pulumi.ResourceOptions()
if not pulumi.Config().get_bool("cluster"):  # no cluster: the provider writes the manifests into a folder
    rendered = Path(__file__).with_name("rendered")
    rendered.mkdir(mode=0o700, exist_ok=True)  # ssh keys lie there in plain text
    opts.provider = kubernetes.Provider("files", render_yaml_to_directory=str(rendered), kubeconfig="")

job = VolcanoJob(
    "mpi-job",
    queue="default",
    min_available=3,
    # The addresses in the ssh configuration are those of the svc plugin.
    plugins=[SshPlugin(), SvcPlugin()],
    tasks=[
        {"name": "mpimaster", "replicas": 1, "template": template("mpimaster", MASTER)},
        {
            "name": "mpiworker",
            "replicas": 2,
            "template": template("mpiworker", WORKER, ResourceRequirementsArgs(limits={"nvidia.com/gpu": "1"})),
        },
    ],
    # sshd of the workers never ends. Remove the job from the program when it is done.
    ignore_warnings=["VJ141"],
    opts=opts,
)

pulumi.export("secret", job.ssh.secret_name)
pulumi.export("public_key", job.ssh.public_key)
pulumi.export("workers", job.tasks["mpiworker"].hosts)
