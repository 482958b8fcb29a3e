"""Jobs that were read from a cluster."""

from __future__ import annotations

import yaml

from pulumi_volcano_jobs import VolcanoJob
from pulumi_volcano_jobs.testing import run
from tests.unit.spec.test_document import stored

TEXT = yaml.safe_dump(stored(annotations={"kubectl.kubernetes.io/last-applied-configuration": "{}"}))


def test_a_stored_job_mounts_its_existing_claim() -> None:
    """No claim is created, server metadata is dropped, and one warning names the claim."""
    result = run(lambda: VolcanoJob.from_yaml("train", TEXT) and None)

    kinds = {name.partition(" ")[0] for name in result.resources}
    assert {"Pod", "PodGroup"} <= kinds
    assert "PersistentVolumeClaim" not in kinds
    assert set(result.resources["PodGroup train"].inputs["metadata"]) == {"name", "namespace"}
    (warning,) = result.warnings
    assert "spec.volumes[0].volumeClaimName: " in warning
    assert warning.endswith(" [VJ121]")


def test_a_stored_job_is_registered_as_it_was_applied() -> None:
    """Only the name of the existing claim is added."""
    result = run(lambda: VolcanoJob.from_yaml("train", TEXT, managed_by="volcano") and None)

    job = result.resources["Job train"].inputs
    assert job["spec"]["volumes"] == [{"mountPath": "/data", "volumeClaimName": "train-pvc-4bfb7"}]
    assert set(job["metadata"]) == {"name", "namespace"}
    assert "status" not in job
