"""The allow-list of the svc plugin, and its NetworkPolicies."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, key_text, not_plain, value_text
from pulumi_volcano_jobs.core.leaf import Leaf, Text
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.core.tree import without_none
from pulumi_volcano_jobs.kubernetes import validation
from pulumi_volcano_jobs.kubernetes.manifest import TASK_SPEC, Manifest, network_policy, pod_selector
from pulumi_volcano_jobs.kubernetes.validation.ports import NAME_RULE, PORT_RULE, is_port, is_port_name
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.spec import naming


class Allow(TypedDict, total=False):
    """Clients that may connect to ports of the job's Pods, in addition to the Pods themselves.

    Without `namespaces`, `pods` and `cidrs`, all clients may connect. A key that is None is not set.
    """

    ports: Sequence[int | str] | None
    """TCP ports, by number or by the name in a container. The default is all ports."""
    namespaces: Mapping[str, Text | None] | None
    """Labels of the namespaces of the clients. `{}` selects all namespaces. The default is the job's namespace."""
    pods: Mapping[str, Text | None] | None
    """Labels of the Pods in `namespaces` that may connect."""
    cidrs: Sequence[Text] | None
    """Addresses that may also connect."""
    task: str | None
    """The task whose Pods accept the connections. The default is all Pods of the job."""


def without_none_keys(entries: Sequence[Any]) -> Sequence[Any]:
    """Return the entries without keys and labels that are None, which must not select all clients."""
    return [
        {key: without_none(value) for key, value in entry.items() if value is not None}
        if isinstance(entry, Mapping)
        else entry
        for entry in entries
    ] or entries


def check_entries(entries: Sequence[Any], path: str) -> Iterator[Problem]:
    """Yield problems of the entries that do not depend on the job."""
    for index, entry in enumerate(entries):
        place = paths.join(path, index)
        if not isinstance(entry, Mapping):
            yield _type_problem(entry, place, "must be a mapping", 'use an entry such as {"ports": [8265]}')
        elif not entry.keys() - {"task"}:
            reason = "an entry without ports, namespaces, pods and cidrs would allow all connections"
            hint = "set at least one of them"
            yield Problem(place, "Required", reason, hint, value_text(entry), RejectionStage.DECODE)
        else:
            for key, value in entry.items():
                yield from _field(key, value, paths.join(place, key_text(key)))


def network_policies(entries: Sequence[Allow], ctx: JobContext) -> list[Manifest]:
    """Return one NetworkPolicy for the entries without a task, and one for each task. NetworkPolicies are additive."""
    rules: dict[str, list[Manifest]] = {}
    for entry in entries:
        rules.setdefault(entry.get("task") or "", []).append(_rule(entry))
    return [
        network_policy(
            naming.allow_policy(ctx.name, task),
            ctx.namespace,
            pod_selector(ctx.name, ctx.namespace) | ({TASK_SPEC: task} if task else {}),
            ingress,
        )
        for task, ingress in rules.items()
    ]


def _rule(entry: Allow) -> Manifest:
    selectors = (("namespaceSelector", entry.get("namespaces")), ("podSelector", entry.get("pods")))
    peer = {kind: {"matchLabels": dict(labels)} if labels else {} for kind, labels in selectors if labels is not None}
    blocks = [{"ipBlock": {"cidr": cidr}} for cidr in entry.get("cidrs") or ()]
    sources = [*([peer] if peer else []), *blocks]
    ports = [{"port": port, "protocol": "TCP"} for port in entry.get("ports") or ()]
    return ({"from": sources} if sources else {}) | ({"ports": ports} if ports else {})


def _field(key: str, value: Any, path: str) -> Iterator[Problem]:
    if key not in _FIELDS:
        yield Problem(
            path,
            "Forbidden",
            "unknown key",
            suggestion(key_text(key), _FIELDS),
            stage=RejectionStage.DECODE,
        )
    else:
        yield from _FIELDS[key](value, path)


def _list(check: Callable[[Any, str], Iterator[Problem]], meaning: str) -> Callable[[Any, str], Iterator[Problem]]:
    def checked(value: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, (list, tuple)):
            yield _type_problem(value, path, "must be a list")
        elif not value:
            reason, hint = f"may not be empty, because Kubernetes would allow {meaning}", f"omit it to allow {meaning}"
            yield Problem(path, "Invalid", reason, hint, value_text(value), RejectionStage.DECODE)
        else:
            for index, item in enumerate(value):
                yield from check(item, paths.join(path, index))

    return checked


def _port(value: Any, path: str) -> Iterator[Problem]:
    if isinstance(value, str):
        if not is_port_name(value):
            yield Problem(path, "Invalid", NAME_RULE, value=value_text(value), stage=RejectionStage.API)
    elif isinstance(value, bool) or not isinstance(value, int):
        yield _type_problem(value, path, "must be a port number or a port name")
    elif not is_port(value):
        yield Problem(path, "Invalid", PORT_RULE, value=value_text(value), stage=RejectionStage.API)


def _labels(value: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield _type_problem(value, path, "must be a mapping of labels", 'use labels such as {"app": "prometheus"}')
        return
    invalid = {
        key: item for key, item in value.items() if not isinstance(item, (str, Leaf)) or not isinstance(key, str)
    }
    for key, item in invalid.items():
        yield _type_problem(
            item, paths.join(path, key_text(key)), "labels and their values must be strings", "put it in quotes"
        )
    yield from validation.labels(
        {key: item for key, item in value.items() if key not in invalid}, path, RejectionStage.API
    )


def _cidr(value: Any, path: str) -> Iterator[Problem]:
    if isinstance(value, Leaf):
        return
    hint = "use a network with its prefix length, such as 10.0.0.0/8, 10.1.2.3/32 or fd00::/8"
    if not isinstance(value, str):
        yield _type_problem(value, path, "must be a string", hint)
    elif not _is_network(value):
        yield Problem(
            path, "Invalid", "must be a network in CIDR notation", hint, value_text(value), RejectionStage.API
        )


def _is_network(text: str) -> bool:
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        return False
    # Python also accepts masks, zones, prefix lengths with a leading 0 and IPv4-mapped addresses.
    is_mapped = isinstance(network, ipaddress.IPv6Network) and network.network_address.ipv4_mapped is not None
    return "%" not in text and text.partition("/")[2] == str(network.prefixlen) and not is_mapped


def _task(value: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, str) or not value:
        yield _type_problem(value, path, "must be the name of a task", "omit it for all Pods of the job")


def _type_problem(value: Any, path: str, reason: str, hint: str = "") -> Problem:
    if isinstance(value, Leaf):
        return not_plain(path, hint)
    return Problem(path, "TypeInvalid", reason, hint, value_text(value), RejectionStage.DECODE)


_FIELDS: Mapping[str, Callable[[Any, str], Iterator[Problem]]] = {
    "ports": _list(_port, "all ports"),
    "namespaces": _labels,
    "pods": _labels,
    "cidrs": _list(_cidr, "all clients"),
    "task": _task,
}
