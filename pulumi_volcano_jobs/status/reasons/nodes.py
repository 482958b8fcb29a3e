"""Nodes that a Pod can run on: labels, taints and allocatable amounts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pulumi_volcano_jobs.kubernetes.quantity import Quantity, parse
from pulumi_volcano_jobs.status.fields import Object, condition, listed, mapping, name_of, text, value
from pulumi_volcano_jobs.status.selectors import has_labels, meets

_REPELLING = frozenset({"NoSchedule", "NoExecute"})


def matching(nodes: Iterable[Object], spec: Object) -> list[Object]:
    """Return the nodes that node selector and required node affinity of a Pod accept."""
    wanted = mapping(spec, "nodeSelector")
    terms = listed(
        spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"
    )
    return [node for node in nodes if has_labels(_labels(node), wanted) and _meets_any(node, terms)]


def usable(nodes: Iterable[Object], spec: Object) -> list[Object]:
    """Return the nodes that accept the Pod, as far as labels, taints and conditions decide."""
    return [node for node in matching(nodes, spec) if not untolerated(node, spec) and is_ready(node)]


def is_ready(node: Object) -> bool:
    """Check whether a node is ready and not cordoned."""
    return not value(node, "spec", "unschedulable") and condition(node, "Ready").get("status") != "False"


def untolerated(node: Object, spec: Object) -> list[str]:
    """Return the taints of a node that a Pod does not tolerate."""
    tolerations = listed(spec, "tolerations")
    taints = [item for item in listed(node, "spec", "taints") if text(item, "effect") in _REPELLING]
    return [taint_text(taint) for taint in taints if not any(_tolerates(item, taint) for item in tolerations)]


def taint_text(taint: Object) -> str:
    """Return a taint as kubectl writes it: `key=value:NoSchedule`."""
    content = text(taint, "value")
    return f"{text(taint, 'key')}{f'={content}' if content else ''}:{text(taint, 'effect')}"


def allocatable(node: Object, resource: str) -> Quantity:
    """Return the allocatable amount of a resource; 0 if the node does not have it."""
    return amount(mapping(node, "status", "allocatable").get(resource))


def amount(written: Any) -> Quantity:
    """Parse an amount; 0 if it is not one."""
    try:
        return parse(written)
    except ValueError:
        return Quantity(0)


def labels(nodes: Iterable[Object], key: str) -> list[str]:
    """Return the values of a label, sorted."""
    return sorted({label for node in nodes if (label := text(node, "metadata", "labels", key))})


def names(nodes: Iterable[Object]) -> list[str]:
    """Return the names of nodes."""
    return [name_of(node) for node in nodes]


def _labels(node: Object) -> Object:
    return mapping(node, "metadata", "labels")


def _meets_any(node: Object, terms: list[Object]) -> bool:
    """Check whether a node meets one of the terms of a node affinity, or there are none."""
    name = {"metadata.name": name_of(node)}
    return not terms or any(
        meets(_labels(node), listed(term, "matchExpressions")) and meets(name, listed(term, "matchFields"))
        for term in terms
    )


def _tolerates(toleration: Object, taint: Object) -> bool:
    key, effect = text(toleration, "key"), text(toleration, "effect")
    if effect not in {"", text(taint, "effect")}:
        return False
    if text(toleration, "operator") == "Exists":
        return key in {"", text(taint, "key")}
    return key == text(taint, "key") and text(toleration, "value") == text(taint, "value")
