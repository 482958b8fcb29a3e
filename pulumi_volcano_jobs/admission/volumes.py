"""Check `spec.volumes` of a job: mount paths, existing claims and new claims."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pulumi_volcano_jobs.core.errors import ErrorType, Problem, RejectionStage, value_text
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes import validation
from pulumi_volcano_jobs.kubernetes.dns import DNS_SUBDOMAIN
from pulumi_volcano_jobs.kubernetes.validation.field import webhook_problem
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.model import Job, Volume

_BLOCK = "Block"


def check(volumes: Sequence[Volume]) -> Iterator[Problem]:
    """Yield the problems for which Volcano's webhook rejects the volumes of a job."""
    repeated = {problem.path: problem for problem in _mounted_twice(volumes) if problem.stage is RejectionStage.WEBHOOK}
    for index, volume in enumerate(volumes):
        place = f"spec.volumes[{index}]"
        if problem := repeated.get(f"{place}.mountPath"):
            yield problem
        if bool(volume.volume_claim_name) == (volume.volume_claim is not None):
            error_type: ErrorType = "Forbidden" if volume.volume_claim_name else "Required"
            reason = "must specify either volumeClaimName (an existing claim) or volumeClaim (a new claim)"
            hint = "remove one of them" if volume.volume_claim_name else "set one of them"
            yield webhook_problem(place, error_type, reason, hint=hint)
        elif volume.volume_claim_name and not re.fullmatch(DNS_SUBDOMAIN, volume.volume_claim_name):
            yield webhook_problem(
                f"{place}.volumeClaimName", "Invalid", "must be the name of a claim", volume.volume_claim_name
            )


def check_strict(volumes: Sequence[Volume]) -> Iterator[Problem]:
    """Yield the problems of volumes that the webhook accepts."""
    for index, volume in enumerate(volumes):
        if volume.volume_claim is not None:
            place = f"spec.volumes[{index}].volumeClaim"
            yield from validation.check_claim(volume.volume_claim, place)
            if volume.volume_claim.get("volumeMode") == _BLOCK:
                reason = "must be Filesystem, because all containers mount the claim, and a block device has no mount"
                hint = "remove it, or use volumeDevices in the template"
                yield Problem(f"{place}.volumeMode", "Invalid", reason, hint, value_text(_BLOCK))
    yield from (problem for problem in _mounted_twice(volumes) if problem.stage is not RejectionStage.WEBHOOK)


def _mounted_twice(volumes: Sequence[Volume]) -> Iterator[Problem]:
    """Yield a Problem for each mount path that several volumes have.

    The webhook rejects only equal texts. If two spellings of a path differ, the later volume hides the earlier one.
    """
    spellings = Counter(volume.mount_path for volume in volumes)
    paths = set()
    for index, volume in enumerate(volumes):
        place, reason = f"spec.volumes[{index}].mountPath", "another volume has this mount path"
        # posixpath keeps two leading slashes.
        path = posixpath.normpath(f"/{volume.mount_path.lstrip('/')}")
        if spellings[volume.mount_path] > 1:
            yield webhook_problem(place, "Duplicate", reason, volume.mount_path, "remove one of them")
        elif path in paths:
            yield Problem(place, "Duplicate", reason, "remove one of them", value_text(volume.mount_path))
        paths.add(path)


def missing_claims(job: Job, cluster: ClusterFacts) -> Iterator[Problem]:
    """Yield a Problem for each claim that the cluster does not have."""
    if cluster.claims is None or isinstance(job.namespace, Leaf):
        return
    for index, volume in enumerate(job.volumes or ()):
        name = volume.volume_claim_name
        if name and (job.namespace, name) not in cluster.claims:
            reason = f"the namespace {job.namespace} has no claim with this name, so the job would stay pending"
            path = f"spec.volumes[{index}].volumeClaimName"
            yield Problem(
                path,
                "NotFound",
                reason,
                "create the claim first",
                value=value_text(name),
                stage=RejectionStage.CONTROLLER,
            )


def warnings(volumes: Sequence[Volume]) -> Iterator[Problem]:
    """Yield a warning for each new claim that needs a feature gate which is off by default."""
    for index, volume in enumerate(volumes):
        yield from validation.check_claim_feature_gates(volume.volume_claim or {}, f"spec.volumes[{index}].volumeClaim")
