"""Run Open MPI as a user other than root, with a host file that has the slots of each worker."""

import pulumi

from pulumi_volcano_jobs import MpiPlugin, PodTemplateSpecDict, SshPlugin, VolcanoJob

WORKERS = 2
SLOTS = 4
PORT = 2222
USER = 1000
HOME = "/home/mpiuser"


def pod(command: list[str], cpus: int) -> PodTemplateSpecDict:
    """Return the template of a role."""
    return {
        "spec": {
            "restartPolicy": "OnFailure",
            "securityContext": {"runAsUser": USER, "runAsGroup": USER, "fsGroup": USER, "runAsNonRoot": True},
            "containers": [
                {
                    "name": "mpi",
                    "image": "mpioperator/mpi-pi:openmpi",
                    "command": command,
                    "resources": {"requests": {"cpu": cpus}},
                },
            ],
        },
    }


job = VolcanoJob(
    "solver",
    plugins=[
        MpiPlugin(port=PORT, hostfile="openmpi", slots=SLOTS, wait_for_workers=True),
        SshPlugin(ssh_port=PORT, ssh_key_file_path=f"{HOME}/.ssh", file_modes="by-user"),
    ],
    tasks=[
        {"name": "master", "replicas": 1, "template": pod(["mpiexec", "-n", str(WORKERS * SLOTS), f"{HOME}/pi"], 1)},
        # sshd does not run as root, so it uses the configuration of the user and a port above 1024.
        {
            "name": "worker",
            "replicas": WORKERS,
            "template": pod(["/usr/sbin/sshd", "-De", "-f", f"{HOME}/.sshd_config"], SLOTS),
        },
    ],
    # The workers run until `pulumi destroy`: only Pulumi sets the modes of the key files by user.
    ignore_warnings=["VJ141"],
)

pulumi.export("hosts", job.mpi.hosts)
