"""The pytorch plugin, which sets up torch.distributed (upstream: .../plugins/distributed-framework/pytorch)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.kubernetes.manifest import Container, Pod
from pulumi_volcano_jobs.plugins import wait_containers
from pulumi_volcano_jobs.plugins.base import JobUpdate, Plugin, PluginOutput, port_problems, role_problem
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
from pulumi_volcano_jobs.plugins.settings import Setting, default_of, flag, option
from pulumi_volcano_jobs.spec.model import Job, Task

PORT_NAME = "pytorchjob-port"
WAIT_IMAGE = "busybox:1.36.1"
# This script tries every 2 seconds, with netcat or bash. It does not add the duration of the tries to the timeout.
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
    """Set MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK in every container.

    RANK is 0 in the master's Pod and i + 1 in worker i. WORLD_SIZE is the number of Pods of both tasks. Both refer to
    Pods (nodes), not to processes. torchrun does not read these variables; options of this plugin set its variables.
    """

    name = "pytorch"
    requires = frozenset({"svc"})
    master: Setting[str] = flag("master", default="master")
    """The task of the master, with one Pod."""
    worker: Setting[str] = flag("worker", default="worker")
    """The task of the workers."""
    port: Setting[int] = flag("port", default=23456)
    """The port of the master."""
    wait_master_enabled: Setting[bool] = flag("wait-master-enabled", default=False, recommended=True, since="1.14")
    """Whether an init container of the workers waits until the master's port answers."""
    wait_master_timeout: Setting[int] = flag("wait-master-timeout", default=300, recommended=1800, since="1.14")
    """The timeout of the init container, in seconds."""
    wait_master_image: Setting[str] = flag("wait-master-image", default=WAIT_IMAGE, since="1.14")
    """The image of the init container, which needs `nc -z` or bash."""
    wait_master_script: Setting[Literal["volcano", "checked"]] = option(default="volcano", recommended="checked")
    """The script of the init container. With `checked`, it prints why it waits and which tool its image lacks. The
    init container then has the variables, mounts, resources and security context of the other containers, and their
    image unless `wait_master_image` is set."""
    torchrun: Setting[bool] = option(
        default=False,
        recommended=True,
        not_native="PET_NODE_RANK differs between the Pods of a task, which share a template (with max_nodes, torchrun"
        " does not need it)",
    )
    """Whether to also set the variables of torchrun (PET_NNODES, PET_NODE_RANK and so on), so that it needs no
    flags."""
    nproc_per_node: Setting[int | str] = option(default=PER_REQUEST)
    """The number of processes that torchrun starts in a Pod: a number; `request`, one for each accelerator that the
    container requests; or a device type that torchrun counts when it starts (`auto`, `gpu`, `cpu`, `xpu`, `npu`)."""
    max_nodes: Setting[int] = option(default=0)
    """The maximum number of Pods of an elastic job. Above 0, the job is elastic: its Pods rendezvous at the master."""
    min_nodes: Setting[int] = option(default=1)
    """The minimum number of Pods of an elastic job."""
    max_restarts: Setting[int] = option(default=3)
    """The maximum number of restarts of an elastic job after failures. Restarts for joining Pods are not included."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield a Problem if the ranks are not 0 to WORLD_SIZE - 1, and for each invalid option."""
        yield from super().validate(job)
        yield from self._torchrun_problems(job)
        yield from port_problems(self, "port")
        yield from role_problem(self, "master", job)
        if self.worker != default_of(type(self), "worker"):
            yield from role_problem(self, "worker", job)
        master = job.task(self.master)
        if master and master.size != 1 and job.has_pods:
            reason = (
                f"the task must have 1 replica, not {master.size}, because exactly one Pod of the job must have rank 0"
            )
            hint = "set its replicas to 1" + (", and move other Pods to the workers' task" if master.size else "")
            yield self.problem("master", reason, hint, error_type="TooMany" if master.size else "Invalid")
        if self.master == self.worker:
            yield self.problem(
                "worker", "must differ from pytorch.master, because no Pod would have rank 0", error_type="Duplicate"
            )
        if isinstance(self.wait_master_timeout, int) and self.wait_master_timeout < 0:
            yield self.problem("wait_master_timeout", "must be at least 0 seconds")
        has_image = self.wait_master_script != "volcano" or is_given(self.wait_master_image)
        if "wait_master_image" in self.images and not has_image:
            yield self.problem(
                "wait_master_image",
                "",
                f"set an image such as {WAIT_IMAGE}",
                shown=False,
                error_type="Required",
            )
        is_default = "port" not in self.model_fields_set
        if self.wait_master_enabled and is_default and master and master.pod_spec.get("hostNetwork") is True:
            reason = (
                "the master uses the ports of its node (hostNetwork): workers start early if another program listens on"
                f" port {self.port}, and wait until the timeout if a firewall blocks it"
            )
            hint = "set pytorch.port to a port that is free on the nodes, or remove hostNetwork"
            yield self.problem("wait_master_enabled", reason, hint, code="VJ107")

    def not_native(self) -> Iterator[Problem]:
        """Yield no Problem for an elastic job, because torchrun assigns its ranks."""
        if not self.is_elastic:
            yield from super().not_native()

    @property
    def images(self) -> frozenset[str]:
        """The image of the init container, unless it uses the image of the workers."""
        is_own = self.wait_master_script == "volcano" or "wait_master_image" in self.model_fields_set
        return frozenset({"wait_master_image"} if self.wait_master_enabled and is_own else ())

    @property
    def is_elastic(self) -> bool:
        """Whether Pods may join and leave the job while it runs."""
        return bool(self.max_nodes)

    def extend_pod(self, pod: Pod, ctx: JobContext) -> None:
        """Set the variables of torchrun, and add the init container with the checked script.

        Volcano does not add its init container if the Pod already has one of this name.
        """
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
        """Declare the port, set the variables, and add the init container to workers.

        Without a task of the master, the Pod is unchanged.
        """
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
        """Return the variables with the number of Pods, and whether Pods can join and leave the job."""
        nodes = {NNODES} if self.torchrun and not self.is_elastic else set()
        return JobUpdate(scaled_env=frozenset({"WORLD_SIZE"} | nodes), is_elastic=self.is_elastic)

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Return the rendezvous: the address and the port of the master, and the number of Pods."""
        master = ctx.task(self.master)
        return {
            "master_address": PluginOutput(ctx.address(master), ctx.endpoints(master)) if master else "",
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
            yield self.problem("nproc_per_node", f"must be at least 1, or one of {names}")
        if "nproc_per_node" in self.model_fields_set and not (self.torchrun or self.is_elastic):
            reason = "may only be set if the plugin sets the variables of torchrun"
            yield self.problem(
                "nproc_per_node",
                reason,
                "set pytorch.torchrun, or pytorch.max_nodes for an elastic job",
                error_type="Forbidden",
            )
        for setting in ("min_nodes", "max_restarts"):
            if setting in self.model_fields_set and not self.is_elastic:
                reason = "may only be set for an elastic job"
                yield self.problem(setting, reason, "set pytorch.max_nodes", error_type="Forbidden")
        yield from self._elastic_problems(job) if self.is_elastic else ()

    def _elastic_problems(self, job: Job) -> Iterator[Problem]:
        if self.min_nodes < 1:
            yield self.problem("min_nodes", "must be at least 1")
        if self.max_restarts < 0:
            yield self.problem("max_restarts", "must be at least 0")
        if self.max_nodes < max(self.min_nodes, 1):
            yield self.problem("max_nodes", f"must be at least min_nodes ({max(self.min_nodes, 1)})")
        elif job.has_pods:
            yield from self._size_problems(self._world_size(job.tasks or ()))

    def _size_problems(self, nodes: int) -> Iterator[Problem]:
        if nodes > self.max_nodes:
            reason = f"must be at least {nodes}, the number of Pods in {self.master} and {self.worker}"
            yield self.problem("max_nodes", reason, "increase it, or reduce the replicas")
        elif nodes < self.min_nodes:
            reason = (
                f"may not be more than {nodes}, the number of Pods in {self.master} and {self.worker}, which would wait"
                " forever"
            )
            yield self.problem("min_nodes", reason, "reduce it, or increase the replicas")
