"""Pod templates that only Volcano's webhook and CRD reject: errors in native mode, and not in composed mode."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.errors import RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes import schema
from tests.conftest import CLAIM, Wire, container, job, problems, task, typed
from tests.native_rules import REJECTED
from tests.pod_rules import APP_ARMOR, TAKEN, secure
from tests.templates import RICH

TEMPLATE = "spec.tasks[0].template"
# These use options that Volcano's webhook leaves off, or repeat the key of an entry.
ONLY_COMPOSED = {
    "a claim in two parts",
    "a container's own restart policy",
    "a domain with an underscore and a dot at its end",
    "a variable's name that no shell could set",
    "the node's own",
}


def of(spec: Wire) -> Wire:
    """Return a job with Pods of a spec."""
    return job({"name": "worker", "replicas": 1, "template": {"spec": spec}})


@pytest.mark.parametrize("name", REJECTED)
def test_a_native_job_is_rejected(name: str, snapshot: SnapshotAssertion) -> None:
    """With and without strict mode."""
    spec, expected = REJECTED[name]

    found = problems(of(spec), managed_by="volcano")

    assert typed(found) == [(f"{TEMPLATE}.{path}", error_type) for path, error_type in expected]
    assert {problem.stage for problem in found} <= {RejectionStage.SCHEMA, RejectionStage.WEBHOOK}
    assert problems(of(spec), managed_by="volcano", strict=False) == found
    assert list(map(str, found)) == snapshot


@pytest.mark.parametrize(("spec", "_"), REJECTED.values(), ids=REJECTED)
def test_composed_pods_of_the_same_templates_are_accepted(spec: Wire, _: object) -> None:
    """The API server accepts them (`tests/cluster/test_podcheck.py`)."""
    assert len(render(of(spec)).pods) == 1


@pytest.mark.parametrize("name", [name for name in [*TAKEN, *RICH] if name not in ONLY_COMPOSED])
def test_other_templates_are_accepted_in_native_mode(name: str) -> None:
    """The near misses of Kubernetes' rules, and specs with many fields."""
    assert render(of({**TAKEN, **RICH}[name]), managed_by="volcano").pods


@pytest.mark.parametrize("name", sorted(ONLY_COMPOSED))
def test_some_near_misses_are_for_composed_mode_only(name: str) -> None:
    """The API server accepts them in Pods, and native mode rejects them."""
    assert problems(of({**TAKEN, **RICH}[name]), managed_by="volcano")


def test_an_annotation_that_contradicts_the_field_of_the_pod_is_rejected_in_a_template(
    snapshot: SnapshotAssertion,
) -> None:
    """The API server copies the annotation to containers of Pods, but not of templates."""
    key = f"{APP_ARMOR}/main"
    spec = secure(appArmorProfile={"type": "Unconfined"})
    template = {"metadata": {"annotations": {key: "runtime/default"}}, "spec": spec}
    document = job({"name": "worker", "replicas": 1, "template": template})

    (found,) = problems(document, managed_by="volcano")

    assert typed([found]) == [(f"{TEMPLATE}.spec.securityContext.appArmorProfile.type", "Forbidden")]
    assert key in found.hint
    assert str(found) == snapshot
    assert render(document).pods


def test_unknown_values_are_accepted() -> None:
    """A leaf passes each rule of native mode."""
    leaf = Leaf("value")
    spec = {
        "containers": [
            container(
                env=[{"name": "A", "value": leaf}],
                envFrom=[{"prefix": leaf, "secretRef": {"name": "s"}}],
                lifecycle={"preStop": {"sleep": {"seconds": leaf}}},
            )
        ],
        "initContainers": [container("early", restartPolicy=leaf)],
        "imagePullSecrets": [{"name": leaf}, {"name": leaf}],
        "dnsConfig": {"searches": [leaf]},
        "schedulingGroup": {"podGroupName": leaf},
        "restartPolicy": "Never",
    }

    assert render(of(spec), managed_by="volcano").pods


def test_a_name_that_may_hold_a_secret_is_not_shown() -> None:
    """A user may have written NAME=VALUE as the name."""
    twice = [{"name": "TOKEN=hunter2", "value": ""}] * 2
    found = list(
        schema.duplicate_entries({"spec": {"containers": [container(env=twice)]}}, schema.POD_TEMPLATE, "template")
    )

    assert [item.path for item in found] == ["template.spec.containers[0].env[1]"]
    assert "hunter2" not in str(found)


def test_lists_with_keys_are_those_of_the_schema() -> None:
    """The keys of lists come from Kubernetes' schemas."""
    spec = task()["template"]["spec"]
    entries = {"schedulingGates": {"name": "example.org/a"}, "resourceClaims": {"name": "a", "resourceClaimName": "a"}}
    for field, entry in entries.items():
        found = list(schema.duplicate_entries({"spec": {**spec, field: [entry, entry]}}, schema.POD_TEMPLATE, ""))
        assert [item.path for item in found] == [f"spec.{field}[1]"]


def test_empty_optional_names_are_left_out_of_a_native_job() -> None:
    """The CRD rejects them if no webhook replaces them; in Go an empty name is a missing one."""
    policy = {"event": "", "events": ["PodFailed"], "action": "RestartJob"}
    document = job(
        {**task(), "topologyPolicy": "", "policies": [{"event": "", "exitCode": 3, "action": "RestartJob"}]},
        priorityClassName="",
        schedulerName="",
        queue="",
        policies=[policy],
        networkTopology={"mode": "", "highestTierName": ""},
        volumes=[{"mountPath": "/data", "volumeClaimName": "", "volumeClaim": CLAIM}],
    )

    spec = render(document, managed_by="volcano").native_job.to_manifest()["spec"]

    assert "priorityClassName" not in spec
    assert (spec["schedulerName"], spec["queue"]) == ("volcano", "default")
    assert spec["policies"] == [{"events": ["PodFailed"], "action": "RestartJob"}]
    assert spec["networkTopology"] == {"mode": "hard"}
    assert spec["volumes"] == [{"mountPath": "/data", "volumeClaimName": "train-pvc-data"}]
    (made,) = spec["tasks"]
    assert "topologyPolicy" not in made
    assert made["policies"] == [{"exitCode": 3, "action": "RestartJob"}]
