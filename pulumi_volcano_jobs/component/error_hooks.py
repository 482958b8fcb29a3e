"""What to do about a failure that the provider's own message leaves open."""

from __future__ import annotations

import asyncio

import pulumi
from pulumi.runtime import settings

from pulumi_volcano_jobs.component.forwarding import FORCE
from pulumi_volcano_jobs.component.stashed_keys import is_mocked

_NOT_KNOWN = "no matches for kind"
_EXISTS = "already exists"
_TIMED_OUT = "timed out waiting for the condition"
_QUEUES = "Queues"
_CONFLICT = "Apply failed with"


_TRIES, _SECONDS = 500, 0.01


async def hooks_started() -> None:
    """Wait for the server of the hooks: grpc crashes the process of a program that ends while it starts."""
    for _ in range(0 if is_mocked() else _TRIES):
        if settings.SETTINGS.callbacks is not None:
            return
        await asyncio.sleep(_SECONDS)


def on_missing_definitions(resource_name: str, kind: str) -> pulumi.ResourceHookBinding | None:
    """Advise where the cluster does not know one of Volcano's kinds, once the provider has given up.

    Args:
        resource_name: the component's name, which makes the hook's own.
        kind: the kind that the cluster may not know.
    """
    return None if is_mocked() else pulumi.ResourceHookBinding(on_error=[_without_volcano(resource_name, kind)])


def on_failed_queue(resource_name: str) -> pulumi.ResourceHookBinding | None:
    """Advise also where no controller sets the state of a Queue."""
    if is_mocked():
        return None
    advice = (
        f"the queue {resource_name} exists, but has no state, and Volcano's webhooks reject jobs of a queue that is "
        "not Open: check that Volcano's controllers run (`kubectl get deployments,pods --namespace volcano-system`), "
        "then run `pulumi up` again. In a cluster without these controllers, set the annotation pulumi.com/skipAwait: "
        '"true" on the queue'
    )
    hooks = [
        _without_volcano(resource_name, _QUEUES),
        _hook(f"{resource_name}-without-controllers", _TIMED_OUT, advice),
    ]
    return pulumi.ResourceHookBinding(on_error=hooks)


def on_kept_claim(resource_name: str, claim: str) -> pulumi.ResourceHookBinding | None:
    """Advise where a claim that `claims="keep"` kept is to be created again: newer providers refuse that.

    Args:
        resource_name: the component's name.
        claim: the claim's name.
    """
    if is_mocked():
        return None
    advice = (
        f'the claim {claim} already exists: claims="keep" kept it, with its data, when it was deleted from the stack: '
        f'set volume_claim_name="{claim}" instead of volume_claim to mount it, or adopt it with `pulumi import`'
    )
    return pulumi.ResourceHookBinding(on_error=[_hook(f"{resource_name}-{claim}-kept", _EXISTS, advice)])


def _without_volcano(resource_name: str, kind: str) -> pulumi.ErrorHook:
    advice = (
        f"the cluster does not know {kind}, so Volcano is not installed there (or the kubeconfig names another "
        "cluster than you mean): `kubectl get crd` lists what is. Install it, for example with `helm install "
        "volcano volcano-sh/volcano --namespace volcano-system --create-namespace` from "
        "https://volcano-sh.github.io/helm-charts; then `pulumi up` goes on where it was"
    )
    # A job and a queue may have one name, and the engine takes each name of a hook once.
    return _hook(f"{resource_name}-without-{kind}", _NOT_KNOWN, advice)


def on_conflict(resource_name: str, job: str) -> pulumi.ErrorHook:
    """Advise where another field manager owns fields of a Job that the update applies.

    Args:
        resource_name: the component's name, which makes the hook's own.
        job: the name of the Job.
    """
    advice = (
        f"job {job}: another field manager owns fields of the Job: Volcano's controller updates each Job in a queue "
        f'with extendClusters, and kubectl edit owns the fields that it changed: set annotations={{"{FORCE}": "true"}} '
        "on the job to override them, then run `pulumi up` again"
    )
    return _hook(f"{resource_name}-conflict", _CONFLICT, advice)


def _hook(name: str, sign: str, advice: str) -> pulumi.ErrorHook:
    """Return a hook that logs advice when an error of the provider has a sign in it."""

    def advise(failure: pulumi.ErrorHookArgs) -> bool:
        if any(sign in error for error in failure.errors):
            pulumi.log.error(advice)
        return False

    return pulumi.ErrorHook(name, advise)
