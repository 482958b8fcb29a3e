"""The native mode: one `batch.volcano.sh` Job; Volcano's controllers create its other objects."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pulumi

from pulumi_volcano_jobs.component import error_hooks, forwarding
from pulumi_volcano_jobs.component.composer import Composer, Composition
from pulumi_volcano_jobs.component.digest import digest, tokens
from pulumi_volcano_jobs.component.kubernetes_object import KubernetesObject
from pulumi_volcano_jobs.component.stashed_keys import is_mocked
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec.model import Job, Task

# Fields that Volcano's webhook allows to change in place; other changes need another Job.
_OF_JOB = frozenset({"minAvailable", "priorityClassName"})
_OF_TASK = frozenset({"replicas", "minAvailable"})

# Phases that Volcano does not leave. An Aborted Job can be resumed.
_FINAL = ("Failed", "Terminated")
_ABORTED = "Aborted"
_ENDS = ("Completed", "Failed", _ABORTED, "Terminated")
_PHASES: Mapping[str, Sequence[str]] = {"running": ("Running", *_ENDS), "succeeded": _ENDS}
DEFAULT_TIMEOUT = "1h"


class NativeJob(Composer):
    """Registers a Job, and the objects that Volcano's controllers do not create."""

    mode = "volcano"

    @classmethod
    def ignored_fields(cls, job: Job) -> list[tuple[str, str]]:  # noqa: ARG003
        """Return nothing: Volcano's controllers act on all fields."""
        return []

    @classmethod
    def warnings(cls, rendered: Rendered) -> list[Problem]:  # noqa: ARG003
        """Return nothing: the rendered job has all warnings."""
        return []

    @classmethod
    def manifests(cls, rendered: Rendered) -> list[Manifest]:
        """Return the Job, and the objects that Volcano creates for it with known names."""
        return [rendered.native_job.to_manifest(), *(item for item in rendered.objects if item["kind"] != "PodGroup")]

    def key_pair(self) -> tuple[pulumi.Output[Any], pulumi.Output[Any]]:
        """Return no keys: Volcano generates them in the cluster."""
        nothing: pulumi.Output[Any] = pulumi.Output.from_input(None)
        return nothing, nothing

    def plugin_inputs(self, plugin: Plugin) -> dict[str, Any]:  # noqa: ARG002
        """Return no inputs: the Job has each key in plain text, even one from an Output."""
        return {}

    def task_inputs(self, task: Task) -> dict[str, Any]:  # noqa: ARG002
        """Return no inputs: policies can check the Job."""
        return {}

    def compose(self) -> Composition:
        """Register the objects that Volcano's controllers do not create, then the Job."""
        rendered = self.build.rendered
        objects = self.create([item for item in rendered.objects if ObjectRef.of(item) in rendered.extension_objects])
        self._job = self._native_job(objects)
        return self.finish(_pod_group_name(rendered.job, self._job), self._job)

    def dependencies_of(self, objects: Iterable[ObjectRef]) -> list[KubernetesObject]:  # noqa: ARG002
        """Return the Job, because Volcano creates its objects."""
        return [self._job]

    def _native_job(self, before: Sequence[pulumi.Resource]) -> KubernetesObject:
        """Register the Job with all defaults: the first update of a partial Job would remove the webhook's defaults."""
        build = self.build
        name, job, options = build.resource_name, build.rendered.native_job, build.options
        manifest = job.to_manifest()
        waits_for = options.get("wait_for") or "created"
        if forwarding.is_forwarding(build.outputs.original(job.queue)):
            annotations = {forwarding.FORCE: "true", **manifest["metadata"].get("annotations", {})}
            manifest = {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}
        timeout = options.get("wait_timeout") or DEFAULT_TIMEOUT
        applied = threading.Event()
        resource = KubernetesObject(
            name,
            manifest,
            self.namespace,
            build.outputs,
            pulumi.ResourceOptions(
                parent=build.component,
                depends_on=before,
                replace_with=self.replaced_with,
                replacement_trigger=build.outputs.apply(digest, [_immutable_fields(manifest["spec"]), tokens(options)]),
                custom_timeouts=pulumi.CustomTimeouts(create=timeout, update=timeout),
                hooks=self._hooks(job.name, applied),
            ),
            wait_for=[_expression(_PHASES[waits_for])] if waits_for in _PHASES else (),
        )
        if waits_for in _PHASES:
            resource.status.apply(
                lambda status: _check_status(job, status or {}, resource, is_old=not (is_mocked() or applied.is_set()))
            )
        return resource

    def _hooks(self, job: str, applied: threading.Event) -> pulumi.ResourceHookBinding | None:
        """Return hooks that log advice on errors, and set `applied` when this update has written the Job."""
        name = self.build.resource_name
        advice = error_hooks.missing_definitions(name, "Volcano Jobs"), error_hooks.conflict(name, job)
        binding = self.error_hooks.binding(*advice)

        def set_applied(_args: pulumi.ResourceHookArgs) -> None:
            applied.set()

        if binding:
            hook = pulumi.ResourceHook(f"{name}-applied", set_applied)
            binding.after_create = binding.after_update = [hook]
        return binding


def _pod_group_name(job: Job, resource: KubernetesObject) -> pulumi.Output[str]:
    """Return the name of the PodGroup that Volcano creates for a Job; it contains the Job's uid."""
    # The id is known only after the update, so that nothing is computed from the metadata of a preview.
    uid = pulumi.Output.all(resource.id, resource.metadata).apply(lambda known: known[1].get("uid", ""))
    # A secret label makes all metadata secret.
    return pulumi.Output.unsecret(uid).apply(lambda uid: f"{job.name}-{uid}")


def _expression(phases: Sequence[str]) -> str:
    is_one = " || ".join(f"@ == '{phase}'" for phase in phases)
    return f"jsonpath={{.status.state[?{is_one}]}}"


def _immutable_fields(spec: Manifest) -> Manifest:
    """Return the fields that an update may not change. An Output in other fields must not affect the digest."""
    return {**_without(spec, _OF_JOB), "tasks": [_without(task, _OF_TASK) for task in spec["tasks"]]}


def _without(fields: Manifest, names: frozenset[str]) -> Manifest:
    return {key: value for key, value in fields.items() if key not in names}


def _check_status(job: Job, status: Mapping[str, Any], native_job: KubernetesObject, *, is_old: bool) -> None:
    """Raise an error for a Job that did not complete; only warn if the status is from an earlier update.

    The state keeps the status of the last update that wrote the Job. An Aborted Job may have been resumed since.
    """
    phase = (status.get("state") or {}).get("phase")
    namespace = f" -n {job.namespace}" if isinstance(job.namespace, str) else ""
    resume = f"`vcctl job resume -N {job.name}{namespace}`"
    if phase in _FINAL:
        raise pulumi.RunError(
            f"job {job.name}: {phase}{_pods_of_tasks(status)}: run `kubectl describe vcjob {job.name}{namespace}` to "
            "see its events; another `run` token replaces the Job and runs it again"
        )
    if phase == _ABORTED and is_old:
        pulumi.log.warn(
            f"job {job.name}: Aborted when Pulumi last read it, but it may have been resumed since: run `pulumi up "
            f"--refresh` to read it again; {resume} resumes a job that is still Aborted",
            native_job,
        )
    elif phase == _ABORTED:
        raise pulumi.RunError(
            f"job {job.name}: {phase}{_pods_of_tasks(status)}: run {resume} to resume it; another `run` token replaces "
            "the Job and starts it from the beginning"
        )


def _pods_of_tasks(status: Mapping[str, Any]) -> str:
    """Return the phases of the Pods by task, because Volcano sets no reason and no message in `status.state`."""
    counts = {
        task: status_count.get("phase") or {} for task, status_count in (status.get("taskStatusCount") or {}).items()
    }
    texts = [
        f"{task}: {', '.join(f'{int(number)} {phase}' for phase, number in sorted(phases.items()))}"
        for task, phases in sorted(counts.items())
        if phases
    ]
    return f" ({'; '.join(texts)})" if texts else ""
