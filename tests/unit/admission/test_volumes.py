"""Volumes of a job, and their claims."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import ClusterFacts, render
from pulumi_volcano_jobs.core.errors import RejectionStage, value_text
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import CLAIM, Wire, job, problems, refused, task, typed


def volumes(*found: Wire) -> Wire:
    """Build a job with volumes."""
    return job(volumes=list(found))


def test_a_claim_must_exist_in_the_namespace_if_claims_are_known(snapshot: SnapshotAssertion) -> None:
    """The controller would leave the job pending."""
    document = volumes({"mountPath": "/a", "volumeClaimName": "there"}, {"mountPath": "/b", "volumeClaimName": "gone"})
    cluster = ClusterFacts(claims=frozenset({("default", "there"), ("other", "gone")}))

    error = refused(document, strict=False, cluster=cluster)

    assert typed(error.problems) == [("spec.volumes[1].volumeClaimName", "NotFound")]
    assert error.problems[0].value == '"gone"'
    assert error.stage is RejectionStage.CONTROLLER
    assert str(error) == snapshot
    assert render(document).pods


def test_a_claim_is_not_looked_for_in_an_unknown_namespace() -> None:
    """The claims of an unknown namespace are unknown."""
    document = volumes({"mountPath": "/a", "volumeClaimName": "gone"})
    document["metadata"]["namespace"] = Leaf("namespace")

    assert render(document, cluster=ClusterFacts(claims=frozenset())).pods


def test_a_data_source_that_the_api_server_ignores_is_an_error(snapshot: SnapshotAssertion) -> None:
    """The API server would accept the claim, and its volume would be empty."""
    sources = ({"kind": "VolumeSnapshot", "name": "a"}, {"apiGroup": "A", "kind": "B", "name": ""})
    first, second = (
        problems(job(volumes=[{"mountPath": "/data", "volumeClaim": CLAIM | {"dataSource": source}}]))
        for source in sources
    )

    assert typed(first) == [("spec.volumes[0].volumeClaim.dataSource", "Invalid")]
    assert second == first
    assert str(first[0]) == snapshot


@pytest.mark.parametrize("second", ["/data/", "//data", "/data/."])
def test_one_mount_path_in_two_spellings_is_an_error(second: str) -> None:
    """The second volume would hide the first; Volcano compares the paths as text."""
    volumes = [{"mountPath": path, "volumeClaim": CLAIM} for path in ("/data", second)]

    found = problems(job(task(), volumes=volumes))

    assert typed(found) == [("spec.volumes[1].mountPath", "Duplicate")]
    assert found[0].value == value_text(second)


def test_the_error_of_a_mount_path_in_two_spellings_has_a_fix(snapshot: SnapshotAssertion) -> None:
    """The fix is to remove one of the volumes."""
    volumes = [{"mountPath": path, "volumeClaim": CLAIM} for path in ("/data", "/data/")]

    (problem,) = problems(job(task(), volumes=volumes))

    assert str(problem) == snapshot


def test_lenient_mode_creates_one_claim_for_one_path_in_two_spellings() -> None:
    """Two claims would have the same name."""
    volumes = [{"mountPath": path, "volumeClaim": CLAIM} for path in ("/data", "/data/")]
    rendered = render(job(task(), volumes=volumes), strict=False)

    claims = [item["metadata"]["name"] for item in rendered.objects if item["kind"] == "PersistentVolumeClaim"]
    assert claims == ["train-pvc-data"]


def test_a_claim_of_a_block_device_is_rejected() -> None:
    """All containers mount it, so their Pods would not start."""
    document = job(volumes=[{"mountPath": "/data", "volumeClaim": {**CLAIM, "volumeMode": "Block"}}])

    assert typed(problems(document)) == [("spec.volumes[0].volumeClaim.volumeMode", "Invalid")]
