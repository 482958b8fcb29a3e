"""`VolcanoJob`: a job and all that it is made of, as one Pulumi component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pulumi

from pulumi_volcano_jobs import jobfile
from pulumi_volcano_jobs.component import neighbours, parts, unsupported
from pulumi_volcano_jobs.component.args import JobOptions, OnScale, Restart, VolcanoJobArgs
from pulumi_volcano_jobs.component.children import child
from pulumi_volcano_jobs.component.digest import digests
from pulumi_volcano_jobs.component.keys import stashed_pair
from pulumi_volcano_jobs.component.lift import Outputs, plain_leaves
from pulumi_volcano_jobs.component.problems import as_input_errors
from pulumi_volcano_jobs.component.unsupported import Unsupported
from pulumi_volcano_jobs.context import JobContext
from pulumi_volcano_jobs.errors import JobError, Problem, raise_if_any
from pulumi_volcano_jobs.keys import KeyPair
from pulumi_volcano_jobs.leaf import Leaf
from pulumi_volcano_jobs.manifest import TASK_SPEC, Manifest
from pulumi_volcano_jobs.model import Job, parse_job
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.render import Rendered, render

TOKEN = "volcano-jobs:index:VolcanoJob"  # noqa: S105  # a resource type
_KEYS = KeyPair(Leaf("the ssh plugin's private key"), Leaf("the ssh plugin's public key"))
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "restart": get_args(Restart),
    "on_scale": get_args(OnScale),
    "unsupported": get_args(Unsupported),
}


class VolcanoJob(pulumi.ComponentResource):
    """A Volcano Job composed of its own Pods, PodGroup, Services, Secret, ConfigMap and NetworkPolicy.

    In the tree each plugin and each task is a component of its own, which parents what it made. Pods that Pulumi made
    have no controller: policies and retries of the job are not enacted (one warning says which).
    """

    tasks: Mapping[str, parts.TaskComponent]
    """The tasks by name; `job.tasks["worker"].pods[1]` is a Pod."""
    plugins: Mapping[str, parts.PluginComponent]
    """The plugins by name, those brought in by others too; the built-in ones are attributes: `job.ssh`."""
    objects: Sequence[pulumi.CustomResource]
    """All objects but Pods, by kind and name; they exist before the first Pod."""
    pods: Sequence[pulumi.CustomResource]
    """The Pods by task and index."""
    name: str
    """The job's name."""
    pod_names: pulumi.Output[list[str]]
    """The names of the Pods by task and index."""
    pod_group_name: pulumi.Output[str]
    """The PodGroup, which makes a gang of the Pods."""
    namespace: pulumi.Output[str]
    """The namespace of all that the job is made of."""
    hosts: pulumi.Output[dict[str, list[str]]]
    """The addresses of each task's Pods by index, inside the namespace."""

    def __init__(
        self,
        resource_name: str,
        args: VolcanoJobArgs | Job | jobfile.Document,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Make a job.

        Args:
            resource_name: the resource's name, and the job's unless `args` has one.
            args: the job; kubectl's document (`metadata`, `spec`) is taken too, plain or as read by `jobfile.read`.
            opts: `provider`, `depends_on` and `transforms` reach every child.

        Raises:
            pulumi.RunError: with every problem of the arguments; nothing has been created then.
        """
        outputs = Outputs()
        file = args if isinstance(args, jobfile.Document) else None
        with as_input_errors(resource_name, file.source, file.placed) if file else as_input_errors(resource_name):
            options, job = _read(resource_name, file.data if file else args, outputs)
            rendered = render(job, keys=_KEYS)
            left_undone = unsupported.not_enacted(rendered.job)
            if options.get("unsupported") == "error":
                raise_if_any(unsupported.as_problems(left_undone))
            raise_if_any(neighbours.claim(resource_name, [*rendered.objects, *rendered.pods]))
        super().__init__(TOKEN, resource_name, {}, opts)
        self._resource_name = resource_name
        for problem in rendered.warnings:
            pulumi.log.warn(str(problem), self)
        if left_undone and options.get("unsupported", "warn") == "warn":
            pulumi.log.warn(unsupported.as_warning(left_undone), self)
        self._compose(rendered, options, outputs)

    @classmethod
    def from_yaml(
        cls,
        resource_name: str,
        source: str | Path,
        options: JobOptions | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> VolcanoJob:
        """Make the job of a file (a Path, or a str without a line break) or of YAML text, which holds one Job.

        Raises:
            pulumi.RunError: with every problem of the file, and its line.
        """
        with as_input_errors(resource_name, str(source) if isinstance(source, Path) else ""):
            document = _one_document(source)
        return cls(resource_name, replace(document, data={**document.data, **(options or {})}), opts)

    @property
    def ssh(self) -> parts.SshComponent:
        """What the ssh plugin made."""
        return self._plugin("ssh", parts.SshComponent)

    @property
    def svc(self) -> parts.SvcComponent:
        """What the svc plugin made."""
        return self._plugin("svc", parts.SvcComponent)

    @property
    def env(self) -> parts.EnvComponent:
        """The env plugin."""
        return self._plugin("env", parts.EnvComponent)

    @property
    def pytorch(self) -> parts.PytorchComponent:
        """The pytorch plugin's rendezvous."""
        return self._plugin("pytorch", parts.PytorchComponent)

    @property
    def tensorflow(self) -> parts.TensorflowComponent:
        """The tensorflow plugin's cluster."""
        return self._plugin("tensorflow", parts.TensorflowComponent)

    @property
    def mpi(self) -> parts.MpiComponent:
        """The mpi plugin's hosts."""
        return self._plugin("mpi", parts.MpiComponent)

    @property
    def ray(self) -> parts.RayComponent:
        """What the ray plugin made."""
        return self._plugin("ray", parts.RayComponent)

    @property
    def hcclrank(self) -> parts.HcclrankComponent:
        """The hcclrank plugin."""
        return self._plugin("hcclrank", parts.HcclrankComponent)

    def _plugin(self, name: str, kind: type[parts.PluginT]) -> parts.PluginT:
        plugin = self.plugins.get(name)
        if isinstance(plugin, kind):
            return plugin
        known = ", ".join(self.plugins) or "none"
        message = f"the job {self.name} has no {name} plugin (it has {known}): add it to the job's plugins"
        raise AttributeError(message)

    def _compose(self, rendered: Rendered, options: JobOptions, outputs: Outputs) -> None:
        job = rendered.job
        ctx = JobContext(job, _KEYS)
        if any(leaf is _KEYS.private for item in rendered.objects for leaf in plain_leaves(item)):
            self._stash_keys(options.get("key_rotation", ""), outputs)
        self.name = job.name
        self.plugins = {plugin.name: self._plugin_component(plugin, ctx, outputs) for plugin in rendered.plugins}
        made = {_key(item): self._child(item, outputs, self._maker(item, rendered)) for item in rendered.objects}
        for name, component in self.plugins.items():
            component.finish([made[key] for key, maker in rendered.made_by.items() if maker == name])
        self.objects = list(made.values())
        self.tasks = self._make_tasks(rendered, options, outputs)
        self.pods = [pod for task in self.tasks.values() for pod in task.pods]
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

    def _maker(self, item: Manifest, rendered: Rendered) -> pulumi.Resource:
        maker = rendered.made_by.get(_key(item))
        return self.plugins[maker] if maker else self

    def _child(
        self, item: Manifest, outputs: Outputs, parent: pulumi.Resource, **options: Any
    ) -> pulumi.CustomResource:
        # After the object's own name, so that it does not change with a list's order.
        name = self._resource_name + item["metadata"]["name"].removeprefix(self.name)
        return child(name, item, outputs, pulumi.ResourceOptions(parent=parent, **options))

    def _make_tasks(
        self,
        rendered: Rendered,
        options: JobOptions,
        outputs: Outputs,
    ) -> dict[str, parts.TaskComponent]:
        restart = digests(rendered, options, outputs)
        ctx = JobContext(rendered.job)
        tasks = {}
        for task in ctx.tasks:
            name = task.name or ""
            component = parts.TaskComponent(f"{self._resource_name}-{name}", ctx.all_addresses(task), self)
            manifests = [pod for pod in rendered.pods if pod["metadata"]["labels"][TASK_SPEC] == name]
            pods = [self._pod(pod, outputs, component, restart.get(name)) for pod in manifests]
            component.finish(pods, [pod["metadata"]["name"] for pod in manifests])
            tasks[name] = component
        return tasks

    def _pod(self, pod: Manifest, outputs: Outputs, parent: pulumi.Resource, digest: Any) -> pulumi.CustomResource:
        return self._child(
            pod,
            outputs,
            parent,
            depends_on=self.objects,
            # The name stays, so the old Pod must go first.
            delete_before_replace=True,
            # The provider compares a Pod's lists by position with the live object, where admission webhooks have added
            # to them; what replaces a Pod is the digest of what we rendered.
            ignore_changes=["spec"],
            replacement_trigger=digest,
        )


def _read(resource_name: str, args: Any, outputs: Outputs) -> tuple[JobOptions, Job]:
    given: dict[str, Any] = dict(outputs.lift(args))
    options: Any = {key: given.pop(key) for key in JobOptions.__annotations__ if key in given}
    problems = list(_option_problems(options))
    if not {"metadata", "spec"} & given.keys():
        given.setdefault("name", resource_name)
    try:
        job = parse_job(given)
    except JobError as error:
        raise JobError([*error.problems, *problems]) from None
    raise_if_any(problems)
    if job.namespace is None:
        job = job.with_(namespace=pulumi.Config(parts.PACKAGE).get("namespace") or "default")
    return options, job


def _option_problems(options: Mapping[str, Any]) -> list[Problem]:
    problems = []
    for key, value in options.items():
        choices = _CHOICES.get(key)
        if choices and value not in choices:
            problems.append(Problem(key, f"this must be one of {', '.join(choices)}", value=repr(value)))
        elif not isinstance(value, str):
            problems.append(Problem(key, "this must be a plain string: it decides what an update replaces"))
    return problems


def _one_document(source: str | Path) -> jobfile.Document:
    is_text = isinstance(source, str) and "\n" in source
    try:
        text = str(source) if is_text else Path(source).read_text("utf-8")
    except OSError as error:
        raise JobError([Problem(str(source), f"the file cannot be read: {error.strerror}")]) from None
    documents = jobfile.read(text, "" if is_text else str(source))
    raise_if_any(documents[0].problems)
    if len(documents) > 1:
        reason = f"there are {len(documents)} documents in it, and a VolcanoJob is made of one"
        raise JobError([Problem("", reason, "load_jobs reads them all; make a VolcanoJob of each")])
    return documents[0]


def _key(item: Manifest) -> tuple[str, str]:
    return item["kind"], item["metadata"]["name"]
