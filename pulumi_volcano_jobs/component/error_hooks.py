"""Advice about failures that the provider's message does not explain."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pulumi
from pulumi.runtime import settings

from pulumi_volcano_jobs.component.forwarding import FORCE
from pulumi_volcano_jobs.component.stashed_keys import is_mocked

_TRIES, _SECONDS = 500, 0.01
_AGAIN = "then run the command again"
_EXCEPTION = "change the fields that its message names, or ask the administrator of the cluster for an exception"
_REFUSALS = {
    re.compile(pattern): text
    for pattern, text in {
        r'User "([^"]+)" cannot (\w+) resource "([^"]+)" in API group "([^"]*)"': (
            '{0} has no right to {1} {2} (API group "{3}"): ask the administrator of the cluster for the rights in '
            f"docs/permissions.md, {_AGAIN}"
        ),
        r"exceeded quota: ([^,\s]+)": (
            "the ResourceQuota {0} of the namespace is exhausted: request less, or ask the administrator of the "
            f"namespace to raise it (`kubectl describe resourcequota {{0}}` shows its use), {_AGAIN}"
        ),
        r"failed quota: ([^:\s]+): must specify (\S+)": (
            "the ResourceQuota {0} of the namespace rejects Pods without {1}: set resources of each container, or ask "
            f"the administrator of the namespace for a LimitRange with defaults, {_AGAIN}"
        ),
        # Volcano's own webhooks reject mistakes in the job.
        r'admission webhook "((?![^"]*\.volcano\.sh")[^"]+)" denied the request': (
            f"the admission webhook {{0}} rejects the object: {_EXCEPTION}, {_AGAIN}"
        ),
        r"ValidatingAdmissionPolicy '([^']+)' with binding '[^']+' denied request": (
            f"the ValidatingAdmissionPolicy {{0}} rejects the object: {_EXCEPTION}, {_AGAIN}"
        ),
        r'violates PodSecurity "([^":]+)': (
            "the namespace enforces the Pod Security Standard {0}: set the fields that the message names in the "
            f"template, or ask the administrator of the cluster for another namespace, {_AGAIN}"
        ),
    }.items()
}
"""Requests that the cluster refuses: patterns of the API server's error, and the advice."""


class Advice(NamedTuple):
    """Text for the user of a resource that failed."""

    hook: str
    """The name of the hook. The engine accepts each name once in a program."""
    sign: str
    """Part of the provider's error that this advice is about."""
    text: str
    """The cause and the fix."""


class ErrorHooks:
    """The error hooks of all objects of a job or a queue. Mocks of some Pulumi versions do not support hooks."""

    def __init__(self, owner: str) -> None:
        """Register the hook about refused requests.

        Args:
            owner: the kind and the resource name of the component, such as `job train`.
        """
        self._refused = [] if is_mocked() else [_refusal_hook(owner)]

    def binding(self, *advice: Advice) -> pulumi.ResourceHookBinding | None:
        """Return the hooks of an object, which log the advice on a failure."""
        if not self._refused:
            return None
        return pulumi.ResourceHookBinding(on_error=[*self._refused, *map(_hook, advice)])


def refusals(owner: str, errors: Iterable[str]) -> Iterator[str]:
    """Yield the advice about each request that the cluster refused: who can change that, and how."""
    for error in errors:
        for pattern, text in _REFUSALS.items():
            if found := pattern.search(error):
                yield f"{owner}: {text.format(*found.groups())}"


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


def _refusal_hook(owner: str) -> pulumi.ErrorHook:
    logged: set[str] = set()

    def log(failure: pulumi.ErrorHookArgs) -> bool:
        # Many Pods fail for one reason.
        for text in dict.fromkeys(refusals(owner, failure.errors)):
            if text not in logged:
                logged.add(text)
                pulumi.log.error(text)
        return False

    return pulumi.ErrorHook(f"{owner} refused", log)


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
