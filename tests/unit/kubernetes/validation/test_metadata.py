"""Labels, annotations, tolerations and deadlines that Kubernetes refuses, in full words."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.errors import Stage
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, job, refused, task

TEMPLATE = "spec.tasks[0].template"
SPEC = f"{TEMPLATE}.spec"
KEY = (
    "a key is at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit, perhaps behind"
    " a DNS name and a '/' (given: {}): for example example.org/team"
)
LABEL = "a label's value is at most 63 letters, digits, '-', '_' and '.', beginning and ending with the former"


def tolerating(**toleration: Any) -> Wire:
    """Give a job by a toleration of its Pods."""
    return job(task(tolerations=[toleration]))


def with_metadata(**metadata: Any) -> Wire:
    """Give a job by its template's metadata."""
    made = task()
    made["template"]["metadata"] = metadata
    return job(made)


def of_job(**metadata: Any) -> Wire:
    """Give a job by its own metadata."""
    made = job()
    made["metadata"] |= metadata
    return made


REFUSED: dict[str, tuple[Wire, str]] = {
    "a toleration's operator": (
        tolerating(key="gpu", operator="In", value="a"),
        (
            f"{SPEC}.tolerations[0].operator: this must be one of Exists, Equal, Lt, Gt (given: 'In'): Equal, the"
            " default, compares the value"
        ),
    ),
    "a toleration with Exists and a value": (
        tolerating(key="gpu", operator="Exists", value="a"),
        (
            f"{SPEC}.tolerations[0].value: with the operator Exists a toleration has no value (given: 'a'): remove it,"
            " or set operator: Equal"
        ),
    ),
    "a toleration without a key": (
        tolerating(value="a"),
        (
            f"{SPEC}.tolerations[0]: a toleration without a key needs the operator Exists: name the taint's key, or set"
            " operator: Exists to tolerate all"
        ),
    ),
    "a toleration's effect": (
        tolerating(key="gpu", effect="NoRun"),
        (
            f"{SPEC}.tolerations[0].effect: this must be one of NoSchedule, PreferNoSchedule, NoExecute (given:"
            " 'NoRun'): leave it out to tolerate all of them"
        ),
    ),
    "seconds without eviction": (
        tolerating(key="gpu", operator="Exists", effect="NoSchedule", tolerationSeconds=5),
        (
            f"{SPEC}.tolerations[0].effect: with tolerationSeconds the effect must be NoExecute: only that evicts Pods"
            " (given: 'NoSchedule'): set effect: NoExecute, or remove tolerationSeconds"
        ),
    ),
    "a deadline of 0": (
        job(task(activeDeadlineSeconds=0)),
        (
            f"{SPEC}.activeDeadlineSeconds: this must be a number from 1 to 2147483647 (given: 0): leave it out for no"
            " deadline"
        ),
    ),
    "a negative time of grace": (
        job(task(terminationGracePeriodSeconds=-1)),
        (
            f"{SPEC}.terminationGracePeriodSeconds: this must be at least 0 (given: -1): 0 kills at once; left out, it"
            " is 30"
        ),
    ),
    "a label's key in the template": (
        with_metadata(labels={"my app": "a"}),
        f"{TEMPLATE}.metadata.labels.my app: {KEY.format(repr('my app'))}",
    ),
    "a label's key with a prefix in capitals": (
        with_metadata(labels={"Example.org/a": "a"}),
        f"{TEMPLATE}.metadata.labels.Example.org/a: {KEY.format(repr('Example.org/a'))}",
    ),
    "an annotation's key in the template": (
        with_metadata(annotations={"a/b/c": "a"}),
        f"{TEMPLATE}.metadata.annotations.a/b/c: {KEY.format(repr('a/b/c'))}",
    ),
    "a label's key of the job": (of_job(labels={"-a": "b"}), f"metadata.labels.-a: {KEY.format(repr('-a'))}"),
    "a label's value of the job": (
        of_job(labels={"team": "a b"}),
        f"metadata.labels.team: {LABEL} (given: 'a b')",
    ),
    "annotations of 256 KiB of the job": (
        of_job(annotations={"a": "x" * 262144}),
        (
            "metadata.annotations: Too long: may not be more than 262144 bytes: the annotations have 262145 bytes:"
            " remove some"
        ),
    ),
    "an annotation's key of the job": (
        of_job(annotations={"": "b"}),
        f"metadata.annotations.: {KEY.format(repr(''))}",
    ),
}


@pytest.mark.parametrize(("document", "message"), REFUSED.values(), ids=REFUSED)
def test_a_mistake_is_told_in_full(document: Wire, message: str) -> None:
    """Place, rule, value and the way out."""
    assert str(refused(document)) == message


@pytest.mark.parametrize(
    "document", [document for name, (document, _) in REFUSED.items() if name != "a negative time of grace"]
)
def test_lenient_mode_refuses_it_as_volcano_does(document: Wire) -> None:
    """The API server looks at the job, and the webhook runs Kubernetes' checks on its templates."""
    assert refused(document, strict=False).stage <= Stage.WEBHOOK


def test_a_negative_time_of_grace_is_taken_for_1_by_kubernetes() -> None:
    """So lenient mode takes it."""
    assert render(REFUSED["a negative time of grace"][0], strict=False).pods


def test_templates_are_looked_at_when_the_job_s_shape_is_wrong_too() -> None:
    """All at once."""
    document = tolerating(key="gpu", effect="NoRun")
    document["spec"]["minAvailable"] = "x"

    assert {problem.path for problem in refused(document).problems} == {
        "spec.minAvailable",
        f"{SPEC}.tolerations[0].effect",
    }


TAKEN: dict[str, Wire] = {
    "all tolerations": tolerating(operator="Exists"),
    "an equal one": tolerating(key="gpu", operator="Equal", value="a", effect="NoSchedule"),
    "seconds until eviction": tolerating(key="gpu", operator="Exists", effect="NoExecute", tolerationSeconds=5),
    "seconds before an unknown effect": tolerating(operator="Exists", effect=Leaf("e"), tolerationSeconds=5),
    "unknown tolerations": job(task(tolerations=Leaf("x"))),
    "an unknown toleration": job(task(tolerations=[Leaf("x")])),
    "unknown parts of a toleration": tolerating(key=Leaf("a"), operator=Leaf("b"), value=Leaf("c"), effect=Leaf("d")),
    "unknown seconds": job(task(activeDeadlineSeconds=Leaf("a"), terminationGracePeriodSeconds=Leaf("b"))),
    "no grace": job(task(activeDeadlineSeconds=1, terminationGracePeriodSeconds=0)),
    "an annotation's key with a prefix in capitals": with_metadata(annotations={"Example.org/a": "any\ntext"}),
    "a label's key with a prefix": with_metadata(labels={"example.org/A_b.c": "x"}),
    "unknown values of the job's labels": of_job(labels={"a": Leaf("x")}, annotations={"b": Leaf("y")}),
}


@pytest.mark.parametrize("document", TAKEN.values(), ids=TAKEN)
def test_near_misses_render_strictly(document: Wire) -> None:
    """Without a word."""
    assert render(document).warnings == ()
