"""`spec.volumes` of a job: mount paths, existing claims and new ones."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pulumi_volcano_jobs.core.errors import ErrorType, Problem, RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes import validation
from pulumi_volcano_jobs.kubernetes.dns import DNS_SUBDOMAIN
from pulumi_volcano_jobs.kubernetes.validation.field import webhook_problem
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.model import Job, Volume


def check(volumes: Sequence[Volume]) -> Iterator[Problem]:
    """Yield the problems for which Volcano's webhook rejects the volumes of a job."""
    repeated = {problem.path: problem for problem in _mounted_twice(volumes) if problem.stage is RejectionStage.WEBHOOK}
    for index, volume in enumerate(volumes):
        place = f"spec.volumes[{index}]"
        if problem := repeated.get(f"{place}.mountPath"):
            yield problem
        if bool(volume.volume_claim_name) == (volume.volume_claim is not None):
            reason = "a volume has either a volumeClaimName (an existing claim) or a volumeClaim (a new one)"
            error_type: ErrorType = "Forbidden" if volume.volume_claim_name else "Required"
            yield webhook_problem(place, error_type, reason, hint="give one of them")
        elif volume.volume_claim_name and not re.fullmatch(DNS_SUBDOMAIN, volume.volume_claim_name):
            yield webhook_problem(
                f"{place}.volumeClaimName", "Invalid", "this is no name of a claim", volume.volume_claim_name
            )


def check_strict(volumes: Sequence[Volume]) -> Iterator[Problem]:
    """Yield the problems of volumes that the webhook accepts."""
    for index, volume in enumerate(volumes):
        if volume.volume_claim is not None:
            yield from validation.check_claim(volume.volume_claim, f"spec.volumes[{index}].volumeClaim")
    yield from (problem for problem in _mounted_twice(volumes) if problem.stage is not RejectionStage.WEBHOOK)


def _mounted_twice(volumes: Sequence[Volume]) -> Iterator[Problem]:
    """Yield a Problem for each path that several volumes have.

    The webhook only rejects equal texts. In another spelling of the same path, the later volume hides the earlier one.
    """
    spellings = Counter(volume.mount_path for volume in volumes)
    paths = set()
    for index, volume in enumerate(volumes):
        place, reason = f"spec.volumes[{index}].mountPath", "this path is mounted twice"
        # Two slashes in front are not one to posixpath.
        path = posixpath.normpath(f"/{volume.mount_path.lstrip('/')}")
        if spellings[volume.mount_path] > 1:
            yield webhook_problem(place, "Duplicate", reason, volume.mount_path, "remove one")
        elif path in paths:
            yield Problem(place, "Duplicate", reason, "remove one", repr(volume.mount_path))
        paths.add(path)


def missing_claims(job: Job, cluster: ClusterFacts) -> Iterator[Problem]:
    """Yield a Problem for each claim that the cluster does not have."""
    if cluster.claims is None or isinstance(job.namespace, Leaf):
        return
    for index, volume in enumerate(job.volumes or ()):
        name = volume.volume_claim_name
        if name and (job.namespace, name) not in cluster.claims:
            reason = f"the namespace {job.namespace} has no claim of this name; the job would stay pending"
            path = f"spec.volumes[{index}].volumeClaimName"
            yield Problem(path, "NotFound", reason, "create it first", value=name, stage=RejectionStage.CONTROLLER)


def warnings(volumes: Sequence[Volume]) -> Iterator[Problem]:
    """Yield a warning for each new claim that the API server does not accept by default."""
    for index, volume in enumerate(volumes):
        yield from validation.check_claim_feature_gates(volume.volume_claim or {}, f"spec.volumes[{index}].volumeClaim")
