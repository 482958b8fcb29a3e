"""Fields that a Job does not have."""

from __future__ import annotations

import pytest

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.errors import RejectionStage
from pulumi_volcano_jobs.core.suggestions import suggestion
from tests.conftest import CLAIM, Wire, container, job, problems, task, typed

UNKNOWN: dict[str, tuple[Wire, str, str]] = {
    "of the spec": (job(minAvaliable=1), "spec.minAvaliable", "minAvailable"),
    "of a task": (job({**task(), "replica": 1}), "spec.tasks[0].replica", "replicas"),
    "of a policy": (
        job(policies=[{"event": "PodFailed", "action": "AbortJob", "exitcode": 1}]),
        "spec.policies[0].exitcode",
        "exitCode",
    ),
    "of a task's policy": (
        job({**task(), "policies": [{"event": "PodFailed", "action": "AbortJob", "timeOut": "1s"}]}),
        "spec.tasks[0].policies[0].timeOut",
        "timeout",
    ),
    "of a volume": (
        job(volumes=[{"mountPath": "/a", "volumeClaimName": "x", "volumeclaim": {}}]),
        "spec.volumes[0].volumeclaim",
        "volumeClaim",
    ),
    "of a template": (job(task(restartPolcy="Never")), "spec.tasks[0].template.spec.restartPolcy", "restartPolicy"),
    "of a claim": (
        job(volumes=[{"mountPath": "/a", "volumeClaim": {**CLAIM, "accessMode": ["x"]}}]),
        "spec.volumes[0].volumeClaim.accessMode",
        "accessModes",
    ),
    "of the network topology": (job(networkTopology={"Mode": "hard"}), "spec.networkTopology.Mode", "mode"),
    "of the document": ({**job(), "specs": {}}, "specs", ""),
    "of the metadata": (
        {**job(), "metadata": {"name": "train", "label": {}}},
        "metadata.label",
        "labels",
    ),
    "of the metadata in the spec": (job(labels={"a": "b"}), "spec.labels", ""),
}


@pytest.mark.parametrize(("document", "path", "right"), UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_field_is_an_error_with_the_nearest_name(document: Wire, path: str, right: str) -> None:
    """Volcano drops it."""
    (problem,) = problems(document)

    assert typed([problem]) == [(path, "Forbidden")]
    assert problem.stage is RejectionStage.STRICT
    assert not right or problem.hint == suggestion(right, [right])
    assert render(document, strict=False).pods


@pytest.mark.parametrize(
    ("document", "hint"),
    [(job(labels={"a": "b"}), "move it to metadata.labels"), ({**job(), "queue": "research"}, "move it to spec.queue")],
    ids=["labels in the spec", "queue outside of the spec"],
)
def test_a_misplaced_field_of_the_job_has_its_right_path(document: Wire, hint: str) -> None:
    """A suggestion of the same name would not help."""
    (problem,) = problems(document)

    assert problem.hint == hint


TASK, TEMPLATE = "spec.tasks[0]", "spec.tasks[0].template"
MISPLACED: dict[str, tuple[Wire, str, str]] = {
    "a field of the Pod in the job": (job(nodeSelector={}), "spec.nodeSelector", f"{TEMPLATE}.spec.nodeSelector"),
    "a field of a task in the job": (job(replicas=2), "spec.replicas", f"{TASK}.replicas"),
    "a field of the Pod in a task": (
        job(task() | {"restartPolicy": "Never"}),
        f"{TASK}.restartPolicy",
        f"{TEMPLATE}.spec.restartPolicy",
    ),
    "a field of a container in a task": (
        job(task() | {"image": "x"}),
        f"{TASK}.image",
        f"{TEMPLATE}.spec.containers[0].image",
    ),
    "a field of the Pod in the template": (
        job({"name": "worker", "replicas": 1, "template": {**task()["template"], "restartPolicy": "Never"}}),
        f"{TEMPLATE}.restartPolicy",
        f"{TEMPLATE}.spec.restartPolicy",
    ),
    "labels in the Pod": (job(task(labels={})), f"{TEMPLATE}.spec.labels", f"{TEMPLATE}.metadata.labels"),
    "a field of a container in the Pod": (
        job(task(command=["a"])),
        f"{TEMPLATE}.spec.command",
        f"{TEMPLATE}.spec.containers[0].command",
    ),
    "a field of the Pod in a container": (
        job(task(containers=[container(hostNetwork=True)])),
        f"{TEMPLATE}.spec.containers[0].hostNetwork",
        f"{TEMPLATE}.spec.hostNetwork",
    ),
}


@pytest.mark.parametrize(("document", "path", "place"), MISPLACED.values(), ids=MISPLACED)
def test_the_hint_of_a_misplaced_field_is_its_place(document: Wire, path: str, place: str) -> None:
    """A similar name at the wrong place is not suggested."""
    (problem,) = problems(document)

    assert typed([problem]) == [(path, "Forbidden")]
    assert problem.hint == f"move it to {place}"
