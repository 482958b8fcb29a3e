"""Helpers that run policies like the engine, on the resources that jobs register."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pulumi_policy import (
    Policy,
    PolicyCustomTimeouts,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError, unknown_checking_proxy

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.component.plugin_components import POD_SPEC
from pulumi_volcano_jobs.core.resource_types import TASK, VOLCANO_JOB, ObjectType, component_type
from pulumi_volcano_jobs.kubernetes.manifest import JOB_NAME, TASK_SPEC

UNKNOWN = UNKNOWN_STRING_VALUE
STACK = "urn:pulumi:dev::tests::"
OWNER = f"{STACK}{VOLCANO_JOB}::train"
AMOUNTS = {"requests": {"cpu": "1", "memory": "1Gi"}}


def container(**fields: Any) -> dict[str, Any]:
    """Return a compliant container with other fields."""
    return {"name": "main", "image": "ghcr.io/my-team/train:1", "resources": AMOUNTS, **fields}


def spec(*containers: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the spec of a compliant Pod with other fields."""
    return {"restartPolicy": "Never", "containers": list(containers or [container()]), **fields}


def job(pod: Mapping[str, Any] | None = None, *, replicas: int = 2, **fields: Any) -> dict[str, Any]:
    """Return a compliant job with one task and other fields."""
    task = {"name": "worker", "replicas": replicas, "template": {"spec": pod or spec()}}
    return {
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {"queue": "research", "tasks": [task], "plugins": {"svc": []}, **fields},
    }


def resource(manifest: Mapping[str, Any], *, ours: bool = True) -> PolicyResource:
    """Return the resource of a manifest; a Pod is a child of its task's component."""
    kind, metadata = ObjectType(manifest["apiVersion"], manifest["kind"]).token, manifest["metadata"]
    if ours and TASK_SPEC in metadata.get("labels", {}):
        task = f"{STACK}{VOLCANO_JOB}${TASK}::{metadata['labels'][JOB_NAME]}-{metadata['labels'][TASK_SPEC]}"
        return made(kind, metadata["name"], manifest, f"{VOLCANO_JOB}${TASK}$", task)
    return made(kind, metadata["name"], manifest, f"{VOLCANO_JOB}$" if ours else "")


def made(
    kind: str, name: str, props: Mapping[str, Any], types: str = f"{VOLCANO_JOB}$", parent: str = OWNER
) -> PolicyResource:
    """Return a resource as the engine passes it: with floats for integers, and a proxy that detects unknown values."""
    timeouts = PolicyCustomTimeouts(0, 0, 0)
    options = PolicyResourceOptions(
        protect=False,
        ignore_changes=[],
        delete_before_replace=None,
        aliases=[],
        custom_timeouts=timeouts,
        additional_secret_outputs=[],
        parent=parent if types else None,
    )
    return PolicyResource(
        kind, unknown_checking_proxy(_wire(props)), f"{STACK}{types}{kind}::{name}", name, options, None, None, [], {}
    )


def _wire(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {key: _wire(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [_wire(value) for value in tree]
    if isinstance(tree, int) and not isinstance(tree, bool):
        return float(tree)
    return tree


def composed(document: Mapping[str, Any], **options: Any) -> list[PolicyResource]:
    """Return the resources of a job in composed mode, with the components that the rules check."""
    rendered = render(document, **options)
    owner = made(VOLCANO_JOB, "train", {}, "")
    plugins = (
        [made(component_type("SvcPlugin"), "train-svc", {})]
        if any(plugin.name == "svc" for plugin in rendered.plugins)
        else []
    )
    tasks = [task_component(name, pod["spec"]) for name, pod in rendered.first_pods.items()]
    objects = [resource(item) for item in (*rendered.objects, *rendered.pods)]
    for item in (*plugins, *tasks, *objects):
        item.parent = owner
    return [owner, *plugins, *tasks, *objects]


def task_component(name: str, pod_spec: Mapping[str, Any]) -> PolicyResource:
    """Return the task component of the job before or after an edit."""
    return made(TASK, f"train-{name}", {"job": "train", "task": name, POD_SPEC: pod_spec})


def native(document: Mapping[str, Any], **options: Any) -> list[PolicyResource]:
    """Return the resources of a job in native mode."""
    return [resource(render(document, managed_by="volcano", **options).native_job.to_manifest())]


def raw(**fields: Any) -> list[PolicyResource]:
    """Return a Job that a program creates without the component."""
    manifest = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "raw"}, "spec": fields}
    return [resource(manifest, ours=False)]


def ask(policy: Policy, resources: Iterable[PolicyResource], **config: Any) -> list[str]:
    """Run a policy on resources; return its messages and the unknown properties that it tried to read."""
    said: list[str] = []
    all_of_them = list(resources)
    if isinstance(policy, StackValidationPolicy):
        calls = [lambda: policy.validate(StackValidationArgs(all_of_them, config), lambda text, _: said.append(text))]
    else:
        assert isinstance(policy, ResourceValidationPolicy)
        calls = [_one(policy, item, config, said) for item in all_of_them]
    for call in calls:
        try:
            call()
        except UnknownValueError as error:
            said.append(f"unknown: {error.message}")
    return said


def _one(policy: ResourceValidationPolicy, item: PolicyResource, config: Mapping[str, Any], said: list[str]) -> Any:
    args = ResourceValidationArgs(item.resource_type, item.props, item.urn, item.name, item.opts, None, config)
    return lambda: policy.validate(args, lambda text, _: said.append(text))


def ask_in_both_modes(policy: Policy, document: Mapping[str, Any], **config: Any) -> list[str]:
    """Run a policy on a job in both modes, check that the messages are equal, and return them."""
    messages = ask(policy, composed(document), **config)
    assert ask(policy, native(document), **config) == messages
    return messages


def are_about(messages: Sequence[str], *places: str) -> bool:
    """Check that there is one message for each place, in this order."""
    return len(messages) == len(places) and all(map(str.startswith, messages, (f"{place}: " for place in places)))
