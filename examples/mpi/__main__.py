"""A master that runs mpiexec on its workers; the plugin brings in ssh and svc."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from pulumi_volcano_jobs import ContainerDict, MpiPlugin, PodTemplateSpecDict, VolcanoJob

MASTER = """\
mkdir -p /var/run/sshd; /usr/sbin/sshd;
# MPI_HOST环境变量包含所有worker的域名
echo "MPI_HOST: ${MPI_HOST}"
# 使用mpiexec在所有worker上运行程序
mpiexec --allow-run-as-root --host ${MPI_HOST} -np 2 mpi_hello_world;
"""
WORKER = """\
mkdir -p /var/run/sshd; /usr/sbin/sshd -D;
"""


def template(name: str, script: str) -> PodTemplateSpecDict:
    """Return the Pod template of a task: one container that runs a script."""
    container: ContainerDict = {
        "name": name,
        "image": "volcanosh/example-mpi:0.0.3",
        "command": ["/bin/sh", "-c", script],
        "workingDir": "/home",
    }
    # A master that comes before its workers' sshd fails; OnFailure starts it again.
    return {"spec": {"containers": [container], "restartPolicy": "OnFailure"}}


opts = pulumi.ResourceOptions()
if not pulumi.Config().get_bool("cluster"):  # no cluster: the provider writes the manifests into a folder
    rendered = Path(__file__).with_name("rendered")
    rendered.mkdir(mode=0o700, exist_ok=True)  # ssh keys lie there in plain text
    opts.provider = kubernetes.Provider("files", render_yaml_to_directory=str(rendered), kubeconfig="")

job = VolcanoJob(
    "lm-mpi-job",
    queue="default",
    min_available=1,
    plugins=[MpiPlugin(master="mpimaster", worker="mpiworker")],
    tasks=[
        {
            "name": "mpimaster",
            "replicas": 1,
            "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}],
            "template": template("mpimaster", MASTER),
        },
        {"name": "mpiworker", "replicas": 2, "template": template("mpiworker", WORKER)},
    ],
    opts=opts,
)

pulumi.export("hosts", job.mpi.hosts)
pulumi.export("public_key", job.ssh.public_key)
pulumi.export("pods", job.pod_names)
