"""torchrun's own variables (`PET_*`), which stand for its flags; one on the command line counts before them.

Upstream: torch/distributed/run.py, torch/distributed/argparse_util.py and torch/distributed/elastic/rendezvous.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.core.leaf import Leaf, derive
from pulumi_volcano_jobs.kubernetes.manifest import Container
from pulumi_volcano_jobs.plugins.resource_requests import is_accelerator, nano_of

PER_REQUEST = "request"
DEVICES = ("auto", "gpu", "cpu", "xpu", "npu")
"""What torchrun itself counts when it starts."""

NNODES = "PET_NNODES"


def fixed_world(nodes: int, rank: int, address: str, port: int) -> dict[str, str]:
    """Give the variables of a world of so many nodes, each of which knows its rank."""
    return {
        "PET_MASTER_ADDR": address,
        "PET_MASTER_PORT": str(port),
        NNODES: str(nodes),
        "PET_NODE_RANK": str(rank),
    }


def elastic_world(
    min_nodes: int, max_nodes: int, max_restarts: int, job: str, address: str, port: int, *, is_host: bool
) -> dict[str, str]:
    """Give the variables of a world that nodes join and leave; they are the same for all Pods of a task.

    torchrun would guess from names and addresses which node is the host (pytorch 73656), so it is told.
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
    """Count the accelerators that a container asks for: text, a leaf if it is not known yet, None if there are none.

    Kubernetes wants a limit for each, and no other request.
    """
    resources = container.fields.get("resources")
    limits = resources if isinstance(resources, Leaf) else (resources or {}).get("limits")
    # Of a mapping that is not known yet nobody knows its keys.
    if isinstance(limits, Leaf):
        return derive(lambda known: _total(_amounts((known or {}).get("limits"))), resources)
    amounts = _amounts(limits)
    return derive(_total, amounts) if amounts else None


def _amounts(limits: Mapping[str, Any] | None) -> list[Any]:
    return [amount for name, amount in (limits or {}).items() if is_accelerator(name)]


def _total(amounts: Sequence[Any]) -> str:
    # Without an accelerator one process, as torchrun does by itself.
    return str(max(sum(map(nano_of, amounts)) // 10**9, 1))
