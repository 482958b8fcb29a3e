"""kubectl's document of a Volcano Job, and the flat form that the models have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic_core import PydanticCustomError

from pulumi_volcano_jobs.core.errors import Problem, key_text
from pulumi_volcano_jobs.core.leaf import is_valid_unicode
from pulumi_volcano_jobs.spec.fields import Tree

API_VERSION = "batch.volcano.sh/v1alpha1"
KIND = "Job"
DOCUMENT_FIELDS = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})
METADATA_FIELDS = frozenset({"name", "namespace", "labels", "annotations"})
GENERATE_NAME = "generateName"
IN_METADATA = METADATA_FIELDS | {GENERATE_NAME}
"""What is told by its name to stand in a job's metadata; the last is unknown here, a job needs a name."""
# Set by the API server or meant for it; a job read back from a cluster has them, and they say nothing about its Pods.
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
"""A copy of the whole Job, ssh keys included, that `kubectl apply` keeps for itself."""
# Written to a stored Job by kubectl, by Volcano's controller and by this library's native mode. They are about the
# stored Job: `waitFor` on a PodGroup would wait for a phase that only a Job has.
_SERVER_ANNOTATIONS = frozenset({_LAST_APPLIED, "pulumi.com/waitFor", "volcano.sh/job-forwarding"})

_REMEDIES = {
    "Kustomization": "give what kustomize build prints",
    "CronJob": "give the Job that its jobTemplate makes",
    "JobTemplate": "give the Job that it makes",
    "JobFlow": "give the Jobs that it runs",
}


def _reject_other_kinds(document: Mapping[str, Tree]) -> None:
    identity = {key: document[key] for key in ("kind", "apiVersion") if key in document}
    for key, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        if identity.get(key, expected) != expected:
            identity_texts = [
                f"its {name} is {value}"
                for name, value in identity.items()
                if isinstance(value, str) and is_valid_unicode(value)
            ]
            kind, reason = "not_a_job", "this is no Volcano Job"
            remedy = _REMEDIES.get(str(document.get("kind")), f"give a {KIND} of {API_VERSION}")
            identity_text = ", ".join(identity_texts) or f"its {key} is no text"
            raise PydanticCustomError(kind, reason, {"place": key, "found": identity_text, "remedy": remedy})


def flatten(document: Mapping[str, Tree]) -> dict[str, Tree]:
    """Turn kubectl's document into the flat form; what stands in a wrong place keeps it, as a prefix of its key."""
    _reject_other_kinds(document)
    metadata, spec = document.get("metadata"), document.get("spec")
    if not isinstance(spec, Mapping):
        kind = "no_spec"
        raise PydanticCustomError(kind, "a Job needs a spec (a mapping)", {"place": "spec"})
    if not isinstance(metadata, Mapping):
        kind = "no_metadata"
        raise PydanticCustomError(kind, "a Job needs metadata (a mapping) with a name", {"place": "metadata"})
    is_from_cluster = is_stored(document)
    metadata = _as_submitted(metadata, is_from_cluster=is_from_cluster)
    if is_from_cluster:
        spec = {**spec, "volumes": _existing_claims(spec.get("volumes"))}
    # An unknown key of the metadata is no key of the spec, and no key of the spec (name, …) overwrites metadata.
    flat = {
        key if key in IN_METADATA else f".metadata.{key_text(key)}": value
        for key, value in metadata.items()
        if key not in SERVER_METADATA
    }
    flat |= {f"spec.{key}" if key in METADATA_FIELDS else key: value for key, value in spec.items()}
    flat |= {f".{key_text(key)}": value for key, value in document.items() if key not in DOCUMENT_FIELDS}
    return flat


def is_stored(document: Mapping[str, Tree]) -> bool:
    """Check whether a document was read from an API server, which alone sets these fields."""
    metadata = document.get("metadata")
    set_by_server = isinstance(metadata, Mapping) and (metadata.get("uid") or metadata.get("resourceVersion"))
    return bool(set_by_server or document.get("status"))


def warnings(document: Mapping[str, Tree]) -> Iterator[Problem]:
    """Yield a warning for each claim that belongs to the stored Job of a document."""
    spec = document.get("spec")
    volumes = spec.get("volumes") if is_stored(document) and isinstance(spec, Mapping) else None
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


def _as_submitted(metadata: Mapping[str, Tree], *, is_from_cluster: bool) -> dict[str, Tree]:
    """Return the metadata of a Job without what kubectl, the API server and controllers added."""
    submitted = dict(metadata)
    if is_from_cluster and submitted.get("name"):
        submitted.pop(GENERATE_NAME, None)  # the API server has generated the name
    annotations = submitted.get("annotations")
    if isinstance(annotations, Mapping):
        added = _SERVER_ANNOTATIONS if is_from_cluster else {_LAST_APPLIED}
        user_annotations = {key: value for key, value in annotations.items() if key not in added}
        submitted["annotations"] = user_annotations or None
    return submitted


def _existing_claims(volumes: Tree) -> Tree:
    """Replace new claims by the existing ones: Volcano keeps `volumeClaim` beside the name of the claim it created."""
    if not isinstance(volumes, (list, tuple)):
        return volumes
    return [
        {key: value for key, value in volume.items() if key != "volumeClaim"} if _has_both_claims(volume) else volume
        for volume in volumes
    ]


def _has_both_claims(volume: Tree) -> bool:
    return isinstance(volume, Mapping) and bool(volume.get("volumeClaimName")) and volume.get("volumeClaim") is not None
