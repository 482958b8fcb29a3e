"""The rules themselves: resources in, problems out, and what could not be looked at yet."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pulumi_volcano_jobs.admission.defaults import QUEUE
from pulumi_volcano_jobs.component.plugin_components import PLAIN_SECRETS, POD_SPEC, TASK
from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, shown
from pulumi_volcano_jobs.kubernetes import images, quantity
from pulumi_volcano_jobs.plugins import Plugin, PytorchPlugin, SshPlugin, SvcPlugin, wait_containers
from pulumi_volcano_jobs.policy.resources import (
    CONFIG_MAP,
    JOB,
    POD,
    POD_GROUP,
    Found,
    PodSpec,
    Seen,
    Unknown,
    at,
    items,
    pod_specs,
    task_of,
)

PluginT = TypeVar("PluginT", bound=Plugin)

_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----")
_ENCODED = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{10,}")  # "-----BEGIN" in base64
_HEAD = 64  # characters of base64 that hold the first line of a key
_MAKE_SVC = frozenset({"mpi", "pytorch", "ray", "tensorflow"})


@dataclass(frozen=True)
class JobSeen:
    """A job of a stack, in either mode."""

    place: str
    urn: str
    pods: int | Unknown
    at_once: int | Unknown
    """How many Pods start at once, or not at all."""
    has_svc: bool
    """Whether svc gives the Pods their addresses, or another plugin that brings svc along."""
    has_policy: bool | Unknown
    """Whether a NetworkPolicy keeps others from the Pods."""


def queue(seen: Seen, allowed: Sequence[str]) -> Found:
    """Find a job in a queue that is not on the list."""
    if seen.kind != JOB and not (seen.kind == POD_GROUP and seen.is_ours):
        return
    given = at(seen.props, "spec", "queue")
    if isinstance(given, Unknown):
        yield given
        return
    name = given or QUEUE
    if name not in allowed:
        value = f"{shown(name)}, which a job is in that names none" if name == QUEUE else shown(name)
        yield Problem(
            f"{seen.job}: spec.queue", "NotSupported", "this queue is not on the list", f"use {_either(allowed)}", value
        )


def registry(seen: Seen, allowed: Sequence[str]) -> Found:
    """Find images that are not of a registry of the list, those of init containers and volumes too."""
    for place, image in _images(seen):
        if isinstance(image, Unknown):
            yield image
        elif isinstance(image, str) and image and not images.is_within(image, allowed):
            full = images.repository(image)
            value = shown(image) if image.startswith(full) else f"{shown(image)}, which is of {full}"
            reason = "its registry is not on the list"
            yield Problem(place, "NotSupported", reason, f"use an image of {_either(allowed)}", value)


def requests(seen: Seen, names: Sequence[str], *, init_containers: bool) -> Found:
    """Find containers that do not request these resources; a limit counts, since it is the default of a request."""
    for spec in pod_specs(seen):
        if isinstance(spec, Unknown):
            yield spec
            continue
        for container in _containers(spec, every=init_containers):
            yield from _unrequested(spec, container, names)


def host_network(seen: Seen) -> Found:
    """Find Pods on the network of their node."""
    for spec in pod_specs(seen):
        given = spec if isinstance(spec, Unknown) else at(spec.fields, "hostNetwork")
        if isinstance(given, Unknown):
            yield given
        elif given is True and isinstance(spec, PodSpec):
            reason = "Pods may not use the network of their node"
            hint = "remove it; the svc plugin gives each Pod an address of its own"
            yield Problem(f"{spec.place}: hostNetwork", "Forbidden", reason, hint, "true")


def plain_keys(seen: Seen, parent: str) -> Found:
    """Find private keys that others can read: in the program, in a Job, a Pod or a ConfigMap. No value is told."""
    given = at(seen.props, PLAIN_SECRETS)
    for setting in items(given):
        if isinstance(setting, Unknown):
            yield setting
        else:
            reason = "this is given in plain text, readable to all who can read the program or the stack's settings"
            hint = (
                'give a secret (in Python pulumi.Config().require_secret("key")), or leave it out for a pair of its own'
            )
            yield Problem(f"job {parent}: {setting}", "Forbidden", reason, hint)
    if seen.kind == JOB:
        yield from _key_of_job(seen)
    if seen.kind == JOB or (seen.kind == CONFIG_MAP and seen.is_ours):
        kind, name = seen.kind.rpartition(":")[2], at(seen.props, "metadata", "name")
        yield from _open_keys(f"{kind} {name}", seen.props)
    elif seen.kind == TASK:
        yield from _open_keys(task_of(seen), at(seen.props, POD_SPEC))
    elif seen.kind == POD and seen.is_ours:
        # The same message as for its task, so that `Reported` skips it.
        yield from _open_keys(task_of(seen), at(seen.props, "spec"))
        yield from _open_keys(task_of(seen), {"metadata": at(seen.props, "metadata")})


def gang(job: JobSeen, share: float) -> Found:
    """Find a job of which too few Pods start at once."""
    if isinstance(job.pods, Unknown) or isinstance(job.at_once, Unknown):
        yield from (value for value in (job.pods, job.at_once) if isinstance(value, Unknown))
    elif job.pods > 1:
        # Rounded first: 0.1 * 30 is more than 3.
        least = max(2, math.ceil(round(share * job.pods, 6)))
        if job.at_once < least:
            reason = f"of the job's {job.pods} Pods at least {least} must start at once"
            hint = f"leave minAvailable out of the job and its tasks, or give {least}"
            yield Problem(f"{job.place}: spec.minAvailable", "Invalid", reason, hint, str(job.at_once))


def network_policy(job: JobSeen, *, every_job: bool) -> Found:
    """Find a job whose Pods everybody can reach."""
    if isinstance(job.has_policy, Unknown):
        yield job.has_policy
    elif job.has_svc and not job.has_policy:
        reason = "without its NetworkPolicy everybody in the cluster can reach the job's Pods"
        hint = "remove disable_network_policy; svc's option allow lets others in, by name"
        yield Problem(f"{job.place}: svc", "Forbidden", reason, hint)
    elif every_job and not job.has_policy:
        reason = "no NetworkPolicy keeps others from the job's Pods"
        yield Problem(f"{job.place}: plugins", "Required", reason, "add the svc plugin, which makes one")


def job_of(seen: Seen) -> JobSeen:
    """Read a Job of Volcano's."""
    uses = at(seen.props, "spec", "plugins")
    has_svc = isinstance(uses, Mapping) and not uses.keys().isdisjoint({"svc", *_MAKE_SVC})
    svc = _plugin(seen, SvcPlugin)
    off = svc if isinstance(svc, Unknown) else bool(svc and svc.disable_network_policy)
    tasks = items(at(seen.props, "spec", "tasks"))
    sizes = [_number(at(task, "replicas"), default=0) for task in tasks]
    least = [_least(task, size) for task, size in zip(tasks, sizes, strict=True)]
    return JobSeen(
        place=seen.job,
        urn=seen.urn,
        pods=total(sizes),
        at_once=_number(at(seen.props, "spec", "minAvailable"), default=0) or total(least),
        has_svc=has_svc,
        has_policy=uses if isinstance(uses, Unknown) else off if isinstance(off, Unknown) else has_svc and not off,
    )


def total(numbers: Sequence[int | Unknown]) -> int | Unknown:
    """Add; with a number that is not known, the sum is not."""
    known = [number for number in numbers if not isinstance(number, Unknown)]
    missing = [number for number in numbers if isinstance(number, Unknown)]
    return missing[0] if missing else sum(known)


def _least(task: Any, size: int | Unknown) -> int | Unknown:
    """Read how many Pods of a task must start at once, with the defaults of Volcano's webhook."""
    policy = at(task, "partitionPolicy")
    groups, group = (_number(at(policy, key), default=0) for key in ("minPartitions", "partitionSize"))
    if isinstance(groups, Unknown) or isinstance(group, Unknown):
        default = groups if isinstance(groups, Unknown) else group
    else:
        default = groups * group or size
    return _number(at(task, "minAvailable"), default=default)


def _number(given: Any, *, default: int | Unknown) -> int | Unknown:
    return given if isinstance(given, (int, Unknown)) else default


def _images(seen: Seen) -> Iterator[tuple[str, Any]]:
    for spec in pod_specs(seen):
        if isinstance(spec, Unknown):
            yield "", spec
            continue
        for kind in ("initContainers", "containers", "ephemeralContainers"):
            for container in items(at(spec.fields, kind)):
                yield f"{spec.place}, container {_name(container)}: image", at(container, "image")
        for volume in items(at(spec.fields, "volumes")):
            place = f"{spec.place}, volume {_name(volume)}: image.reference"
            yield place, volume if isinstance(volume, Unknown) else at(volume, "image", "reference")
    pytorch = _plugin(seen, PytorchPlugin)
    if isinstance(pytorch, Unknown):
        yield "", pytorch
    elif pytorch and pytorch.wait_master_enabled and any(map(_gets_wait, _tasks(seen, pytorch.worker))):
        yield f"{seen.job}: pytorch: --wait-master-image", pytorch.wait_master_image


def _tasks(seen: Seen, name: str) -> Iterator[Any]:
    yield from (task for task in items(at(seen.props, "spec", "tasks")) if at(task, "name") == name)


def _gets_wait(task: Any) -> bool:
    """Tell whether Volcano adds the container that waits for the master: not where the template has one of its name."""
    names = [at(container, "name") for container in items(at(task, "template", "spec", "initContainers"))]
    return not any(name == wait_containers.NAME or isinstance(name, Unknown) for name in names)


def _plugin(seen: Seen, plugin: type[PluginT]) -> PluginT | Unknown | None:
    """Read a plugin's arguments in a Job as Volcano does; None if the Job does not use it."""
    arguments = at(seen.props, "spec", "plugins", plugin.name) if seen.kind == JOB else None
    if arguments is None:
        return None
    unknown = [argument for argument in items(arguments) if isinstance(argument, Unknown)]
    # A Job with others than strings is refused by Volcano.
    known = [argument for argument in items(arguments) if isinstance(argument, str)]
    return unknown[0] if unknown else plugin.read_args(known, strict=False)[0]


def _key_of_job(seen: Seen) -> Found:
    ssh = _plugin(seen, SshPlugin)
    if isinstance(ssh, Unknown):
        yield ssh
    elif ssh and ssh.ssh_private_key:
        reason = "everybody who can read Jobs can read this key"
        hint = 'leave it out, so that Volcano makes a pair; with managed_by="pulumi" a key lies in a Secret'
        yield Problem(f"{seen.job}: ssh: --ssh-private-key", "Forbidden", reason, hint)


def _open_keys(place: str, tree: Any) -> Found:
    for path in _keys_in(tree):
        hint = "put it into a Secret, and mount that or refer to it with secretKeyRef"
        yield Problem(f"{place}: {path}", "Forbidden", "a private key stands here in plain text", hint)


def _keys_in(tree: Any, path: str = "") -> Iterator[str]:
    if path == "spec.plugins.ssh":  # told by its flag
        return
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from _keys_in(value, paths.join(path, str(key)))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from _keys_in(value, paths.join(path, index))
    elif isinstance(tree, str) and _has_key(tree):
        yield path


def _has_key(text: str) -> bool:
    heads = (found.group()[:_HEAD] for found in _ENCODED.finditer(text))
    return bool(_KEY.search(text)) or any(_KEY.search(_decoded(head)) for head in heads)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text[: len(text) // 4 * 4]).decode("latin-1")
    except binascii.Error:
        return ""


def _containers(spec: PodSpec, *, every: bool) -> Iterator[Any]:
    yield from items(at(spec.fields, "containers"))
    for container in items(at(spec.fields, "initContainers")):
        # One that always restarts goes on beside the others.
        restart = at(container, "restartPolicy")
        if every or restart == "Always" or isinstance(restart, Unknown):
            yield container


def _unrequested(spec: PodSpec, container: Any, names: Sequence[str]) -> Found:
    missing = []
    for name in names:
        amounts = [
            at(resources, kind, name)
            for resources in (at(container, "resources"), at(spec.fields, "resources"))
            for kind in ("requests", "limits")
        ]
        if not any(_is_some(amount) for amount in amounts):
            unknown = [amount for amount in amounts if isinstance(amount, Unknown)]
            yield from unknown[:1]
            missing += [] if unknown else [name]
    if missing:
        reason = f"the container requests no {' and no '.join(missing)}"
        hint = "the scheduler places a gang by what its Pods request, so say what it needs"
        yield Problem(f"{spec.place}, container {_name(container)}: resources.requests", "Required", reason, hint)


def _is_some(amount: Any) -> bool:
    try:
        return not isinstance(amount, Unknown) and quantity.parse(amount).nano > 0
    except ValueError:
        return False


def _name(item: Any) -> str:
    name = at(item, "name")
    return name if isinstance(name, str) else "(not known yet)"


def _either(names: Sequence[str]) -> str:
    *others, last = sorted(names) or ["none, since the list is empty"]
    return f"{', '.join(others)} or {last}" if others else last
