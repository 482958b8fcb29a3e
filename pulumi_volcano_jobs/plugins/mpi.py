"""The mpi plugin: the workers' addresses for mpiexec (upstream: .../plugins/distributed-framework/mpi)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_volcano_jobs.context import JobContext
from pulumi_volcano_jobs.errors import Problem
from pulumi_volcano_jobs.manifest import Pod
from pulumi_volcano_jobs.model import Job
from pulumi_volcano_jobs.plugins.base import JobUpdate, Plugin, flag, port_problems, role_problem
from pulumi_volcano_jobs.plugins.goflag import int32

PORT_NAME = "mpijob-port"


class MpiPlugin(Plugin):
    """Set MPI_HOST in the master's Pods: the workers' addresses, separated by commas; declare sshd's port.

    The port does not change the ssh configuration: give the ssh plugin the same one.
    """

    name = "mpi"
    requires = frozenset({"ssh", "svc"})
    master: str = flag("master", default="master")
    """The task that runs mpiexec."""
    worker: str = flag("worker", default="worker")
    """The task of the workers, which run sshd."""
    port: int = flag("port", default=22)
    """sshd's port."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield a role that no task has."""
        yield from super().validate(job)
        yield from port_problems(self, "port")
        yield from role_problem(self, "master", job)
        yield from role_problem(self, "worker", job)
        for index, task in enumerate(job.tasks or ()):
            if task.name == self.master and task.pod_spec.get("restartPolicy") == "Never":
                reason = "mpiexec ends at once where a worker's sshd does not answer yet, and is not started again"
                hint = "set restartPolicy: OnFailure, or wait for the workers first"
                path = f"spec.tasks[{index}].template.spec.restartPolicy"
                yield Problem(path, reason, hint, "'Never'", warning=True, code="VJ102")

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Declare the port in every Pod, and list the workers in the master's."""
        is_master, worker = pod.task == self.master, ctx.task(self.worker)
        if is_master and worker is None:
            return
        for container in pod.all_containers:
            if not container.declares_port(int32(self.port)):
                container.set_port(int32(self.port), PORT_NAME)
            if is_master and worker:
                container.set_env("MPI_HOST", ",".join(ctx.addresses(worker)))

    def on_job_update(self, ctx: JobContext) -> JobUpdate:  # noqa: ARG002
        """Say that the list of workers depends on the replicas."""
        return JobUpdate(scaled_env=frozenset({"MPI_HOST"}))

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Give the workers' addresses, as MPI_HOST has them but in a list."""
        worker = ctx.task(self.worker)
        return {"hosts": ctx.addresses(worker) if worker else []}
