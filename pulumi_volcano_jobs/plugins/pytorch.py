"""The pytorch plugin: torch.distributed's environment (upstream: .../plugins/distributed-framework/pytorch)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.kubernetes.manifest import Container, Pod
from pulumi_volcano_jobs.plugins import wait_containers
from pulumi_volcano_jobs.plugins.base import JobUpdate, Plugin, port_problems, role_problem
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.goflag import int32
from pulumi_volcano_jobs.plugins.pytorch_torchrun import (
    DEVICES,
    NNODES,
    PER_REQUEST,
    elastic_world,
    fixed_world,
    processes,
)
from pulumi_volcano_jobs.plugins.settings import default_of, flag, option
from pulumi_volcano_jobs.spec.model import Job, Task

PORT_NAME = "pytorchjob-port"
WAIT_IMAGE = "busybox:1.36.1"
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
    (nodes), not processes. torchrun does not read them: it has variables of its own, which are options.
    """

    name = "pytorch"
    requires = frozenset({"svc"})
    master: str = flag("master", default="master")
    """The master's task: one Pod."""
    worker: str = flag("worker", default="worker")
    """The workers' task."""
    port: int = flag("port", default=23456)
    """The master's port."""
    wait_master_enabled: bool = flag("wait-master-enabled", default=False, recommended=True, since="1.14")
    """Keep workers in an init container until the master's port answers."""
    wait_master_timeout: int = flag("wait-master-timeout", default=300, recommended=1800, since="1.14")
    """Seconds until the init container gives up."""
    wait_master_image: str = flag("wait-master-image", default=WAIT_IMAGE, since="1.14")
    """The init container's image; it needs `nc -z` or bash."""
    wait_master_script: Literal["volcano", "checked"] = option(default="volcano", recommended="checked")
    """`checked`: the init container says what it waits for and what its image lacks; it has the variables, mounts,
    resources and rights of the others, and their image unless `wait_master_image` is given."""
    torchrun: bool = option(
        default=False,
        recommended=True,
        not_native="PET_NODE_RANK differs from Pod to Pod of a task, and its template does not (with max_nodes torchrun"
        " needs none)",
    )
    """Set torchrun's own variables too (PET_NNODES, PET_NODE_RANK and so on), so that it needs no flags."""
    nproc_per_node: int | str = option(default=PER_REQUEST)
    """How many processes torchrun starts in a Pod: a number; `request`, one for each accelerator that the container
    asks for; or what torchrun counts itself (`auto`, `gpu`, `cpu`, `xpu`, `npu`)."""
    max_nodes: int = option(default=0)
    """Above 0 the job is elastic: torchrun's Pods find each other in the master's, and up to so many take part."""
    min_nodes: int = option(default=1)
    """How many Pods an elastic job needs at least."""
    max_restarts: int = option(default=3)
    """How often an elastic job begins anew after a failure; that others join does not count."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield what keeps the ranks from being 0 to WORLD_SIZE - 1, and options that cannot work."""
        yield from super().validate(job)
        yield from self._torchrun_problems(job)
        yield from port_problems(self, "port")
        yield from role_problem(self, "master", job)
        if self.worker != default_of(type(self), "worker"):
            yield from role_problem(self, "worker", job)
        master = job.task(self.master)
        if master and master.size != 1:
            reason = (
                f"the master's task must have 1 replica, and {self.master} has {master.size}: every master has rank 0"
            )
            hint = "set its replicas to 1 and count the others as workers"
            yield self.problem("master", reason, hint, error_type="TooMany" if master.size else "Invalid")
        if self.master == self.worker:
            yield self.problem(
                "worker", "master and worker must be two tasks: no Pod would have rank 0", error_type="Duplicate"
            )
        if isinstance(self.wait_master_timeout, int) and self.wait_master_timeout < 0:
            yield self.problem("wait_master_timeout", "this is a number of seconds, at least 0")
        has_image = self.wait_master_script != "volcano" or is_given(self.wait_master_image)
        if "wait_master_image" in self.images and not has_image:
            yield self.problem(
                "wait_master_image",
                "",
                f"set an image such as {WAIT_IMAGE}",
                shown=False,
                error_type="Required",
            )
        if self.wait_master_enabled and master and master.pod_spec.get("hostNetwork") is True:
            reason = (
                f"the master shares its node's ports: another program may answer on {self.port}, and a firewall of"
                " the nodes would keep the workers waiting"
            )
            hint = "give the job a port that is free on the nodes, or do without hostNetwork"
            yield self.problem("wait_master_enabled", reason, hint, code="VJ107")

    def not_native(self) -> Iterator[Problem]:
        """Yield nothing of an elastic job: torchrun gives it the ranks."""
        if not self.is_elastic:
            yield from super().not_native()

    @property
    def images(self) -> frozenset[str]:
        """The init container's, unless it has that of the worker's own containers or there is none."""
        is_own = self.wait_master_script == "volcano" or "wait_master_image" in self.model_fields_set
        return frozenset({"wait_master_image"} if self.wait_master_enabled and is_own else ())

    @property
    def is_elastic(self) -> bool:
        """Whether Pods may join and leave the job while it runs."""
        return bool(self.max_nodes)

    def extend_pod(self, pod: Pod, ctx: JobContext) -> None:
        """Set torchrun's variables; make workers wait with words, if asked. Volcano then adds no container itself."""
        master, rank = ctx.task(self.master), self._rank(pod)
        if master is None or rank is None:
            return
        address = ctx.address(master)
        if self.torchrun or self.is_elastic:
            for container in pod.containers:
                for name, value in self._torchrun_variables(container, rank, address, ctx).items():
                    container.set_env(name, value)
        if self.wait_master_script == "checked" and self._waits(pod):
            image = self.wait_master_image if "wait_master_image" in self.model_fields_set else ""
            pod.init_containers += [
                wait_containers.wait_for_master(
                    like, address, self.port, self.wait_master_timeout, image=image, tool_image=WAIT_IMAGE
                )
                for like in pod.containers[:1]
            ]

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
        if self._waits(pod):
            script = _WAIT_SCRIPT.format(address=address, port=self.port, timeout=self.wait_master_timeout)
            wire = {"name": wait_containers.NAME, "image": self.wait_master_image, "command": ["sh", "-c", script]}
            pod.init_containers.append(Container(wire))

    def on_job_update(self, ctx: JobContext) -> JobUpdate:  # noqa: ARG002
        """Say that the world's size depends on the replicas, and whether that keeps Pods from coming and going."""
        nodes = {NNODES} if self.torchrun and not self.is_elastic else set()
        return JobUpdate(scaled_env=frozenset({"WORLD_SIZE"} | nodes), is_elastic=self.is_elastic)

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Give the rendezvous: the master's address and port, and the number of Pods."""
        master = ctx.task(self.master)
        return {
            "master_address": ctx.address(master) if master else "",
            "master_port": self.port,
            "world_size": self._world(ctx),
        }

    def _join(self, container: Container, address: str, ctx: JobContext) -> None:
        if not container.declares_port(int32(self.port)):
            container.set_port(int32(self.port), PORT_NAME)
        container.set_env("MASTER_ADDR", address)
        container.set_env("MASTER_PORT", str(self.port))
        container.set_env("WORLD_SIZE", str(self._world(ctx)))

    def _world(self, ctx: JobContext) -> int:
        return ctx.once("pytorch.world", lambda: self._world_size(ctx.tasks))

    def _world_size(self, tasks: Sequence[Task]) -> int:
        return sum(task.size for task in tasks if task.name in {self.master, self.worker})

    def _rank(self, pod: Pod) -> int | None:
        if pod.task == self.worker:
            return pod.index + 1
        return 0 if pod.task == self.master else None

    def _waits(self, pod: Pod) -> bool:
        has_one = any(container.name == wait_containers.NAME for container in pod.init_containers)
        return self.wait_master_enabled and pod.task == self.worker and not has_one

    def _torchrun_variables(self, container: Container, rank: int, address: str, ctx: JobContext) -> dict[str, Any]:
        if self.is_elastic:
            variables: dict[str, Any] = elastic_world(
                self.min_nodes, self.max_nodes, self.max_restarts, ctx.name, address, self.port, is_host=not rank
            )
        else:
            variables = fixed_world(self._world(ctx), rank, address, self.port)
        per_request = self.nproc_per_node == PER_REQUEST
        count = processes(container) if per_request else str(self.nproc_per_node)
        return variables if count is None else variables | {"PET_NPROC_PER_NODE": count}

    def _torchrun_problems(self, job: Job) -> Iterator[Problem]:
        count = self.nproc_per_node
        if count < 1 if isinstance(count, int) else count not in {PER_REQUEST, *DEVICES}:
            names = ", ".join((PER_REQUEST, *DEVICES))
            yield self.problem("nproc_per_node", f"must be a number of processes, at least 1, or one of {names}")
        if "nproc_per_node" in self.model_fields_set and not (self.torchrun or self.is_elastic):
            reason = "only torchrun reads this, and its variables are not set"
            yield self.problem(
                "nproc_per_node", reason, "set torchrun, or max_nodes for an elastic job", error_type="Forbidden"
            )
        for setting in ("min_nodes", "max_restarts"):
            if setting in self.model_fields_set and not self.is_elastic:
                yield self.problem(setting, "only an elastic job has this", "set max_nodes", error_type="Forbidden")
        yield from self._elastic_problems(self._world_size(job.tasks or ())) if self.is_elastic else ()

    def _elastic_problems(self, nodes: int) -> Iterator[Problem]:
        if self.min_nodes < 1:
            yield self.problem("min_nodes", "a job has at least 1 node")
        if self.max_restarts < 0:
            yield self.problem("max_restarts", "this is a number of restarts, at least 0")
        if self.max_nodes < max(self.min_nodes, 1):
            yield self.problem("max_nodes", f"must be at least min_nodes, {max(self.min_nodes, 1)}")
        elif nodes > self.max_nodes:
            reason = (
                f"the job has {nodes} nodes (Pods of {self.master} and {self.worker}), and no more than this take part"
            )
            yield self.problem("max_nodes", reason, f"set at least {nodes}, or fewer replicas")
        elif nodes < self.min_nodes:
            reason = f"the job has {nodes} nodes (Pods of {self.master} and {self.worker}), which wait for so many"
            yield self.problem("min_nodes", reason, f"set at most {nodes}, or more replicas")
