"""The svc plugin: addresses for a job's Pods (upstream: pkg/controllers/job/plugins/svc)."""

from __future__ import annotations

from typing import Any

from pulumi_volcano_jobs import names
from pulumi_volcano_jobs.context import JobContext
from pulumi_volcano_jobs.manifest import Manifest, Pod, build, config_map, members, service
from pulumi_volcano_jobs.plugins.base import JobUpdate, ObjectRef, Plugin, Stage, flag

MOUNT_PATH = names.HOSTS_PATH


class SvcPlugin(Plugin):
    """Make a headless Service, host lists as files and variables, and a NetworkPolicy among the job's Pods.

    The host lists are files under /etc/volcano (`<task>.host`, an address a line) and, in every container,
    `VC_<TASK>_HOSTS` (comma-separated) and `VC_<TASK>_NUM`.
    """

    name = "svc"
    stage = Stage.BASE
    publish_not_ready_addresses: bool = flag("publish-not-ready-addresses", default=False)
    """Resolve the addresses of Pods that are not ready yet."""
    disable_network_policy: bool = flag("disable-network-policy", default=False)
    """Make no NetworkPolicy, so that Pods outside of the job can reach it."""
    inject_hosts_env: bool = flag("inject-hosts-env", default=True)
    """Set the VC_* variables; a list of more than 128 KiB (about 1,100 Pods) keeps containers from starting."""

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:
        """Return the ConfigMap with the host lists, the headless Service and the NetworkPolicy."""
        data = {}
        for task in ctx.tasks:
            hosts, name = ctx.addresses(task), task.name or ""
            data[names.host_file(name)] = "\n".join(hosts)
            data[names.hosts_variable(name)] = ",".join(hosts)
            data[names.number_variable(name)] = str(len(hosts))
        spec: Manifest = {"clusterIP": "None", "selector": members(ctx.name, ctx.namespace)}
        if self.publish_not_ready_addresses:
            spec["publishNotReadyAddresses"] = True
        objects = [
            config_map(names.svc_config_map(ctx.name), ctx.namespace, data),
            service(ctx.name, ctx.namespace, spec),
        ]
        return objects if self.disable_network_policy else [*objects, _network_policy(ctx)]

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Set hostname and subdomain unless the template does; set the variables; mount the host lists."""
        pod.fields["hostname"] = pod.fields.get("hostname") or pod.name
        pod.fields["subdomain"] = pod.fields.get("subdomain") or ctx.name
        volume = names.svc_config_map(ctx.name)
        variables = ctx.once("svc.variables", lambda: self._variables(ctx))
        for container in pod.all_containers:
            for variable in variables:
                container.set_env_from(variable, {"configMapKeyRef": {"name": volume, "key": variable}})
            container.mount(MOUNT_PATH, volume)
        pod.set_volume(volume, {"configMap": {"name": volume}})

    def on_job_update(self, ctx: JobContext) -> JobUpdate:
        """Let the host lists follow; variables come from the ConfigMap, so what a Pod refers to stays the same."""
        return JobUpdate(follows=frozenset({ObjectRef("ConfigMap", names.svc_config_map(ctx.name))}))

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Give the names of the headless Service and of the ConfigMap."""
        return {"service_name": ctx.name, "config_map_name": names.svc_config_map(ctx.name)}

    def _variables(self, ctx: JobContext) -> list[str]:
        if not self.inject_hosts_env:
            return []
        tasks = [task.name or "" for task in ctx.tasks]
        return [variable for task in tasks for variable in (names.hosts_variable(task), names.number_variable(task))]


def _network_policy(ctx: JobContext) -> Manifest:
    selector = {"matchLabels": members(ctx.name, ctx.namespace)}
    spec = {
        "podSelector": selector,
        "ingress": [{"from": [{"podSelector": {"matchLabels": members(ctx.name, ctx.namespace)}}]}],
        "policyTypes": ["Ingress"],
    }
    return build("networking.k8s.io/v1", "NetworkPolicy", ctx.name, ctx.namespace, spec=spec)
