"""Kubernetes objects as Pulumi resources, with the options that each kind needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pulumi

from pulumi_volcano_jobs.component.digest import digest
from pulumi_volcano_jobs.component.lookup import NamedAttributes
from pulumi_volcano_jobs.component.outputs import Outputs
from pulumi_volcano_jobs.core.leaf import Derived, Leaf, derive
from pulumi_volcano_jobs.core.resource_types import ObjectType
from pulumi_volcano_jobs.kubernetes.manifest import REPLICAS, Manifest

WAIT_FOR = "pulumi.com/waitFor"
DIGEST = "pulumi.com/volcano-digest"
"""The annotation with a digest of the fields that an update changes in place."""
# The provider waits for these kinds by default: until a Pod runs, a claim is bound, or a Service has endpoints. But
# `up` must return while a gang is queued. skipAwait is not an option: it also skips the wait for an old Pod's deletion.
_AWAITED = frozenset({"Pod", "PersistentVolumeClaim", "Service"})
_SECRET = ("data", "stringData")


class KubernetesObject(NamedAttributes, pulumi.CustomResource):
    """A Kubernetes object of a component. Its fields have their Kubernetes names: `pod.status["podIP"]`.

    It is registered like a resource of pulumi_kubernetes, with the same provider, but its fields are not converted to
    Python names and types and back. The conversion takes a fifth of the time of a program with 1,000 Pods, and loading
    the types a third of the time of a program with 100 Pods.
    """

    if TYPE_CHECKING:
        # Pulumi converts fields that are annotated at run time.
        metadata: pulumi.Output[dict[str, Any]]
        """Names, labels and annotations."""
        spec: pulumi.Output[dict[str, Any]]
        """The spec."""
        status: pulumi.Output[dict[str, Any]]
        """The status at the end of the update."""

    def __init__(
        self,
        name: str,
        manifest: Manifest,
        namespace: pulumi.Input[str] | None,
        outputs: Outputs,
        opts: pulumi.ResourceOptions,
        *,
        wait_for: Sequence[str] = (),
    ) -> None:
        """Register the resource of a manifest.

        Args:
            name: the logical name. It starts with the parent's, so that an alias of a component covers its children.
            manifest: the object; its leaves represent Outputs.
            namespace: the namespace, or None for a cluster-scoped object.
            outputs: the Outputs of the leaves.
            opts: options in addition to the common options of all objects.
            wait_for: JSONPath expressions that `up` waits for, such as `jsonpath={.status.state}`.
        """
        from pulumi_kubernetes import _utilities  # noqa: PLC0415  # the only way to the same default provider

        api_version, kind = manifest["apiVersion"], manifest["kind"]
        if kind in _AWAITED or wait_for:
            metadata = {**manifest["metadata"], "annotations": _annotations(manifest, wait_for)}
            manifest = {**manifest, "metadata": metadata}
        fields: dict[str, Any] = outputs.lower(manifest)
        if namespace is not None:
            fields["metadata"]["namespace"] = namespace
        opts = pulumi.ResourceOptions.merge(_utilities.get_resource_opts_defaults(), opts)
        # The name is fixed: created first, the new object would collide with the old one, or be deleted as the old one.
        opts.delete_before_replace = True
        if kind == "Secret":
            fields |= {key: pulumi.Output.secret(fields[key]) for key in _SECRET if key in fields}
            opts.additional_secret_outputs = list(_SECRET)
        elif "spec" in fields:
            # Not an input: it declares the output.
            fields["status"] = None
        super().__init__(ObjectType(api_version, kind).token, name, fields, opts)


def _annotations(manifest: Manifest, wait_for: Sequence[str]) -> Any:
    """Add the annotations that make the provider wait for the object of this update.

    A condition that the old object meets would end the wait at once. The state would then keep the old object, and the
    next update would apply the same edit again.
    """
    annotations = manifest["metadata"].get("annotations", {})
    if isinstance(annotations, Leaf):
        return Derived(_annotations, manifest, wait_for)
    if not isinstance(annotations, Mapping):
        # The API server rejects it.
        return annotations
    digest_text = derive(digest, _written_in_place(manifest))
    # A condition that the user sets takes precedence.
    return {DIGEST: digest_text, WAIT_FOR: derive(_expressions, digest_text, wait_for), **annotations}


def _written_in_place(manifest: Manifest) -> dict[str, Any]:
    metadata = manifest["metadata"]
    # Changes of REPLICAS are either ignored or replace the Pod.
    annotations = {key: value for key, value in metadata.get("annotations", {}).items() if key != REPLICAS}
    fields = {"labels": metadata.get("labels", {}), "annotations": annotations}
    # A Pod's spec is never updated in place.
    return fields if manifest["kind"] == "Pod" else {**fields, "spec": manifest["spec"]}


def _expressions(digest_text: str, wait_for: Sequence[str]) -> str:
    expressions = [f"jsonpath={{.metadata.annotations['{DIGEST}']}}={digest_text}", *wait_for]
    return expressions[0] if len(expressions) == 1 else json.dumps(expressions)
