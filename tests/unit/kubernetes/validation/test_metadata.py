"""Labels, annotations, tolerations and deadlines that Kubernetes rejects."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.errors import RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, job, refused, task, typed

TEMPLATE = "spec.tasks[0].template"
SPEC = f"{TEMPLATE}.spec"


def job_with_toleration(**toleration: Any) -> Wire:
    """Build a job by a toleration of its Pods."""
    return job(task(tolerations=[toleration]))


def job_with_template_metadata(**metadata: Any) -> Wire:
    """Build a job by the metadata of its template."""
    made = task()
    made["template"]["metadata"] = metadata
    return job(made)


def job_with_metadata(**metadata: Any) -> Wire:
    """Build a job by its own metadata."""
    made = job()
    made["metadata"] |= metadata
    return made


REJECTED: dict[str, tuple[Wire, str, str]] = {
    "a toleration's operator": (
        job_with_toleration(key="gpu", operator="In", value="a"),
        f"{SPEC}.tolerations[0].operator",
        "NotSupported",
    ),
    "a toleration with Exists and a value": (
        job_with_toleration(key="gpu", operator="Exists", value="a"),
        f"{SPEC}.tolerations[0].value",
        "Invalid",
    ),
    "a toleration without a key": (
        job_with_toleration(value="a"),
        f"{SPEC}.tolerations[0]",
        "Invalid",
    ),
    "a toleration's effect": (
        job_with_toleration(key="gpu", effect="NoRun"),
        f"{SPEC}.tolerations[0].effect",
        "NotSupported",
    ),
    "seconds without eviction": (
        job_with_toleration(key="gpu", operator="Exists", effect="NoSchedule", tolerationSeconds=5),
        f"{SPEC}.tolerations[0].effect",
        "Invalid",
    ),
    "a deadline of 0": (
        job(task(activeDeadlineSeconds=0)),
        f"{SPEC}.activeDeadlineSeconds",
        "Invalid",
    ),
    "a negative time of grace": (
        job(task(terminationGracePeriodSeconds=-1)),
        f"{SPEC}.terminationGracePeriodSeconds",
        "Invalid",
    ),
    "a label's key in the template": (
        job_with_template_metadata(labels={"my app": "a"}),
        f"{TEMPLATE}.metadata.labels.my app",
        "Invalid",
    ),
    "a label's key with a prefix in capitals": (
        job_with_template_metadata(labels={"Example.org/a": "a"}),
        f"{TEMPLATE}.metadata.labels.Example.org/a",
        "Invalid",
    ),
    "an annotation's key in the template": (
        job_with_template_metadata(annotations={"a/b/c": "a"}),
        f"{TEMPLATE}.metadata.annotations.a/b/c",
        "Invalid",
    ),
    "a label's key of the job": (job_with_metadata(labels={"-a": "b"}), "metadata.labels.-a", "Invalid"),
    "a label's value of the job": (
        job_with_metadata(labels={"team": "a b"}),
        "metadata.labels.team",
        "Invalid",
    ),
    "annotations of 256 KiB of the job": (
        job_with_metadata(annotations={"a": "x" * 262144}),
        "metadata.annotations",
        "TooLong",
    ),
    "an annotation's key of the job": (
        job_with_metadata(annotations={"": "b"}),
        "metadata.annotations.",
        "Invalid",
    ),
}


@pytest.mark.parametrize(("document", "path", "error_type"), REJECTED.values(), ids=REJECTED)
def test_invalid_metadata_and_tolerations_are_rejected(
    document: Wire, path: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """Each has one error, at its path."""
    error = refused(document)

    assert typed(error.problems) == [(path, error_type)]
    assert str(error) == snapshot


@pytest.mark.parametrize(
    "document", [document for name, (document, *_) in REJECTED.items() if name != "a negative time of grace"]
)
def test_lenient_mode_rejects_invalid_metadata_as_volcano_does(document: Wire) -> None:
    """The API server checks the job, and the webhook checks its templates."""
    assert refused(document, strict=False).stage <= RejectionStage.WEBHOOK


def test_lenient_mode_accepts_a_negative_grace_period() -> None:
    """Kubernetes replaces it by 1."""
    assert render(REJECTED["a negative time of grace"][0], strict=False).pods


def test_templates_are_checked_if_the_shape_of_the_job_is_wrong() -> None:
    """All problems are reported at once."""
    document = job_with_toleration(key="gpu", effect="NoRun")
    document["spec"]["minAvailable"] = "x"

    assert {problem.path for problem in refused(document).problems} == {
        "spec.minAvailable",
        f"{SPEC}.tolerations[0].effect",
    }


TAKEN: dict[str, Wire] = {
    "all tolerations": job_with_toleration(operator="Exists"),
    "an equal one": job_with_toleration(key="gpu", operator="Equal", value="a", effect="NoSchedule"),
    "seconds until eviction": job_with_toleration(
        key="gpu", operator="Exists", effect="NoExecute", tolerationSeconds=5
    ),
    "seconds before an unknown effect": job_with_toleration(operator="Exists", effect=Leaf("e"), tolerationSeconds=5),
    "unknown tolerations": job(task(tolerations=Leaf("x"))),
    "an unknown toleration": job(task(tolerations=[Leaf("x")])),
    "unknown parts of a toleration": job_with_toleration(
        key=Leaf("a"), operator=Leaf("b"), value=Leaf("c"), effect=Leaf("d")
    ),
    "unknown seconds": job(task(activeDeadlineSeconds=Leaf("a"), terminationGracePeriodSeconds=Leaf("b"))),
    "no grace": job(task(activeDeadlineSeconds=1, terminationGracePeriodSeconds=0)),
    "an annotation's key with a prefix in capitals": job_with_template_metadata(
        annotations={"Example.org/a": "any\ntext"}
    ),
    "a label's key with a prefix": job_with_template_metadata(labels={"example.org/A_b.c": "x"}),
    "unknown values of the job's labels": job_with_metadata(labels={"a": Leaf("x")}, annotations={"b": Leaf("y")}),
}


@pytest.mark.parametrize("document", TAKEN.values(), ids=TAKEN)
def test_near_misses_are_accepted_in_strict_mode(document: Wire) -> None:
    """They have no warnings."""
    assert render(document).warnings == ()
