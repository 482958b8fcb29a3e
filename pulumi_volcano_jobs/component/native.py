"""The native mode: one `batch.volcano.sh` Job, out of which Volcano's controllers make all else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from pulumi_volcano_jobs.component.advice import on_missing_definitions
from pulumi_volcano_jobs.component.args import JobOptions
from pulumi_volcano_jobs.component.children import KubernetesObject
from pulumi_volcano_jobs.component.digest import digest, tokens
from pulumi_volcano_jobs.component.lift import Outputs
from pulumi_volcano_jobs.manifest import Manifest
from pulumi_volcano_jobs.model import Job
from pulumi_volcano_jobs.rendering import Rendered

# What Volcano's webhook lets an update change; all else needs another Job.
_OF_JOB = frozenset({"minAvailable", "priorityClassName"})
_OF_TASK = frozenset({"replicas", "minAvailable"})

_BAD_ENDS = ("Failed", "Aborted", "Terminated")
_ENDS = ("Completed", *_BAD_ENDS)
_PHASES: Mapping[str, Sequence[str]] = {"running": ("Running", *_ENDS), "succeeded": _ENDS}
DEFAULT_TIMEOUT = "1h"


def hand_over(
    name: str,
    job: Job,
    options: JobOptions,
    outputs: Outputs,
    namespace: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> KubernetesObject:
    """Register the Job, fully defaulted: a partial one loses at its first update what only the webhook had set."""
    manifest = job.to_manifest()
    waits_for = options.get("wait_for", "created")
    timeout = options.get("wait_timeout", DEFAULT_TIMEOUT)
    made = KubernetesObject(
        name,
        manifest,
        namespace,
        outputs,
        pulumi.ResourceOptions.merge(
            opts,
            pulumi.ResourceOptions(
                replacement_trigger=outputs.apply(digest, [_fixed(manifest["spec"]), tokens(options)]),
                custom_timeouts=pulumi.CustomTimeouts(create=timeout, update=timeout),
                hooks=on_missing_definitions(name, "Volcano Jobs"),
            ),
        ),
        wait_for=[_expression(_PHASES[waits_for])] if waits_for in _PHASES else (),
    )
    if waits_for in _PHASES:
        made.status.apply(lambda status: _raise_if_bad(job, status))
    return made


def pod_group_name(job: Job, made: KubernetesObject) -> pulumi.Output[str]:
    """Give the name of the PodGroup that Volcano makes of a Job; it has the Job's uid in it."""
    # The id comes from the cluster only, so that nothing is computed from a preview's metadata.
    uid = pulumi.Output.all(made.id, made.metadata).apply(lambda known: known[1].get("uid", ""))
    # A secret label makes a secret of all metadata.
    return pulumi.Output.unsecret(uid).apply(lambda uid: f"{job.name}-{uid}")


def names_taken(rendered: Rendered) -> list[Manifest]:
    """List what there will be beside Pods: the Job, and what Volcano makes of it under names that are known."""
    return [rendered.handed_over.to_manifest(), *(item for item in rendered.objects if item["kind"] != "PodGroup")]


def _expression(phases: Sequence[str]) -> str:
    is_one = " || ".join(f"@ == '{phase}'" for phase in phases)
    return f"jsonpath={{.status.state[?{is_one}]}}"


def _fixed(spec: Manifest) -> Manifest:
    """Leave out what an update may change: with an Output in it, the digest would be unknown or secret for nothing."""
    return {**_without(spec, _OF_JOB), "tasks": [_without(task, _OF_TASK) for task in spec["tasks"]]}


def _without(fields: Manifest, names: frozenset[str]) -> Manifest:
    return {key: value for key, value in fields.items() if key not in names}


def _raise_if_bad(job: Job, status: Mapping[str, Any] | None) -> None:
    state = (status or {}).get("state") or {}
    if state.get("phase") in _BAD_ENDS:
        why = ", ".join(text for text in (state.get("reason"), state.get("message")) if text)
        namespace = f" -n {job.namespace}" if isinstance(job.namespace, str) else ""
        message = (
            f"the job {job.name} has ended as {state['phase']}{f' ({why})' if why else ''}: `kubectl describe vcjob "
            f"{job.name}{namespace}` says more; another `run` token, or an edit of the job, runs it again"
        )
        raise pulumi.RunError(message)
