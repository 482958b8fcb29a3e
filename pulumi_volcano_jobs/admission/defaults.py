"""Apply the defaults of a job as Volcano does: drop unknown fields, set default values, parse plugins.

Upstream: the defaults of the CRD, then the mutating webhook (contract sections 3 and 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pulumi_volcano_jobs.admission import plugin_settings, unknown_fields
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import Leaf, is_given
from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.kubernetes import images, schema
from pulumi_volcano_jobs.kubernetes.validation import api_server
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.spec.model import Job, NetworkTopology, PartitionPolicy, Task, Volume
from pulumi_volcano_jobs.spec.options import RenderOptions

SCHEDULER = "volcano"
QUEUE = "default"
MAX_RETRY = 3
TOPOLOGY_MODE = "hard"


@dataclass(frozen=True, eq=False, repr=False)
class DefaultedJob(Sealed):
    """A job with its defaults, its plugins in the order in which they run, and the problems of both.

    `named` contains the plugins that the job itself names.
    """

    job: Job
    plugins: tuple[Plugin, ...]
    named: frozenset[str]
    problems: tuple[Problem, ...]


def apply_defaults(job: Job, options: RenderOptions, *, strict: bool, volcano_version: str = "") -> DefaultedJob:
    """Return a job with its defaults, and its plugins with their options.

    The problems are about types and fields of templates and claims, and about settings of plugins.
    """
    pruner = schema.SchemaPruner(document=unknown_fields.TREE)
    image_registry = options.get("image_registry", "")
    tasks = tuple(_task(task, index, pruner, image_registry) for index, task in enumerate(job.tasks or ()))
    volumes = tuple(_volume(volume, index, pruner) for index, volume in enumerate(job.volumes or ()))
    own, problems = plugin_settings.read(job.uses, strict=strict)
    plugins, option_problems = plugin_settings.with_options(
        plugin_settings.with_required(own), options, volcano_version
    )
    if isinstance(image_registry, Leaf):
        # Later checks cannot read an image that gets an unknown registry.
        option_problems = [*option_problems, *(item for plugin in plugins.values() for item in plugin.wrong_images())]
    plugins = {
        name: plugin.with_images(lambda image: images.in_registry(image, image_registry))
        for name, plugin in plugins.items()
    }
    defaulted = job.with_(
        namespace=job.namespace if is_given(job.namespace) else "default",
        queue=job.queue if is_given(job.queue) else QUEUE,
        scheduler_name=job.scheduler_name or SCHEDULER,
        max_retry=job.max_retry or MAX_RETRY,
        min_available=job.min_available or sum(task.min_available or 0 for task in tasks),
        network_topology=_topology(job.network_topology),
        tasks=tasks if job.tasks is not None else None,
        volumes=volumes if job.volumes is not None else None,
        plugins=None if job.plugins is None else plugin_settings.defaulted_uses(job.uses, own, plugins, strict=strict),
    )
    problems += [*option_problems, *pruner.problems]
    return DefaultedJob(defaulted, tuple(sorted(plugins.values(), key=_order)), frozenset(own), tuple(problems))


def replaced_zeros(job: Job) -> Iterator[Problem]:
    """Yield a warning for each 0 of a job, before its defaults, that Volcano replaces by a default."""
    total = sum(_task_minimum(task, task.partition_policy) for task in job.tasks or ())
    if job.min_available == 0 and total:
        reason = f"Volcano replaces 0 by its default, the sum of minAvailable of all tasks ({total})"
        yield _zero("spec.minAvailable", reason, "set minAvailable: 1 to start each Pod by itself, or remove it")
    hint = f"set maxRetry to 1 or more, or remove it (the default is {MAX_RETRY})"
    tasks = [(f"spec.tasks[{index}]", task) for index, task in enumerate(job.tasks or ())]
    retries = [("spec", job.max_retry), *((path, task.max_retry) for path, task in tasks)]
    for path in [place for place, retry in retries if retry == 0]:
        yield _zero(f"{path}.maxRetry", f"Volcano replaces 0 by its default, {MAX_RETRY}", hint)


def _zero(path: str, reason: str, hint: str) -> Problem:
    return Problem(path, "Warning", reason, hint, "0", code="VJ133")


def _order(plugin: Plugin) -> tuple[int, str]:
    return plugin.stage, plugin.name


def default_name(index: int) -> str:
    """Return the name that Volcano's webhook gives a task without a name."""
    return f"default{index}"


def _task(task: Task, index: int, pruner: schema.SchemaPruner, image_registry: Any) -> Task:
    path = f"spec.tasks[{index}].template"
    # The webhook's patch adds an empty Pod spec, so the schema then requires its containers.
    template = pruner.apply({"spec": {}} | task.pod_template, schema.POD_TEMPLATE, path)
    if isinstance(image_registry, Leaf):
        # As above.
        pruner.problems += api_server.check_images(template, path)
    template = images.template_in_registry(template, image_registry)
    spec = template.get("spec")
    if isinstance(spec, dict) and spec.get("hostNetwork") is True and not spec.get("dnsPolicy"):
        template["spec"] = spec | {"dnsPolicy": "ClusterFirstWithHostNet"}
    partition = task.partition_policy and _partition(task.partition_policy)
    return task.with_(
        name=task.name or default_name(index),
        replicas=task.size,
        min_available=_task_minimum(task, partition),
        max_retry=task.max_retry or MAX_RETRY,
        partition_policy=partition,
        template=template,
    )


def _task_minimum(task: Task, partition: PartitionPolicy | None) -> int:
    if task.min_available is not None:
        return task.min_available
    if partition and partition.min_partitions:
        return partition.min_partitions * partition.partition_size
    return task.size


def _partition(policy: PartitionPolicy) -> PartitionPolicy:
    return policy.with_(
        min_partitions=policy.min_partitions or 0,
        network_topology=_topology(policy.network_topology),
    )


def _topology(topology: NetworkTopology | None) -> NetworkTopology | None:
    return topology and topology.with_(mode=topology.mode or TOPOLOGY_MODE)


def _volume(volume: Volume, index: int, pruner: schema.SchemaPruner) -> Volume:
    if volume.volume_claim is None:
        return volume
    claim = pruner.apply(volume.volume_claim, schema.CLAIM, f"spec.volumes[{index}].volumeClaim")
    return volume.with_(volume_claim=claim)
