"""A small Pod runtime that runs rendered manifests, with the networking, DNS, volumes and rights of Kubernetes.

It replaces kubelet, CNI and DNS in tests. crun runs containers, dnsmasq resolves names, and nftables enforces policies
and Services; this package configures them from manifests. Each Pod has its own namespaces. An unsupported manifest
raises `UnplayableError`: no field is ignored. Intervals are shorter than those of a kubelet.
"""

from __future__ import annotations

from tests.workloads.player.cluster import Cluster
from tests.workloads.player.image import Image
from tests.workloads.player.manifests import Manifest, UnplayableError, read
from tests.workloads.player.node import Node

__all__ = ["Cluster", "Image", "Manifest", "Node", "UnplayableError", "read"]
