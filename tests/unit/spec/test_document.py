"""A Job read from a cluster: fields that the API server, Volcano and kubectl add are dropped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import Job, load_jobs, render
from pulumi_volcano_jobs.core.resource_types import JOB
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.spec.document import IN_METADATA, SERVER_METADATA
from tests.conftest import CLAIM, PAIR, Wire, job, places, problems, task, typed

SUBMITTED = job(
    task("worker", 2), plugins={"svc": []}, volumes=[{"mountPath": "/data", "volumeClaim": CLAIM}], minAvailable=2
)
SERVER = {
    "creationTimestamp": "2026-11-01T08:00:00Z",
    "deletionGracePeriodSeconds": 0,
    "deletionTimestamp": "2026-11-02T08:00:00Z",
    "finalizers": ["foregroundDeletion"],
    "generation": 2,
    "managedFields": [{"manager": "kubectl-client-side-apply", "operation": "Update"}],
    "ownerReferences": [{"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "name": "f", "uid": "y"}],
    "resourceVersion": "4711",
    "selfLink": "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/train",
    "uid": "x",
}
STATUS = {"state": {"phase": "Running"}, "controlledResources": {"volume-pvc-train-pvc-4bfb7": "train-pvc-4bfb7"}}


def stored(**metadata: Any) -> Wire:
    """Return the Job as `kubectl get` prints it, with the claim that Volcano has created."""
    volume = {"mountPath": "/data", "volumeClaim": CLAIM, "volumeClaimName": "train-pvc-4bfb7"}
    spec = {**SUBMITTED["spec"], "volumes": [volume], "maxRetry": 3, "queue": "default", "schedulerName": "volcano"}
    return {**SUBMITTED, "metadata": {"name": "train", **SERVER, **metadata}, "spec": spec, "status": STATUS}


def test_all_metadata_of_kubernetes_have_an_owner() -> None:
    """Each field belongs to the user or to the API server."""
    definition = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

    assert set(schema.wire_names(definition).values()) == IN_METADATA | SERVER_METADATA


def test_pods_mount_the_claim_that_volcano_created(snapshot: SnapshotAssertion) -> None:
    """No second claim is created; a warning names the claim that is deleted with the stored Job."""
    rendered = render(stored(namespace="team"))

    assert {item["kind"] for item in rendered.objects} == {"ConfigMap", "NetworkPolicy", "PodGroup", "Service"}
    for pod in rendered.pods:
        (claim,) = [item["persistentVolumeClaim"] for item in pod["spec"]["volumes"] if "persistentVolumeClaim" in item]
        assert claim == {"claimName": "train-pvc-4bfb7"}
    assert typed(rendered.warnings) == [("spec.volumes[0].volumeClaimName", "VJ121")]
    assert str(rendered.warnings[0]) == snapshot


@pytest.mark.parametrize("mark", ["uid", "resourceVersion", "status"])
def test_one_field_of_the_server_is_enough(mark: str) -> None:
    """Some tools remove other fields that the server sets."""
    document = stored()
    document["metadata"] = {"name": "train"} | ({mark: "1"} if mark != "status" else {})
    if mark != "status":
        del document["status"]

    (volume,) = Job.model_validate(document).volumes or ()

    assert (volume.volume_claim_name, volume.volume_claim) == ("train-pvc-4bfb7", None)


@pytest.mark.parametrize("strict", [True, False])
def test_both_claim_fields_in_a_job_that_is_not_stored_are_rejected(*, strict: bool) -> None:
    """Volcano's webhook rejects them when a Job is created; an empty status is not a server's."""
    document = {**stored(), "metadata": {"name": "train", "creationTimestamp": None}, "status": {}}

    assert places(document, strict=strict) == ["spec.volumes[0]"]


def test_annotations_of_kubectl_and_controllers_are_dropped() -> None:
    """The copy that kubectl keeps holds ssh keys; the wait is for a phase that only a Job has."""
    ssh = [f"--ssh-private-key={PAIR.private}", f"--ssh-public-key={PAIR.public.strip()}"]
    document = stored(
        annotations={
            "kubectl.kubernetes.io/last-applied-configuration": json.dumps(job(plugins={"ssh": ssh})),
            "pulumi.com/waitFor": "jsonpath={.status.state[?@ == 'Running']}",
            "volcano.sh/job-forwarding": "true",
            "team": "language",
        }
    )

    assert Job.model_validate(document).annotations == {"team": "language"}


def test_what_kubectl_applied_last_is_dropped_from_every_job() -> None:
    """A file may hold the annotation without the fields of the server."""
    document = job()
    document["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "pulumi.com/waitFor": "condition=Ready",
    }

    assert Job.model_validate(document).annotations == {"pulumi.com/waitFor": "condition=Ready"}


def test_a_generated_name_is_a_name() -> None:
    """`kubectl create` stores generateName and the name that the API server generated from it."""
    assert render(stored(name="train-x7k2p", generateName="train-")).job.name == "train-x7k2p"


def test_a_list_of_stored_jobs_is_read() -> None:
    """`kubectl get vcjob -o yaml` prints a List, which also has metadata."""
    items = [stored(), stored(name="second")]
    text = json.dumps(
        {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}, indent=1
    )

    jobs = load_jobs(text)

    assert [item.name for item in jobs] == ["train", "second"]
    assert [volume.volume_claim_name for item in jobs for volume in item.volumes or ()] == ["train-pvc-4bfb7"] * 2


def test_nothing_of_the_server_is_rendered() -> None:
    """No object, Pod or Job has a field that the server sets."""
    rendered = render(stored(annotations={"kubectl.kubernetes.io/last-applied-configuration": "{}"}))

    written = job_file.dump([*rendered.objects, *rendered.pods, rendered.job.to_manifest()])
    assert [name for name in (*SERVER, "status", "phase") if f" {name}:" in written] == []
    assert "last-applied" not in written


NEARLY: dict[str, tuple[Wire, str, str]] = {
    "another version": ({"apiVersion": "batch.volcano.sh/v1"}, "apiVersion", f"write apiVersion: {JOB.api_version}"),
    "the group of Kubernetes": ({"apiVersion": "batch/v1"}, "apiVersion", f"write apiVersion: {JOB.api_version}"),
    "another domain": (
        {"apiVersion": "batch.volcano.io/v1alpha1"},
        "apiVersion",
        f"write apiVersion: {JOB.api_version}",
    ),
    "a small letter": ({"kind": "job"}, "kind", "write kind: Job"),
    "the name of kubectl": ({"kind": "vcjob"}, "kind", "write kind: Job"),
    "the name of the component": ({"kind": "VolcanoJob"}, "kind", "write kind: Job"),
    "both": (
        {"apiVersion": "volcano.sh/v1", "kind": "VolcanoJob"},
        "apiVersion",
        f"write apiVersion: {JOB.api_version} and kind: Job",
    ),
    "another kind with tasks": ({"kind": "Jop"}, "kind", "write kind: Job"),
    "another kind": ({"apiVersion": "v1", "kind": "Pod", "spec": {}}, "apiVersion", f"pass a {JOB.api_version} Job"),
    "a kind of another group": (
        {"kind": "Queue", "spec": {"weight": 1}},
        "kind",
        "write apiVersion: scheduling.volcano.sh/v1beta1",
    ),
    "another spelling of a kind": ({"kind": "Cronjob", "spec": {}}, "kind", "write kind: CronJob"),
}


@pytest.mark.parametrize(("changes", "path", "hint"), NEARLY.values(), ids=NEARLY)
def test_a_misspelt_identity_has_the_right_hint(changes: Wire, path: str, hint: str) -> None:
    """The document has the tasks of a Volcano Job."""
    (problem,) = problems({**job(), **changes})

    assert (problem.path, problem.type, problem.hint) == (path, "NotSupported", hint)


@pytest.mark.parametrize(
    ("document", "hint"),
    [
        ({"apiVersion": "v1", "metadata": {"name": "a"}, "data": {}}, "add the kind of the object"),
        ({"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {}}, "add the apiVersion of the object"),
    ],
    ids=["no kind", "no apiVersion"],
)
def test_a_neighbor_without_apiversion_or_kind_is_not_a_job(document: Wire, hint: str) -> None:
    """The fix names no kind, because the object may have any."""
    (read,) = job_file.read(job_file.dump([document]))

    assert read.role == "other"
    assert [(problem.type, problem.hint) for problem in read.problems] == [("Required", hint)]


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [("spec", "specs", "spec"), ("spec", "Spec", "spec"), ("metadata", "meta", "metadata")],
    ids=["specs", "Spec", "meta"],
)
def test_another_spelling_of_a_required_key_is_the_fix(old: str, new: str, path: str) -> None:
    """The key would otherwise only be missing."""
    document = job()
    document[new] = document.pop(old)

    hints = {problem.path: problem.hint for problem in problems(document)}

    assert hints[path] == f"write {old} instead of {new}"


def test_a_document_has_only_the_names_of_volcano() -> None:
    """Kubectl rejects the names of Python, and Volcano drops them. Programs may use both."""
    document = job(min_available=1, volumes=[{"mount_path": "/data", "volumeClaimName": "data"}])
    document["spec"]["tasks"][0] |= {"min_available": 1, "policies": [{"exit_code": 3, "action": "AbortJob"}]}

    found = {problem.path: problem.hint for problem in problems(document) if not problem.warning}

    assert found == {
        "spec.min_available": "did you mean minAvailable?",
        "spec.tasks[0].min_available": "did you mean minAvailable?",
        "spec.tasks[0].policies[0].exit_code": "did you mean exitCode?",
        "spec.volumes[0].mountPath": "write mountPath instead of mount_path",
    }


def test_an_argument_that_is_a_mapping_is_written_as_a_flag() -> None:
    """YAML reads `- port: 29500` as a mapping. Quotes would not make it a flag."""
    (problem,) = problems(job(plugins={"svc": [{"publish-not-ready-addresses": True}]}))

    assert (problem.path, problem.hint) == ("spec.plugins.svc[0]", "write --publish-not-ready-addresses=true")


def test_a_job_of_kubernetes_is_not_a_misspelt_job() -> None:
    """It has a template, and no tasks."""
    document = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {}}}

    (problem,) = problems(document)

    assert problem.hint == f"pass a {JOB.api_version} Job"


@pytest.mark.parametrize("missing", [("apiVersion",), ("kind",), ("apiVersion", "kind")], ids=" ".join)
def test_a_file_without_apiversion_or_kind_is_rejected(missing: tuple[str, ...], snapshot: SnapshotAssertion) -> None:
    """Kubectl rejects it. A program may leave them out."""
    document = {key: value for key, value in job().items() if key not in missing}

    (read,) = job_file.read(job_file.dump([document]))
    found = problems(document, earlier=read.problems)

    assert typed(found) == [(key, "Required") for key in missing]
    assert list(map(str, found)) == snapshot
    assert render(document).pods
