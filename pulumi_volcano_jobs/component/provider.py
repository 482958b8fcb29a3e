"""The components for Pulumi's other languages: `pulumi-resource-volcano-jobs` serves them to YAML, TypeScript and Go.

The arguments are a Volcano Job's `spec` as it stands, with the metadata's fields beside it. Pulumi reads the schema
from the annotations below: no unions, and no annotations as strings.
"""

from typing import Any, Optional, TypedDict

import pulumi
from pulumi.provider.experimental import component_provider_host

from pulumi_volcano_jobs.component.base import BaseJob
from pulumi_volcano_jobs.component.queue import BaseQueue


class VolcanoJobInputs(TypedDict, total=False):
    """A Volcano Job: the fields of its `spec`, and `name`, `namespace`, `labels` and `annotations`."""

    name: str
    """The job's name, which begins all others; the resource's name by default."""
    namespace: pulumi.Input[str]
    """The namespace; by default the stack's `volcano-jobs:namespace`, else `default`."""
    labels: dict[str, pulumi.Input[str]]
    """Labels of the PodGroup, or of the Job that Volcano gets."""
    annotations: dict[str, pulumi.Input[str]]
    """Annotations of the PodGroup, or of the Job that Volcano gets."""
    tasks: list[Any]
    """The tasks, as in a Volcano Job."""
    plugins: dict[str, list[str]]
    """Volcano's arguments for each plugin: `pytorch: ["--port=29500"]`."""
    policies: list[Any]
    """Lifecycle policies; with `managed_by: volcano` they are enacted."""
    volumes: list[Any]
    """Claims that all containers mount."""
    network_topology: Any
    """How close the nodes must be."""
    scheduler_name: str
    """The scheduler; `volcano` by default."""
    queue: pulumi.Input[str]
    """The queue; `default` by default."""
    priority_class_name: pulumi.Input[str]
    """The priority class of the PodGroup, and of Pods without one."""
    min_available: int
    """The size of the gang."""
    min_success: int
    """How many Pods must succeed."""
    max_retry: int
    """How often Volcano restarts the job."""
    ttl_seconds_after_finished: int
    """When Volcano removes the finished job."""
    running_estimate: str
    """How long the job is expected to run."""
    managed_by: str
    """`pulumi` (the default): Pods and what they need; `volcano`: one Job for Volcano's controllers."""
    wait_for: str
    """With `managed_by: volcano`: `created` (the default), `running` or `succeeded`."""
    wait_timeout: str
    """How long `wait_for` waits, such as `30m`; `1h` by default."""
    restart: str
    """`gang` (the default) or `pod`: what an edit replaces."""
    on_scale: str
    """`restart` or `keep`: what scaling does to Pods that run."""
    run: str
    """Another token runs the job again."""
    key_rotation: str
    """Another token makes a new ssh key pair."""
    claims: str
    """`delete` (the default) or `keep`: what becomes of the claims that the job made when it goes."""
    unsupported: str
    """`warn` (the default), `error` or `ignore`: what to do about fields that nobody enacts."""
    on_conflict: str
    """`error` (the default), `plugin` or `user`: who counts where a template and a plugin set the same."""
    defaults: str
    """`volcano` (the default) or `recommended`: whether options that make a job run at once are on."""
    image_registry: pulumi.Input[str]
    """What is put before images that name no registry; by default the stack's `volcano-jobs:imageRegistry`."""
    plugin_options: dict[str, dict[str, Any]]
    """Options of plugins by the plugin's name, such as `pytorch: {torchrun: true}`."""
    ignore_warnings: list[str]
    """Codes of warnings to leave out, such as VJ103."""
    kubernetes_version: str
    """The version of the cluster, such as 1.31: fields that it does not know are refused."""


class VolcanoJob(BaseJob):
    """A Volcano Job: Pods, PodGroup, Services, Secret, ConfigMap and NetworkPolicy, or one Job for Volcano."""

    name: pulumi.Output[str]
    """The job's name."""
    namespace: pulumi.Output[str]
    """The namespace of all that the job is made of."""
    pod_names: pulumi.Output[list[str]]
    """The names of the Pods by task and index."""
    pod_group_name: pulumi.Output[str]
    """The PodGroup."""
    hosts: pulumi.Output[dict[str, list[str]]]
    """The addresses of each task's Pods."""

    def __init__(
        self,
        name: str,
        args: VolcanoJobInputs,
        opts: Optional[pulumi.ResourceOptions] = None,  # noqa: UP045  # Pulumi's reader of annotations knows no |
    ) -> None:
        """Make a job."""
        super().__init__(name, args, opts)


class VolcanoQueueInputs(TypedDict, total=False):
    """A Volcano Queue: the fields of its `spec`, and `name`, `labels` and `annotations`."""

    name: str
    """The queue's name; the resource's name by default."""
    labels: dict[str, pulumi.Input[str]]
    """Labels of the Queue."""
    annotations: dict[str, pulumi.Input[str]]
    """Annotations of the Queue."""
    weight: pulumi.Input[int]
    """Its share beside its siblings, from 1 (the default of Volcano) to 65535."""
    priority: pulumi.Input[int]
    """Which queue is served first; 0 or more."""
    capability: dict[str, Any]
    """The most that its jobs may use."""
    deserved: dict[str, Any]
    """What is its own when there is not enough for all."""
    guarantee: Any
    """What nobody else gets: quantities in `resource`."""
    reclaimable: pulumi.Input[bool]
    """Whether others may take back what it uses beyond its own."""
    parent: pulumi.Input[str]
    """The queue above it; root by default."""
    dequeue_strategy: pulumi.Input[str]
    """`traverse` (the default) or `fifo`."""
    affinity: Any
    """Where its Pods go, as in a Volcano Queue."""
    type: pulumi.Input[str]
    """The queue's type."""
    extend_clusters: list[Any]
    """Clusters to which its jobs are dispatched."""


class VolcanoQueue(BaseQueue):
    """A Volcano Queue; `queue: ${research.name}` puts a job into it."""

    name: pulumi.Output[str]
    """The queue's name."""

    def __init__(
        self,
        name: str,
        args: VolcanoQueueInputs,
        opts: Optional[pulumi.ResourceOptions] = None,  # noqa: UP045  # see VolcanoJob
    ) -> None:
        """Make a queue."""
        super().__init__(name, args, opts)


def main() -> None:
    """Serve the components to the Pulumi engine."""
    component_provider_host(name="volcano-jobs", components=[VolcanoJob, VolcanoQueue], version="0.1.0")
