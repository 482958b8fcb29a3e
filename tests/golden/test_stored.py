"""A Job as `kubectl get vcjob -o yaml` prints it renders as the Job that was applied."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.spec import naming

from .cases import CLUSTER, CREATED, expected

UID = "5f0c2d0e-3a43-4b8c-9d3e-1f2a3b4c5d6e"
SERVER_TEXTS = (UID, "managedFields", "last-applied", "creationTimestamp", "resourceVersion", "phase", "generateName")


def stored(job: dict[str, Any]) -> dict[str, Any]:
    """Return a Job with the fields that kubectl, the API server and Volcano's controller add to it."""
    document = copy.deepcopy(job)
    metadata = document["metadata"]
    metadata |= {
        "creationTimestamp": "2026-08-20T08:00:00Z",
        "generateName": "train-",
        "generation": 2,
        "managedFields": [{"manager": "vc-controller-manager", "operation": "Update", "fieldsV1": {"f:spec": {}}}],
        "resourceVersion": "4711",
        "uid": UID,
        "annotations": {
            **metadata.get("annotations", {}),
            "kubectl.kubernetes.io/last-applied-configuration": json.dumps(job),
            "volcano.sh/job-forwarding": "true",
        },
    }
    for volume in document["spec"].get("volumes") or ():
        if "volumeClaim" in volume:
            # The name from Volcano is random. With the name from this library the Pods can be compared.
            volume["volumeClaimName"] = naming.claim(metadata["name"], volume["mountPath"])
    status = {"state": {"phase": "Running"}, "minAvailable": 1, "controlledResources": {"plugin-svc": "svc"}}
    return {**document, "status": status}


# The claims are unknown, since Volcano has created more.
LATER = replace(CLUSTER, claims=None)


@pytest.mark.parametrize("case", CREATED, ids=lambda case: case.stem)
def test_a_stored_job_renders_as_the_job_that_was_applied(case: Path) -> None:
    """Each golden case has the same objects and Pods, with the claims that Volcano has created."""
    job = expected(case)["job"]
    applied = render(job, strict=False, cluster=LATER)

    (document,) = job_file.read(json.dumps({"apiVersion": "v1", "kind": "List", "items": [stored(job)]}))
    rendered = render(document.data, strict=False, cluster=LATER)

    assert rendered.objects == tuple(item for item in applied.objects if item["kind"] != "PersistentVolumeClaim")
    assert rendered.pods == applied.pods
    written = job_file.dump([*rendered.objects, *rendered.pods, rendered.job.to_manifest()])
    assert [text for text in SERVER_TEXTS if text in written] == []
