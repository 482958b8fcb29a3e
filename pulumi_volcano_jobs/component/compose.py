"""A job composed of its children: what the components of Python programs and of other languages have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import pulumi

from pulumi_volcano_jobs import jobfile
from pulumi_volcano_jobs.component import neighbours, parts, unsupported
from pulumi_volcano_jobs.component.advice import on_missing_definitions
from pulumi_volcano_jobs.component.args import Claims, JobOptions, OnScale, Restart
from pulumi_volcano_jobs.component.children import child
from pulumi_volcano_jobs.component.digest import digests, on_scale, replicas
from pulumi_volcano_jobs.component.keys import stashed_pair
from pulumi_volcano_jobs.component.lift import Outputs, plain_leaves
from pulumi_volcano_jobs.component.problems import as_input_errors, in_file
from pulumi_volcano_jobs.component.unsupported import Unsupported
from pulumi_volcano_jobs.context import JobContext
from pulumi_volcano_jobs.errors import JobError, Problem, raise_if_any
from pulumi_volcano_jobs.keys import KeyPair
from pulumi_volcano_jobs.leaf import Leaf
from pulumi_volcano_jobs.manifest import TASK_SPEC, Manifest
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.render import Rendered, render

TOKEN = "volcano-jobs:index:VolcanoJob"  # noqa: S105  # a resource type
WORLD = "pulumi.com/volcano-replicas"
"""The annotation of each Pod with the replicas of all tasks at the time when it was made."""
_KEYS = KeyPair(Leaf("the ssh plugin's private key"), Leaf("the ssh plugin's public key"))
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "restart": get_args(Restart),
    "on_scale": get_args(OnScale),
    "claims": get_args(Claims),
    "unsupported": get_args(Unsupported),
}


class ComposedJob(pulumi.ComponentResource):
    """A job made of its own Pods and what they need.

    It declares no attributes in its class body: Pulumi would take those for outputs that other languages see.
    """

    def __init__(
        self,
        resource_name: str,
        args: Any,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Make a job.

        Args:
            resource_name: the resource's name, and the job's unless `args` has one.
            args: the job in any of its forms.
            opts: `provider` and `transforms` reach every child; children wait for what the job depends on.

        Raises:
            pulumi.RunError: with every problem of the arguments; nothing has been created then.
        """
        outputs = Outputs()
        file = args if isinstance(args, jobfile.Document) else None
        with as_input_errors(resource_name, file.source, file.placed) if file else as_input_errors(resource_name):
            given = outputs.lift(file.data if file else args)
            if not isinstance(given, dict):
                reason = f"the arguments are a {type(args).__name__}; they must be a dict or a Job"
                raise JobError([Problem("", reason, 'write VolcanoJob("train", {"tasks": [...]})')])
            options, problems = _options(given)
            if not {"metadata", "spec"} & given.keys():
                given.setdefault("name", resource_name)
            found = [*(file.problems if file else ()), *problems]
            rendered = render(given, namespace=_default_namespace(), keys=_KEYS, earlier=found)
            left_undone = unsupported.not_enacted(rendered.job)
            if options.get("unsupported") == "error":
                raise_if_any(unsupported.as_problems(left_undone))
            raise_if_any(neighbours.claim(resource_name, [*rendered.objects, *rendered.pods]))
        super().__init__(TOKEN, resource_name, {}, opts)
        self._resource_name = resource_name
        for problem in file.placed(rendered.warnings) if file else rendered.warnings:
            pulumi.log.warn(in_file(problem, file.source if file else ""), self)
        if left_undone and options.get("unsupported", "warn") == "warn":
            pulumi.log.warn(unsupported.as_warning(left_undone), self)
        self._compose(rendered, options, outputs)

    def _compose(self, rendered: Rendered, options: JobOptions, outputs: Outputs) -> None:
        job = rendered.job
        ctx = JobContext(job, _KEYS)
        if any(leaf is _KEYS.private for item in rendered.objects for leaf in plain_leaves(item)):
            self._stash_keys(options.get("key_rotation", ""), outputs)
        self._job_name = job.name
        self.name = pulumi.Output.from_input(job.name)
        self.plugins: Mapping[str, parts.PluginComponent] = {
            plugin.name: self._plugin_component(plugin, ctx, outputs) for plugin in rendered.plugins
        }
        keep = {"PersistentVolumeClaim"} if options.get("claims") == "keep" else set()
        made = {
            _key(item): self._object(item, rendered, ctx, outputs, retain_on_delete=item["kind"] in keep)
            for item in rendered.objects
        }
        for name, component in self.plugins.items():
            component.finish([made[key] for key, maker in rendered.made_by.items() if maker == name])
        self.objects: Sequence[pulumi.CustomResource] = list(made.values())
        self.tasks: Mapping[str, parts.TaskComponent] = self._make_tasks(rendered, ctx, options, outputs)
        self.pods: Sequence[pulumi.CustomResource] = [pod for task in self.tasks.values() for pod in task.pods]
        self.pod_names = pulumi.Output.from_input([pod["metadata"]["name"] for pod in rendered.pods])
        self.pod_group_name = pulumi.Output.from_input(job.name)
        self.namespace = pulumi.Output.from_input(outputs.lower(job.namespace))
        self.hosts = pulumi.Output.from_input({task.name or "": ctx.all_addresses(task) for task in ctx.tasks})
        self.register_outputs(
            {
                "name": self.name,
                "namespace": self.namespace,
                "pod_names": self.pod_names,
                "pod_group_name": self.pod_group_name,
                "hosts": self.hosts,
            },
        )

    def _stash_keys(self, rotation: str, outputs: Outputs) -> None:
        private, public = stashed_pair(self._resource_name, rotation, pulumi.ResourceOptions(parent=self))
        outputs.leaf(_KEYS.private.path, private)
        outputs.leaf(_KEYS.public.path, public)

    def _plugin_component(self, plugin: Plugin, ctx: JobContext, outputs: Outputs) -> parts.PluginComponent:
        kind = parts.BY_PLUGIN.get(plugin.name, parts.PluginComponent)
        values = outputs.lower(plugin.outputs(ctx))
        return kind(f"{self._resource_name}-{plugin.name}", plugin, values, self)

    def _object(
        self, item: Manifest, rendered: Rendered, ctx: JobContext, outputs: Outputs, **options: Any
    ) -> pulumi.CustomResource:
        name = rendered.made_by.get(_key(item))
        maker = next((plugin for plugin in rendered.plugins if plugin.name == name), None)
        if item["kind"] == "PodGroup":
            options["hooks"] = on_missing_definitions(self._resource_name, "PodGroups")
        if maker is None:
            return self._child(item, outputs, self, **options)
        kept = _key(item) not in ctx.once(("goes", name), lambda: maker.on_job_delete(ctx))
        return self._child(item, outputs, self.plugins[maker.name], retain_on_delete=kept)

    def _child(
        self, item: Manifest, outputs: Outputs, parent: pulumi.Resource, **options: Any
    ) -> pulumi.CustomResource:
        # After the object's own name, so that it does not change with a list's order.
        name = self._resource_name + item["metadata"]["name"].removeprefix(self._job_name)
        return child(name, item, outputs, pulumi.ResourceOptions(parent=parent, **options))

    def _make_tasks(
        self,
        rendered: Rendered,
        ctx: JobContext,
        options: JobOptions,
        outputs: Outputs,
    ) -> dict[str, parts.TaskComponent]:
        updates = [plugin.on_job_update(ctx) for plugin in rendered.plugins]
        restart = digests(rendered, updates, options, outputs)
        scaling, world = on_scale(updates, options), replicas(ctx)
        tasks = {}
        for task in ctx.tasks:
            name = task.name or ""
            component = parts.TaskComponent(f"{self._resource_name}-{name}", ctx.all_addresses(task), self)
            manifests = [pod for pod in rendered.pods if pod["metadata"]["labels"][TASK_SPEC] == name]
            opts = self._pod_options(restart.get(name), scaling)
            pods = [self._child(_of_world(pod, world), outputs, component, **opts) for pod in manifests]
            component.finish(pods, [pod["metadata"]["name"] for pod in manifests])
            tasks[name] = component
        return tasks

    def _pod_options(self, digest: Any, scaling: str) -> dict[str, Any]:
        # The provider compares a Pod's lists by position with the live object, where admission webhooks have added to
        # them; what replaces a Pod is the digest of what we rendered, and the size of its world.
        ignored: list[str] = ["spec"]
        replacing: list[str] = []
        (replacing if scaling == "restart" else ignored).append(f'metadata.annotations["{WORLD}"]')
        return {
            "depends_on": self.objects,
            # The name stays, so the old Pod must go first.
            "delete_before_replace": True,
            "ignore_changes": ignored,
            "replace_on_changes": replacing,
            "replacement_trigger": digest,
        }


def _of_world(pod: Manifest, world: str) -> Manifest:
    metadata = pod["metadata"]
    annotations = {**metadata["annotations"], WORLD: world}
    return {**pod, "metadata": {**metadata, "annotations": annotations}}


def _default_namespace() -> str:
    return pulumi.Config(parts.PACKAGE).get("namespace") or "default"


def _options(given: dict[str, Any]) -> tuple[JobOptions, list[Problem]]:
    """Take what is Pulumi's own out of the arguments of a job."""
    options: Any = {key: given.pop(key) for key in JobOptions.__annotations__ if key in given}
    return options, list(_option_problems(options))


def _option_problems(options: Mapping[str, Any]) -> list[Problem]:
    problems = []
    for key, value in options.items():
        choices = _CHOICES.get(key)
        if not isinstance(value, str):
            problems.append(Problem(key, "this must be a plain string: it decides what an update replaces"))
        elif choices and value not in choices:
            problems.append(Problem(key, f"this must be one of {', '.join(choices)}", value=repr(value)))
    return problems


def _key(item: Manifest) -> tuple[str, str]:
    return item["kind"], item["metadata"]["name"]
