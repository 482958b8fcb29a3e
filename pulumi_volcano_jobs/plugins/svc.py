"""The svc plugin, which provides addresses for a job's Pods (upstream: pkg/controllers/job/plugins/svc)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, key_text, value_text, wrong_type
from pulumi_volcano_jobs.core.phrases import some
from pulumi_volcano_jobs.core.tree import without_none
from pulumi_volcano_jobs.kubernetes import validation
from pulumi_volcano_jobs.kubernetes.manifest import (
    Manifest,
    ObjectRef,
    Pod,
    config_map,
    network_policy,
    pod_selector,
    service,
)
from pulumi_volcano_jobs.kubernetes.validation.ports import PORT_RULE, is_port
from pulumi_volcano_jobs.plugins import svc_allow
from pulumi_volcano_jobs.plugins.base import JobUpdate, Plugin, PluginOutput, Stage
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.settings import A_LIST, A_MAPPING, Setting, flag, option, path_of
from pulumi_volcano_jobs.plugins.svc_allow import Allow
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Job


class SvcPlugin(Plugin):
    """Create a headless Service, host lists as files and variables, and a NetworkPolicy for the job's Pods.

    The host lists are files in /etc/volcano (`<task>.host`, one address per line), and variables of every container:
    `VC_<TASK>_HOSTS` (comma-separated) and `VC_<TASK>_NUM`.
    """

    name = "svc"
    stage = Stage.BASE
    publish_not_ready_addresses: Setting[bool] = flag("publish-not-ready-addresses", default=False, recommended=True)
    """Whether the addresses of Pods that are not ready also resolve."""
    disable_network_policy: Setting[bool] = flag("disable-network-policy", default=False)
    """Whether to omit the NetworkPolicy, so that Pods outside the job can connect to it."""
    inject_hosts_env: Setting[bool] = flag("inject-hosts-env", default=True, since="1.16")
    """Whether to set the VC_* variables. Containers do not start with a list above 128 KiB (about 1,100 Pods)."""
    allow: Setting[Annotated[Sequence[Allow], A_LIST, AfterValidator(svc_allow.without_none_keys)]] = option(default=())
    """Other clients that may connect to the Pods: NetworkPolicies in addition to the one for the job's Pods."""
    service_ports: Setting[Annotated[Mapping[str, int], A_MAPPING, AfterValidator(without_none)] | None] = option(
        default=None, not_native="Volcano creates the headless Service without ports"
    )
    """Ports of the headless Service by name, for a service mesh: `{"tcp-torch": 29500}`."""
    own_address: Setting[bool] = option(default=False)
    """Whether to set VC_POD_NAME and VC_POD_ADDRESS, the name and address of the Pod, in the template's containers."""

    def malformed(self) -> Iterator[Problem]:
        """Yield problems of entries in the allow-list, and of ports of the Service."""
        yield from super().malformed()
        yield from svc_allow.check_entries(self.allow, f"{path_of(type(self))}.allow")
        yield from _port_problems(self.service_ports or {}, f"{path_of(type(self))}.service_ports")

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield problems of the allow-list: a disabled NetworkPolicy, and tasks that do not exist."""
        yield from super().validate(job)
        if self.allow and self.disable_network_policy:
            reason = "may not be set with disable_network_policy, because it would block all other clients"
            yield self.problem("allow", reason, "remove allow, or disable_network_policy", error_type="Forbidden")
        known = {task.name or "" for task in job.tasks or ()}
        for index, entry in enumerate(self.allow):
            if "task" in entry and entry["task"] not in known:
                path = f"{path_of(type(self))}.allow[{index}].task"
                reason = f"no task has this name (tasks: {some(known)})"
                yield Problem(path, "NotFound", reason, "use the name of a task", value_text(entry["task"]))

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:
        """Return the ConfigMap with the host lists, the headless Service and the NetworkPolicy."""
        data = {}
        for task in ctx.tasks:
            hosts, name = ctx.addresses(task), task.name or ""
            data[naming.host_file(name)] = "\n".join(hosts)
            data[naming.hosts_variable(name)] = ",".join(hosts)
            data[naming.number_variable(name)] = str(len(hosts))
        spec: Manifest = {"clusterIP": "None", "selector": pod_selector(ctx.name, ctx.namespace)}
        if self.publish_not_ready_addresses:
            spec["publishNotReadyAddresses"] = True
        if self.service_ports:
            ports = self.service_ports.items()
            spec["ports"] = [{"name": name, "port": number, "protocol": "TCP"} for name, number in ports]
        objects = [
            config_map(naming.svc_config_map(ctx.name), ctx.namespace, data),
            service(ctx.name, ctx.namespace, spec),
        ]
        if not self.disable_network_policy:
            selector = pod_selector(ctx.name, ctx.namespace)
            rule = {"from": [{"podSelector": {"matchLabels": selector}}]}
            objects.append(network_policy(ctx.name, ctx.namespace, selector, [rule]))
        return objects

    def extend_objects(self, ctx: JobContext) -> list[Manifest]:
        """Return the NetworkPolicies of the allow-list. They need the job's NetworkPolicy, or they block its Pods."""
        return [] if self.disable_network_policy else svc_allow.network_policies(self.allow, ctx)

    def extend_pod(self, pod: Pod, ctx: JobContext) -> None:
        """Set the variables with the name and the address of the Pod."""
        if self.own_address:
            host = pod.fields.get("hostname") or f"$({naming.POD_NAME})"
            domain = pod.fields.get("subdomain") or ctx.name
            for container in pod.all_containers:
                container.set_env_from(naming.POD_NAME, {"fieldRef": {"fieldPath": "metadata.name"}})
                container.set_env(naming.POD_ADDRESS, f"{host}.{domain}")

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Set the variables, mount the host lists, and default hostname and subdomain."""
        pod.fields["hostname"] = pod.fields.get("hostname") or pod.name
        pod.fields["subdomain"] = pod.fields.get("subdomain") or ctx.name
        volume = naming.svc_config_map(ctx.name)
        variables = ctx.once("svc.variables", lambda: self._variables(ctx))
        for container in pod.all_containers:
            container.set_env_entries(variables)
            container.mount(naming.HOSTS_PATH, volume)
        pod.set_volume(volume, {"configMap": {"name": volume}})

    def on_job_update(self, ctx: JobContext) -> JobUpdate:
        """Update the ConfigMap with the replicas. The Pods refer to it, so they do not change."""
        return JobUpdate(follows=frozenset({ObjectRef("ConfigMap", naming.svc_config_map(ctx.name))}))

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Return the names of the headless Service and of the ConfigMap."""
        config_map_name = naming.svc_config_map(ctx.name)
        return {
            "service_name": PluginOutput(ctx.name, [ObjectRef("Service", ctx.name)]),
            "config_map_name": PluginOutput(config_map_name, [ObjectRef("ConfigMap", config_map_name)]),
        }

    def _variables(self, ctx: JobContext) -> dict[str, Manifest]:
        if not self.inject_hosts_env:
            return {}
        volume, tasks = naming.svc_config_map(ctx.name), [task.name or "" for task in ctx.tasks]
        keys = [key for task in tasks for key in (naming.hosts_variable(task), naming.number_variable(task))]
        return {key: {"name": key, "valueFrom": {"configMapKeyRef": {"name": volume, "key": key}}} for key in keys}


def _port_problems(ports: Mapping[Any, Any], path: str) -> Iterator[Problem]:
    named: dict[int, str] = {}
    for name, number in ports.items():
        port_path = paths.join(path, key_text(name))
        yield from validation.dns_label(key_text(name), port_path)
        if isinstance(number, bool) or not isinstance(number, int):
            yield wrong_type(port_path, "a port number", value=value_text(number))
        elif not is_port(number):
            yield Problem(port_path, "Invalid", PORT_RULE, value=value_text(number), stage=RejectionStage.API)
        elif number in named:
            reason = f"the port {named[number]} also has this number"
            yield Problem(
                port_path, "Duplicate", reason, "use one name for each number", value_text(number), RejectionStage.API
            )
        else:
            named[number] = name
