"""The pytorch plugin: torch.distributed's environment (upstream: .../plugins/distributed-framework/pytorch)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pulumi_volcano_jobs.context import JobContext
from pulumi_volcano_jobs.errors import Problem
from pulumi_volcano_jobs.manifest import Container, Pod
from pulumi_volcano_jobs.model import Job, Task
from pulumi_volcano_jobs.plugins.base import JobUpdate, Plugin, flag, port_problems, role_problem
from pulumi_volcano_jobs.plugins.goflag import int32

PORT_NAME = "pytorchjob-port"
WAIT_CONTAINER = "wait-for-master"
# Every 2 seconds, by netcat or else by bash, whichever the image has; the time that the tries take does not count.
_WAIT_SCRIPT = """\
echo "waiting for the master at {address}:{port} (at most {timeout} s)"
waited=0
until nc -z {address} {port} 2>/dev/null || bash -c 'echo > /dev/tcp/{address}/{port}' 2>/dev/null; do
  if [ "$waited" -ge {timeout} ]; then
    echo "the master at {address}:{port} did not answer within {timeout} s" >&2
    exit 1
  fi
  sleep 2
  waited=$((waited + 2))
done
echo "the master answers after $waited s"
"""


class PytorchPlugin(Plugin):
    """Set MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK in every container, by Pods.

    RANK is 0 in the master's Pod and i + 1 in worker i; WORLD_SIZE counts the Pods of both tasks. They count Pods
    (nodes), not processes. torchrun does not read them.
    """

    name = "pytorch"
    requires = frozenset({"svc"})
    master: str = flag("master", default="master")
    """The master's task: one Pod."""
    worker: str = flag("worker", default="worker")
    """The workers' task."""
    port: int = flag("port", default=23456)
    """The master's port."""
    wait_master_enabled: bool = flag("wait-master-enabled", default=False)
    """Keep workers in an init container until the master's port answers."""
    wait_master_timeout: int = flag("wait-master-timeout", default=300)
    """Seconds until the init container gives up."""
    wait_master_image: str = flag("wait-master-image", default="busybox:1.36.1")
    """The init container's image; it needs `nc -z` or bash."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield what keeps the ranks from being 0 to WORLD_SIZE - 1."""
        yield from super().validate(job)
        yield from port_problems(self, "port")
        yield from role_problem(self, "master", job)
        if self.worker != type(self).worker:
            yield from role_problem(self, "worker", job)
        master = job.task(self.master)
        if master and master.size != 1:
            reason = (
                f"the master's task must have 1 replica, and {self.master} has {master.size}: every master has rank 0"
            )
            yield self.problem("master", reason, "set its replicas to 1 and count the others as workers")
        if self.master == self.worker:
            yield self.problem("worker", "master and worker must be two tasks: no Pod would have rank 0")
        if isinstance(self.wait_master_timeout, int) and self.wait_master_timeout < 0:
            yield self.problem("wait_master_timeout", "this is a number of seconds, at least 0")
        if self.wait_master_enabled and master and master.pod_spec.get("hostNetwork") is True:
            reason = (
                f"the master shares its node's ports: another program may answer on {self.port}, and a firewall of"
                " the nodes would keep the workers waiting"
            )
            hint = "give the job a port that is free on the nodes, or do without hostNetwork"
            yield self.problem("wait_master_enabled", reason, hint, code="VJ107")

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Open the port, set the variables, make workers wait if asked; nothing without a master's task."""
        master = ctx.task(self.master)
        if master is None:
            return
        address = ctx.address(master)
        rank = self._rank(pod)
        for container in pod.containers:
            self._join(container, address, ctx)
            if rank is not None:
                container.set_env("RANK", str(rank))
        if pod.task == self.worker and self.wait_master_enabled:
            self._wait(pod, address)

    def on_job_update(self, ctx: JobContext) -> JobUpdate:  # noqa: ARG002
        """Say that the world's size depends on the replicas."""
        return JobUpdate(scaled_env=frozenset({"WORLD_SIZE"}))

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Give the rendezvous: the master's address and port, and the number of Pods."""
        master = ctx.task(self.master)
        return {
            "master_address": ctx.address(master) if master else "",
            "master_port": self.port,
            "world_size": self._world_size(ctx.tasks),
        }

    def _join(self, container: Container, address: str, ctx: JobContext) -> None:
        if not container.declares_port(int32(self.port)):
            container.set_port(int32(self.port), PORT_NAME)
        container.set_env("MASTER_ADDR", address)
        container.set_env("MASTER_PORT", str(self.port))
        container.set_env("WORLD_SIZE", ctx.once("pytorch.world", lambda: str(self._world_size(ctx.tasks))))

    def _world_size(self, tasks: Sequence[Task]) -> int:
        return sum(task.size for task in tasks if task.name in {self.master, self.worker})

    def _rank(self, pod: Pod) -> int | None:
        if pod.task == self.worker:
            return pod.index + 1
        return 0 if pod.task == self.master else None

    def _wait(self, pod: Pod, address: str) -> None:
        if any(container.name == WAIT_CONTAINER for container in pod.init_containers):
            return
        script = _WAIT_SCRIPT.format(address=address, port=self.port, timeout=self.wait_master_timeout)
        wire = {"name": WAIT_CONTAINER, "image": self.wait_master_image, "command": ["sh", "-c", script]}
        pod.init_containers.append(Container(wire))
