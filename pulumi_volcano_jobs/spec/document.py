"""The document of a Volcano Job that kubectl accepts, and its conversion to the flat form of the models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic_core import PydanticCustomError

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, key_text
from pulumi_volcano_jobs.core.leaf import is_valid_unicode
from pulumi_volcano_jobs.core.resource_types import JOB, QUEUE
from pulumi_volcano_jobs.core.suggestions import closest
from pulumi_volcano_jobs.core.tree import without_none
from pulumi_volcano_jobs.kubernetes.object_kinds import group_of
from pulumi_volcano_jobs.spec.fields import Tree

Role = Literal["job", "queue", "other"]
"""Whether a document is a Volcano Job, a Volcano Queue or another object."""
DOCUMENT_FIELDS = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})
METADATA_FIELDS = frozenset({"name", "namespace", "labels", "annotations"})
GENERATE_NAME = "generateName"
IN_METADATA = METADATA_FIELDS | {GENERATE_NAME}
"""Fields that belong to a job's metadata. generateName is unknown to the model, because a job needs a fixed name."""
# Fields that only the API server uses. A Job read from a cluster has them, and they do not affect its Pods.
SERVER_METADATA = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    },
)
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which `kubectl apply` keeps a copy of the whole Job, including ssh keys."""
# Annotations that kubectl, Volcano's controller and this library's native mode add to a stored Job. They apply to the
# Job only: `waitFor` on a PodGroup would wait for a phase that only a Job has.
_SERVER_ANNOTATIONS = frozenset({_LAST_APPLIED, "pulumi.com/waitFor", "volcano.sh/job-forwarding"})

_REMEDIES = {
    "Kustomization": "pass the output of `kustomize build`",
    "CronJob": "to check its Job, pass a Job with the spec of its jobTemplate",
    "JobTemplate": "to check its Job, pass a Job with its spec",
    "JobFlow": "to check its Jobs, pass a Job with the spec of each JobTemplate",
    "HyperJob": "to check its Jobs, pass a Job with the templateSpec of each of its replicatedJobs",
}
_KUSTOMIZE = "kustomize.config.k8s.io"
_WITH_JOBS = frozenset(
    {
        ("batch.volcano.sh", "CronJob"),
        ("flow.volcano.sh", "JobFlow"),
        ("flow.volcano.sh", "JobTemplate"),
        ("training.volcano.sh", "HyperJob"),
    }
)
"""Group and kind of the objects from which Volcano's controllers create Jobs."""


_API_VERSIONS = {
    JOB.kind: JOB.api_version,
    QUEUE.kind: QUEUE.api_version,
    "CronJob": JOB.api_version,
    "HyperJob": "training.volcano.sh/v1alpha1",
    "JobFlow": "flow.volcano.sh/v1alpha1",
    "JobTemplate": "flow.volcano.sh/v1alpha1",
    "PodGroup": QUEUE.api_version,
}
"""The kinds of Volcano that users write, with their apiVersion."""
_KINDS = frozenset({"job", "jobs", "vcjob", "vcjobs", "volcanojob", "vj"})
"""Kinds that are probably meant as the kind of a Volcano Job, in lower case."""


def missing_identity(document: Mapping[str, Tree]) -> Iterator[Problem]:
    """Yield a Problem for a missing apiVersion or kind of a document for kubectl, which rejects it."""
    is_job = _may_be_job(document)
    is_for_kubectl = {"metadata", "spec"} & document.keys() if is_job else {"apiVersion", "kind"} & document.keys()
    spellings = {key_text(key).lower() for key in document}
    for key, value in (("apiVersion", JOB.api_version), ("kind", JOB.kind)) if is_for_kubectl else ():
        # Another spelling of the key is reported as an unknown field.
        if key not in document and key.lower() not in spellings:
            hint = f"add {key}: {value}" if is_job else f"add the {key} of the object"
            yield Problem(key, "Required", "", hint, stage=RejectionStage.DECODE)


def _may_be_job(document: Mapping[str, Tree]) -> bool:
    """Check whether a document without apiVersion or kind may be a Volcano Job."""
    api_version, kind = document.get("apiVersion", JOB.api_version), document.get("kind", JOB.kind)
    return _has_tasks(document) or ("volcano" in str(api_version).lower() and str(kind).lower() in _KINDS)


def _remedy(document: Mapping[str, Tree]) -> str:
    """Return how to make a Volcano Job of a document with another apiVersion or kind."""
    api_version, kind = (
        str(document.get(key, value)) for key, value in (("apiVersion", JOB.api_version), ("kind", JOB.kind))
    )
    expected = _meant_kind(document, api_version, kind)
    identity = [(api_version, "apiVersion", _API_VERSIONS.get(expected, "")), (kind, "kind", expected)]
    fixes = [f"{key}: {fix}" for value, key, fix in identity if value != fix]
    if not (expected and fixes):
        return _REMEDIES.get(kind, f"pass a {JOB.api_version} {JOB.kind}")
    return f"write {' and '.join(fixes)}"


def _meant_kind(document: Mapping[str, Tree], api_version: str, kind: str) -> str:
    """Return the kind of Volcano that a document with another apiVersion or kind is probably meant to have."""
    if kind not in _API_VERSIONS and _has_tasks(document):
        return JOB.kind
    if kind.lower() in _KINDS and (_has_tasks(document) or "volcano" in api_version.lower()):
        return JOB.kind
    return closest(kind.strip(), _API_VERSIONS) if "volcano" in api_version.lower() else ""


def _reject_other_kinds(document: Mapping[str, Tree]) -> None:
    identity = {key: document[key] for key in ("kind", "apiVersion") if key in document}
    for key, expected in (("apiVersion", JOB.api_version), ("kind", JOB.kind)):
        if identity.get(key, expected) != expected:
            identity_texts = [
                f"{name}: {value}"
                for name, value in identity.items()
                if isinstance(value, str) and is_valid_unicode(value)
            ]
            kind, reason = "not_a_job", "not a Volcano Job"
            identity_text = ", ".join(identity_texts) or f"{key} is not a string"
            raise PydanticCustomError(kind, reason, {"place": key, "found": identity_text, "remedy": _remedy(document)})


def role_of(document: Mapping[str, Tree]) -> Role:
    """Return the role of a document.

    A document that has no apiVersion or kind, and that may be a Job, is a Job: the checks of a Job report the missing
    fields. So is a document that has the tasks of a Job under another kind.
    """
    identity = _identity(document)
    if identity is None:
        return "job" if _may_be_job(document) else "other"
    group, kind = identity
    if identity in _WITH_JOBS:
        return "other"
    if kind == "Kustomization" or group == group_of(JOB.api_version) or _has_tasks(document):
        return "job"
    if kind.lower() == JOB.kind.lower():
        return "other" if group == "batch" and "template" in _spec(document) else "job"
    if group == group_of(QUEUE.api_version) and closest(kind, [QUEUE.kind]):
        return "queue"
    return "other"


def is_for_kubectl(document: Mapping[str, Tree]) -> bool:
    """Check whether kubectl is the reader of a document, and not Helm or Kustomize, whose files share a folder with it.

    A Job without apiVersion and kind is for kubectl, although it rejects it.
    """
    if document.keys() & {"apiVersion", "kind"}:
        return group_of(str(document.get("apiVersion"))) != _KUSTOMIZE
    return _has_tasks(document)


def nested_jobs(document: Mapping[str, Tree]) -> Iterator[Problem]:
    """Yield a warning for an object from which a controller creates Jobs, because these are not checked."""
    identity = _identity(document)
    if identity in _WITH_JOBS:
        kind = identity[1]
        reason = f"the Jobs of a {kind} are neither checked nor rendered, because Volcano creates them"
        yield Problem("kind", "Warning", reason, _REMEDIES[kind], value=kind, code="VJ152")


def _identity(document: Mapping[str, Tree]) -> tuple[str, str] | None:
    """Return the group and the kind of a document that has both."""
    api_version, kind = document.get("apiVersion"), document.get("kind")
    if isinstance(api_version, str) and isinstance(kind, str) and api_version and kind:
        return group_of(api_version), kind
    return None


def _spec(document: Mapping[str, Tree]) -> Mapping[str, Tree]:
    spec = document.get("spec")
    return spec if isinstance(spec, Mapping) else {}


def _has_tasks(document: Mapping[str, Tree]) -> bool:
    tasks = _spec(document).get("tasks")
    return isinstance(tasks, (list, tuple)) and any(isinstance(task, Mapping) and "template" in task for task in tasks)


def flatten(document: Mapping[str, Tree]) -> dict[str, Tree]:
    """Convert kubectl's document to the flat form. A misplaced field keeps its place as a prefix of its key."""
    _reject_other_kinds(document)
    metadata, spec = document.get("metadata"), document.get("spec")
    if not isinstance(spec, Mapping):
        kind = "no_spec"
        raise PydanticCustomError(kind, "a Job needs a spec (a mapping)", _missing(document, "spec", "tasks"))
    if not isinstance(metadata, Mapping):
        kind = "no_metadata"
        facts = _missing(document, "metadata", "name")
        raise PydanticCustomError(kind, "a Job needs metadata (a mapping) with a name", facts)
    is_from_cluster = is_stored(document)
    spec = {**spec, "tasks": _with_replicas(spec.get("tasks"))}
    metadata = _as_submitted(metadata, is_from_cluster=is_from_cluster)
    if is_from_cluster:
        spec = {**spec, "volumes": _existing_claims(spec.get("volumes"))}
    # Prefixes keep unknown metadata out of the spec, and keep a field such as spec.name from overwriting metadata.
    flat = {
        key if key in IN_METADATA else f".metadata.{key_text(key)}": value
        for key, value in metadata.items()
        if key not in SERVER_METADATA and not (key == GENERATE_NAME and value is None)
    }
    misplaced = METADATA_FIELDS | DOCUMENT_FIELDS
    flat |= {f"spec.{key}" if key in misplaced else key: value for key, value in spec.items()}
    flat |= {f".{key_text(key)}": value for key, value in document.items() if key not in DOCUMENT_FIELDS}
    return flat


def _missing(document: Mapping[str, Tree], key: str, field: str) -> dict[str, str]:
    """Return the place of a missing part of a document, and the fix, which may be another spelling of its key."""
    similar = closest(key, (text for name in document if (text := key_text(name)) not in DOCUMENT_FIELDS))
    return {"place": key, "fix": f"write {key} instead of {similar}" if similar else f"add {key}.{field}"}


def without_null_labels(job: Mapping[str, Tree]) -> dict[str, Tree]:
    """Return the arguments of a program, in either form, without labels and annotations that are None.

    In a file, they are errors: kubectl rejects a label without a value.
    """
    changes = {key: without_none(job[key]) for key in ("labels", "annotations") if key in job}
    metadata = job.get("metadata")
    if isinstance(metadata, Mapping):
        changes["metadata"] = without_null_labels(metadata)
    return {**job, **changes}


def is_stored(document: Mapping[str, Tree]) -> bool:
    """Check whether a document was read from an API server, because only the server sets these fields."""
    metadata = document.get("metadata")
    set_by_server = isinstance(metadata, Mapping) and (metadata.get("uid") or metadata.get("resourceVersion"))
    return bool(set_by_server or document.get("status"))


def warnings(document: Mapping[str, Tree]) -> Iterator[Problem]:
    """Yield the warnings about a document for kubectl."""
    spec = document.get("spec")
    if isinstance(spec, Mapping):
        yield from _claim_warnings(document, spec.get("volumes")) if is_stored(document) else _no_replicas(spec)


def _no_replicas(spec: Mapping[str, Tree]) -> Iterator[Problem]:
    """Yield a warning for each task without replicas. A stored Job has no `replicas: 0`, because Go omits it."""
    tasks = spec.get("tasks")
    for index, task in enumerate(tasks if isinstance(tasks, (list, tuple)) else ()):
        if _lacks_replicas(task):
            reason = "Volcano's default is 0, so the task has no Pods"
            hint = "set replicas: 1, or replicas: 0 if the task is scaled to zero"
            yield Problem(f"spec.tasks[{index}].replicas", "Warning", reason, hint, code="VJ128")


def _claim_warnings(document: Mapping[str, Tree], volumes: Tree) -> Iterator[Problem]:
    """Yield a warning for each claim that belongs to the stored Job of a document."""
    for index, volume in enumerate(volumes if isinstance(volumes, (list, tuple)) else ()):
        if _has_both_claims(volume):
            namespace = _namespace(document)
            name = f"{volume['volumeClaimName']} -n {namespace}" if namespace else volume["volumeClaimName"]
            yield Problem(
                f"spec.volumes[{index}].volumeClaimName",
                "Warning",
                "Volcano created this claim for the stored Job, so Kubernetes deletes it, and its data, with that Job",
                f"to keep the data, run kubectl patch pvc {name} --type=json -p "
                """'[{"op": "remove", "path": "/metadata/ownerReferences"}]' before you delete the Job""",
                code="VJ121",
            )


def _namespace(document: Mapping[str, Tree]) -> str:
    metadata = document.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, Mapping) else None
    return namespace if isinstance(namespace, str) else ""


def submitted_object(document: Mapping[str, Tree]) -> dict[str, Tree]:
    """Return an object of any kind without its status and the metadata that only the API server sets."""
    metadata = document.get("metadata")
    if not is_stored(document) or not isinstance(metadata, Mapping):
        return dict(document)
    submitted = _as_submitted(metadata, is_from_cluster=True)
    submitted = {key: value for key, value in submitted.items() if key not in SERVER_METADATA and value is not None}
    return {key: value for key, value in document.items() if key != "status"} | {"metadata": submitted}


def _as_submitted(metadata: Mapping[str, Tree], *, is_from_cluster: bool) -> dict[str, Tree]:
    """Return the metadata of an object without what kubectl, the API server and controllers added."""
    submitted = dict(metadata)
    if is_from_cluster and submitted.get("name"):
        submitted.pop(GENERATE_NAME, None)  # the API server has generated the name
    annotations = submitted.get("annotations")
    if isinstance(annotations, Mapping):
        added = _SERVER_ANNOTATIONS if is_from_cluster else {_LAST_APPLIED}
        user_annotations = {key: value for key, value in annotations.items() if key not in added}
        submitted["annotations"] = user_annotations or None
    return submitted


def _with_replicas(tasks: Tree) -> Tree:
    """Set `replicas: 0` where a document has no replicas. The default of the model, 1, is for programs."""
    if not isinstance(tasks, (list, tuple)):
        return tasks
    return [{**task, "replicas": 0} if _lacks_replicas(task) else task for task in tasks]


def _lacks_replicas(task: Tree) -> bool:
    return isinstance(task, Mapping) and task.get("replicas") is None


def _existing_claims(volumes: Tree) -> Tree:
    """Replace new claims by existing ones: Volcano keeps `volumeClaim` in addition to the name of the created claim."""
    if not isinstance(volumes, (list, tuple)):
        return volumes
    return [
        {key: value for key, value in volume.items() if key != "volumeClaim"} if _has_both_claims(volume) else volume
        for volume in volumes
    ]


def _has_both_claims(volume: Tree) -> bool:
    return isinstance(volume, Mapping) and bool(volume.get("volumeClaimName")) and volume.get("volumeClaim") is not None
