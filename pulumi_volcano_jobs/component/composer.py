"""Registration of the children of a job; each mode has a subclass of the composer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi

from pulumi_volcano_jobs.component import dependencies
from pulumi_volcano_jobs.component.error_hooks import Advice, ErrorHooks, kept_claim
from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.component.kubernetes_object import KubernetesObject
from pulumi_volcano_jobs.component.modes import namespace_of_mode
from pulumi_volcano_jobs.component.outputs import Outputs, plain_leaves
from pulumi_volcano_jobs.component.plugin_components import BY_PLUGIN, PLAIN_SECRETS, PluginComponent, TaskComponent
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.plugins.base import PluginOutput
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.ssh_keys import KeyPair
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Job, Task
from pulumi_volcano_jobs.spec.options import ManagedBy

KEYS = KeyPair(Leaf("the ssh plugin's private key"), Leaf("the ssh plugin's public key"))
"""The key pair for rendering; a composer binds its leaves."""


@dataclass(frozen=True, eq=False)
class Build:
    """A rendered job, and the component that its children belong to."""

    component: pulumi.ComponentResource
    resource_name: str
    """The logical name of the component."""
    rendered: Rendered
    options: JobOptions
    outputs: Outputs
    context: JobContext
    namespace: pulumi.Output[str]
    """The namespace of the job."""


@dataclass(frozen=True, eq=False)
class Composition:
    """The resources of a job."""

    plugins: Mapping[str, PluginComponent]
    tasks: Mapping[str, TaskComponent]
    objects: Sequence[KubernetesObject]
    """All objects except Pods, by kind and name."""
    pods: Sequence[KubernetesObject]
    """The Pods by task and index."""
    name: pulumi.Output[str]
    pod_names: pulumi.Output[list[str]]
    pod_group_name: pulumi.Output[str]
    hosts: pulumi.Output[dict[str, list[str]]]


class Composer(ABC):
    """Registers the children of a job."""

    mode: ClassVar[ManagedBy]

    def __init__(self, build: Build) -> None:
        """Register the resources that the children of the job depend on."""
        self.build = build
        self.error_hooks = ErrorHooks(f"job {build.resource_name}")
        # Kubernetes keeps a deleted claim until no Pod mounts it, and a new key pair does not change a digest. If one
        # of these resources is replaced, the Pods or the Job are deleted first.
        self.replaced_with: list[pulumi.Resource] = []
        self._registered: dict[ObjectRef, KubernetesObject] = {}
        self.namespace = namespace_of_mode(build.resource_name, self.mode, build.namespace, build.component)
        if any(leaf is KEYS.private for item in build.rendered.objects for leaf in plain_leaves(item)):
            private, public = self.key_pair()
            build.outputs.leaf(KEYS.private.path, private)
            build.outputs.leaf(KEYS.public.path, public)
        self.plugins: Mapping[str, PluginComponent] = {
            plugin.name: self._plugin(plugin) for plugin in build.rendered.plugins
        }
        self.tasks: Mapping[str, TaskComponent] = {task.name or "": self._task(task) for task in build.context.tasks}

    @classmethod
    @abstractmethod
    def ignored_fields(cls, job: Job) -> list[tuple[str, str]]:
        """Return the path and the purpose of each field that has no effect in this mode."""

    @classmethod
    @abstractmethod
    def warnings(cls, rendered: Rendered) -> list[Problem]:
        """Return the warnings about the job in this mode."""

    @classmethod
    @abstractmethod
    def manifests(cls, rendered: Rendered) -> list[Manifest]:
        """Return the objects, except Pods, whose names in the cluster are known."""

    @abstractmethod
    def key_pair(self) -> tuple[pulumi.Output[Any], pulumi.Output[Any]]:
        """Return the private and the public key of a job that does not set a key pair."""

    @abstractmethod
    def plugin_inputs(self, plugin: Plugin) -> dict[str, Any]:
        """Return the inputs of a plugin's component, which policies can check."""

    @abstractmethod
    def task_inputs(self, task: Task) -> dict[str, Any]:
        """Return the inputs of a task's component, which policies can check."""

    @abstractmethod
    def compose(self) -> Composition:
        """Register the objects of the job."""

    def dependencies_of(self, objects: Iterable[ObjectRef]) -> list[KubernetesObject]:
        """Return the resources that an Output about objects of the job depends on."""
        return self._resources(objects)

    def output(self, value: Any, objects: Iterable[ObjectRef]) -> pulumi.Output[Any]:
        """Return an Output about objects of the job. The value may contain leaves."""
        return dependencies.output(self.build.outputs.apply(lambda known: known, value), self.dependencies_of(objects))

    def create(self, manifests: Sequence[Manifest]) -> list[KubernetesObject]:
        """Register objects other than the PodGroup and Pods."""
        return [self._object(item) for item in manifests]

    def child(
        self, name: str, item: Manifest, parent: pulumi.Resource, *advice: Advice, **options: Any
    ) -> KubernetesObject:
        """Register an object, with advice about its failures."""
        # A change of the mode replaces objects with the namespace of the mode. A claim and its data stay.
        namespace = self.build.namespace if item["kind"] == "PersistentVolumeClaim" else self.namespace
        opts = pulumi.ResourceOptions(parent=parent, hooks=self.error_hooks.binding(*advice), **options)
        resource = KubernetesObject(name, item, namespace, self.build.outputs, opts)
        self._registered[ObjectRef.of(item)] = resource
        return resource

    def child_name(self, item: Manifest, parent: str = "") -> str:
        """Return the logical name of an object: the job's resource name, then `parent`, then the object's name.

        Pulumi applies an alias of a component to children whose names start with the component's name. The name of the
        object makes the result independent of the order of a list.
        """
        name, job = item["metadata"]["name"], self.build.context.name
        rest = name.removeprefix(job) if name.startswith(job) else f"-{name}"
        return self.build.resource_name + parent + ("" if rest == parent else rest)

    def finish(self, pod_group_name: pulumi.Output[str], *others: KubernetesObject) -> Composition:
        """Register the outputs of plugins and tasks, and return all resources.

        Args:
            pod_group_name: the name of the PodGroup.
            others: objects that are not in the rendered job.
        """
        rendered, context = self.build.rendered, self.build.context
        for plugin in rendered.plugins:
            self._finish_plugin(plugin)
        for task in context.tasks:
            self._finish_task(task)
        pods = list(map(ObjectRef.of, rendered.pods))
        hosts = {task.name or "": context.all_addresses(task) for task in context.tasks}
        endpoints = dict.fromkeys(ref for task in context.tasks for ref in context.endpoints(task))
        return Composition(
            plugins=self.plugins,
            tasks=self.tasks,
            objects=[*self._resources(map(ObjectRef.of, rendered.objects)), *others],
            pods=self._resources(pods),
            # The PodGroup is created after all other objects, and stays when Pods are replaced. A resource that is
            # named after the job must stay as well.
            name=self.output(context.name, [ObjectRef("PodGroup", naming.pod_group(context.name))]),
            pod_names=self.output([pod.name for pod in pods], pods),
            pod_group_name=pod_group_name,
            hosts=self.output(hosts, endpoints),
        )

    def _finish_plugin(self, plugin: Plugin) -> None:
        rendered = self.build.rendered
        objects = [ref for ref in map(ObjectRef.of, rendered.objects) if rendered.made_by.get(ref) == plugin.name]
        outputs = {
            key: self.output(value.value, value.depends_on)
            if isinstance(value, PluginOutput)
            else self.output(value, objects)
            for key, value in plugin.outputs(self.build.context).items()
        }
        self.plugins[plugin.name].finish(self._resources(objects), outputs)

    def _finish_task(self, task: Task) -> None:
        context = self.build.context
        pods = context.pods(task)
        hosts = self.output(context.all_addresses(task), context.endpoints(task))
        self.tasks[task.name or ""].finish(self._resources(pods), [pod.name for pod in pods], hosts)

    def _resources(self, objects: Iterable[ObjectRef]) -> list[KubernetesObject]:
        """Return the resources of objects. In native mode, Pulumi creates only some of them."""
        return [self._registered[ref] for ref in objects if ref in self._registered]

    def _plugin(self, plugin: Plugin) -> PluginComponent:
        kind = BY_PLUGIN.get(plugin.name, PluginComponent)
        name = f"{self.build.resource_name}-{plugin.name}"
        return kind(name, plugin, self.build.component, self.plugin_inputs(plugin))

    def _task(self, task: Task) -> TaskComponent:
        name = f"{self.build.resource_name}-{task.name}"
        return TaskComponent(name, self.build.component, self.task_inputs(task))

    def _object(self, item: Manifest) -> KubernetesObject:
        rendered, context = self.build.rendered, self.build.context
        key = ObjectRef.of(item)
        maker = next((plugin for plugin in rendered.plugins if plugin.name == rendered.made_by.get(key)), None)
        is_claim = item["kind"] == "PersistentVolumeClaim"
        name = self.child_name(item)
        advice: list[Advice] = []
        parent: pulumi.Resource = self.build.component
        if maker:
            name, parent = self.child_name(item, f"-{maker.name}"), self.plugins[maker.name]
            kept = key not in context.once(("goes", maker.name), lambda: maker.on_job_delete(context))
        elif kept := is_claim and self.build.options.get("claims") == "keep":
            advice.append(kept_claim(self.build.resource_name, item["metadata"]["name"]))
        # None keeps the job's retain_on_delete in effect; False would override it.
        child = self.child(name, item, parent, *advice, retain_on_delete=kept or None)
        if is_claim and not kept:
            self.replaced_with.append(child)
        return child


def plain_secrets(build: Build, plugin: Plugin) -> dict[str, Any]:
    """Return the input of a plugin that names its secrets in plain text; none if the plugin has no secret."""
    names = build.outputs.plain_secrets(plugin.name)
    return {} if names is None else {PLAIN_SECRETS: names}
