"""Warnings about jobs that Volcano accepts, but that probably do not work as intended.

This module has the warnings about several plugins together, and about variables that refer to other variables. The
modules of fields and plugins (`Plugin.validate`) have the other warnings. `docs/warnings.md` explains when to ignore
a warning. Values that are not known yet (leaves) are not checked.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pulumi_volcano_jobs.admission import (
    endless_tasks,
    idle_policies,
    launchers,
    scheduling,
    sshd_port,
    templates,
    unknown_names,
    volumes,
)
from pulumi_volcano_jobs.core.errors import Problem, value_text
from pulumi_volcano_jobs.core.phrases import some
from pulumi_volcano_jobs.kubernetes.container_lists import (
    INIT_CONTAINERS,
    all_containers,
    placed_containers,
    rendered_containers,
)
from pulumi_volcano_jobs.kubernetes.dns import MAX_LABEL
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from pulumi_volcano_jobs.plugins import MpiPlugin, Plugin, PytorchPlugin, RayPlugin, SshPlugin, SvcPlugin
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.ray import DASHBOARD
from pulumi_volcano_jobs.plugins.settings import path_of
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Job, Task

_SCRAPED = "prometheus.io/scrape"
PluginT = TypeVar("PluginT", bound=Plugin)
# $(NAME), unless its dollar is doubled.
_REFERENCE = re.compile(r"(?<!\$)(?:\$\$)*\$\(([^()]+)\)")


def check(job: Job, plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield the warnings of a job with its defaults."""
    yield from scheduling.no_pods(job)
    ray = _find_plugin(plugins, RayPlugin)
    for index, task in enumerate(job.tasks or ()):
        yield from templates.warnings(job, task, f"spec.tasks[{index}].template", runs_ray=_runs_ray(task, ray))
    yield from volumes.warnings(job.volumes or ())
    yield from idle_policies.warnings(job)
    yield from scheduling.schedulers(job)
    yield from scheduling.incomplete_gang(job, plugins)
    svc, ssh = _find_plugin(plugins, SvcPlugin), _find_plugin(plugins, SshPlugin)
    if svc:
        yield from _addresses(job)
        yield from _peers(job, svc, plugins)
        yield from _dashboard(job, svc, ray)
        yield from _metrics(job, svc)
    elif ssh:
        reason = "the svc plugin is missing, so the hosts in the ssh configuration do not resolve"
        yield _warning(path_of(SshPlugin), reason, "add svc: []", "VJ110")
    yield from sshd_port.warnings(plugins)


def check_pods(
    ctx: JobContext,
    plugins: Sequence[Plugin],
    first_pods: Mapping[str, Manifest],
    objects: Sequence[Manifest],
    *,
    native: bool,
) -> Iterator[Problem]:
    """Yield the warnings of rendered Pods and objects. `first_pods` contains Pod 0 of each task that is rendered."""
    job = ctx.job
    if svc := _find_plugin(plugins, SvcPlugin):
        yield from _unknown_ports(svc, first_pods)
    for position, task in enumerate(job.tasks or ()):
        rendered_spec = first_pods.get(task.name or "", {}).get("spec", {})
        spec_path = f"spec.tasks[{position}].template.spec"
        for path, container, rendered in rendered_containers(task.pod_spec, rendered_spec, spec_path):
            yield from _references(container.get("env") or (), rendered.get("env") or (), f"{path}.env")
    if pytorch := _find_plugin(plugins, PytorchPlugin):
        yield from launchers.warnings(job, pytorch, first_pods, native=native)
    yield from endless_tasks.warnings(job, plugins, first_pods, native=native)
    yield from unknown_names.warnings(ctx, plugins, first_pods, objects, native=native)


def _find_plugin(plugins: Sequence[Plugin], kind: type[PluginT]) -> PluginT | None:
    return next((plugin for plugin in plugins if isinstance(plugin, kind)), None)


def _addresses(job: Job) -> Iterator[Problem]:
    for index, task in enumerate(job.tasks or ()):
        path, spec = f"spec.tasks[{index}].template.spec", task.pod_spec
        host, domain = spec.get("hostname"), spec.get("subdomain")
        if host and task.size > 1:
            reason = f"all {task.size} Pods of the task {task.name} get this hostname, so they share one address"
            yield _warning(
                f"{path}.hostname", reason, "remove hostname, so that each Pod gets its own", "VJ112", value_text(host)
            )
        if domain and domain != job.name:
            reason = f"svc creates the Service {job.name}, so addresses in this subdomain do not resolve"
            hint = "remove subdomain, or create a headless Service with this name"
            yield _warning(f"{path}.subdomain", reason, hint, "VJ113", value_text(domain))


def _peers(job: Job, svc: SvcPlugin, plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield a warning for each init container that waits for Pods which have no address yet.

    A Pod has no address until it is ready (volcano 533). A Pod whose init containers do not wait becomes ready.
    """
    if svc.publish_not_ready_addresses:
        return
    search = _search(job)
    references = [
        (task, path, tasks)
        for position, task in enumerate(job.tasks or ())
        for kind, path, container in placed_containers(task.pod_spec, f"spec.tasks[{position}].template.spec")
        if kind == INIT_CONTAINERS and (tasks := _referenced_tasks(container, search))
    ]
    waiting = {task.name or "" for task, _, _ in references} | {*_waiting_roles(plugins)}
    for _, path, tasks in references:
        stuck = ", ".join(sorted(tasks & waiting))
        if stuck:
            reason = (
                f"the init container waits for Pods of {stuck}, which have no address until they are ready, but their"
                " own init containers also wait for Pods, so the job may never start"
            )
            yield _warning(path, reason, "set --publish-not-ready-addresses=true of svc", "VJ104")


def _waiting_roles(plugins: Sequence[Plugin]) -> Iterator[str]:
    """Yield the tasks whose Pods wait for other Pods in an init container of a plugin."""
    for plugin in plugins:
        if isinstance(plugin, MpiPlugin) and plugin.wait_for_workers:
            yield plugin.master
        if isinstance(plugin, PytorchPlugin) and plugin.wait_master_enabled:
            yield plugin.worker


def _search(job: Job) -> Callable[[str], set[str]]:
    """Return a function that finds, in one pass, the tasks whose host lists or addresses a text contains."""
    tasks = [task.name or "" for task in job.tasks or ()]
    names_of = {naming.hosts_variable(task): task for task in tasks}
    names_of |= {f"{naming.HOSTS_PATH}/{naming.host_file(task)}": task for task in tasks}
    names_of |= {f"{job.name}-{task}-": task for task in tasks}
    pattern = re.compile(
        rf"VC_\w{{1,{MAX_LABEL}}}?_HOSTS|{naming.HOSTS_PATH}/\w{{1,{MAX_LABEL}}}\.host"
        # A number or a shell variable follows the name of the task. Several tasks may match (worker, worker-late), so
        # `found` tries each possible end of the name.
        rf"|(?<![-\w])(?={re.escape(job.name)}-(?P<rest>[-a-z0-9]{{1,{MAX_LABEL + 2}}}[${{]?))"
    )

    def found(text: str) -> Iterator[str]:
        for match in pattern.finditer(text):
            rest = match["rest"] or ""
            yield match[0]
            yield from (
                f"{job.name}-{rest[: place + 1]}"
                for place, (sign, after) in enumerate(itertools.pairwise(rest))
                if sign == "-" and after in "0123456789${"
            )

    return lambda text: {names_of[name] for name in found(text) if name in names_of}


def _referenced_tasks(container: Mapping[str, Any], search: Callable[[str], set[str]]) -> set[str]:
    """Return the tasks whose host lists or addresses a container's command contains."""
    texts = [*(container.get("command") or ()), *(container.get("args") or ())]
    return search("\n".join(item for item in texts if isinstance(item, str)))


def _runs_ray(task: Task, ray: RayPlugin | None) -> bool:
    """Check whether the plugin replaces the command of a task by one that runs Ray until it is stopped."""
    return ray is not None and not ray.keep_command and task.name in {ray.head, ray.worker}


def _dashboard(job: Job, svc: SvcPlugin, ray: RayPlugin | None) -> Iterator[Problem]:
    is_only_ray = (
        ray is not None and job.task(ray.head) is not None and all(_runs_ray(task, ray) for task in job.tasks or ())
    )
    if ray and is_only_ray and not svc.disable_network_policy and not _opens_dashboard(svc, ray):
        reason = "the NetworkPolicy of svc admits only Pods of the job to the dashboard and the other ports of the head"
        forward = f"kubectl port-forward {naming.pod(job.name, ray.head, 0)} {ray.dashboard_port}"
        hint = f"use `{forward}`, set the option allow of svc, or set --disable-network-policy=true of svc"
        yield _warning(path_of(RayPlugin), reason, hint, "VJ105")


def _opens_dashboard(svc: SvcPlugin, ray: RayPlugin) -> bool:
    reaching = [entry for entry in svc.allow if entry.get("task") in (None, ray.head)]
    return any({DASHBOARD, ray.dashboard_port} & {*(entry.get("ports") or (DASHBOARD,))} for entry in reaching)


def _metrics(job: Job, svc: SvcPlugin) -> Iterator[Problem]:
    if svc.disable_network_policy or svc.allow:
        return
    for index, task in enumerate(job.tasks or ()):
        annotations = (task.pod_template.get("metadata") or {}).get("annotations")
        if isinstance(annotations, Mapping) and annotations.get(_SCRAPED) == "true":
            reason = "the NetworkPolicy of svc admits only Pods of the job, so Prometheus cannot read these metrics"
            hint = "set the option allow of svc, or set --disable-network-policy=true of svc"
            yield _warning(f"spec.tasks[{index}].template.metadata.annotations.{_SCRAPED}", reason, hint, "VJ139")


def _unknown_ports(svc: SvcPlugin, first_pods: Mapping[str, Manifest]) -> Iterator[Problem]:
    """Yield a warning for each name in svc's allow-list that no port has. It admits no traffic."""
    of_task = {task: _port_names(pod) for task, pod in first_pods.items()} if svc.allow else {}
    of_job = set().union(*of_task.values())
    for index, entry in enumerate(svc.allow):
        task = entry.get("task")
        named = of_task.get(task, set()) if task else of_job
        for position, port in enumerate(entry.get("ports") or ()):
            if isinstance(port, str) and port not in named:
                path = f"{path_of(SvcPlugin)}.allow[{index}].ports[{position}]"
                known_names = f" (declared names: {some(named)})" if named else ""
                reason = f"no container declares a port with this name{known_names}, so the entry admits no traffic"
                yield _warning(
                    path, reason, "use a declared name, or the number of the port", "VJ119", value_text(port)
                )


def _port_names(pod: Manifest) -> set[str]:
    containers = all_containers(pod["spec"])
    return {port["name"] for container in containers for port in container.get("ports") or () if "name" in port}


def _references(template_entries: Sequence[Manifest], entries: Sequence[Manifest], path: str) -> Iterator[Problem]:
    """Yield a warning for each value that refers to a later variable. Kubernetes does not expand the reference."""
    referring = [
        (index, entry, names)
        for index, entry in enumerate(template_entries)
        if isinstance(entry.get("value"), str) and (names := _REFERENCE.findall(entry["value"]))
    ]
    # Fast functions instead of a loop, because svc sets two variables for each task.
    order = dict(zip(map(operator.itemgetter("name"), entries), itertools.count(), strict=False)) if referring else {}
    for index, entry, names in referring:
        for name in names:
            if order.get(name, -1) > order.get(entry["name"], len(entries)):
                reason = f"{name} is defined after {entry['name']}, so Kubernetes does not expand $({name})"
                hint = f"use $({name}) in command or args, or read {name} in the program"
                yield _warning(f"{path}[{index}]", reason, hint, "VJ109")


def _warning(path: str, reason: str, hint: str, code: str, value: str = "") -> Problem:
    return Problem(path, "Warning", reason, hint, value, code=code)
