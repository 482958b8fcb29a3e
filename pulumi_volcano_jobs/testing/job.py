"""A `VolcanoJob` of a program under test, and its objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from pulumi_volcano_jobs.component.lookup import NamedItems, NotFound
from pulumi_volcano_jobs.core.resource_types import JOB, TASK
from pulumi_volcano_jobs.core.suggestions import missing
from pulumi_volcano_jobs.testing.pods import Pod, PodTemplate
from pulumi_volcano_jobs.testing.resources import KubernetesObject, Resource
from pulumi_volcano_jobs.testing.values import Wire

T = TypeVar("T", bound=Resource)


class Job(Resource):
    """A `VolcanoJob` of the program. Objects are found by their names in the cluster."""

    @property
    def tasks(self) -> list[str]:
        """The names of the tasks, sorted."""
        return list(self._tasks)

    @property
    def plugins(self) -> Mapping[str, Resource]:
        """The components of the plugins by the plugin's name; `.outputs` are the outputs of a component."""
        components = [item for item in self.children if item.is_component and item.type != TASK]
        return self._by_name("plugin", components, self._short)

    @property
    def pods(self) -> list[Pod]:
        """All Pods by task and index; empty if Volcano creates them."""
        return [pod for task in self._tasks.values() for pod in _pods(task)]

    def pod(self, task: str, index: int) -> Pod:
        """Return a Pod that Pulumi creates.

        Raises:
            KeyError: if the task or the Pod does not exist; the message lists the existing ones.
        """
        pods = _pods(self._tasks[task])
        if self._native_jobs:
            raise NotFound(
                f"the job {self.name} has no Pods, because Volcano creates them: template({task!r}) returns their "
                "template, and manifest the whole Job"
            )
        if not 0 <= index < len(pods):
            raise NotFound(missing("Pod", index, map(str, range(len(pods))), f"the task {task}"))
        return pods[index]

    def template(self, task: str) -> PodTemplate:
        """Return the template of a task whose Pods Volcano creates.

        Raises:
            KeyError: if the task does not exist, or if Pulumi creates the Pods.
        """
        known = self._tasks[task]
        if not self._native_jobs:
            raise NotFound(f"Pulumi creates the Pods of the job {self.name}: pod({task!r}, 0) returns the first one")
        (task_spec,) = (item for item in self.manifest["spec"]["tasks"] if item["name"] == task)
        return PodTemplate(task_spec["template"], f"the template of {known}")

    @property
    def manifest(self) -> Wire:
        """The manifest of the `batch.volcano.sh` Job."""
        for item in self._native_jobs:
            return item.manifest
        raise NotFound(
            f'the job {self.name} has no manifest, because it consists of Pods; with managed_by="volcano" it is one Job'
        )

    @property
    def objects(self) -> list[KubernetesObject]:
        """All Kubernetes objects, including Pods or the Job, in the order in which they were registered."""
        return [item for item in self.below() if isinstance(item, KubernetesObject)]

    @property
    def pod_group(self) -> KubernetesObject:
        """The PodGroup."""
        for item in self._of_kind("PodGroup").values():
            return item
        raise NotFound(f"the job {self.name} has no PodGroup, because Volcano creates it")

    @property
    def services(self) -> Mapping[str, KubernetesObject]:
        """The Services."""
        return self._of_kind("Service")

    @property
    def secrets(self) -> Mapping[str, KubernetesObject]:
        """The Secrets."""
        return self._of_kind("Secret")

    @property
    def config_maps(self) -> Mapping[str, KubernetesObject]:
        """The ConfigMaps."""
        return self._of_kind("ConfigMap")

    @property
    def network_policies(self) -> Mapping[str, KubernetesObject]:
        """The NetworkPolicies."""
        return self._of_kind("NetworkPolicy")

    @property
    def claims(self) -> Mapping[str, KubernetesObject]:
        """The PersistentVolumeClaims."""
        return self._of_kind("PersistentVolumeClaim")

    @cached_property
    def _tasks(self) -> Mapping[str, Resource]:
        components = [item for item in self.children if item.type == TASK]
        # Sorted by name, because a slow transform changes the order of registration.
        return self._by_name("task", sorted(components, key=self._short), self._short, where="")

    @property
    def _native_jobs(self) -> list[KubernetesObject]:
        return [item for item in self.objects if item.type == JOB.token]

    def _of_kind(self, kind: str) -> Mapping[str, KubernetesObject]:
        objects = [item for item in self.objects if item.kind == kind]
        return self._by_name(kind, objects, lambda item: item.object_name)

    def _short(self, part: Resource) -> str:
        return part.name.removeprefix(f"{self.name}-")

    def _by_name(
        self, noun: str, items: Sequence[T], name: Callable[[T], str], where: str | None = None
    ) -> Mapping[str, T]:
        place = f"the job {self.name}" if where is None else where
        return NamedItems(noun, ((name(item), item) for item in items), place)


def _pods(task: Resource) -> list[Pod]:
    pods = [item for item in task.children if isinstance(item, Pod)]
    return sorted(pods, key=lambda pod: int(pod.object_name.rpartition("-")[2]))
