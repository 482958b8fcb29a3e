"""A job in either mode: what the components of Python programs and of other languages have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pulumi

from pulumi_volcano_jobs.admission import controllers, unsupported
from pulumi_volcano_jobs.component import modes, name_registry, native, plugin_components, stack_config
from pulumi_volcano_jobs.component.digest import digests, on_scale, replicas
from pulumi_volcano_jobs.component.error_hooks import advising, kept_claim, missing_definitions
from pulumi_volcano_jobs.component.input_errors import Place, as_input_errors, in_file
from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.component.kubernetes_object import WORLD, KubernetesObject
from pulumi_volcano_jobs.component.options import choices, take
from pulumi_volcano_jobs.component.outputs import Outputs, plain_leaves
from pulumi_volcano_jobs.component.resource_options import without_effect
from pulumi_volcano_jobs.component.stashed_keys import stashed_pair
from pulumi_volcano_jobs.core import bounds, paths
from pulumi_volcano_jobs.core.errors import JobError, Problem, loud, raise_if_any
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef
from pulumi_volcano_jobs.plugins import Plugin, SshPlugin
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.ssh_keys import KeyPair
from pulumi_volcano_jobs.rendering.renderer import Rendered, render
from pulumi_volcano_jobs.spec import job_defaults, names
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.model import Task

TOKEN = "volcano-jobs:index:VolcanoJob"  # noqa: S105  # a resource type
_SHARED = "job_defaults"
_KEYS = KeyPair(Leaf("the ssh plugin's private key"), Leaf("the ssh plugin's public key"))


class BaseJob(pulumi.ComponentResource):
    """A job made of its own Pods and what they need, or handed over to Volcano's controllers.

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
        outputs = Outputs(resource_name)
        file = args if isinstance(args, job_file.Document) else None
        with as_input_errors(resource_name, file.source, _place(file)) if file else as_input_errors(resource_name):
            data = file.data if file else args
            raise_if_any(bounds.problems(data))
            given = outputs.lift(data)
            if not isinstance(given, dict):
                reason = f"the arguments are a {type(args).__name__}; they must be a dict or a Job"
                raise JobError([Problem("", "TypeInvalid", reason, 'write VolcanoJob("train", {"tasks": [...]})')])
            defaults, found = _job_defaults(given.pop(_SHARED, None))
            mode_is_shared = given.get("managed_by") is None
            given = job_defaults.apply(given, defaults)
            options, problems = take(given, mode_is_shared=mode_is_shared)
            if not {"metadata", "spec"} & given.keys():
                given.setdefault("name", resource_name)
            found = [*(file.problems if file else ()), *found, *problems]
            rendered = render(
                given,
                namespace=defaults.get("namespace", "default"),
                keys=_KEYS,
                earlier=found,
                cluster=ClusterFacts(
                    kubernetes_version=options.get("kubernetes_version", ""),
                    volcano_version=options.get("volcano_version", ""),
                ),
                **choices(options),
            )
            is_native = options.get("managed_by") == "volcano"
            left_undone = [] if is_native else controllers.enacted(rendered.job)
            if options.get("unsupported") == "error":
                raise_if_any(unsupported.as_problems(left_undone))
            made = native.names_taken(rendered) if is_native else rendered.objects
            raise_if_any(name_registry.claim(resource_name, [*made, *rendered.pods]))
        super().__init__(TOKEN, resource_name, {}, opts)
        self._resource_name = resource_name
        for text in without_effect(opts):
            self._warn(text)
        warnings = file.placed(rendered.warnings) if file else rendered.warnings
        for problem in loud(warnings, options.get("ignore_warnings", ())):
            self._warn(in_file(problem, file.source if file else ""))
        if left_undone and options.get("unsupported", "warn") == "warn":
            self._warn(unsupported.as_warning(left_undone))
        self._compose(rendered, options, outputs)

    def _warn(self, text: str) -> None:
        pulumi.log.warn(text, self)

    def _compose(self, rendered: Rendered, options: JobOptions, outputs: Outputs) -> None:
        job = rendered.job
        ctx = JobContext(job, _KEYS)
        mode = options.get("managed_by", "pulumi")
        self._job_name = job.name
        # Kubernetes keeps a claim that is deleted until no Pod mounts it, and a new key pair has no digest: when one of
        # these is replaced, the Pods or the Job are deleted before it.
        self._replaced_with: list[pulumi.Resource] = []
        self.name = pulumi.Output.from_input(job.name)
        self.namespace = pulumi.Output.from_input(outputs.lower(job.namespace))
        self._namespace = modes.namespace_of_mode(self._resource_name, mode, self.namespace, self)
        if any(leaf is _KEYS.private for item in rendered.objects for leaf in plain_leaves(item)):
            self._provide_keys(rendered.plugins, mode, options, outputs)
        self.plugins: Mapping[str, plugin_components.PluginComponent] = {
            plugin.name: self._plugin_component(plugin, mode, ctx, outputs) for plugin in rendered.plugins
        }
        self.tasks: Mapping[str, plugin_components.TaskComponent] = {
            task.name or "": self._task_component(task, rendered, mode, ctx, outputs) for task in ctx.tasks
        }
        self.objects: Sequence[KubernetesObject]
        pods = {}
        ours = [item for item in rendered.objects if mode == "pulumi" or ObjectRef.of(item) in rendered.beyond]
        made: dict[ObjectRef, KubernetesObject] = {}
        for item in sorted(ours, key=_is_group):
            made[ObjectRef.of(item)] = (
                self._pod_group(item, outputs, list(made.values()))
                if _is_group(item)
                else self._object(item, rendered, ctx, options, outputs)
            )
        self.objects = [made[ObjectRef.of(item)] for item in ours]
        if mode == "volcano":
            opts = pulumi.ResourceOptions(parent=self, depends_on=self.objects, replace_with=self._replaced_with)
            whole = native.hand_over(self._resource_name, rendered.handed_over, options, outputs, self._namespace, opts)
            self.objects = [*self.objects, whole]
            self.pod_group_name = native.pod_group_name(job, whole)
        else:
            self.pod_group_name = pulumi.Output.from_input(names.pod_group(job.name))
            *_, group = made.values()
            pods = self._make_pods(rendered, ctx, options, outputs, group)
        for name, plugin in self.plugins.items():
            plugin.finish([resource for key, resource in made.items() if rendered.made_by.get(key) == name])
        for name, task in self.tasks.items():
            task.finish(pods.get(name, []), [pod["metadata"]["name"] for pod in rendered.pods_of(name)])
        self.pods: Sequence[KubernetesObject] = [pod for task in self.tasks.values() for pod in task.pods]
        self.pod_names = pulumi.Output.from_input([pod["metadata"]["name"] for pod in rendered.pods])
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

    def _provide_keys(self, plugins: Sequence[Plugin], mode: str, options: JobOptions, outputs: Outputs) -> None:
        """Say what stands for the pair that nobody gave; what Volcano makes stays in the cluster."""
        private: pulumi.Output[Any] = pulumi.Output.from_input(None)
        public: pulumi.Output[Any] = private
        if mode == "pulumi":
            kinds = (plugin.key_type for plugin in plugins if isinstance(plugin, SshPlugin))
            # Another plugin may ask for a pair, too.
            kind, rotation = next(kinds, SshPlugin.key_type), options.get("key_rotation", "")
            opts = pulumi.ResourceOptions(parent=self)
            key, private, public = stashed_pair(self._resource_name, kind, rotation, opts)
            self._replaced_with.append(key)
        outputs.leaf(_KEYS.private.path, private)
        outputs.leaf(_KEYS.public.path, public)

    def _plugin_component(
        self, plugin: Plugin, mode: str, ctx: JobContext, outputs: Outputs
    ) -> plugin_components.PluginComponent:
        kind = plugin_components.BY_PLUGIN.get(plugin.name, plugin_components.PluginComponent)
        values = outputs.lower(plugin.outputs(ctx))
        # A Job that Volcano gets has each key in plain text, wherever it comes from.
        plain = outputs.plain_secrets(plugin.name) if mode == "pulumi" else None
        inputs = {} if plain is None else {plugin_components.PLAIN_SECRETS: plain}
        return kind(f"{self._resource_name}-{plugin.name}", plugin, values, self, inputs)

    def _task_component(
        self, task: Task, rendered: Rendered, mode: str, ctx: JobContext, outputs: Outputs
    ) -> plugin_components.TaskComponent:
        name = task.name or ""
        inputs: dict[str, Any] = {}
        if mode == "pulumi":
            # For policies: of a Pod that is edited the engine shows them the old spec, whose changes are ignored.
            spec = outputs.lower(rendered.first_pods[name]["spec"])
            inputs = {"job": self._job_name, "task": name, plugin_components.POD_SPEC: spec}
        return plugin_components.TaskComponent(f"{self._resource_name}-{name}", ctx.all_addresses(task), self, inputs)

    def _object(
        self,
        item: Manifest,
        rendered: Rendered,
        ctx: JobContext,
        options: JobOptions,
        outputs: Outputs,
    ) -> KubernetesObject:
        made = ObjectRef.of(item)
        maker = next((plugin for plugin in rendered.plugins if plugin.name == rendered.made_by.get(made)), None)
        is_claim = item["kind"] == "PersistentVolumeClaim"
        name, hooks = self._child_name(item), None
        parent: pulumi.Resource = self
        if maker:
            name, parent = self._child_name(item, f"-{maker.name}"), self.plugins[maker.name]
            kept = made not in ctx.once(("goes", maker.name), lambda: maker.on_job_delete(ctx))
        elif kept := is_claim and options.get("claims") == "keep":
            hooks = advising(kept_claim(self._resource_name, item["metadata"]["name"]))
        # None, unlike False, leaves the job's own retain_on_delete in force.
        child = self._child(name, item, outputs, parent, retain_on_delete=kept or None, hooks=hooks)
        if is_claim and not kept:
            self._replaced_with.append(child)
        return child

    def _pod_group(self, item: Manifest, outputs: Outputs, before: Sequence[pulumi.Resource]) -> KubernetesObject:
        """Register the PodGroup after all other objects, so that a Pod only has to wait for it."""
        # Volcano's webhook moves a gang without a queue to the default queue of its namespace. An update must not move
        # it back, and only a new PodGroup gets that queue.
        has_queue = "queue" in item["spec"]
        return self._child(
            self._resource_name,
            item,
            outputs,
            self,
            depends_on=before,
            hooks=advising(missing_definitions(self._resource_name, "PodGroups")),
            ignore_changes=[] if has_queue else ["spec.queue"],
            replacement_trigger="queue" if has_queue else "no queue",
        )

    def _child(
        self, name: str, item: Manifest, outputs: Outputs, parent: pulumi.Resource, **options: Any
    ) -> KubernetesObject:
        opts = pulumi.ResourceOptions(parent=parent, **options)
        # A change of modes replaces what has the namespace of the mode; a claim and its data stay.
        namespace = self.namespace if item["kind"] == "PersistentVolumeClaim" else self._namespace
        return KubernetesObject(name, item, namespace, outputs, opts)

    def _child_name(self, item: Manifest, parent: str = "") -> str:
        """Return the logical name of an object, which starts with its parent's: the job's name, then `parent`.

        Pulumi applies an alias of a component to the children whose names start with its own. The rest is the object's
        own name, so that the order of a list has no effect.
        """
        name: str = item["metadata"]["name"]
        rest = name.removeprefix(self._job_name) if name.startswith(self._job_name) else f"-{name}"
        return self._resource_name + parent + ("" if rest == parent else rest)

    def _make_pods(
        self, rendered: Rendered, ctx: JobContext, options: JobOptions, outputs: Outputs, group: pulumi.Resource
    ) -> dict[str, list[KubernetesObject]]:
        """Make the Pods of each task, by its name."""
        updates = [plugin.on_job_update(ctx) for plugin in rendered.plugins]
        restart = digests(rendered, updates, options, outputs)
        scaling, world = on_scale(updates, options), replicas(ctx)
        made: dict[str, list[KubernetesObject]] = {}
        for name, parent in self.tasks.items():
            made[name] = []
            common = _pod_options(restart.get(name), scaling, group, self._replaced_with)
            for item in rendered.pods_of(name):
                pod = _of_world(item, world)
                made[name].append(self._child(self._child_name(pod), pod, outputs, parent, **common))
        return made


def _pod_options(
    digest: Any, scaling: str, group: pulumi.Resource, replaced_with: Sequence[pulumi.Resource]
) -> dict[str, Any]:
    # The provider compares a Pod's lists by position with the live object, where admission webhooks have added to
    # them; what replaces a Pod is the digest of what we rendered, and the size of its world.
    ignored: list[str] = ["spec"]
    replacing: list[str] = []
    (replacing if scaling == "restart" else ignored).append(f'metadata.annotations["{WORLD}"]')
    return {
        "depends_on": [group],
        "ignore_changes": ignored,
        "replace_on_changes": replacing,
        "replace_with": replaced_with,
        "replacement_trigger": digest,
    }


def _is_group(item: Manifest) -> bool:
    return bool(item["kind"] == "PodGroup")


def _of_world(pod: Manifest, world: str) -> Manifest:
    metadata = pod["metadata"]
    annotations = {**metadata["annotations"], WORLD: world}
    return {**pod, "metadata": {**metadata, "annotations": annotations}}


def _place(file: job_file.Document) -> Place:
    """Give problems their lines in a file, but for those of what jobs share, which is not in it."""

    def place(problems: Iterable[Problem]) -> list[Problem]:
        kinds: dict[bool, list[Problem]] = {True: [], False: []}
        for problem in problems:
            kinds[problem.path.startswith((_SHARED, f"{plugin_components.PACKAGE}:"))].append(problem)
        return [*kinds[True], *file.placed(kinds[False])]

    return place


def _job_defaults(given: Any) -> tuple[dict[str, Any], list[Problem]]:
    """Put a program's defaults for jobs over those of the stack's configuration; say what is wrong with either."""
    configured, problems = stack_config.job_defaults()
    if given is None:
        return configured, problems
    own, found = job_defaults.checked(given, lambda name: paths.join(_SHARED, *([name] if name else [])))
    return job_defaults.merged(own, configured), [*problems, *found]
