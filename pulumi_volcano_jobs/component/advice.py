"""What to do about a failure that the provider's own message leaves open."""

from __future__ import annotations

import pulumi

from pulumi_volcano_jobs.component.keys import is_mocked

_NOT_KNOWN = "no matches for kind"
_EXISTS = "already exists"


def on_missing_definitions(resource_name: str, kind: str) -> pulumi.ResourceHookBinding | None:
    """Advise where the cluster does not know one of Volcano's kinds, once the provider has given up.

    Args:
        resource_name: the component's name, which makes the hook's own.
        kind: the kind that the cluster may not know.
    """
    if is_mocked():
        return None

    def advise(failure: pulumi.ErrorHookArgs) -> bool:
        if any(_NOT_KNOWN in error for error in failure.errors):
            pulumi.log.error(
                f"the cluster does not know {kind}, so Volcano is not installed there (or the kubeconfig names another "
                "cluster than you mean): `kubectl get crd` lists what is. Install it, for example with `helm install "
                "volcano volcano-sh/volcano --namespace volcano-system --create-namespace` from "
                "https://volcano-sh.github.io/helm-charts; then `pulumi up` goes on where it was",
            )
        return False

    return pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{resource_name}-without-volcano", advise)])


def on_kept_claim(resource_name: str, claim: str) -> pulumi.ResourceHookBinding | None:
    """Advise where a claim that `claims="keep"` kept is to be created again: newer providers refuse that.

    Args:
        resource_name: the component's name.
        claim: the claim's name.
    """
    if is_mocked():
        return None

    def advise(failure: pulumi.ErrorHookArgs) -> bool:
        if any(_EXISTS in error for error in failure.errors):
            pulumi.log.error(
                f'the claim {claim} already exists: claims="keep" kept it, with its data, when it was deleted from the '
                f'stack: set volume_claim_name="{claim}" in the place of volume_claim to mount it, or adopt it with '
                "`pulumi import`",
            )
        return False

    return pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{resource_name}-{claim}-kept", advise)])
