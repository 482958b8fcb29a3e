"""Advice about failures that the provider's message does not explain."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import pulumi
from pulumi.runtime import settings

from pulumi_volcano_jobs.component.forwarding import FORCE
from pulumi_volcano_jobs.component.stashed_keys import is_mocked

_TRIES, _SECONDS = 500, 0.01


class Advice(NamedTuple):
    """Text for the user of a resource that failed."""

    hook: str
    """The name of the hook. The engine accepts each name once in a program."""
    sign: str
    """Part of the provider's error that this advice is about."""
    text: str
    """The cause and the fix."""


def hook_binding(*advice: Advice) -> pulumi.ResourceHookBinding | None:
    """Return error hooks that log the advice on a failure. Mocks of some Pulumi versions do not support hooks."""
    return None if is_mocked() else pulumi.ResourceHookBinding(on_error=[_hook(each) for each in advice])


def missing_definitions(resource_name: str, kind: str) -> Advice:
    """Return advice for a cluster that does not know one of Volcano's kinds."""
    # A job and a queue may have the same name.
    return Advice(
        f"{resource_name}-without-{kind}",
        "no matches for kind",
        f"the cluster does not know {kind}: Volcano is not installed, or the kubeconfig selects another cluster: "
        "check `kubectl get crd`, then install Volcano, for example with `helm install "
        "volcano volcano-sh/volcano --namespace volcano-system --create-namespace` from "
        "https://volcano-sh.github.io/helm-charts, and run `pulumi up` again",
    )


def missing_controllers(resource_name: str) -> Advice:
    """Return advice for a queue whose state no controller sets."""
    return Advice(
        f"{resource_name}-without-controllers",
        "timed out waiting for the condition",
        f"the queue {resource_name} exists, but has no state, and Volcano's webhooks reject jobs of a queue that is "
        "not Open: check that Volcano's controllers run (`kubectl get deployments,pods --namespace volcano-system`), "
        "then run `pulumi up` again. In a cluster without these controllers, set the annotation pulumi.com/skipAwait: "
        '"true" on the queue',
    )


def kept_claim(resource_name: str, claim: str) -> Advice:
    """Return advice for a claim that `claims="keep"` kept: providers since 4.29 do not adopt an existing object."""
    return Advice(
        f"{resource_name}-{claim}-kept",
        "already exists",
        f'the claim {claim} already exists: claims="keep" kept it, with its data, when it was deleted from the stack: '
        f'set volume_claim_name="{claim}" instead of volume_claim to mount it, or adopt it with `pulumi import`',
    )


def conflict(resource_name: str, job: str) -> Advice:
    """Return advice for a Job with fields that another field manager owns."""
    return Advice(
        f"{resource_name}-conflict",
        "Apply failed with",
        f"job {job}: another field manager owns fields of the Job: Volcano's controller updates each Job in a queue "
        f'with extendClusters, and kubectl edit owns the fields that it changed: set annotations={{"{FORCE}": "true"}} '
        "on the job to override them, then run `pulumi up` again",
    )


def _hook(advice: Advice) -> pulumi.ErrorHook:
    def log(failure: pulumi.ErrorHookArgs) -> bool:
        if any(advice.sign in error for error in failure.errors):
            pulumi.log.error(advice.text)
        return False

    return pulumi.ErrorHook(advice.hook, log)


async def wait_for_hooks() -> None:
    """Wait for the server of the hooks: grpc crashes a program that ends while the server starts."""
    for _ in range(0 if is_mocked() else _TRIES):
        if settings.SETTINGS.callbacks is not None:
            return
        await asyncio.sleep(_SECONDS)
