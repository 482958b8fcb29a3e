"""Amounts in a native Job: Volcano's CRD rejects numbers with a fraction."""

from __future__ import annotations

import pytest

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.leaf import Leaf, substitute
from tests.conftest import Wire, container, job, task

POD = {
    "containers": [
        container(
            resources={"requests": {"cpu": 0.5, "memory": "1Gi"}, "limits": {"cpu": 2}},
            env=[{"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": 1}}}],
        )
    ],
    "initContainers": [container("early", resources={"requests": {"cpu": 1.5}})],
    "volumes": [
        {"name": "cache", "emptyDir": {"sizeLimit": 1000}},
        {
            "name": "scratch",
            "ephemeral": {
                "volumeClaimTemplate": {
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": 1.5e9}}}
                }
            },
        },
    ],
    "restartPolicy": "Never",
}


def native(document: Wire) -> Wire:
    """Return the spec of the native Job."""
    spec: Wire = render(document, managed_by="volcano").native_job.to_manifest()["spec"]
    return spec


def test_every_amount_of_a_native_job_is_text() -> None:
    """In containers, variables and volumes; text stays as it is written."""
    spec = native(job(task(**POD)))

    made = spec["tasks"][0]["template"]["spec"]
    main, early = made["containers"][0], made["initContainers"][0]
    assert main["resources"] == {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": "2"}}
    assert main["env"][0]["valueFrom"]["resourceFieldRef"]["divisor"] == "1"
    assert early["resources"] == {"requests": {"cpu": "1500m"}}
    assert made["volumes"][0]["emptyDir"] == {"sizeLimit": "1k"}
    ephemeral = made["volumes"][1]["ephemeral"]["volumeClaimTemplate"]["spec"]
    assert ephemeral["resources"] == {"requests": {"storage": "1500M"}}


@pytest.mark.parametrize(("value", "text"), [(0.5, "500m"), (2, "2"), ("0.5", "0.5")])
def test_an_output_becomes_text_when_its_value_is_known(value: object, text: str) -> None:
    """Its type is only known then."""
    resources = {"requests": {"cpu": Leaf("cpu")}}

    spec = native(job(task(containers=[container(resources=resources)])))

    made = substitute(spec, lambda _leaf: value)["tasks"][0]["template"]["spec"]
    assert made["containers"][0]["resources"] == {"requests": {"cpu": text}}


def test_composed_pods_keep_numbers() -> None:
    """The API server accepts numbers in its own types."""
    (pod,) = render(job(task(containers=[container(resources={"requests": {"cpu": 0.5}})]))).pods

    assert pod["spec"]["containers"][0]["resources"] == {"requests": {"cpu": 0.5}}
