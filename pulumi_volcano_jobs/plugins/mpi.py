"""The mpi plugin, which sets the workers' addresses for mpiexec (upstream: .../plugins/distributed-framework/mpi)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, value_text
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_PULUMI, Phrase
from pulumi_volcano_jobs.kubernetes import processes
from pulumi_volcano_jobs.kubernetes.container_lists import containers_in, placed_containers
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef, Pod, config_map
from pulumi_volcano_jobs.plugins import mpi_hostfile, resource_requests
from pulumi_volcano_jobs.plugins.base import JobUpdate, Plugin, PluginOutput, port_problems, role_problem
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.goflag import int32
from pulumi_volcano_jobs.plugins.settings import Setting, default_of, flag, option
from pulumi_volcano_jobs.spec import naming, releases
from pulumi_volcano_jobs.spec.model import Job, Task

PORT_NAME = "mpijob-port"
_ALONE_SINCE = "1.15"


class MpiPlugin(Plugin):
    """Set MPI_HOST in the master's Pods to the comma-separated addresses of the workers, and declare the port of sshd.

    The port does not change the ssh configuration. Set the same port in the ssh plugin.
    """

    name = "mpi"
    requires = frozenset({"ssh", "svc"})
    master: Setting[str] = flag("master", default="master")
    """The task that runs mpiexec."""
    worker: Setting[str] = flag("worker", default="worker")
    """The task of the workers, which run sshd."""
    port: Setting[int] = flag("port", default=mpi_hostfile.SSHD_PORT)
    """The port of sshd."""
    hostfile: Setting[Literal["none", mpi_hostfile.Launcher]] = option(default="none", recommended="openmpi")
    """The launcher for which a host file with slots is mounted in the master's containers. The launcher finds the file
    without arguments: /etc/mpi/hostfile for `openmpi`, `intel` and `mpich`, /job/hostfile for `deepspeed`."""
    slots: Setting[int] = option(default=0)
    """The number of processes for each host in the host file. 0 means the GPUs that a Pod requests, or otherwise its
    whole CPUs, and at least 1."""
    master_as_worker: Setting[bool] = option(default=False)
    """Whether the host file also lists the master, before the workers. The job then does not need workers."""
    keep_fqdn: Setting[bool] = option(default=False)
    """Whether Open MPI uses the full names of hosts, instead of the part before the first dot."""
    wait_for_workers: Setting[bool] = option(default=False, recommended=True)
    """Whether an init container of the master waits until the name of each worker resolves and its sshd answers."""
    wait_for_workers_timeout: Setting[int] = option(default=300)
    """The timeout of the init container, in seconds."""
    wait_for_workers_image: Setting[str] = option(default="")
    """The image of the init container, which needs `nc -z` or bash. By default, the image of the master's first
    container."""

    @property
    def images(self) -> frozenset[str]:
        """The image of the init container, if the plugin adds one."""
        return frozenset({"wait_for_workers_image"} if self.wait_for_workers else ())

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield problems of tasks, the host file and numbers, and a warning if the master may start too early."""
        yield from super().validate(job)
        yield from port_problems(self, "port")
        yield from role_problem(self, "master", job)
        master = job.task(self.master)
        if master and not master.size and job.has_pods:
            reason = "the task must have at least 1 replica, because its Pods run mpiexec"
            yield self.problem("master", reason, "set its replicas to 1")
        if not self._may_lack_workers(job):
            yield from role_problem(self, "worker", job)
        yield from self._host_file_problems(job)
        for setting in ("slots", "wait_for_workers_timeout"):
            if getattr(self, setting) < 0:
                unit = "processes" if setting == "slots" else "seconds"
                yield self.problem(setting, f"must be at least 0 {unit}")
        yield from self._launch_warnings(job)
        is_racing = job.task(self.worker) is not None and not self.wait_for_workers
        for index, task in enumerate(job.tasks or ()) if is_racing else ():
            policy = task.pod_spec.get("restartPolicy")
            waits = any(map(processes.waits, containers_in(task.pod_spec)))
            if task.name == self.master and not isinstance(policy, Leaf) and policy == "Never" and not waits:
                reason = "mpiexec fails if sshd of a worker does not answer yet, and the master does not restart"
                hint = "set restartPolicy: OnFailure, or set mpi.wait_for_workers"
                path = f"spec.tasks[{index}].template.spec.restartPolicy"
                yield Problem(path, "Warning", reason, hint, value_text(policy), code="VJ102")

    def _launch_warnings(self, job: Job) -> Iterator[Problem]:
        """Yield a warning for each command of the master that does not use the workers as it seems to."""
        worker = job.task(self.worker)
        hosts = 0 if worker is None else 1 if worker.pod_spec.get("hostname") else worker.size
        for index, task in enumerate(job.tasks or ()):
            if not hosts or task.name != self.master:
                continue
            for _, path, container in placed_containers(task.pod_spec, f"spec.tasks[{index}].template.spec"):
                if count := processes.excess_slots(container, hosts):
                    reason = f"--host $MPI_HOST has {hosts} slots, one for each worker, so Open MPI rejects -np {count}"
                    hint = 'set mpi.hostfile to "openmpi" and remove --host, or add --oversubscribe'
                    yield Problem(path, "Warning", reason, hint, code="VJ136")
                if self.hostfile != "deepspeed" and processes.runs_deepspeed(container):
                    reason = "DeepSpeed finds no host file in /job/hostfile, so it runs only in the Pod of the master"
                    yield Problem(path, "Warning", reason, 'set mpi.hostfile to "deepspeed"', code="VJ137")

    def missing_master(self, job: Job) -> Iterator[Problem]:
        """Yield a Problem if Volcano's webhook rejects the job because it has no master."""
        for problem in role_problem(self, "master", job):
            yield replace(problem, stage=RejectionStage.WEBHOOK)

    def missing_in(self, version: str, job: Job, args: Sequence[Any], *, strict: bool) -> Iterator[Problem]:
        """Also yield a Problem for a job without workers, which older webhooks reject."""
        yield from super().missing_in(version, job, args, strict=strict)
        if releases.is_older(version, _ALONE_SINCE) and job.task(self.worker) is None:
            reason = f"Volcano {version} rejects an MPI job without this task (allowed since {_ALONE_SINCE})"
            hint = Phrase("add the task, upgrade Volcano, or set ", MANAGED_BY_PULUMI)
            yield self.problem("worker", reason, hint, error_type="Required")

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Declare the port in every Pod, and set MPI_HOST in the master's Pods."""
        is_master, worker = pod.task == self.master, ctx.task(self.worker)
        if is_master and worker is None:
            return
        # All containers share one string, because its length grows with the workers.
        hosts = ctx.once("mpi.hosts", lambda: ",".join(ctx.addresses(worker))) if is_master and worker else None
        for container in pod.all_containers:
            if not container.declares_port(int32(self.port)):
                container.set_port(int32(self.port), PORT_NAME)
            if hosts is not None:
                container.set_env("MPI_HOST", hosts)

    def extend_objects(self, ctx: JobContext) -> list[Manifest]:
        """Return the ConfigMap with the host file."""
        if self._hostfile_format is None:
            return []
        groups = [(self._names(task, ctx, self._hostfile_format), self._slots(task)) for task in self._hosts(ctx)]
        contents = {mpi_hostfile.FILE: mpi_hostfile.text(self._hostfile_format, groups)}
        return [config_map(naming.mpi_config_map(ctx.name), ctx.namespace, contents)]

    def extend_pod(self, pod: Pod, ctx: JobContext) -> None:
        """Add the host file, the variables of the launcher and the wait container to the master."""
        if pod.task != self.master:
            return
        variables = ctx.once("mpi.variables", lambda: self._variables(ctx))
        for container in pod.all_containers:
            for name, value in variables.items():
                container.set_env(name, value)
            if self._hostfile_format:
                container.mount(self._hostfile_format.directory, naming.mpi_config_map(ctx.name))
        if self._hostfile_format:
            volume = naming.mpi_config_map(ctx.name)
            pod.set_volume(volume, {"configMap": {"name": volume}})
        if self.wait_for_workers and ctx.task(self.worker):
            self._add_wait_container(pod)

    def on_job_update(self, ctx: JobContext) -> JobUpdate:
        """Return MPI_HOST and the host file, which depend on the replicas.

        Other host file settings replace the Pods, because mpiexec reads the file only once.
        """
        scaled = frozenset({"MPI_HOST"})
        if self._hostfile_format is None:
            return JobUpdate(scaled_env=scaled)
        follows = frozenset({ObjectRef("ConfigMap", naming.mpi_config_map(ctx.name))})
        return JobUpdate(follows=follows, scaled_env=scaled, restart_triggers=(self.slots, self.master_as_worker))

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Return the workers' addresses: the list in MPI_HOST."""
        worker = ctx.task(self.worker)
        return {"hosts": PluginOutput(ctx.addresses(worker), ctx.endpoints(worker)) if worker else []}

    def _may_lack_workers(self, job: Job) -> bool:
        """Return whether the master can run alone. With other tasks, the worker's name is probably misspelled."""
        is_alone = {task.name for task in job.tasks or ()} == {self.master}
        return self.worker == default_of(type(self), "worker") and (self.master_as_worker or is_alone)

    @property
    def _hostfile_format(self) -> mpi_hostfile.HostfileFormat | None:
        return None if self.hostfile == "none" else mpi_hostfile.HOSTFILE_FORMATS[self.hostfile]

    def _hosts(self, ctx: JobContext) -> list[Task]:
        """Return the tasks in the host file."""
        roles = (self.master, self.worker) if self.master_as_worker else (self.worker,)
        return [task for role in dict.fromkeys(roles) if (task := ctx.task(role))]

    def _names(self, task: Task, ctx: JobContext, hostfile_format: mpi_hostfile.HostfileFormat) -> list[str]:
        """Return the names of a task's hosts. Some launchers identify a single master by its host name."""
        if (
            hostfile_format.interface_variables
            and task.name == self.master
            and task.size == 1
            and _has_own_network(task)
        ):
            return [naming.host(ctx.name, task, 0)]
        return ctx.addresses(task)

    def _slots(self, task: Task) -> Any:
        """Return the slots of a host, from the container that declares the port of sshd or from the first one."""
        containers = containers_in(task.pod_spec)
        with_sshd = (
            container
            for container in containers
            if any(port.get("containerPort") == self.port for port in container.get("ports") or ())
        )
        return self.slots or resource_requests.slot_count(next(with_sshd, next(iter(containers), {})))

    def _variables(self, ctx: JobContext) -> dict[str, Any]:
        variables = mpi_hostfile.fqdn_variables(self.port) if self.keep_fqdn else {}
        if self._hostfile_format is None:
            return variables
        hosts, master = self._hosts(ctx), ctx.task(self.master)
        slots = self._slots(hosts[-1]) if hosts else 1
        has_own_network = master is not None and _has_own_network(master)
        return variables | mpi_hostfile.variables(
            self._hostfile_format, self.port, slots, has_own_network=has_own_network
        )

    def _add_wait_container(self, pod: Pod) -> None:
        if any(container.name == mpi_hostfile.WAIT_CONTAINER for container in pod.init_containers):
            return
        hosts = f"{naming.HOSTS_PATH}/{naming.host_file(self.worker)}"
        image, timeout = self.wait_for_workers_image, self.wait_for_workers_timeout
        pod.init_containers += [
            mpi_hostfile.wait_container(like, image, hosts, self.port, timeout) for like in pod.containers[:1]
        ]

    def _host_file_problems(self, job: Job) -> Iterator[Problem]:
        has_workers = any(task.name == self.worker and task.size for task in job.tasks or ())
        if self._hostfile_format and not has_workers and not self.master_as_worker and job.has_pods:
            reason = f"the host file would be empty, because the task {self.worker} has no replicas"
            yield self.problem("hostfile", reason, "set its replicas, or set mpi.master_as_worker")
        if self._hostfile_format:
            return
        if self.slots:
            reason = "may not be set without a host file"
            hint = 'set mpi.hostfile to a launcher such as "openmpi"'
            yield self.problem("slots", reason, hint, error_type="Forbidden")
        if self.master_as_worker and has_workers:
            reason = "may not be set without a host file, because MPI_HOST lists only the workers"
            hint = 'set mpi.hostfile to a launcher such as "openmpi"'
            yield self.problem("master_as_worker", reason, hint, error_type="Forbidden")


def _has_own_network(task: Task) -> bool:
    """Return whether the Pods do not use the network interface and host name of the node."""
    return task.pod_spec.get("hostNetwork") is not True
