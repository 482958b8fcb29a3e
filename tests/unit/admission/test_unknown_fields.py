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
    "a field of the job in a task": (job(task() | {"queue": "a"}), f"{TASK}.queue", "spec.queue"),
    "a field of the job in the Pod": (job(task(plugins={})), f"{TEMPLATE}.spec.plugins", "spec.plugins"),
    "a field of the job in the metadata": (
        {**job(), "metadata": {"name": "train", "minAvailable": 1}},
        "metadata.minAvailable",
        "spec.minAvailable",
    ),
    "a field of a task in a container": (
        job(task(containers=[container(replicas=2)])),
        f"{TEMPLATE}.spec.containers[0].replicas",
        f"{TASK}.replicas",
    ),
    "a field of a later task in its Pod": (
        job(task("a"), task("b", policies=[])),
        "spec.tasks[1].template.spec.policies",
        "spec.tasks[1].policies",
    ),
    "a Pod spec in a task": (job(task() | {"spec": {}}), f"{TASK}.spec", f"{TEMPLATE}.spec"),
    "containers in the job": (job(containers=[]), "spec.containers", f"{TEMPLATE}.spec.containers"),
    "containers outside of the spec": ({**job(), "containers": []}, "containers", f"{TEMPLATE}.spec.containers"),
    "an event in the job": (job(event="PodFailed"), "spec.event", "spec.policies[0].event"),
    "a plugin in the job": (job(svc=[]), "spec.svc", "spec.plugins.svc"),
    "variables in the job": (job(env=[{"name": "A"}]), "spec.env", f"{TEMPLATE}.spec.containers[0].env"),
    "a tier in the job": (
        job(highestTierAllowed=1),
        "spec.highestTierAllowed",
        "spec.networkTopology.highestTierAllowed",
    ),
    "an amount in a container": (
        job(task(containers=[container(cpu=1)])),
        f"{TEMPLATE}.spec.containers[0].cpu",
        f"{TEMPLATE}.spec.containers[0].resources.requests.cpu",
    ),
    "a device among resources": (
        job(task(containers=[container(resources={"nvidia.com/gpu": 1})])),
        f"{TEMPLATE}.spec.containers[0].resources.nvidia.com/gpu",
        f"{TEMPLATE}.spec.containers[0].resources.limits.nvidia.com/gpu",
    ),
    "resources in a task": (
        job({**task(), "resources": {}}),
        "spec.tasks[0].resources",
        f"{TEMPLATE}.spec.containers[0].resources",
    ),
    "limits in the Pod": (
        job(task(limits={})),
        f"{TEMPLATE}.spec.limits",
        f"{TEMPLATE}.spec.containers[0].resources.limits",
    ),
    "a user in a container": (
        job(task(containers=[container(runAsUser=1)])),
        f"{TEMPLATE}.spec.containers[0].runAsUser",
        f"{TEMPLATE}.spec.containers[0].securityContext.runAsUser",
    ),
    "a key of a Secret in a variable": (
        job(task(containers=[container(env=[{"name": "A", "secretKeyRef": {}}])])),
        f"{TEMPLATE}.spec.containers[0].env[0].secretKeyRef",
        f"{TEMPLATE}.spec.containers[0].env[0].valueFrom.secretKeyRef",
    ),
    "a claim in a volume": (
        job(task(volumes=[{"name": "a", "claimName": "a", "emptyDir": {}}])),
        f"{TEMPLATE}.spec.volumes[0].claimName",
        f"{TEMPLATE}.spec.volumes[0].persistentVolumeClaim.claimName",
    ),
    "a path in a probe": (
        job(task(containers=[container(livenessProbe={"path": "/", "tcpSocket": {"port": 1}})])),
        f"{TEMPLATE}.spec.containers[0].livenessProbe.path",
        f"{TEMPLATE}.spec.containers[0].livenessProbe.httpGet.path",
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


NEARLY: dict[str, tuple[Wire, str]] = {
    "another spelling": (job(task() | {"minavailable": 1}), "did you mean minAvailable?"),
    "the end of a name": (
        job(volumes=[{"mountPath": "/a", "claimName": "a", "volumeClaimName": "b"}]),
        "did you mean volumeClaimName?",
    ),
    "a mistake in the metadata": ({**job(), "metadata": {"name": "train", "label": {}}}, "did you mean labels?"),
    "a mistake outside of the spec": ({**job(), "metdata": {}}, "did you mean metadata?"),
    "a key in lower case": ({**job(), "apiversion": "v1"}, "write apiVersion: batch.volcano.sh/v1alpha1"),
    "a name that many objects have": (
        job(task(containers=[container(resources={"name": "a"})])),
        f"move it to {TEMPLATE}.spec.containers[0].name",
    ),
    "a claim as an object": (
        job(volumes=[{"mountPath": "/a", "volumeClaim": {**CLAIM, "spec": CLAIM}}]),
        "move its fields one level up",
    ),
    "a claim of a Pod": (
        job(volumes=[{"mountPath": "/a", "volumeClaimName": "b", "persistentVolumeClaim": {"claimName": "b"}}]),
        "set volumeClaimName",
    ),
    "the affinity of a Pod": (job(affinity={"nodeAffinity": {}}), f"move it to {TEMPLATE}.spec.affinity"),
    "args of a container": (job(task(args=["a"])), f"move it to {TEMPLATE}.spec.containers[0].args"),
    "the spec of a spec": (job(spec={"queue": "a"}), "move its fields one level up"),
    "a field of a Queue": (job(weight=1), "set it in the Queue, as spec.weight"),
    "a field of a PodGroup": (job(minMember=1), "set spec.minAvailable"),
    "a field of a Job of Kubernetes": (job(parallelism=1), "set spec.tasks[0].replicas"),
}


@pytest.mark.parametrize(("document", "hint"), NEARLY.values(), ids=NEARLY)
def test_a_field_that_is_nearly_right_has_the_right_hint(document: Wire, hint: str) -> None:
    """Other APIs have similar fields."""
    (problem,) = problems(document)

    assert problem.hint == hint


def test_a_field_may_have_dots_in_its_name() -> None:
    """At each level of the document, the path has the whole name."""
    document = job(**{"e.f": 1, "name.x": 1}) | {"a.b": 1, "metadata.c": 1}
    document["metadata"] |= {"c.d": 1}

    found = [problem.path for problem in problems(document)]

    assert sorted(found) == ["a.b", "metadata.c", "metadata.c.d", "spec.e.f", "spec.name.x"]
