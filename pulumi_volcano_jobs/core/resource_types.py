"""The types of resources: the objects in a cluster, and the components of this library in Pulumi."""

from __future__ import annotations

from typing import NamedTuple

PACKAGE = "volcano-jobs"
"""The name of the Pulumi package, and of its configuration in a stack."""


class ObjectType(NamedTuple):
    """A type of objects in a cluster."""

    api_version: str
    kind: str

    @property
    def token(self) -> str:
        """The type in Pulumi, such as `kubernetes:core/v1:Pod`."""
        group = self.api_version if "/" in self.api_version else f"core/{self.api_version}"
        return f"kubernetes:{group}:{self.kind}"


_SCHEDULING = "scheduling.volcano.sh/v1beta1"

CLAIM = ObjectType("v1", "PersistentVolumeClaim")
CONFIG_MAP = ObjectType("v1", "ConfigMap")
JOB = ObjectType("batch.volcano.sh/v1alpha1", "Job")
NETWORK_POLICY = ObjectType("networking.k8s.io/v1", "NetworkPolicy")
POD = ObjectType("v1", "Pod")
POD_GROUP = ObjectType(_SCHEDULING, "PodGroup")
PRIORITY_CLASS = ObjectType("scheduling.k8s.io/v1", "PriorityClass")
QUEUE = ObjectType(_SCHEDULING, "Queue")
SECRET = ObjectType("v1", "Secret")
SERVICE = ObjectType("v1", "Service")


def component_type(name: str) -> str:
    """Return the type in Pulumi of a component, such as `volcano-jobs:index:VolcanoJob`."""
    return f"{PACKAGE}:index:{name}"


VOLCANO_JOB = component_type("VolcanoJob")
VOLCANO_QUEUE = component_type("VolcanoQueue")
TASK = component_type("Task")
