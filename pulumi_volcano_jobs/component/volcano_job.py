"""`VolcanoJob`: a job and all that it is made of, as one Pulumi component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pulumi

from pulumi_volcano_jobs.component import plugin_components
from pulumi_volcano_jobs.component.base_job import BaseJob
from pulumi_volcano_jobs.component.input_errors import as_input_errors
from pulumi_volcano_jobs.component.job_args import JobOptions, VolcanoJobArgs
from pulumi_volcano_jobs.component.kubernetes_object import KubernetesObject
from pulumi_volcano_jobs.core.errors import ErrorType, Problem, job_error
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.spec.model import Job


class VolcanoJob(BaseJob):
    """A Volcano Job composed of its own Pods, PodGroup, Services, Secret, ConfigMap and NetworkPolicy.

    In the tree each plugin and each task is a component of its own, which parents what it made. Pods that Pulumi made
    have no controller: its policies are not enacted (one warning says which).

    With `managed_by="volcano"` it is one `batch.volcano.sh` Job instead, and Volcano's controllers make the rest;
    names, hosts and addresses are the same.
    """

    tasks: Mapping[str, plugin_components.TaskComponent]
    """The tasks by name; `job.tasks["worker"].pods[1]` is a Pod."""
    plugins: Mapping[str, plugin_components.PluginComponent]
    """The plugins by name, those brought in by others too; the built-in ones are attributes: `job.ssh`."""
    objects: Sequence[KubernetesObject]
    """All objects but Pods, by kind and name; they exist before the first Pod. Managed by Volcano: the Job alone."""
    pods: Sequence[KubernetesObject]
    """The Pods by task and index; none if Volcano makes them."""
    name: pulumi.Output[str]
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
        args: VolcanoJobArgs | Job | job_file.Document,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the job and all that it is made of.

        Args:
            resource_name: the resource's name, and the job's unless `args` has one.
            args: the job: its fields, a `Job` (`Job.model_validate` takes kubectl's document), or a file's document.
            opts: `provider` and `transforms` reach every child; children wait for what the job depends on.

        Raises:
            JobError: with every problem of the arguments, also as Pulumi's own `RunError` and `InputPropertiesError`;
                nothing has been created then.
        """
        super().__init__(resource_name, args, opts)

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
            JobError: with every problem of the file, and its line.
        """
        with as_input_errors(resource_name, str(source) if isinstance(source, Path) else ""):
            document = _one_document(source)
        return cls(resource_name, replace(document, data={**document.data, **(options or {})}), opts)

    @property
    def ssh(self) -> plugin_components.SshComponent:
        """What the ssh plugin made."""
        return self._plugin("ssh", plugin_components.SshComponent)

    @property
    def svc(self) -> plugin_components.SvcComponent:
        """What the svc plugin made."""
        return self._plugin("svc", plugin_components.SvcComponent)

    @property
    def env(self) -> plugin_components.EnvComponent:
        """The env plugin."""
        return self._plugin("env", plugin_components.EnvComponent)

    @property
    def pytorch(self) -> plugin_components.PytorchComponent:
        """The pytorch plugin's rendezvous."""
        return self._plugin("pytorch", plugin_components.PytorchComponent)

    @property
    def tensorflow(self) -> plugin_components.TensorflowComponent:
        """The tensorflow plugin's cluster."""
        return self._plugin("tensorflow", plugin_components.TensorflowComponent)

    @property
    def mpi(self) -> plugin_components.MpiComponent:
        """The mpi plugin's hosts."""
        return self._plugin("mpi", plugin_components.MpiComponent)

    @property
    def ray(self) -> plugin_components.RayComponent:
        """What the ray plugin made."""
        return self._plugin("ray", plugin_components.RayComponent)

    @property
    def hcclrank(self) -> plugin_components.HcclrankComponent:
        """The hcclrank plugin."""
        return self._plugin("hcclrank", plugin_components.HcclrankComponent)

    def _plugin(self, name: str, kind: type[plugin_components.PluginT]) -> plugin_components.PluginT:
        plugin = self.plugins.get(name)
        if isinstance(plugin, kind):
            return plugin
        known = ", ".join(self.plugins) or "none"
        message = f"the job {self._job_name} has no {name} plugin (it has {known}): add it to the job's plugins"
        raise AttributeError(message)


def _one_document(source: str | Path) -> job_file.Document:
    is_text = isinstance(source, str) and "\n" in source
    try:
        text = str(source) if is_text else job_file.text_of(Path(source))
    except OSError as error:
        error_type: ErrorType = "NotFound" if isinstance(error, FileNotFoundError) else "Invalid"
        raise job_error([Problem(str(source), error_type, f"the file cannot be read: {error.strerror}")]) from None
    documents = job_file.read(text, "" if is_text else str(source))
    if len(documents) > 1:
        reason = f"there are {len(documents)} documents in it, and a VolcanoJob is made of one"
        raise job_error([Problem("", "TooMany", reason, "load_jobs reads them all; make a VolcanoJob of each")])
    return documents[0]
