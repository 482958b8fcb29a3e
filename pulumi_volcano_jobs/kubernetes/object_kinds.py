"""Kinds of Kubernetes objects: their API group, and whether they belong to a namespace."""

from __future__ import annotations

# Groups whose scopes are known. A custom resource of another group is left as it is written.
_GROUPS = frozenset(
    {
        "",
        "apps",
        "autoscaling",
        "batch",
        "batch.volcano.sh",
        "bus.volcano.sh",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "flow.volcano.sh",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "scheduling.volcano.sh",
        "training.volcano.sh",
    }
)
# The kinds of these groups that do not belong to a namespace.
_CLUSTER_SCOPED = frozenset(
    {
        "ClusterRole",
        "ClusterRoleBinding",
        "ComponentStatus",
        "IPAddress",
        "IngressClass",
        "Namespace",
        "Node",
        "PersistentVolume",
        "Queue",
        "ServiceCIDR",
    }
)


def group_of(api_version: str) -> str:
    """Return the group of an apiVersion; empty for the core group."""
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


def is_namespaced(api_version: str, kind: str) -> bool:
    """Check whether objects of a kind are known to belong to a namespace."""
    return group_of(api_version) in _GROUPS and kind not in _CLUSTER_SCOPED
