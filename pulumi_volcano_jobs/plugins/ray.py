"""The ray plugin: `ray start` on a head and its workers (upstream: .../plugins/distributed-framework/ray)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs import names
from pulumi_volcano_jobs.context import JobContext
from pulumi_volcano_jobs.errors import JobError, Problem
from pulumi_volcano_jobs.errors import Stage as Refusal
from pulumi_volcano_jobs.leaf import derive
from pulumi_volcano_jobs.manifest import TASK_SPEC, Container, Manifest, Pod, members, service
from pulumi_volcano_jobs.model import Job
from pulumi_volcano_jobs.plugins.base import Plugin, flag, port_problems, role_problem
from pulumi_volcano_jobs.plugins.goflag import int32

GCS, DASHBOARD, CLIENT = "gcs", "dashboard", "client-server"


class RayPlugin(Plugin):
    """Start Ray: the head and its three ports in one Pod, workers that join it, and a Service `<job>-head-svc`.

    The command of the head's and the workers' container is replaced; their args stay.
    """

    name = "ray"
    requires = frozenset({"svc"})
    # Upstream's guide calls the flag by another name than its code.
    aliases = {"clientServerPort": "clientPort"}  # noqa: RUF012  # the base class declares it as a ClassVar
    head: str = flag("head", default="head")
    """The head's task."""
    head_container: str = flag("headContainer", default="head")
    """The container of the head's Pod that runs Ray."""
    worker: str = flag("worker", default="worker")
    """The workers' task."""
    worker_container: str = flag("workerContainer", default="worker")
    """The container of the workers' Pods that runs Ray."""
    port: int = flag("port", default=6379)
    """The port of the global control service."""
    dashboard_port: int = flag("dashboardPort", default=8265)
    """The dashboard's port, which also takes jobs."""
    client_port: int = flag("clientPort", default=10001)
    """The port for `ray://` clients."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield roles and containers that are not there, and ports that are the same."""
        yield from super().validate(job)
        yield from port_problems(self, "port", "dashboard_port", "client_port")
        yield from role_problem(self, "head", job)
        if self.worker != type(self).worker:
            yield from role_problem(self, "worker", job)
        yield from self._containers(job)
        yield from self._declared(job)
        if len({self.port, self.dashboard_port, self.client_port}) < len(self._ports()):
            reason = "the ports of the control service, the dashboard and the client server must differ"
            yield self.problem("port", reason, "give each a number of its own")

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:
        """Return the head's Service: the three ports, by name."""
        ports = [
            {"name": name, "port": int32(number), "protocol": "TCP", "targetPort": name}
            for name, number in self._ports().items()
        ]
        spec = {"ports": ports, "selector": members(ctx.name, ctx.namespace) | {TASK_SPEC: self.head}}
        return [service(names.head_service(ctx.name), ctx.namespace, spec)]

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Replace the commands, and declare the head's ports.

        Raises:
            JobError: if no task is the head's.
        """
        head = ctx.task(self.head)
        if head is None:
            reason = f"the job has no head task {self.head}"
            raise JobError([Problem("spec.plugins.ray.head", reason, stage=Refusal.PLUGIN)])
        for container in pod.containers:
            if pod.task == self.head and container.name == self.head_container:
                self._start_head(container)
            if pod.task == self.worker and container.name == self.worker_container:
                start = f"ray start --block --address={ctx.address(head)}:{self.port}"
                container.fields["command"] = ["sh", "-c", start]

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Give the head's Service and its addresses from anywhere in the cluster."""
        name = names.head_service(ctx.name)
        host = derive(lambda namespace: f"{name}.{namespace}.svc", ctx.namespace)
        return {
            "service_name": name,
            "gcs_address": derive(lambda host: f"{host}:{self.port}", host),
            "dashboard_url": derive(lambda host: f"http://{host}:{self.dashboard_port}", host),
            "client_url": derive(lambda host: f"ray://{host}:{self.client_port}", host),
        }

    def _start_head(self, container: Container) -> None:
        missing = {name: n for name, n in self._ports().items() if not container.declares_port(int32(n))}
        for name, number in missing.items():
            container.set_port(int32(number), name)
        start = (
            f"ray start --head --block --dashboard-host=0.0.0.0 --port={self.port}"
            f" --dashboard-port={self.dashboard_port} --ray-client-server-port={self.client_port}"
        )
        container.fields["command"] = ["sh", "-c", start]

    def _ports(self) -> dict[str, int]:
        return {GCS: self.port, DASHBOARD: self.dashboard_port, CLIENT: self.client_port}

    def _containers(self, job: Job) -> Iterator[Problem]:
        for role, setting in (("head", "head_container"), ("worker", "worker_container")):
            task = job.task(getattr(self, role))
            found = [item.get("name", "") for item in task.pod_spec.get("containers") or ()] if task else []
            if found and getattr(self, setting) not in found:
                known = ", ".join(found)
                task_name = getattr(self, role)
                reason = f"the task {task_name} has no container of this name (it has {known}): Ray would not start"
                yield self.problem(setting, reason, "name the container that is to run Ray")

    def _declared(self, job: Job) -> Iterator[Problem]:
        """Yield ports of the head that the template declares under names by which the Service does not find them."""
        for position, task in enumerate(job.tasks or ()):
            for index, container in enumerate(task.pod_spec.get("containers") or ()):
                if task.name == self.head and container.get("name") == self.head_container:
                    path = f"spec.tasks[{position}].template.spec.containers[{index}].ports"
                    for name, number in self._ports().items():
                        yield from _unnamed(container.get("ports") or (), name, number, path)


def _unnamed(ports: Sequence[Mapping[str, Any]], name: str, number: int, path: str) -> Iterator[Problem]:
    same = {index: port for index, port in enumerate(ports) if port.get("containerPort") == number}
    if any(port.get("name") == name and port.get("protocol", "TCP") == "TCP" for port in same.values()):
        return
    for index, port in list(same.items())[:1]:
        reason = f"the head's Service looks for port {number} by the TCP port's name {name}, and does not find this one"
        hint = f"set name: {name} and protocol: TCP, or remove it: Ray's plugin then declares it"
        yield Problem(f"{path}[{index}]", reason, hint, repr(port.get("name") or ""))
