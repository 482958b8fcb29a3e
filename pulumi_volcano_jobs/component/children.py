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
_SECRET = ("data", "stringData")


class KubernetesObject(pulumi.CustomResource):
    """An object that a component made; its fields are as Kubernetes spells them: `pod.status["podIP"]`.

    It is registered as pulumi_kubernetes does it, from the same provider, but its fields are not translated to Python's
    spelling and types and back: that takes a fifth of a program with 1,000 Pods, and loading the types a third of one
    with 100.
    """

    if TYPE_CHECKING:
        # Where Pulumi sees types, it translates.
        metadata: pulumi.Output[dict[str, Any]]
        """Names, labels and annotations."""
        spec: pulumi.Output[dict[str, Any]]
        """What was asked for."""
        status: pulumi.Output[dict[str, Any]]
        """What the cluster said of it when the update ended."""

    def __init__(
        self,
        name: str,
        manifest: Manifest,
        namespace: pulumi.Input[str] | None,
        outputs: Outputs,
        opts: pulumi.ResourceOptions,
    ) -> None:
        """Register the resource of a manifest, in this namespace (None: it is of the whole cluster)."""
        from pulumi_kubernetes import _utilities  # noqa: PLC0415  # the only way to the same default provider

        api_version, kind = manifest["apiVersion"], manifest["kind"]
        metadata = dict(manifest["metadata"])
        if _waits_for_others(manifest):
            metadata["annotations"] = {**metadata.get("annotations", {}), WAIT_FOR: CREATED}
        fields: dict[str, Any] = outputs.lower({**manifest, "metadata": metadata})
        if namespace is not None:
            fields["metadata"]["namespace"] = namespace
        opts = pulumi.ResourceOptions.merge(_utilities.get_resource_opts_defaults(), opts)
        if kind == "Secret":
            fields |= {key: pulumi.Output.secret(fields[key]) for key in _SECRET if key in fields}
            opts.additional_secret_outputs = list(_SECRET)
        elif "spec" in fields:
            # No input: it says that this is an output.
            fields["status"] = None
        group = api_version if "/" in api_version else f"core/{api_version}"
        super().__init__(f"kubernetes:{group}:{kind}", name, fields, opts)


def _waits_for_others(manifest: Manifest) -> bool:
    """Tell whether the provider would wait for something that may come late, or never."""
    if manifest["kind"] == "Service":
        address = manifest["spec"].get("clusterIP")
        return isinstance(address, Leaf) or address != "None"
    return manifest["kind"] in {"Pod", "PersistentVolumeClaim"}
