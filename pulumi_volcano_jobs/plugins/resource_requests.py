"""Requested resources of a container, as whole numbers for frameworks.

As in Kubernetes, the limit is the default of the request. Unknown resources result in a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pulumi_volcano_jobs.core.leaf import derive
from pulumi_volcano_jobs.kubernetes import quantity
from pulumi_volcano_jobs.kubernetes.validation.resources import parsed

_SHARED_GPU = "volcano.sh/vgpu-number"
_MIG = "nvidia.com/mig-"
# Accelerators whose resource names do not match the rules above.
_OTHERS = frozenset({"gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi", "huawei.com/Ascend910"})


def gpus(container: Mapping[str, Any]) -> Any:
    """Return the number of GPUs of a container, including slices of a GPU."""
    return derive(partial(_count, counts=_is_gpu), container.get("resources"))


def cpus(container: Mapping[str, Any]) -> Any:
    """Return the number of CPUs of a container, rounded up, or 0 without a request."""
    return derive(partial(_whole, name="cpu"), container.get("resources"))


def memory(container: Mapping[str, Any]) -> Any:
    """Return the memory of a container in bytes, or 0 without a request."""
    return derive(partial(_whole, name="memory"), container.get("resources"))


def is_accelerator(resource: str) -> bool:
    """Return whether a resource is a device that a framework process uses exclusively."""
    return _is_gpu(resource) or resource in _OTHERS


def accelerators(container: Mapping[str, Any]) -> Any:
    """Return the number of accelerators of a container, or 0 without a request."""
    return derive(lambda resources: _count(resources, is_accelerator), container.get("resources"))


def slot_count(container: Mapping[str, Any]) -> Any:
    """Return the number of accelerators of a container, or otherwise of its whole CPUs, and at least 1."""
    return derive(_slots, container.get("resources"))


def _slots(resources: Mapping[str, Any] | None) -> int:
    return _count(resources, is_accelerator) or _nano(resources, "cpu") // quantity.NANO or 1


def _count(resources: Mapping[str, Any] | None, counts: Callable[[str], bool]) -> int:
    names = {name for kind in ("requests", "limits") for name in (resources or {}).get(kind) or ()}
    return sum(_whole(resources, name) for name in names if counts(name))


def _is_gpu(name: str) -> bool:
    return name.endswith("gpu") or name.startswith(_MIG) or name == _SHARED_GPU


def _whole(resources: Mapping[str, Any] | None, name: str) -> int:
    """Round up, as KubeRay does."""
    return -(-_nano(resources, name) // quantity.NANO)


def _nano(resources: Mapping[str, Any] | None, name: str) -> int:
    amounts = [(resources or {}).get(kind) or {} for kind in ("requests", "limits")]
    return next((nano_of(declared[name]) for declared in amounts if name in declared), 0)


def nano_of(amount: Any) -> int:
    """Return an amount in units of 10^-9. An invalid amount is 0, because its validation is elsewhere."""
    return max(parsed(amount) or 0, 0)
