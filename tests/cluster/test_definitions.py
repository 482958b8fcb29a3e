"""The API server treats a Job the same way with the generated and with Volcano's own resource definition."""

from __future__ import annotations

import json
import urllib.error
from copy import deepcopy
from typing import Any

import definitions
import pytest
from cluster import Cluster

from pulumi_volcano_jobs.core.resource_types import JOB
from tests import upstream
from tests.cluster.conftest import Manifest
from tests.golden.cases import WRITTEN, read

# One skipped test is enough.
USED = WRITTEN if upstream.DEFINITIONS.is_dir() else WRITTEN[:1]
OTHER = "batch.generated.test"


@pytest.fixture(scope="module")
def other(cluster: Cluster) -> str:
    """Install the generated definition of a Job in another group, and return its API version."""
    definition = deepcopy(definitions.definitions()[0])
    definition["metadata"]["name"] = f"jobs.{OTHER}"
    definition["spec"]["group"] = OTHER
    cluster.install(definition)
    return f"{OTHER}/v1alpha1"


def answer(cluster: Cluster, job: Manifest, api_version: str) -> Any:
    """Return the spec that the API server would store, or the rejected fields."""
    path = f"/apis/{api_version}/namespaces/default/jobs?dryRun=All&fieldManager=test"
    metadata = {"name": job["metadata"]["name"]}
    try:
        stored = cluster.request("POST", path, {**job, "apiVersion": api_version, "metadata": metadata})
    except urllib.error.HTTPError as error:
        status = json.loads(error.read())
        return sorted({cause.get("field", "") for cause in (status.get("details") or {}).get("causes", ())})
    return without_empty_values(stored.get("spec"))


def without_empty_values(tree: Any) -> Any:
    """Return a tree without empty values, because the generated definition does not set empty defaults."""
    if isinstance(tree, dict):
        kept = {key: without_empty_values(value) for key, value in tree.items()}
        return {key: value for key, value in kept.items() if value not in ("", 0, {})}
    return [without_empty_values(item) for item in tree] if isinstance(tree, list) else tree


@upstream.compares_with_definitions
@pytest.mark.parametrize("case", USED, ids=lambda case: case.stem)
def test_a_job_is_stored_or_rejected_as_with_volcanos_definition(cluster: Cluster, other: str, case: Any) -> None:
    """All written cases, before Volcano's webhooks edit or reject them."""
    job = read(case)

    assert answer(cluster, job, other) == answer(cluster, job, JOB.api_version)
