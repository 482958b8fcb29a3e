"""Compute minResources of a PodGroup.

Upstream: `calcPGMinResources` of Volcano's job controller. It computes the usage of a Pod with Kubernetes' resource
quota (`PodUsageFunc`; Volcano ed72c7c vendors 1.36.1) from the template as written: a limit without a request is not a
request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pulumi_volcano_jobs.kubernetes.container_lists import INIT_CONTAINERS, containers_in
from pulumi_volcano_jobs.kubernetes.quantity import Quantity, parse
from pulumi_volcano_jobs.kubernetes.validation.resources import COMPUTE, HUGE_PAGES, is_extended, is_of_pods

Amounts = dict[str, Quantity]

# Prefix of a device class as a resource (DRA). Its domain is native, but quota also tracks its requests.
_DEVICE_CLASS = "deviceclass.resource.kubernetes.io/"
_ZERO = Quantity(0)


class TaskPods(NamedTuple):
    """The fields of a task that minResources depends on; `spec` is the Pod spec of its template."""

    priority: int
    replicas: int
    min_available: int
    spec: Mapping[str, Any]


def min_resources(tasks: Sequence[TaskPods], min_available: int) -> dict[str, str]:
    """Return the sum of the resources of `min_available` Pods, starting with the tasks of the highest priority."""
    ordered = sorted(tasks, key=lambda task: -task.priority)
    total: Amounts = {}
    for task, count in zip(ordered, _pod_counts(ordered, min_available), strict=True):
        if count:
            _add(total, {name: amount * count for name, amount in _pod_usage(task.spec).items()})
    return {name: str(amount) for name, amount in sorted(total.items())}


def _pod_counts(tasks: Sequence[TaskPods], min_available: int) -> list[int]:
    """Distribute minAvailable over the tasks: first the minimum of each task, then its other replicas."""
    if min_available < sum(task.min_available for task in tasks):
        return _fill(min_available, [task.replicas for task in tasks])
    minimums = _fill(min_available, [task.min_available for task in tasks])
    extra = _fill(min_available - sum(minimums), [task.replicas - task.min_available for task in tasks])
    return [first + second for first, second in zip(minimums, extra, strict=True)]


def _fill(remaining: int, limits: Iterable[int]) -> list[int]:
    counts = []
    for limit in limits:
        counts.append(max(min(remaining, limit), 0))
        remaining -= counts[-1]
    return counts


def _pod_usage(spec: Mapping[str, Any]) -> Amounts:
    one_pod = parse("1")
    usage: Amounts = {"pods": one_pod, "count/pods": one_pod}
    requests, limits = effective_amounts(spec, "requests"), effective_amounts(spec, "limits")
    for name, amount in requests.items():
        if name in COMPUTE or name.startswith(HUGE_PAGES) or is_extended(name):
            usage[name] = amount
            usage[f"requests.{name}"] = amount
        elif name.startswith(_DEVICE_CLASS):
            # Volcano adds the name without `requests.` only for resources outside of kubernetes.io.
            usage[f"requests.{name}"] = amount
    usage |= {f"limits.{name}": limits[name] for name in COMPUTE if name in limits}
    return usage


def effective_amounts(spec: Mapping[str, Any], kind: str) -> Amounts:
    """Return the effective amounts of a Pod as the scheduler computes them: init containers run one after another."""
    total: Amounts = {}
    for container in containers_in(spec):
        _add(total, _amounts(container, kind))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in containers_in(spec, INIT_CONTAINERS):
        amounts = _amounts(container, kind)
        if container.get("restartPolicy") == "Always":
            _add(total, amounts)
            _add(sidecars, amounts)
            # The peak already includes the amounts of the other sidecars.
            amounts = {name: sidecars[name] for name in amounts}
        else:
            _add(amounts, {name: sidecars[name] for name in amounts.keys() & sidecars.keys()})
        _maximum(peak, amounts)
    _maximum(total, peak)
    total |= {name: amount for name, amount in _amounts(spec, kind).items() if is_of_pods(name)}
    overhead = _parsed(spec.get("overhead") or {})
    if kind == "limits":
        overhead = {name: amount for name, amount in overhead.items() if total.get(name, _ZERO).nano}
    _add(total, overhead)
    return total


def _amounts(holder: Mapping[str, Any], kind: str) -> Amounts:
    declared = (holder.get("resources") or {}).get(kind) or {}
    return _parsed(declared)


def _parsed(declared: Mapping[str, Any]) -> Amounts:
    # The value of an Output may contain nulls, which the API server drops.
    return {name: parse(amount) for name, amount in declared.items() if amount is not None}


def _add(total: Amounts, amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, _ZERO) + amount


def _maximum(total: Amounts, amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        if amount.nano > total.get(name, _ZERO).nano or name not in total:
            total[name] = amount
