"""References of a job to objects that its file does not define."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import Job, Problem
from pulumi_volcano_jobs.admission.references import DefinedObjects, check
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes.manifest import ObjectRef
from tests.conftest import container, job, task, typed

POD = "spec.tasks[0].template.spec"
KINDS = ("ConfigMap", "Secret", "PersistentVolumeClaim", "PriorityClass", "Queue", "ServiceAccount")


def an_object(kind: str, name: str, namespace: str | None = None, **fields: Any) -> dict[str, Any]:
    """Build an object."""
    return {"kind": kind, "metadata": {"name": name, "namespace": namespace}, **fields}


OBJECTS = [
    *(an_object(kind, "known") for kind in KINDS),
    an_object("Secret", "registry", type="kubernetes.io/dockerconfigjson"),
]


def found(document: dict[str, Any], objects: list[dict[str, Any]] | None = None, **options: Any) -> list[Problem]:
    """Return the warnings of a job."""
    namespace = options.pop("namespace", "default")
    defined = DefinedObjects(OBJECTS if objects is None else objects)
    return list(check(Job.model_validate(document).with_(namespace=namespace), (), defined, **options))


def with_volume(**source: Any) -> dict[str, Any]:
    """Build a job with a volume."""
    return job(task(volumes=[{"name": "v", **source}]))


def with_env(**source: Any) -> dict[str, Any]:
    """Build a job with a variable from a source."""
    return job(task(containers=[container(env=[{"name": "A", "valueFrom": source}])]))


REFERENCES: dict[str, tuple[dict[str, Any], str]] = {
    "a queue": (job(queue="knwon"), "spec.queue"),
    "a class of the job": (job(priorityClassName="knwon"), "spec.priorityClassName"),
    "a class of a task": (job(task(priorityClassName="knwon")), f"{POD}.priorityClassName"),
    "a service account": (job(task(serviceAccountName="knwon")), f"{POD}.serviceAccountName"),
    "a claim of the job": (
        job(volumes=[{"mountPath": "/a", "volumeClaimName": "knwon"}]),
        "spec.volumes[0].volumeClaimName",
    ),
    "a claim of a volume": (
        with_volume(persistentVolumeClaim={"claimName": "knwon"}),
        f"{POD}.volumes[0].persistentVolumeClaim.claimName",
    ),
    "a ConfigMap of a volume": (with_volume(configMap={"name": "knwon"}), f"{POD}.volumes[0].configMap.name"),
    "a Secret of a volume": (with_volume(secret={"secretName": "knwon"}), f"{POD}.volumes[0].secret.secretName"),
    "a projected ConfigMap": (
        with_volume(projected={"sources": [{"configMap": {"name": "known"}}, {"configMap": {"name": "knwon"}}]}),
        f"{POD}.volumes[0].projected.sources[1].configMap.name",
    ),
    "a projected Secret": (
        with_volume(projected={"sources": [{"secret": {"name": "knwon"}}]}),
        f"{POD}.volumes[0].projected.sources[0].secret.name",
    ),
    "a variable from a ConfigMap": (
        with_env(configMapKeyRef={"name": "knwon", "key": "a"}),
        f"{POD}.containers[0].env[0].valueFrom.configMapKeyRef.name",
    ),
    "a variable from a Secret": (
        with_env(secretKeyRef={"name": "knwon", "key": "a"}),
        f"{POD}.containers[0].env[0].valueFrom.secretKeyRef.name",
    ),
    "all variables of a ConfigMap": (
        job(task(containers=[container(envFrom=[{"configMapRef": {"name": "knwon"}}])])),
        f"{POD}.containers[0].envFrom[0].configMapRef.name",
    ),
    "all variables of a Secret, in an init container": (
        job(task(initContainers=[container("init", envFrom=[{"secretRef": {"name": "knwon"}}])])),
        f"{POD}.initContainers[0].envFrom[0].secretRef.name",
    ),
    "a Secret of a registry": (
        job(task(imagePullSecrets=[{"name": "registyr"}])),
        f"{POD}.imagePullSecrets[0].name",
    ),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_to_a_missing_object_is_a_warning(name: str, snapshot: SnapshotAssertion) -> None:
    """The hint names the similar object of the file. Without objects of the kind, nothing is known."""
    document, path = REFERENCES[name]

    (problem,) = found(document)

    assert typed([problem]) == [(path, "VJ150")]
    assert str(problem) == snapshot
    assert found(document, []) == []
    assert found(document, [item for item in OBJECTS if item["kind"] == "Service"]) == []


def test_a_name_without_a_similar_object_has_another_hint(snapshot: SnapshotAssertion) -> None:
    """The object may exist in the cluster."""
    objects = [an_object("Queue", name) for name in ("a", "b", "c", "d")]

    assert list(map(str, found(job(queue="elsewhere"), objects))) == snapshot


DEFINED: dict[str, dict[str, Any]] = {
    "a queue of the file": job(queue="known"),
    "the queue of Volcano": job(queue="default"),
    "no queue": job(),
    "a class of Kubernetes": job(priorityClassName="system-node-critical"),
    "the certificates of the cluster": with_volume(configMap={"name": "kube-root-ca.crt"}),
    "an optional ConfigMap": with_volume(configMap={"name": "other", "optional": True}),
    "a new claim": job(volumes=[{"mountPath": "/a", "volumeClaim": {}}]),
    "a volume of another type": with_volume(emptyDir={}),
    "a malformed volume": job(task(volumes=[7, {"name": "v", "configMap": "known"}])),
    "a Secret of the file for a registry": job(task(imagePullSecrets=[{"name": "known"}])),
}


@pytest.mark.parametrize("document", DEFINED.values(), ids=DEFINED)
def test_a_reference_to_a_defined_object_is_accepted(document: dict[str, Any]) -> None:
    """So is one that Kubernetes does not need."""
    assert found(document) == []


WITH_KEYS = [
    an_object("ConfigMap", "known", data={"train.ini": ""}, binaryData={"model": ""}),
    an_object("Secret", "known", data={"token": ""}, stringData={"user": ""}),
]
KEYS: dict[str, tuple[dict[str, Any], str]] = {
    "a variable of a ConfigMap": (
        with_env(configMapKeyRef={"name": "known", "key": "tran.ini"}),
        f"{POD}.containers[0].env[0].valueFrom.configMapKeyRef.key",
    ),
    "a variable of a Secret": (
        with_env(secretKeyRef={"name": "known", "key": "pass"}),
        f"{POD}.containers[0].env[0].valueFrom.secretKeyRef.key",
    ),
    "a file of a volume": (
        with_volume(configMap={"name": "known", "items": [{"key": "model"}, {"key": "b"}]}),
        f"{POD}.volumes[0].configMap.items[1].key",
    ),
    "a file of a projected volume": (
        with_volume(projected={"sources": [{"secret": {"name": "known", "items": [{"key": "a"}]}}]}),
        f"{POD}.volumes[0].projected.sources[0].secret.items[0].key",
    ),
}


@pytest.mark.parametrize(("document", "path"), KEYS.values(), ids=KEYS)
def test_a_reference_to_a_missing_key_is_a_warning(
    document: dict[str, Any], path: str, snapshot: SnapshotAssertion
) -> None:
    """The Pod would not start. Another tool may fill in an object without keys."""
    (problem,) = found(document, WITH_KEYS)

    assert typed([problem]) == [(path, "VJ150")]
    assert str(problem) == snapshot
    assert found(document, OBJECTS) == []


def test_a_reference_to_an_optional_key_has_no_warning() -> None:
    """The Pod starts without the variable."""
    assert found(with_env(secretKeyRef={"name": "known", "key": "pass", "optional": True}), WITH_KEYS) == []
    assert found(with_env(secretKeyRef={"name": "known", "key": "user"}), WITH_KEYS) == []


def test_secrets_of_other_types_are_no_reason_to_expect_a_pull_secret() -> None:
    """The Secret of a registry usually exists in the namespace."""
    assert found(job(task(imagePullSecrets=[{"name": "other"}])), [an_object("Secret", "known")]) == []


def test_objects_of_another_namespace_are_not_seen() -> None:
    """Queues and classes belong to no namespace."""
    objects = [an_object("ConfigMap", "known", "team-a"), an_object("Queue", "known", "team-a")]
    document = with_volume(configMap={"name": "knwon"}) | {"metadata": {"name": "train"}}
    document["spec"]["queue"] = "knwon"

    assert typed(found(document, objects)) == [("spec.queue", "VJ150")]
    in_team = found(document, objects, namespace="team-a")
    assert typed(in_team) == [("spec.queue", "VJ150"), (f"{POD}.volumes[0].configMap.name", "VJ150")]
    assert typed(found(document, objects, namespace=Leaf("namespace"))) == [("spec.queue", "VJ150")]


def test_objects_of_the_job_and_of_other_files_are_known() -> None:
    """A plugin creates the ConfigMap of the hosts."""
    document = Job.model_validate(with_volume(configMap={"name": "train-svc"})).with_(namespace="default")
    in_file = DefinedObjects(OBJECTS)

    assert len(list(check(document, (), in_file))) == 1
    assert list(check(document, [ObjectRef("ConfigMap", "train-svc")], in_file)) == []
    other = DefinedObjects([*OBJECTS, an_object("ConfigMap", "train-svc")])
    assert list(check(document, (), in_file, other)) == []


def test_malformed_objects_define_nothing() -> None:
    """Other checks report them."""
    objects = [{"kind": "ConfigMap"}, {"kind": "ConfigMap", "metadata": []}, an_object("ConfigMap", ""), {}]

    assert found(with_volume(configMap={"name": "other"}), [*objects[:2], objects[3]]) == []
