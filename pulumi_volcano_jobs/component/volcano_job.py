"""`VolcanoJob`: a Volcano Job and all its objects as one Pulumi component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pulumi
from typing_extensions import Self, Unpack

from pulumi_volcano_jobs.component import plugin_components
from pulumi_volcano_jobs.component.arguments import NO_ARGUMENTS, JobInput, one_form
from pulumi_volcano_jobs.component.base_job import BaseJob
from pulumi_volcano_jobs.component.input_errors import as_input_errors
from pulumi_volcano_jobs.component.job_args import VolcanoJobArgs, VolcanoJobOverrides
from pulumi_volcano_jobs.component.kubernetes_object import KubernetesObject
from pulumi_volcano_jobs.component.overrides import of_document, of_job
from pulumi_volcano_jobs.core.calls import checked_call
from pulumi_volcano_jobs.core.errors import Problem, job_error, wrong_type
from pulumi_volcano_jobs.core.phrases import some
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.spec.model import Job


class VolcanoJob(BaseJob):
    """A Volcano Job as Pods, PodGroup, Services, Secret, ConfigMap and NetworkPolicy.

    In the Pulumi tree, each plugin and each task is a component and the parent of its objects. Pods that Pulumi creates
    have no controller, so policies are ignored; one warning lists the ignored fields.

    With `managed_by="volcano"` the component is one `batch.volcano.sh` Job, and Volcano's controllers create its
    objects. Names, hosts and addresses are the same.
    """

    tasks: Mapping[str, plugin_components.TaskComponent]
    """The tasks by name; `job.tasks["worker"].pods[1]` is a Pod."""
    plugins: Mapping[str, plugin_components.PluginComponent]
    """The plugins by name, including plugins that other plugins require. Built-in ones are attributes: `job.ssh`."""
    objects: Sequence[KubernetesObject]
    """All objects except Pods, by kind and name. They exist before the first Pod. In native mode: the Job."""
    pods: Sequence[KubernetesObject]
    """The Pods by task and index; empty if Volcano creates them."""
    name: pulumi.Output[str]
    """The job's name. It depends on the PodGroup, or on the Job in native mode."""
    pod_names: pulumi.Output[list[str]]
    """The names of the Pods by task and index. They depend on the Pods."""
    pod_group_name: pulumi.Output[str]
    """The name of the PodGroup."""
    namespace: pulumi.Output[str]
    """The namespace of all objects of the job."""
    hosts: pulumi.Output[dict[str, list[str]]]
    """The addresses of each task's Pods by index, inside the namespace. They depend on the Service and the Pods."""

    @checked_call("VolcanoJob", skip=1)
    def __init__(
        self,
        resource_name: str,
        args: VolcanoJobArgs = NO_ARGUMENTS,
        opts: pulumi.ResourceOptions | None = None,
        **fields: Unpack[VolcanoJobArgs],
    ) -> None:
        """Register the job and all its objects.

        Args:
            resource_name: the name of the resource, and of the job unless its `name` is set.
            args: the fields and options of the job as one dictionary, instead of keyword arguments.
            opts: every child inherits `provider` and `transforms`, and depends on the resources in `depends_on`.
            fields: the fields and options of the job; `tasks` is required. None means not given.

        Raises:
            JobError: with every problem of the arguments, also as Pulumi's `RunError` and `InputPropertiesError`; no
                resource has been registered then.
        """
        with as_input_errors(resource_name):
            one = one_form(resource_name, args, fields, "VolcanoJob")
        super().__init__(resource_name, one, opts)

    @classmethod
    @checked_call("VolcanoJob.from_yaml", skip=1)
    def from_yaml(
        cls,
        resource_name: str,
        source: str | Path,
        opts: pulumi.ResourceOptions | None = None,
        **overrides: Unpack[VolcanoJobOverrides],
    ) -> Self:
        """Register the job of a file (a Path, or a str without a line break) or of YAML text with one Job.

        Other objects of the file, such as a ConfigMap or a Queue, are not created; a warning (VJ151) lists them.

        Args:
            resource_name: the name of the resource. The name of the job is that of the file.
            source: the file, or the text.
            opts: as in the constructor.
            overrides: options of the job, and fields that override those of the file. Labels and annotations are merged
                by key, and fields of tasks by the name of the task. Templates are merged as by `kubectl patch`. Any
                other field replaces the file's.

        Raises:
            JobError: with every problem of the file, with its line, and of the overrides.
        """
        with as_input_errors(resource_name, str(source) if isinstance(source, Path) else ""):
            job_input = of_document(_one_job(source), overrides)
        return cls._of_input(resource_name, job_input, opts)

    @classmethod
    @checked_call("VolcanoJob.from_job", skip=1)
    def from_job(
        cls,
        resource_name: str,
        job: Job,
        opts: pulumi.ResourceOptions | None = None,
        **overrides: Unpack[VolcanoJobOverrides],
    ) -> Self:
        """Register a `Job`, such as one of those that `load_jobs` returns.

        Args:
            resource_name: the name of the resource. The name of the job is that of `job`.
            job: the job.
            opts: as in the constructor.
            overrides: as in `from_yaml`.

        Raises:
            JobError: with every problem of the job and of the overrides.
        """
        with as_input_errors(resource_name):
            if not isinstance(job, Job):
                raise job_error([wrong_type("job", "a Job", "for a dictionary, write VolcanoJob(name, args)")])
            job_input = of_job(job, overrides)
        return cls._of_input(resource_name, job_input, opts)

    @classmethod
    def _of_input(cls, resource_name: str, job_input: JobInput, opts: pulumi.ResourceOptions | None) -> Self:
        # Only the base class accepts a JobInput.
        component = cls.__new__(cls)
        BaseJob.__init__(component, resource_name, job_input, opts)
        return component

    @property
    def ssh(self) -> plugin_components.SshComponent:
        """The ssh plugin."""
        return self._plugin("ssh", plugin_components.SshComponent)

    @property
    def svc(self) -> plugin_components.SvcComponent:
        """The svc plugin."""
        return self._plugin("svc", plugin_components.SvcComponent)

    @property
    def env(self) -> plugin_components.EnvComponent:
        """The env plugin."""
        return self._plugin("env", plugin_components.EnvComponent)

    @property
    def pytorch(self) -> plugin_components.PytorchComponent:
        """The pytorch plugin."""
        return self._plugin("pytorch", plugin_components.PytorchComponent)

    @property
    def tensorflow(self) -> plugin_components.TensorflowComponent:
        """The tensorflow plugin."""
        return self._plugin("tensorflow", plugin_components.TensorflowComponent)

    @property
    def mpi(self) -> plugin_components.MpiComponent:
        """The mpi plugin."""
        return self._plugin("mpi", plugin_components.MpiComponent)

    @property
    def ray(self) -> plugin_components.RayComponent:
        """The ray plugin."""
        return self._plugin("ray", plugin_components.RayComponent)

    @property
    def hcclrank(self) -> plugin_components.HcclrankComponent:
        """The hcclrank plugin."""
        return self._plugin("hcclrank", plugin_components.HcclrankComponent)

    def _plugin(self, name: str, kind: type[plugin_components.PluginT]) -> plugin_components.PluginT:
        plugin = self.plugins.get(name)
        if isinstance(plugin, kind):
            return plugin
        raise AttributeError(name)  # Python then calls `__getattr__`, whose error has the message

    def _missing_attribute(self, name: str) -> str:
        plugins = vars(self).get("plugins", {})
        if name in plugins:
            return f'the plugin {name} has no attribute: read plugins["{name}"]'
        if name in plugin_components.BY_PLUGIN:
            known = ", ".join(plugins) or "none"
            return f"job {self._job_name} has no {name} plugin (plugins: {known}): add it to `plugins`"
        return super()._missing_attribute(name)


def _one_job(source: str | Path) -> job_file.Document:
    """Read the document of the only Job in a file or text, with the other objects of the file."""
    documents = job_file.read_source(source)
    job, *other_jobs = job_file.jobs_of(documents)
    if other_jobs and job.role == "job":
        reason, hint = "must have at most one Job", "use VolcanoJob.from_job for each job that load_jobs returns"
        raise job_error([Problem("", "TooMany", reason, hint, value=str(len(other_jobs) + 1))])
    others = [item for item in documents if item is not job]
    problems = (*job.problems, *([_not_created(others)] if others else []))
    return replace(job, problems=problems, neighbors=tuple(item.data for item in others))


def _not_created(others: Sequence[job_file.Document]) -> Problem:
    reason = f"from_yaml creates the Job only, not {some([item.label for item in others])}"
    hint = "create them in the program, as `volcano-jobs convert` does"
    return Problem("", "Warning", reason, hint, code="VJ151").at(*others[0].positions[""])
