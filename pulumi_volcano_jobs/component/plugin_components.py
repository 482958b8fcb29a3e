"""The parts of a job in the Pulumi tree: a component for each plugin and for each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pulumi

from pulumi_volcano_jobs.component.kubernetes_object import KubernetesObject
from pulumi_volcano_jobs.plugins import Plugin, SvcPlugin

PACKAGE = "volcano-jobs"
PLAIN_SECRETS = "plain_secrets"
"""The input of a plugin's component that names settings which hold a secret in plain text; policies look at it."""
POD_SPEC = "pod_spec"
"""The input of a task's component that has the spec of its first Pod, beside `job` and `task`; policies look at it."""


class PluginComponent(pulumi.ComponentResource):
    """What a plugin made, and what a program may want to know of it.

    The type is `volcano-jobs:index:<class of the plugin>`; each of the plugin's outputs is an attribute.
    """

    objects: Sequence[KubernetesObject] = ()
    """The objects that the plugin added to the job, by kind and name."""

    def __init__(
        self, name: str, plugin: Plugin, outputs: Mapping[str, Any], parent: pulumi.Resource, inputs: Mapping[str, Any]
    ) -> None:
        """Register the component; its objects follow, then `finish`."""
        super().__init__(_token(type(plugin).__name__), name, {**inputs}, pulumi.ResourceOptions(parent=parent))
        self._values = {key: pulumi.Output.from_input(value) for key, value in outputs.items()}
        for key, value in self._values.items():
            setattr(self, key, value)

    def finish(self, objects: Sequence[KubernetesObject]) -> None:
        """Take the objects, and register the outputs."""
        self.objects = objects
        self.register_outputs(self._values)


class SshComponent(PluginComponent):
    """What the ssh plugin made."""

    secret_name: pulumi.Output[str]
    """The Secret with the keys: the job's own, or `key_secret`."""
    public_key: pulumi.Output[str]
    """The public key, an OpenSSH line; readable. None if the pair is in `key_secret`."""
    private_key: pulumi.Output[str]
    """The private key, always a secret. None if the pair is in `key_secret`."""


class SvcComponent(PluginComponent):
    """What the svc plugin made."""

    service_name: pulumi.Output[str]
    """The headless Service."""
    config_map_name: pulumi.Output[str]
    """The ConfigMap with the host lists."""


class EnvComponent(PluginComponent):
    """The env plugin: it makes no objects."""


class PytorchComponent(PluginComponent):
    """The rendezvous of the pytorch plugin."""

    master_address: pulumi.Output[str]
    """The master's address inside the job's namespace."""
    master_port: pulumi.Output[int]
    """The master's port."""
    world_size: pulumi.Output[int]
    """The number of Pods (not processes) of the master's and the workers' task."""


class TensorflowComponent(PluginComponent):
    """The cluster of the tensorflow plugin."""

    cluster: pulumi.Output[dict[str, list[str]]]
    """The addresses with ports of each role, as in TF_CONFIG."""


class MpiComponent(PluginComponent):
    """The hosts of the mpi plugin."""

    hosts: pulumi.Output[list[str]]
    """The workers' addresses."""


class RayComponent(PluginComponent):
    """What the ray plugin made."""

    service_name: pulumi.Output[str]
    """The head's Service."""
    gcs_address: pulumi.Output[str]
    """Address and port of the global control service."""
    dashboard_url: pulumi.Output[str]
    """The dashboard's URL inside the cluster; jobs are submitted there."""
    client_url: pulumi.Output[str]
    """The `ray://` URL for clients inside the cluster."""


class HcclrankComponent(PluginComponent):
    """The hcclrank plugin: it makes no objects."""


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


class TaskComponent(pulumi.ComponentResource):
    """A task of a job (`volcano-jobs:index:Task`) and its Pods."""

    pods: Sequence[KubernetesObject] = ()
    """The Pods by index."""
    hosts: pulumi.Output[list[str]]
    """The addresses of the Pods by index, inside the job's namespace; they resolve if the job has the svc plugin."""

    def __init__(self, name: str, hosts: list[str], parent: pulumi.Resource, inputs: Mapping[str, Any]) -> None:
        """Register the component; its Pods follow, then `finish`."""
        super().__init__(TASK, name, {**inputs}, pulumi.ResourceOptions(parent=parent))
        self.hosts = pulumi.Output.from_input(hosts)

    def finish(self, pods: Sequence[KubernetesObject], names: list[str]) -> None:
        """Take the Pods, and register the outputs."""
        self.pods = pods
        self.register_outputs({"hosts": self.hosts, "pod_names": names})


def _token(kind: str) -> str:
    return f"{PACKAGE}:index:{kind}"


SVC = _token(SvcPlugin.__name__)
"""The type of the svc plugin's component."""
TASK = _token("Task")
"""The type of a task's component."""
