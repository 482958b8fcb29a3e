"""Warnings for fields that need a feature gate which is off by default in Kubernetes 1.36.

The API server drops such a field (`DropDisabledPodFields`), or rejects its value (`PodValidationOptions`). They are
warnings because the gates of the cluster are not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.validation import containers, volumes
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, Wire
from pulumi_volcano_jobs.kubernetes.validation.scheduling import COMPARISONS

_SOURCES = (("clusterTrustBundle", "ClusterTrustBundleProjection"), ("podCertificate", "PodCertificateRequest"))
_DROPS, _REJECTS = "drops this field", "rejects the Pods"


def check(template: Wire, path: str) -> Iterator[Problem]:
    """Yield a warning for each field that the API server does not accept by default."""
    spec = ObjectField(template.get("spec") or {}, f"{path}.spec")
    for container in containers.all_containers(spec):
        lifecycle = container.child("lifecycle")
        if lifecycle and lifecycle.has("stopSignal"):
            yield _warning(lifecycle.at("stopSignal"), "ContainerStopSignals", _DROPS)
    if spec.has("schedulingGroup"):
        yield _warning(spec.at("schedulingGroup"), "GenericWorkload", _DROPS)
    for toleration in spec.children("tolerations"):
        if toleration.text("operator") in COMPARISONS:
            yield _warning(toleration.at("operator"), "TaintTolerationComparisonOperators", _REJECTS)
    context = spec.child("securityContext")
    if context and context.text("seLinuxChangePolicy") == "MountOption":
        yield _warning(context.at("seLinuxChangePolicy"), "SELinuxMount", _REJECTS)
    yield from _projected(spec)
    for claim_spec in volumes.claim_specs(spec):
        yield from check_claim(claim_spec.fields, claim_spec.path)


def check_claim(spec: Wire, path: str) -> Iterator[Problem]:
    """Yield a warning if the API server drops the data source of a claim by default (`DropDisabledFields`)."""
    source = ObjectField(spec, path).child("dataSourceRef")
    if source and source.is_given("namespace"):
        yield _warning(source.path, "CrossNamespaceVolumeDataSource", _DROPS)


def _projected(spec: ObjectField) -> Iterator[Problem]:
    projected_volumes = [volume.child("projected") for volume in spec.children("volumes")]
    for source in [source for projected in projected_volumes if projected for source in projected.children("sources")]:
        for key, gate in _SOURCES:
            if source.has(key):
                yield _warning(source.at(key), gate, _DROPS)


def _warning(path: str, gate: str, effect: str) -> Problem:
    reason = f"needs the feature gate {gate}, which is off by default: the API server {effect}"
    return Problem(path, "Warning", reason, f"remove it, or enable {gate} in the cluster", code="VJ123")
