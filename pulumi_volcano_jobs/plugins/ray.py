"""The ray plugin, which starts a Ray cluster (upstream: .../plugins/distributed-framework/ray)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, job_error, value_text
from pulumi_volcano_jobs.core.leaf import Leaf, derive, is_given
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_PULUMI, Phrase
from pulumi_volcano_jobs.kubernetes import processes
from pulumi_volcano_jobs.kubernetes.container_lists import CONTAINERS, containers_in, placed_containers
from pulumi_volcano_jobs.kubernetes.manifest import (
    TASK_SPEC,
    Container,
    Manifest,
    ObjectRef,
    Pod,
    pod_selector,
    service,
)
from pulumi_volcano_jobs.plugins import ray_start
from pulumi_volcano_jobs.plugins.base import Plugin, PluginOutput, port_problems, role_problem
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.goflag import int32
from pulumi_volcano_jobs.plugins.settings import A_LIST, Setting, default_of, flag, option
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Job

GCS, DASHBOARD, CLIENT = "gcs", "dashboard", "client-server"
_NOT_NATIVE = "Volcano's plugin sets the command, and supports only the ports"


class RayPlugin(Plugin):
    """Start a Ray cluster: a head with three ports, workers that join it, and a Service `<job>-head-svc`.

    The plugin replaces the command of the Ray container in the head and in the workers. It keeps their args.
    """

    name = "ray"
    since = "1.13"
    requires = frozenset({"svc"})
    # Upstream's guide and code use different names for this flag.
    aliases = {"clientServerPort": "clientPort"}  # noqa: RUF012  # the base class declares it as a ClassVar
    head: Setting[str] = flag("head", default="head")
    """The task of the head."""
    head_container: Setting[str] = flag("headContainer", default="head")
    """The container of the head that runs Ray."""
    worker: Setting[str] = flag("worker", default="worker")
    """The task of the workers."""
    worker_container: Setting[str] = flag("workerContainer", default="worker")
    """The container of the workers that runs Ray."""
    port: Setting[int] = flag("port", default=6379)
    """The port of the global control service."""
    dashboard_port: Setting[int] = flag("dashboardPort", default=8265)
    """The port of the dashboard, which also accepts jobs."""
    client_port: Setting[int] = flag("clientPort", default=10001)
    """The port for `ray://` clients."""
    keep_command: Setting[bool] = option(default=False, not_native=_NOT_NATIVE)
    """Whether the head runs the command and args of its container after Ray starts, and ends with this command."""
    head_start_args: Setting[Annotated[tuple[str, ...], A_LIST]] = option(default=(), not_native=_NOT_NATIVE)
    """Additional arguments for `ray start` of the head, such as `("--num-cpus=0",)`."""
    worker_start_args: Setting[Annotated[tuple[str, ...], A_LIST]] = option(default=(), not_native=_NOT_NATIVE)
    """Additional arguments for `ray start` of the workers."""
    requested_resources: Setting[bool] = option(default=False, not_native=_NOT_NATIVE)
    """Whether to pass the CPUs, GPUs and memory that the container requests to Ray (or otherwise its limits). Without
    limits, Ray would use all resources of the node."""
    probes: Setting[bool] = option(default=False)
    """Whether to add readiness and liveness probes over HTTP, with KubeRay's timing. They need `ray[default]`."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield problems of tasks, containers, ports, start arguments and the kept command."""
        yield from super().validate(job)
        yield from port_problems(self, "port", "dashboard_port", "client_port")
        yield from role_problem(self, "head", job)
        if self.worker != default_of(type(self), "worker"):
            yield from role_problem(self, "worker", job)
        head = job.task(self.head)
        if head and head.size != 1 and job.has_pods:
            yield self._head_size_problem(head.size)
        yield from self._container_problems(job)
        yield from self._port_name_problems(job)
        yield from self._start_arg_problems()
        yield from self._command_problems(job)
        if len({self.port, self.dashboard_port, self.client_port}) < len(self._ports()):
            reason = "port, dashboard_port and client_port must differ"
            yield self.problem("port", reason, "set three different ports", error_type="Duplicate")

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:
        """Return the Service of the head, with three named ports."""
        ports = [
            {"name": name, "port": int32(number), "protocol": "TCP", "targetPort": name}
            for name, number in self._ports().items()
        ]
        spec = {"ports": ports, "selector": pod_selector(ctx.name, ctx.namespace) | {TASK_SPEC: self.head}}
        return [service(naming.head_service(ctx.name), ctx.namespace, spec)]

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Replace the commands, and declare the ports of the head.

        Raises:
            JobError: if the task of the head does not exist.
        """
        head = ctx.task(self.head)
        if head is None:
            value, stage = value_text(self.head), RejectionStage.PLUGIN
            raise job_error([Problem("spec.plugins.ray.head", "Invalid", "no task has this name", "", value, stage)])
        for container in pod.containers:
            if self._is_head(pod, container):
                self._start_head(container)
            if self._is_worker(pod, container):
                start = f"ray start --block --address={ctx.address(head)}:{self.port}"
                container.fields["command"] = self._command(container, start, self.worker_start_args)

    def extend_pod(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Add the probes to the Ray containers."""
        for container in pod.containers if self.probes else ():
            if self._is_head(pod, container):
                ray_start.probe(container, ray_start.GCS_HEALTH, self.dashboard_port)
            if self._is_worker(pod, container):
                port = ray_start.agent_port(self.worker_start_args)
                ray_start.probe(container, ray_start.RAYLET_HEALTH, port)

    def keeping_command(self, task: str, container: Mapping[str, Any]) -> str:
        """Return that `keep_command` keeps the program of the head, unless it starts Ray itself."""
        if task != self.head or any(map(processes.starts_ray, processes.run_by(container))):
            return ""
        return Phrase("set ray.keep_command (with ", MANAGED_BY_PULUMI, ") to run it after Ray starts")

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Return the name of the head's Service, and its addresses in the whole cluster."""
        name = naming.head_service(ctx.name)
        host = derive(lambda namespace: f"{name}.{namespace}.svc", ctx.namespace)
        head = ctx.task(self.head)
        endpoints = [ObjectRef("Service", name), *(ctx.pods(head) if head else ())]
        addresses = {
            "gcs_address": derive(lambda host: f"{host}:{self.port}", host),
            "dashboard_url": derive(lambda host: f"http://{host}:{self.dashboard_port}", host),
            "client_url": derive(lambda host: f"ray://{host}:{self.client_port}", host),
        }
        return {"service_name": name} | {key: PluginOutput(value, endpoints) for key, value in addresses.items()}

    def _start_head(self, container: Container) -> None:
        missing = {name: n for name, n in self._ports().items() if not container.declares_port(int32(n))}
        for name, number in missing.items():
            container.set_port(int32(number), name)
        program = container.fields.get("command") if self.keep_command else ()
        block = "" if is_given(program) else " --block"
        start = (
            f"ray start --head{block} --dashboard-host=0.0.0.0 --port={self.port}"
            f" --dashboard-port={self.dashboard_port} --ray-client-server-port={self.client_port}"
        )
        container.fields["command"] = self._command(container, start, self.head_start_args, program)

    def _command(self, container: Container, start: str, arguments: Sequence[str], program: Any = ()) -> Any:
        amounts = ray_start.amounts(container, arguments) if self.requested_resources else ()
        return ray_start.command(start, tuple(amounts), arguments, program)

    def _is_head(self, pod: Pod, container: Container) -> bool:
        return pod.task == self.head and container.name == self.head_container

    def _is_worker(self, pod: Pod, container: Container) -> bool:
        return pod.task == self.worker and container.name == self.worker_container

    def _ports(self) -> dict[str, int]:
        return {GCS: self.port, DASHBOARD: self.dashboard_port, CLIENT: self.client_port}

    def _head_size_problem(self, size: int) -> Problem:
        reason, hint = "all workers wait for the head", "set its replicas to 1"
        if size:
            reason = "each head starts another cluster: all workers join the first, and the Service selects any of them"
            hint += ", and move other Pods to the workers' task"
        reason = f"the task must have 1 replica, not {size}, because {reason}"
        return self.problem("head", reason, hint, error_type="TooMany" if size else "Invalid")

    def _container_problems(self, job: Job) -> Iterator[Problem]:
        for role, setting in (("head", "head_container"), ("worker", "worker_container")):
            task = job.task(getattr(self, role))
            names = [item.get("name", "") for item in containers_in(task.pod_spec)] if task else []
            if names and getattr(self, setting) not in names:
                known = ", ".join(names)
                task_name = getattr(self, role)
                reason = (
                    f"the task {task_name} has no container with this name (containers: {known}), so Ray would not"
                    " start"
                )
                yield self.problem(
                    setting, reason, "set it to the name of the container that runs Ray", error_type="NotFound"
                )

    def _port_name_problems(self, job: Job) -> Iterator[Problem]:
        """Yield a Problem for each port of the head with a name in the template that the Service does not use."""
        for path, container in self._heads(job):
            for name, number in self._ports().items():
                yield from _unnamed_ports(container.get("ports") or (), name, number, f"{path}.ports")

    def _command_problems(self, job: Job) -> Iterator[Problem]:
        """Yield a Problem for a head without a command, and a warning for workers that outlive the head."""
        for path, container in self._heads(job) if self.keep_command else ():
            if not is_given(container.get("command")):
                reason = "keep_command runs the command of this container, which has none"
                yield Problem(path, "Required", reason, "set command, because the default of the image is unknown")
        if self.keep_command:
            yield from self._restart_warnings(job)

    def _restart_warnings(self, job: Job) -> Iterator[Problem]:
        """Yield a warning for each task that restarts although Ray of the job has ended with the program."""
        reasons = {
            self.head: "with keep_command, the workers end after Ray of the head, so a restarted head has no workers",
            self.worker: "with keep_command, the head ends with its program, so restarted workers wait forever for"
            " another head",
        }
        for position, task in enumerate(job.tasks or ()):
            policy = task.pod_spec.get("restartPolicy")
            if task.name in reasons and not isinstance(policy, Leaf) and policy != "Never":
                path = f"spec.tasks[{position}].template.spec.restartPolicy"
                value = value_text(policy) if policy else ""
                yield Problem(path, "Warning", reasons[task.name], "set restartPolicy: Never", value, code="VJ118")

    def _heads(self, job: Job) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the path of each container that runs the head, and the container."""
        for position, task in enumerate(job.tasks or ()):
            for kind, path, container in placed_containers(task.pod_spec, f"spec.tasks[{position}].template.spec"):
                if (task.name, kind, container.get("name")) == (self.head, CONTAINERS, self.head_container):
                    yield path, container

    def _start_arg_problems(self) -> Iterator[Problem]:
        for setting in ("head_start_args", "worker_start_args"):
            for argument in getattr(self, setting):
                if not isinstance(argument, str):
                    yield self.problem(
                        setting, "must be plain strings, such as --num-cpus=0", shown=False, error_type="TypeInvalid"
                    )
                elif ray_start.flag_of(argument) in ray_start.RESERVED_FLAGS:
                    flag_name = ray_start.flag_of(argument)
                    setting_to_use = ray_start.RESERVED_FLAGS[flag_name]
                    hint = f"set ray.{setting_to_use} instead" if setting_to_use else "remove it"
                    yield self.problem(setting, f"the plugin already sets {flag_name}", hint, error_type="Forbidden")


def _unnamed_ports(ports: Sequence[Mapping[str, Any]], name: str, number: int, path: str) -> Iterator[Problem]:
    matching = {index: port for index, port in enumerate(ports) if port.get("containerPort") == number}
    if any(port.get("name") == name and port.get("protocol", "TCP") == "TCP" for port in matching.values()):
        return
    for index, port in list(matching.items())[:1]:
        reason = f"the TCP port {number} must have the name {name}, because the head's Service refers to it by name"
        hint = f"set name: {name} and protocol: TCP, or remove the port, which the ray plugin then declares"
        yield Problem(f"{path}[{index}]", "Invalid", reason, hint, value_text(port.get("name") or ""))
