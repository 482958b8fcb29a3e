"""The composed mode: Pulumi manages the Pods of a job and all other objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi

from pulumi_volcano_jobs.admission import controllers
from pulumi_volcano_jobs.component import state_size
from pulumi_volcano_jobs.component.composer import Composer, Composition, plain_secrets
from pulumi_volcano_jobs.component.digest import digests, on_scale, replicas
from pulumi_volcano_jobs.component.error_hooks import missing_definitions
from pulumi_volcano_jobs.component.kubernetes_object import KubernetesObject
from pulumi_volcano_jobs.component.plugin_components import POD_SPEC
from pulumi_volcano_jobs.component.stashed_keys import stashed_pair
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.manifest import REPLICAS, Manifest, ObjectRef
from pulumi_volcano_jobs.plugins import Plugin, SshPlugin
from pulumi_volcano_jobs.plugins.settings import default_of
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec.model import Job, Task


class ComposedJob(Composer):
    """Registers the Pods of a job, their PodGroup, and the objects of its plugins."""

    mode = "pulumi"

    @classmethod
    def ignored_fields(cls, job: Job) -> list[tuple[str, str]]:
        """Return the fields that only Volcano's controllers act on, because these Pods have no controller."""
        return controllers.controller_only_fields(job)

    @classmethod
    def warnings(cls, rendered: Rendered) -> list[Problem]:
        """Return the warning about a job with many Pods, because each Pod is a resource."""
        return list(state_size.warnings(len(rendered.pods)))

    @classmethod
    def manifests(cls, rendered: Rendered) -> list[Manifest]:
        """Return all objects of the job."""
        return list(rendered.objects)

    def key_pair(self) -> tuple[pulumi.Output[Any], pulumi.Output[Any]]:
        """Return the key pair that the state of the stack contains."""
        build = self.build
        kinds = (plugin.key_type for plugin in build.rendered.plugins if isinstance(plugin, SshPlugin))
        # Another plugin may also need a key pair.
        kind, rotation = next(kinds, default_of(SshPlugin, "key_type")), build.options.get("key_rotation") or ""
        opts = pulumi.ResourceOptions(parent=build.component)
        stash, private, public = stashed_pair(build.resource_name, kind, rotation, opts)
        self.replaced_with.append(stash)
        return private, public

    def plugin_inputs(self, plugin: Plugin) -> dict[str, Any]:
        """Return the secrets in plain text."""
        return plain_secrets(self.build, plugin)

    def task_inputs(self, task: Task) -> dict[str, Any]:
        """Return the spec of the first Pod, because the engine passes the old spec of an edited Pod to policies."""
        name = task.name or ""
        spec = self.build.outputs.lower(self.build.rendered.first_pods[name]["spec"])
        return {"job": self.build.context.name, "task": name, POD_SPEC: spec}

    def compose(self) -> Composition:
        """Register the objects, then the PodGroup, then the Pods."""
        rendered = self.build.rendered
        others = [item for item in rendered.objects if item["kind"] != "PodGroup"]
        objects = self.create(others)
        (manifest,) = (item for item in rendered.objects if item["kind"] == "PodGroup")
        self._pods(self._pod_group(manifest, objects))
        ref = ObjectRef.of(manifest)
        return self.finish(self.output(ref.name, [ref]))

    def _pod_group(self, item: Manifest, before: Sequence[pulumi.Resource]) -> KubernetesObject:
        """Register the PodGroup after all other objects, so that a Pod only has to wait for it."""
        # Volcano's webhook moves a gang without a queue to the default queue of its namespace. An update must not move
        # it back, and only a new PodGroup gets that queue.
        has_queue = "queue" in item["spec"]
        return self.child(
            self.build.resource_name,
            item,
            self.build.component,
            missing_definitions(self.build.resource_name, "PodGroups"),
            depends_on=before,
            ignore_changes=[] if has_queue else ["spec.queue"],
            replacement_trigger="queue" if has_queue else "no queue",
        )

    def _pods(self, group: pulumi.Resource) -> None:
        """Register the Pods of each task."""
        rendered, context, options = self.build.rendered, self.build.context, self.build.options
        updates = [plugin.on_job_update(context) for plugin in rendered.plugins]
        triggers = digests(rendered, updates, options, self.build.outputs)
        scaling, world = on_scale(updates, options), replicas(context)
        for name, task in self.tasks.items():
            for item in rendered.pods_of(name):
                pod_options = self._pod_options(triggers.get(name), scaling, group)
                self.child(self.child_name(item), _with_replicas(item, world), task, **pod_options)

    def _pod_options(self, trigger: Any, scaling: str, group: pulumi.Resource) -> dict[str, Any]:
        # The provider compares lists in a Pod by position with the live object, to which admission webhooks may have
        # added entries. The digest of the rendered spec, and the replica counts, replace a Pod.
        ignored: list[str] = ["spec"]
        replacing: list[str] = []
        (replacing if scaling == "restart" else ignored).append(f'metadata.annotations["{REPLICAS}"]')
        return {
            "depends_on": [group],
            "ignore_changes": ignored,
            "replace_on_changes": replacing,
            "replace_with": self.replaced_with,
            "replacement_trigger": trigger,
        }


def _with_replicas(pod: Manifest, world: str) -> Manifest:
    metadata = pod["metadata"]
    annotations = {**metadata["annotations"], REPLICAS: world}
    return {**pod, "metadata": {**metadata, "annotations": annotations}}
