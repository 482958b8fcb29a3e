"""The checks of the rules, which yield the problems of a resource and its values that are still unknown."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pulumi_volcano_jobs.admission.defaults import QUEUE
from pulumi_volcano_jobs.component.plugin_components import PLAIN_SECRETS, POD_SPEC
from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, value_text
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_PULUMI, Phrase
from pulumi_volcano_jobs.core.resource_types import CONFIG_MAP, JOB, POD, POD_GROUP, TASK
from pulumi_volcano_jobs.core.tree import placed_scalars
from pulumi_volcano_jobs.kubernetes import images, quantity
from pulumi_volcano_jobs.kubernetes.container_lists import (
    CONTAINER_LISTS,
    CONTAINERS,
    EPHEMERAL_CONTAINERS,
    INIT_CONTAINERS,
)
from pulumi_volcano_jobs.plugins import Plugin, PytorchPlugin, SshPlugin, SvcPlugin, wait_containers
from pulumi_volcano_jobs.policy.resources import (
    Findings,
    PodSpec,
    PolicyInput,
    UnknownValue,
    items,
    pod_specs,
    task_of,
    value_at,
)

PluginT = TypeVar("PluginT", bound=Plugin)

_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----")
_ENCODED = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{10,}")  # "-----BEGIN" in base64
_HEAD = 64  # characters of base64 that hold the first line of a key
_MAKE_SVC = frozenset({"mpi", "pytorch", "ray", "tensorflow"})


@dataclass(frozen=True)
class PolicyJob:
    """A job in a stack, in either mode."""

    place: str
    urn: str
    pods: int | UnknownValue
    at_once: int | UnknownValue
    """The minimum number of Pods that start together."""
    has_svc: bool
    """Whether the job uses svc, directly or through a plugin that requires it."""
    has_policy: bool | UnknownValue
    """Whether a NetworkPolicy protects the Pods."""


def queue(resource: PolicyInput, allowed: Sequence[str]) -> Findings:
    """Yield a Problem for a job in a queue that is not allowed."""
    if resource.kind != JOB.token and not (resource.kind == POD_GROUP.token and resource.is_ours):
        return
    queue_name = value_at(resource.props, "spec", "queue")
    if isinstance(queue_name, UnknownValue):
        yield queue_name
        return
    name = queue_name or QUEUE
    if name not in allowed:
        value = f"{value_text(name)} (the default queue)" if name == QUEUE else value_text(name)
        reason = f"supported values: {', '.join(map(value_text, sorted(allowed))) or 'none'}"
        yield Problem(f"{resource.job}: spec.queue", "NotSupported", reason, value=value)


def registry(resource: PolicyInput, allowed: Sequence[str]) -> Findings:
    """Yield a Problem for each image from a registry that is not allowed, including init containers and volumes."""
    for place, image in _images(resource):
        if isinstance(image, UnknownValue):
            yield image
        elif isinstance(image, str) and image and not images.is_within(image, allowed):
            full = images.repository(image)
            value = value_text(image) if image.startswith(full) else f"{value_text(image)} ({full})"
            reason = "the registry is not allowed"
            yield Problem(place, "NotSupported", reason, f"use an image from {_either(allowed)}", value)


def requests(resource: PolicyInput, names: Sequence[str], *, init_containers: bool) -> Findings:
    """Yield a Problem for each container without requests. A limit is sufficient: it is the default of a request."""
    for spec in pod_specs(resource):
        if isinstance(spec, UnknownValue):
            yield spec
            continue
        for container in _containers(spec, every=init_containers):
            yield from _unrequested(spec, container, names)


def host_network(resource: PolicyInput) -> Findings:
    """Yield a Problem for each Pod on the network of its node."""
    for spec in pod_specs(resource):
        uses_host_network = spec if isinstance(spec, UnknownValue) else value_at(spec.fields, "hostNetwork")
        if isinstance(uses_host_network, UnknownValue):
            yield uses_host_network
        elif uses_host_network is True and isinstance(spec, PodSpec):
            reason = "Pods may not use the network of their node"
            hint = "remove it, and use the svc plugin for Pod addresses"
            yield Problem(f"{spec.place}: hostNetwork", "Forbidden", reason, hint, "true")


def plain_keys(resource: PolicyInput, parent: str) -> Findings:
    """Yield a Problem for each readable private key in the program, a Job, a Pod or a ConfigMap, without its value."""
    plain_settings = value_at(resource.props, PLAIN_SECRETS)
    for setting in items(plain_settings):
        if isinstance(setting, UnknownValue):
            yield setting
        else:
            reason = "may not be in plain text, which all readers of the program or the stack's settings can read"
            hint = (
                'use a secret (in Python: pulumi.Config().require_secret("key")), or remove it to generate a key pair'
            )
            yield Problem(f"job {parent}: {setting}", "Forbidden", reason, hint)
    if resource.kind == JOB.token:
        yield from _key_of_job(resource)
    if resource.kind == JOB.token or (resource.kind == CONFIG_MAP.token and resource.is_ours):
        kind, name = resource.kind.rpartition(":")[2], value_at(resource.props, "metadata", "name")
        yield from _plain_keys(f"{kind} {name}", resource.props)
    elif resource.kind == TASK:
        yield from _plain_keys(task_of(resource), value_at(resource.props, POD_SPEC))
    elif resource.kind == POD.token and resource.is_ours:
        # The message is the same as for the task, so that `ReportedFindings` skips it.
        yield from _plain_keys(task_of(resource), value_at(resource.props, "spec"))
        yield from _plain_keys(task_of(resource), {"metadata": value_at(resource.props, "metadata")})


def gang(job: PolicyJob, share: float) -> Findings:
    """Yield a Problem for a job if too few of its Pods must start together."""
    if isinstance(job.pods, UnknownValue) or isinstance(job.at_once, UnknownValue):
        yield from (value for value in (job.pods, job.at_once) if isinstance(value, UnknownValue))
    elif job.pods > 1:
        # Round first, because 0.1 * 30 is more than 3.
        minimum = max(2, math.ceil(round(share * job.pods, 6)))
        if job.at_once < minimum:
            reason = f"must be at least {minimum}, because the job has {job.pods} Pods that must start together"
            hint = f"remove minAvailable from the job and its tasks, or set it to {minimum}"
            yield Problem(f"{job.place}: spec.minAvailable", "Invalid", reason, hint, str(job.at_once))


def network_policy(job: PolicyJob, *, every_job: bool) -> Findings:
    """Yield a Problem for a job without a NetworkPolicy."""
    if isinstance(job.has_policy, UnknownValue):
        yield job.has_policy
    elif job.has_svc and not job.has_policy:
        reason = "without its NetworkPolicy, all Pods in the cluster can connect to the job"
        hint = "remove disable_network_policy, and add other clients to svc.allow"
        yield Problem(f"{job.place}: svc", "Forbidden", reason, hint)
    elif every_job and not job.has_policy:
        reason = "the job must have a NetworkPolicy"
        yield Problem(f"{job.place}: plugins", "Required", reason, "add the svc plugin, which creates one")


def job_of(resource: PolicyInput) -> PolicyJob:
    """Return the PolicyJob of a Volcano Job."""
    uses = value_at(resource.props, "spec", "plugins")
    has_svc = isinstance(uses, Mapping) and not uses.keys().isdisjoint({"svc", *_MAKE_SVC})
    svc = _plugin(resource, SvcPlugin)
    is_disabled = svc if isinstance(svc, UnknownValue) else bool(svc and svc.disable_network_policy)
    tasks = items(value_at(resource.props, "spec", "tasks"))
    sizes = [_number(value_at(task, "replicas"), default=0) for task in tasks]
    minimums = [_least(task, size) for task, size in zip(tasks, sizes, strict=True)]
    return PolicyJob(
        place=resource.job,
        urn=resource.urn,
        pods=total(sizes),
        at_once=_number(value_at(resource.props, "spec", "minAvailable"), default=0) or total(minimums),
        has_svc=has_svc,
        has_policy=uses
        if isinstance(uses, UnknownValue)
        else is_disabled
        if isinstance(is_disabled, UnknownValue)
        else has_svc and not is_disabled,
    )


def total(numbers: Sequence[int | UnknownValue]) -> int | UnknownValue:
    """Return the sum, or an UnknownValue if a number is unknown."""
    known = [number for number in numbers if not isinstance(number, UnknownValue)]
    missing = [number for number in numbers if isinstance(number, UnknownValue)]
    return missing[0] if missing else sum(known)


def _least(task: Any, size: int | UnknownValue) -> int | UnknownValue:
    """Return the number of Pods of a task that must start together, with the defaults of Volcano's webhook."""
    policy = value_at(task, "partitionPolicy")
    groups, group = (_number(value_at(policy, key), default=0) for key in ("minPartitions", "partitionSize"))
    if isinstance(groups, UnknownValue) or isinstance(group, UnknownValue):
        default = groups if isinstance(groups, UnknownValue) else group
    else:
        default = groups * group or size
    return _number(value_at(task, "minAvailable"), default=default)


def _number(value: Any, *, default: int | UnknownValue) -> int | UnknownValue:
    return value if isinstance(value, (int, UnknownValue)) else default


def _images(resource: PolicyInput) -> Iterator[tuple[str, Any]]:
    for spec in pod_specs(resource):
        if isinstance(spec, UnknownValue):
            yield "", spec
            continue
        for kind in (*CONTAINER_LISTS, EPHEMERAL_CONTAINERS):
            for container in items(value_at(spec.fields, kind)):
                yield f"{spec.place}, container {_name(container)}: image", value_at(container, "image")
        for volume in items(value_at(spec.fields, "volumes")):
            place = f"{spec.place}, volume {_name(volume)}: image.reference"
            yield place, volume if isinstance(volume, UnknownValue) else value_at(volume, "image", "reference")
    pytorch = _plugin(resource, PytorchPlugin)
    if isinstance(pytorch, UnknownValue):
        yield "", pytorch
    elif pytorch and pytorch.wait_master_enabled and any(map(_has_wait_container, _tasks(resource, pytorch.worker))):
        yield f"{resource.job}: pytorch: --wait-master-image", pytorch.wait_master_image


def _tasks(resource: PolicyInput, name: str) -> Iterator[Any]:
    yield from (task for task in items(value_at(resource.props, "spec", "tasks")) if value_at(task, "name") == name)


def _has_wait_container(task: Any) -> bool:
    """Return whether Volcano adds the wait container. It does not if the template has a container with this name."""
    names = [value_at(container, "name") for container in items(value_at(task, "template", "spec", INIT_CONTAINERS))]
    return not any(name == wait_containers.NAME or isinstance(name, UnknownValue) for name in names)


def _plugin(resource: PolicyInput, plugin: type[PluginT]) -> PluginT | UnknownValue | None:
    """Parse the arguments of a plugin in a Job as Volcano does. Return None if the Job does not use the plugin."""
    arguments = value_at(resource.props, "spec", "plugins", plugin.name) if resource.kind == JOB.token else None
    if arguments is None:
        return None
    unknown = [argument for argument in items(arguments) if isinstance(argument, UnknownValue)]
    # Volcano rejects a Job with arguments that are not strings.
    known = [argument for argument in items(arguments) if isinstance(argument, str)]
    return unknown[0] if unknown else plugin.read_args(known, strict=False)[0]


def _key_of_job(resource: PolicyInput) -> Findings:
    ssh = _plugin(resource, SshPlugin)
    if isinstance(ssh, UnknownValue):
        yield ssh
    elif ssh and ssh.ssh_private_key:
        reason = "all users who can read Jobs can read this key"
        or_composed = Phrase(", or use ", MANAGED_BY_PULUMI, ", which stores it in a Secret")
        hint = Phrase("remove it, so that Volcano generates a pair", or_composed)
        yield Problem(f"{resource.job}: ssh: --ssh-private-key", "Forbidden", reason, hint)


def _plain_keys(place: str, tree: Any) -> Findings:
    for path in _keys_in(tree):
        hint = "move it to a Secret, and mount the Secret or refer to it with secretKeyRef"
        yield Problem(f"{place}: {path}", "Forbidden", "may not contain a private key in plain text", hint)


def _keys_in(tree: Any) -> Iterator[str]:
    for path, value in placed_scalars(tree):
        # `_key_of_job` reports keys of the ssh plugin.
        if isinstance(value, str) and _has_key(value) and "spec.plugins.ssh" not in paths.with_parents(path):
            yield path


def _has_key(text: str) -> bool:
    heads = (match.group()[:_HEAD] for match in _ENCODED.finditer(text))
    return bool(_KEY.search(text)) or any(_KEY.search(_decoded(head)) for head in heads)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text[: len(text) // 4 * 4]).decode("latin-1")
    except binascii.Error:
        return ""


def _containers(spec: PodSpec, *, every: bool) -> Iterator[Any]:
    yield from items(value_at(spec.fields, CONTAINERS))
    for container in items(value_at(spec.fields, INIT_CONTAINERS)):
        # Init containers with this policy are sidecars, which run next to the other containers.
        restart = value_at(container, "restartPolicy")
        if every or restart == "Always" or isinstance(restart, UnknownValue):
            yield container


def _unrequested(spec: PodSpec, container: Any, names: Sequence[str]) -> Findings:
    missing = []
    for name in names:
        amounts = [
            value_at(resources, kind, name)
            for resources in (value_at(container, "resources"), value_at(spec.fields, "resources"))
            for kind in ("requests", "limits")
        ]
        if not any(_is_some(amount) for amount in amounts):
            unknown = [amount for amount in amounts if isinstance(amount, UnknownValue)]
            yield from unknown[:1]
            missing += [] if unknown else [name]
    if missing:
        reason = f"the container does not request {' or '.join(missing)}"
        hint = "set requests or limits, which the scheduler needs to place a gang"
        yield Problem(f"{spec.place}, container {_name(container)}: resources.requests", "Required", reason, hint)


def _is_some(amount: Any) -> bool:
    try:
        return not isinstance(amount, UnknownValue) and quantity.parse(amount).nano > 0
    except ValueError:
        return False


def _name(item: Any) -> str:
    name = value_at(item, "name")
    return name if isinstance(name, str) else "(unknown)"


def _either(names: Sequence[str]) -> str:
    *first_names, last = sorted(names) or ["an allowed registry (the list is empty)"]
    return f"{', '.join(first_names)} or {last}" if first_names else last
