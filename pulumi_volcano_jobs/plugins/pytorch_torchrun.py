"""Variables of torchrun (`PET_*`), which set its flags. Flags on the command line take precedence.

Upstream: torch/distributed/run.py, torch/distributed/argparse_util.py and torch/distributed/elastic/rendezvous.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.core.leaf import Leaf, derive
from pulumi_volcano_jobs.kubernetes import quantity
from pulumi_volcano_jobs.kubernetes.manifest import Container
from pulumi_volcano_jobs.plugins.resource_requests import is_accelerator, nano_of

PER_REQUEST = "request"
DEVICES = ("auto", "gpu", "cpu", "xpu", "npu")
"""The device types that torchrun counts when it starts."""

NNODES = "PET_NNODES"


def fixed_world(nodes: int, rank: int, address: str, port: int) -> dict[str, str]:
    """Return the variables of a job with a fixed number of nodes and ranks."""
    return {
        "PET_MASTER_ADDR": address,
        "PET_MASTER_PORT": str(port),
        NNODES: str(nodes),
        "PET_NODE_RANK": str(rank),
    }


def elastic_world(
    min_nodes: int, max_nodes: int, max_restarts: int, job: str, address: str, port: int, *, is_host: bool
) -> dict[str, str]:
    """Return the variables of an elastic job. They are the same for all Pods of a task.

    They set the host of the rendezvous explicitly, because torchrun would guess it from names and addresses (pytorch
    73656).
    """
    return {
        "PET_MAX_RESTARTS": str(max_restarts),
        NNODES: f"{min_nodes}:{max_nodes}",
        "PET_RDZV_BACKEND": "c10d",
        "PET_RDZV_CONF": f"is_host={int(is_host)}",
        "PET_RDZV_ENDPOINT": f"{address}:{port}",
        "PET_RDZV_ID": job,
    }


def processes(container: Container) -> Any:
    """Return the number of accelerators that a container requests: a string, a leaf if it is unknown, or None.

    Kubernetes requires a limit for each accelerator, and a request may not differ from the limit.
    """
    resources = container.fields.get("resources")
    limits = resources if isinstance(resources, Leaf) else (resources or {}).get("limits")
    # The keys of an unknown mapping are also unknown.
    if isinstance(limits, Leaf):
        return derive(lambda known: _total(_amounts((known or {}).get("limits"))), resources)
    amounts = _amounts(limits)
    return derive(_total, amounts) if amounts else None


def _amounts(limits: Mapping[str, Any] | None) -> list[Any]:
    return [amount for name, amount in (limits or {}).items() if is_accelerator(name)]


def _total(amounts: Sequence[Any]) -> str:
    # Without accelerators, torchrun starts one process by default.
    return str(max(sum(map(nano_of, amounts)) // quantity.NANO, 1))
