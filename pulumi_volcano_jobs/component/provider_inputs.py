"""What programs in Pulumi's other languages give a job and a queue; the package's schema is read from here.

Every input has a plain structure with Inputs at its leaves, and no input has two types. Pulumi reads the annotations
themselves: none of them may be text. The names of the classes are those of the types in the other languages.
"""

from typing import Any, TypedDict

import pulumi


class NetworkTopology(TypedDict, total=False):
    """How close to each other the nodes must be."""

    mode: str
    """`hard`: nodes that are further apart will not do; `soft`: they will, if there are no others."""
    highest_tier_allowed: int
    """The highest tier of the network that the nodes may have in common."""
    highest_tier_name: str
    """The same by the tier's name."""


class Policy(TypedDict, total=False):
    """What Volcano does on an event or an exit code; enacted with `managedBy: volcano`."""

    action: str
    """Such as `RestartJob`, `RestartTask`, `CompleteJob` or `AbortJob`."""
    event: str
    """Such as `PodFailed`, `PodEvicted` or `TaskCompleted`; `*` is any."""
    events: list[str]
    """Several events at once."""
    exit_code: int
    """The exit code of a container; not 0, and not together with events."""
    timeout: str
    """How long after the event, such as `1h`."""


class PartitionPolicy(TypedDict, total=False):
    """A task cut into partitions, each placed as a whole."""

    total_partitions: int
    """How many there are; times `partitionSize` it is the task's replicas."""
    partition_size: int
    """The Pods of each."""
    min_partitions: int
    """How many must be placed for the job to start."""
    network_topology: NetworkTopology
    """How close the nodes of one partition must be."""


class DependsOn(TypedDict, total=False):
    """Tasks that must run before this one; enacted with `managedBy: volcano`."""

    name: list[str]
    """The tasks."""
    iteration: str
    """`all` (the default) or `any` of them."""


class Task(TypedDict, total=False):
    """A group of equal Pods (`spec.tasks[]` of a Volcano Job)."""

    name: str
    """The task's name, part of the names of its Pods."""
    replicas: int
    """How many Pods there are."""
    min_available: int
    """How many of them must run for the job to start; all by default."""
    template: Any
    """The template of each Pod, as in Kubernetes: `metadata` and `spec`. Outputs may stand at its leaves."""
    policies: list[Policy]
    """Policies of this task, before those of the job."""
    topology_policy: str
    """How the CPUs of a Pod must be placed: `none`, `best-effort`, `restricted` or `single-numa-node`."""
    max_retry: int
    """How often Volcano restarts it."""
    depends_on: DependsOn
    """Tasks that must run before."""
    partition_policy: PartitionPolicy
    """How the task is cut into partitions."""


class Volume(TypedDict, total=False):
    """A claim that every container of the job mounts: one that is there, by its name, or a new one."""

    mount_path: str
    """Where it is mounted."""
    volume_claim_name: str
    """The name of the claim."""
    volume_claim: Any
    """The spec of a new PersistentVolumeClaim, as in Kubernetes."""


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
    tasks: list[Task]
    """The tasks; a job has at least one."""
    plugins: dict[str, list[pulumi.Input[str]]]
    """Volcano's arguments for each plugin, such as `["--port=29500"]` for `pytorch`. A plugin without arguments has an
    empty list: Pulumi drops a null, and the plugin with it."""
    policies: list[Policy]
    """Lifecycle policies of the job; enacted with `managedBy: volcano`."""
    volumes: list[Volume]
    """Claims that all containers mount."""
    network_topology: NetworkTopology
    """How close the nodes must be."""
    scheduler_name: str
    """The scheduler; `volcano` by default."""
    queue: pulumi.Input[str]
    """The queue; `default` by default."""
    priority_class_name: pulumi.Input[str]
    """The priority class of the PodGroup, and of Pods without one."""
    min_available: int
    """The size of the gang: how many Pods must fit for any to start; all by default."""
    min_success: int
    """How many Pods must succeed for the job to have succeeded; enacted with `managedBy: volcano`."""
    max_retry: int
    """How often Volcano restarts the job; enacted with `managedBy: volcano`."""
    ttl_seconds_after_finished: int
    """How long after its end Volcano removes the job; enacted with `managedBy: volcano`."""
    running_estimate: str
    """How long the job is expected to run, such as `2h`."""
    managed_by: str
    """`pulumi` (the default): Pods and what they need; `volcano`: one Job for Volcano's controllers."""
    wait_for: str
    """With `managedBy: volcano`, the phase that `pulumi up` waits for: `created` (the default), `running` or
    `succeeded`; a Job that failed fails the update."""
    wait_timeout: str
    """How long `waitFor` waits, such as `30m`; `1h` by default."""
    restart: str
    """What an edit replaces: `gang` (the default) is all Pods, `pod` those of the task."""
    on_scale: str
    """What scaling does to Pods that run: `restart` or `keep`. By default they are restarted if a plugin builds a world
    of fixed size (pytorch, mpi, tensorflow)."""
    run: str
    """A token of your choice; another one runs the job again."""
    key_rotation: str
    """A token of your choice; another one makes a new ssh key pair."""
    claims: str
    """What becomes of the claims that the job made when it goes: `delete` (the default) or `keep`."""
    unsupported: str
    """What to do about fields that nobody enacts on Pods of Pulumi: `warn` (the default), `error` or `ignore`."""
    on_conflict: str
    """Who counts where a template and a plugin set the same: `error` (the default) refuses the job, or `plugin`, or
    `user`."""
    defaults: str
    """`volcano` (the default): plugins do what Volcano's do. `recommended`: options that make a job run at once are
    on."""
    image_registry: pulumi.Input[str]
    """What is put before images that name no registry; by default the stack's `volcano-jobs:imageRegistry`."""
    plugin_options: dict[str, dict[str, Any]]
    """Options of plugins by the plugin's name, with the names that docs/frameworks.md has: `torchrun: true` for
    `pytorch`."""
    ignore_warnings: list[str]
    """Codes of warnings to leave out, such as `VJ103`."""
    kubernetes_version: str
    """The version of the cluster, such as `1.31`: fields of templates that it does not know are refused."""
    volcano_version: str
    """The version of Volcano in the cluster, such as `1.15`: fields, plugins and flags that it lacks are errors."""


class QueueNodeGroups(TypedDict, total=False):
    """Groups of nodes, by the values of their label `volcano.sh/nodegroup-name`."""

    required_during_scheduling_ignored_during_execution: list[pulumi.Input[str]]
    """Those that must be kept to, or away from."""
    preferred_during_scheduling_ignored_during_execution: list[pulumi.Input[str]]
    """Those that are kept to, or away from, where that is possible."""


class QueueAffinity(TypedDict, total=False):
    """Where the Pods of a queue go (Volcano's nodegroup plugin)."""

    node_group_affinity: QueueNodeGroups
    """The groups of nodes that they go to."""
    node_group_anti_affinity: QueueNodeGroups
    """The groups of nodes that they keep away from."""


class QueueGuarantee(TypedDict, total=False):
    """What is reserved for a queue."""

    resource: dict[str, Any]
    """Quantities by the resource's name."""


class QueueCluster(TypedDict, total=False):
    """A cluster to which the jobs of a queue are dispatched."""

    name: pulumi.Input[str]
    """The cluster's name."""
    weight: pulumi.Input[int]
    """Its share of the jobs."""
    capacity: dict[str, Any]
    """What it has, in quantities by the resource's name."""


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
    """The most that its jobs may use: quantities by the resource's name, such as `cpu` or `nvidia.com/gpu`."""
    deserved: dict[str, Any]
    """What is its own when there is not enough for all: quantities by the resource's name."""
    guarantee: QueueGuarantee
    """What nobody else gets."""
    reclaimable: pulumi.Input[bool]
    """Whether others may take back what it uses beyond its own; true by default."""
    parent: pulumi.Input[str]
    """The queue above it, the `name` of another VolcanoQueue; root by default. Jobs go into leaves only."""
    dequeue_strategy: pulumi.Input[str]
    """Whether jobs behind one that does not fit may start (`traverse`, the default) or wait for it (`fifo`)."""
    affinity: QueueAffinity
    """Where its Pods go."""
    type: pulumi.Input[str]
    """The queue's type."""
    extend_clusters: list[QueueCluster]
    """Clusters to which its jobs are dispatched."""
