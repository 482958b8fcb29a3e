"""Play rendered manifests: each Pod in namespaces of its own, with Kubernetes' network, names, volumes and rights.

A small kubelet, CNI and DNS for tests. Containers are run by crun, names are told by dnsmasq, policies and Services are
nftables; this package reads manifests and says what those shall do. A manifest is played as it is, or refused
(`UnplayableError`): what this player does not know is never passed over. Times are shorter than a kubelet's.
"""

from __future__ import annotations

from tests.workloads.player.cluster import Cluster
from tests.workloads.player.image import Image
from tests.workloads.player.manifests import Manifest, UnplayableError, read
from tests.workloads.player.node import Node

__all__ = ["Cluster", "Image", "Manifest", "Node", "UnplayableError", "read"]
