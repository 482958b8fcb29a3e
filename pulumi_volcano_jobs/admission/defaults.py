"""A job as Volcano stores it: unknown fields dropped, defaults filled in, plugins read.

Upstream: the defaults of the resource definition, then the mutating webhook (contract sections 3 and 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pulumi_volcano_jobs.admission import limits
from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, Stage
from pulumi_volcano_jobs.core.leaf import has_leaf, is_given
from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.core.tree import whole_number
from pulumi_volcano_jobs.kubernetes import images, schema
from pulumi_volcano_jobs.plugins import MpiPlugin, Plugin, SshPlugin, registry
from pulumi_volcano_jobs.plugins.base import mistyped
from pulumi_volcano_jobs.plugins.settings import flag_of, secret_settings, settings_of, since_of
from pulumi_volcano_jobs.spec.document import IN_METADATA
from pulumi_volcano_jobs.spec.fields import PluginSettings, Uses
from pulumi_volcano_jobs.spec.model import Job, Model, NetworkTopology, PartitionPolicy, Task, Volume
from pulumi_volcano_jobs.spec.options import Choices
from pulumi_volcano_jobs.spec.releases import lacks

SCHEDULER = "volcano"
QUEUE = "default"
MAX_RETRY = 3


@dataclass(frozen=True, eq=False, repr=False)
class Stored(Sealed):
    """A job with its defaults, its plugins in the order in which they run, and what was found on the way.

    `named` are the plugins that the job itself names.
    """

    job: Job
    plugins: tuple[Plugin, ...]
    named: frozenset[str]
    problems: tuple[Problem, ...]


def store(job: Job, choices: Choices, *, strict: bool, volcano_version: str = "") -> Stored:
    """Fill in the defaults of a job; nothing is raised yet.

    Its plugins have the options that were chosen for them.
    Unknown fields and misread plugin arguments are among the problems only with `strict`.
    """
    walk = schema.Walk()
    image_registry = choices.get("image_registry", "")
    tasks = tuple(_task(task, index, walk, image_registry) for index, task in enumerate(job.tasks or ()))
    volumes = tuple(_volume(volume, index, walk) for index, volume in enumerate(job.volumes or ()))
    read, problems = _read_plugins(job.uses, strict=strict)
    plugins, chosen = _chosen(_closure(read), choices, volcano_version)
    plugins = {
        name: plugin.with_images(lambda image: images.in_registry(image, image_registry))
        for name, plugin in plugins.items()
    }
    stored = job.with_(
        namespace=job.namespace if is_given(job.namespace) else "default",
        queue=job.queue if is_given(job.queue) else QUEUE,
        scheduler_name=job.scheduler_name or SCHEDULER,
        max_retry=job.max_retry or MAX_RETRY,
        min_available=job.min_available or sum(task.min_available or 0 for task in tasks),
        network_topology=_topology(job.network_topology),
        tasks=tasks if job.tasks is not None else None,
        volumes=volumes if job.volumes is not None else None,
        plugins=None if job.plugins is None else _defaulted_uses(job.uses, read, plugins, strict=strict),
    )
    problems += [*chosen, *walk.problems, *images.problems(image_registry, "image_registry")]
    problems += _unknown_fields(job)
    problems += limits.pods(stored)
    kept = [problem for problem in problems if strict or problem.stage < Stage.STRICT]
    return Stored(stored, tuple(sorted(plugins.values(), key=_order)), frozenset(read), tuple(kept))


def _order(plugin: Plugin) -> tuple[int, str]:
    return plugin.stage, plugin.name


def _task(task: Task, index: int, walk: schema.Walk, image_registry: Any) -> Task:
    # The webhook's patch spells out an empty Pod spec, and the schema then misses its containers.
    template = walk.conform({"spec": {}} | task.pod_template, schema.POD_TEMPLATE, f"spec.tasks[{index}].template")
    template = images.of_template(template, image_registry)
    spec = template.get("spec")
    if isinstance(spec, dict) and spec.get("hostNetwork") is True and not spec.get("dnsPolicy"):
        template["spec"] = spec | {"dnsPolicy": "ClusterFirstWithHostNet"}
    partition = task.partition_policy and _partition(task.partition_policy)
    return task.with_(
        name=task.name or f"default{index}",
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
    return topology and topology.with_(mode=topology.mode or "hard")


def _volume(volume: Volume, index: int, walk: schema.Walk) -> Volume:
    if volume.volume_claim is None:
        return volume
    claim = walk.conform(volume.volume_claim, schema.CLAIM, f"spec.volumes[{index}].volumeClaim")
    return volume.with_(volume_claim=claim)


def _read_plugins(uses: Uses, *, strict: bool) -> tuple[dict[str, Plugin], list[Problem]]:
    """Read the plugins of a job; an unknown one is a problem of the webhook's."""
    plugins: dict[str, Plugin] = {}
    problems: list[Problem] = []
    for name, use in uses.items():
        path = f"spec.plugins.{name}"
        plugin = registry.find(name)
        if use is None:
            reason = "the API server drops a null, so the job does not use this plugin"
            hint = f"write {name}: [] to use it, or remove it"
            problems.append(Problem(path, "Warning", reason, hint, code="VJ127"))
        elif isinstance(use, Plugin):
            plugins[name] = use
            if use.name != name:
                hint = f"write it as {use.name}, or in a list"
                problems.append(Problem(path, "Invalid", f"this is the plugin {use.name}", hint, stage=Stage.DECODE))
        elif plugin is None:
            hint = schema.nearest(name, registry.names())
            problems.append(Problem(path, "NotSupported", "no plugin has this name", hint, stage=Stage.WEBHOOK))
        else:
            args = use.to_args() if isinstance(use, PluginSettings) else use
            plugins[name], found = plugin.read_args(args, strict=strict)
            problems += found
            problems += _notes(plugin, args, strict=strict)
    return plugins, problems


def _chosen(
    plugins: Mapping[str, Plugin], choices: Choices, volcano_version: str
) -> tuple[dict[str, Plugin], list[Problem]]:
    """Give plugins the settings that are chosen for them; leave out those with which nothing can be done."""
    chosen, problems = dict(plugins), []
    for name, settings in choices.get("plugin_options", {}).items():
        place = f"plugin_options.{name}"
        if name not in plugins:
            hint = schema.nearest(name, plugins) if plugins else "add it to the job's plugins"
            problems.append(Problem(place, "Forbidden", "the job does not use this plugin", hint))
            continue
        known = set(settings_of(type(plugins[name]))) - set(secret_settings(type(plugins[name])).values())
        problems += [
            Problem(f"{place}.{setting}", "Forbidden", "the plugin has no such option", schema.nearest(setting, known))
            for setting in settings
            if setting not in known
        ]
        chosen[name] = chosen[name].with_(**{key: whole_number(settings[key]) for key in settings if key in known})
    is_recommended, native = choices.get("defaults") == "recommended", choices.get("managed_by") == "volcano"
    if is_recommended:
        chosen = {name: plugin.recommended(native=native, version=volcano_version) for name, plugin in chosen.items()}
    wrong = {name: list(mistyped(plugin)) for name, plugin in chosen.items()}
    problems += [problem for found in wrong.values() for problem in found]
    sound = {name: plugin for name, plugin in chosen.items() if not wrong[name]}
    if is_recommended:
        sound = _with_one_port(sound, volcano_version if native else "")
    return sound, problems


def _with_one_port(plugins: Mapping[str, Plugin], volcano_version: str) -> dict[str, Plugin]:
    """Use the port of sshd that is set in mpi or ssh for the other plugin, unless that sets its own.

    If the release of Volcano lacks ssh's flag, ssh does not get the port of mpi.
    """
    mpi, ssh = plugins.get(MpiPlugin.name), plugins.get(SshPlugin.name)
    if isinstance(mpi, MpiPlugin) and isinstance(ssh, SshPlugin):
        if "ssh_port" not in ssh.given and not lacks(volcano_version, since_of(SshPlugin, "ssh-port")):
            return {**plugins, ssh.name: ssh.with_(ssh_port=mpi.port)}
        if "ssh_port" in ssh.given and "port" not in mpi.given:
            return {**plugins, mpi.name: mpi.with_(port=ssh.ssh_port)}
    return dict(plugins)


def _notes(plugin: type[Plugin], args: tuple[Any, ...] | list[Any], *, strict: bool) -> Iterator[Problem]:
    for position, argument in enumerate(args if strict else ()):
        name = str(argument).lstrip("-").partition("=")[0] if isinstance(argument, str) else ""
        if name in plugin.aliases:
            right = plugin.aliases[name]
            reason = f"Volcano's guide calls this --{name}, its code --{right}; it is taken for --{right}"
            path = f"spec.plugins.{plugin.name}[{position}]"
            yield Problem(path, "Warning", reason, f"write --{right}", code="VJ114")


def _closure(plugins: Mapping[str, Plugin]) -> dict[str, Plugin]:
    closed = dict(plugins)
    waiting = list(plugins.values())
    while waiting:
        for name in sorted(waiting.pop().requires - closed.keys()):
            plugin = registry.find(name)
            if plugin:
                closed[name] = plugin()
                waiting.append(closed[name])
    return closed


def _defaulted_uses(uses: Uses, read: Mapping[str, Plugin], plugins: Mapping[str, Plugin], *, strict: bool) -> Uses:
    """Keep the arguments as they were given; add what other plugins brought in, and what was chosen.

    Arguments of upstream's documents that its code does not know are written as what they mean.
    """
    given: dict[str, Any] = {name: use for name, use in uses.items() if use is not None}
    for name, plugin in plugins.items():
        if not _are_same(plugin, read.get(name, type(plugin)())) or (strict and plugin.aliases and name in given):
            given[name] = plugin
        given.setdefault(name, ())
    return given


def _are_same(plugin: Plugin, other: Plugin) -> bool:
    # A leaf cannot be compared.
    return plugin is other or (not has_leaf([vars(plugin), vars(other)]) and plugin == other)


def plugin_place(problem: Problem, job: Job, choices: Choices) -> Problem:
    """Move a problem of a plugin's setting to the option or the argument that gave it, so that it can be found."""
    where = problem.path.removeprefix("spec.plugins.")
    if where == problem.path:
        return problem
    name, _, setting = where.partition(".")
    if setting.partition("[")[0] in choices.get("plugin_options", {}).get(name, ()):
        return replace(problem, path=f"plugin_options.{where}")
    use, plugin, head = job.uses.get(name), registry.find(name), f"spec.plugins.{name}"
    if plugin is None or use is None or isinstance(use, PluginSettings):
        return problem
    argument = flag_of(plugin, setting)
    if not argument:
        return problem
    positions = [
        index for index, arg in enumerate(use) if isinstance(arg, str) and arg.lstrip("-").partition("=")[0] == argument
    ]
    path = f"{head}[{positions[-1]}]" if positions else head
    return replace(problem, path=path, reason=f"--{argument}: {problem.reason}")


def _unknown_fields(model: Model, path: str = "") -> Iterator[Problem]:
    root = isinstance(model, Job)
    fields = type(model).model_fields
    for key in model.model_extra or {}:
        known = [field.alias or name for name, field in fields.items()]
        place = _job_place(key) if root else paths.join(path, key)
        yield Problem(
            place, "Forbidden", "unknown field; Volcano drops it", schema.nearest(key.rpartition(".")[2], known)
        )
    for name, field in fields.items():
        value, alias = getattr(model, name), field.alias or name
        place = _job_place(alias) if root else paths.join(path, alias)
        if isinstance(value, Model):
            yield from _unknown_fields(value, place)
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, Model):
                    yield from _unknown_fields(item, paths.join(place, index))


def _job_place(key: str) -> str:
    """Spell the place of a key of the flat job (see `Job._flatten` for the prefixes)."""
    if key.startswith("."):
        return key.removeprefix(".")
    if key.startswith("spec."):
        return key
    return paths.join("metadata" if key in IN_METADATA else "spec", key)
