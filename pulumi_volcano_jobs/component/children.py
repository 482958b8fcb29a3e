"""From manifests to Pulumi resources, with the options that each kind needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from pulumi_volcano_jobs.component.lift import Outputs
from pulumi_volcano_jobs.leaf import Leaf
from pulumi_volcano_jobs.manifest import Manifest

WAIT_FOR = "pulumi.com/waitFor"
# There as soon as the object is: `up` returns while a gang is queued, a claim unbound or a Service without Pods, and
# yet waits until an old Pod of the same name is gone (skipAwait would not).
CREATED = "jsonpath={.metadata.uid}"


class PodResource(pulumi.CustomResource):
    """A Pod of a job; `metadata`, `spec` and `status` are as Kubernetes spells them: `pod.status["podIP"]`.

    It is registered as pulumi_kubernetes does it, from the same provider, but its fields are not translated to Python's
    spelling and types and back: that takes a fifth of a program with 1,000 Pods.
    """

    if TYPE_CHECKING:
        # Where Pulumi sees types, it translates.
        metadata: pulumi.Output[dict[str, Any]]
        spec: pulumi.Output[dict[str, Any]]
        status: pulumi.Output[dict[str, Any]]

    def __init__(self, name: str, opts: pulumi.ResourceOptions, **fields: Any) -> None:
        """Register the Pod of a manifest."""
        from pulumi_kubernetes import _utilities  # noqa: PLC0415  # the only way to the same default provider

        opts = pulumi.ResourceOptions.merge(_utilities.get_resource_opts_defaults(), opts)
        super().__init__("kubernetes:core/v1:Pod", name, {**_POD, **fields}, opts)


# The status is no input: it says that this is an output.
_POD = {"apiVersion": "v1", "kind": "Pod", "status": None}


def child(
    name: str,
    manifest: Manifest,
    namespace: pulumi.Input[str] | None,
    outputs: Outputs,
    opts: pulumi.ResourceOptions,
) -> pulumi.CustomResource:
    """Register the resource of an object that is no Pod, in this namespace (None: it is of the whole cluster)."""
    # Only here: loading it takes longer than all else together.
    import pulumi_kubernetes as kubernetes  # noqa: PLC0415

    known = {
        ("v1", "ConfigMap"): kubernetes.core.v1.ConfigMap,
        ("v1", "PersistentVolumeClaim"): kubernetes.core.v1.PersistentVolumeClaim,
        ("v1", "Secret"): kubernetes.core.v1.Secret,
        ("v1", "Service"): kubernetes.core.v1.Service,
        ("networking.k8s.io/v1", "NetworkPolicy"): kubernetes.networking.v1.NetworkPolicy,
    }
    fields = _fields(manifest, namespace, outputs)
    identity = manifest["apiVersion"], manifest["kind"]
    if identity in known:
        resource: pulumi.CustomResource = known[identity](name, opts, **fields)
        return resource
    api_version, kind = identity
    return kubernetes.apiextensions.CustomResource(name, api_version, kind, opts=opts, **fields)


def pod(
    name: str,
    manifest: Manifest,
    namespace: pulumi.Input[str],
    outputs: Outputs,
    opts: pulumi.ResourceOptions,
) -> PodResource:
    """Register the resource of a Pod's manifest, in this namespace."""
    return PodResource(name, opts, **_fields(manifest, namespace, outputs))


def _fields(manifest: Manifest, namespace: pulumi.Input[str] | None, outputs: Outputs) -> dict[str, Any]:
    metadata = dict(manifest["metadata"])
    if _waits_for_others(manifest):
        metadata["annotations"] = {**metadata.get("annotations", {}), WAIT_FOR: CREATED}
    rest = {key: value for key, value in manifest.items() if key not in {"apiVersion", "kind", "metadata"}}
    fields: dict[str, Any] = outputs.lower({"metadata": metadata, **rest})
    if namespace is not None:
        fields["metadata"]["namespace"] = namespace
    return fields


def _waits_for_others(manifest: Manifest) -> bool:
    """Tell whether the provider would wait for something that may come late, or never."""
    if manifest["kind"] == "Service":
        address = manifest["spec"].get("clusterIP")
        return isinstance(address, Leaf) or address != "None"
    return manifest["kind"] in {"Pod", "PersistentVolumeClaim"}
