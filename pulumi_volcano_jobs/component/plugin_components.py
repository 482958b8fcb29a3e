"""The components of plugins and tasks, which are the parents of a job's objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pulumi

from pulumi_volcano_jobs.component.kubernetes_object import KubernetesObject
from pulumi_volcano_jobs.component.lookup import IndexedItems, NamedAttributes
from pulumi_volcano_jobs.core.resource_types import TASK, component_type
from pulumi_volcano_jobs.plugins import Plugin

PLAIN_SECRETS = "plain_secrets"
"""The input of a plugin's component with the names of settings that contain a secret in plain text, for policies."""
POD_SPEC = "pod_spec"
"""The input of a task's component with the spec of its first Pod, for policies."""


class PluginComponent(NamedAttributes, pulumi.ComponentResource):
    """A plugin of a job: the parent of its objects.

    The type is `volcano-jobs:index:<class of the plugin>`. Each output of the plugin is an attribute.
    """

    objects: Sequence[KubernetesObject] = ()
    """The objects that the plugin created, by kind and name."""

    def __init__(self, name: str, plugin: Plugin, parent: pulumi.Resource, inputs: Mapping[str, Any]) -> None:
        """Register the component. Its objects are registered next, then its outputs with `finish`."""
        super().__init__(component_type(type(plugin).__name__), name, {**inputs}, pulumi.ResourceOptions(parent=parent))

    def finish(self, objects: Sequence[KubernetesObject], outputs: Mapping[str, pulumi.Output[Any]]) -> None:
        """Store the objects, and register the outputs."""
        self.objects = IndexedItems("object", objects, f"the plugin {self.pulumi_resource_name}")
        for key, value in outputs.items():
            setattr(self, key, value)
        self.register_outputs({**outputs})


class SshComponent(PluginComponent):
    """The ssh plugin of a job."""

    secret_name: pulumi.Output[str]
    """The name of the Secret with the keys: the job's Secret, or `key_secret`."""
    public_key: pulumi.Output[str]
    """The public key in OpenSSH format; not a secret. None if `key_secret` contains the pair."""
    private_key: pulumi.Output[str]
    """The private key, always a secret. None if `key_secret` contains the pair."""


class SvcComponent(PluginComponent):
    """The svc plugin of a job."""

    service_name: pulumi.Output[str]
    """The name of the headless Service."""
    config_map_name: pulumi.Output[str]
    """The name of the ConfigMap with the host lists."""


class EnvComponent(PluginComponent):
    """The env plugin of a job. It creates no objects."""


class PytorchComponent(PluginComponent):
    """The pytorch plugin of a job."""

    master_address: pulumi.Output[str]
    """The master's address inside the job's namespace."""
    master_port: pulumi.Output[int]
    """The master's port."""
    world_size: pulumi.Output[int]
    """The number of Pods (not processes) of the master task and the worker task."""


class TensorflowComponent(PluginComponent):
    """The tensorflow plugin of a job."""

    cluster: pulumi.Output[dict[str, list[str]]]
    """The addresses and ports of each role, as in TF_CONFIG."""


class MpiComponent(PluginComponent):
    """The mpi plugin of a job."""

    hosts: pulumi.Output[list[str]]
    """The workers' addresses."""


class RayComponent(PluginComponent):
    """The ray plugin of a job."""

    service_name: pulumi.Output[str]
    """The name of the head's Service."""
    gcs_address: pulumi.Output[str]
    """The address and port of the global control service."""
    dashboard_url: pulumi.Output[str]
    """The URL of the dashboard inside the cluster, which also accepts jobs."""
    client_url: pulumi.Output[str]
    """The `ray://` URL for clients inside the cluster."""


class HcclrankComponent(PluginComponent):
    """The hcclrank plugin of a job. It creates no objects."""


PluginT = TypeVar("PluginT", bound=PluginComponent)

BY_PLUGIN: Mapping[str, type[PluginComponent]] = {
    "env": EnvComponent,
    "hcclrank": HcclrankComponent,
    "mpi": MpiComponent,
    "pytorch": PytorchComponent,
    "ray": RayComponent,
    "ssh": SshComponent,
    "svc": SvcComponent,
    "tensorflow": TensorflowComponent,
}


class TaskComponent(NamedAttributes, pulumi.ComponentResource):
    """A task of a job (`volcano-jobs:index:Task`) and its Pods."""

    pods: Sequence[KubernetesObject] = ()
    """The Pods by index."""
    hosts: pulumi.Output[list[str]]
    """The addresses of the Pods by index, inside the job's namespace; they resolve if the job has the svc plugin."""

    def __init__(self, name: str, parent: pulumi.Resource, inputs: Mapping[str, Any]) -> None:
        """Register the component. Its Pods are registered next, then its outputs with `finish`."""
        super().__init__(TASK, name, {**inputs}, pulumi.ResourceOptions(parent=parent))

    def finish(self, pods: Sequence[KubernetesObject], names: list[str], hosts: pulumi.Output[list[str]]) -> None:
        """Store the Pods, and register the outputs."""
        owner = ", whose Pods Volcano creates" if names and not pods else ""
        self.pods = IndexedItems("Pod", pods, f"the task {self.pulumi_resource_name}{owner}")
        self.hosts = hosts
        self.register_outputs({"hosts": hosts, "pod_names": names})
