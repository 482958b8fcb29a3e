"""kubectl's document of a Volcano Job, and the flat form that the models have."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_core import PydanticCustomError

from pulumi_volcano_jobs.fields import Tree
from pulumi_volcano_jobs.leaf import is_whole

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
        "finalizers",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    },
)

_REMEDIES = {
    "Kustomization": "give what kustomize build prints",
    "CronJob": "give the Job that its jobTemplate makes",
    "JobTemplate": "give the Job that it makes",
    "JobFlow": "give the Jobs that it runs",
}


def _refuse_another_kind(document: Mapping[str, Tree]) -> None:
    identity = {key: document[key] for key in ("kind", "apiVersion") if key in document}
    for key, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        if identity.get(key, expected) != expected:
            said = [
                f"its {name} is {value}"
                for name, value in identity.items()
                if isinstance(value, str) and is_whole(value)
            ]
            kind, reason = "not_a_job", "this is no Volcano Job"
            remedy = _REMEDIES.get(str(document.get("kind")), f"give a {KIND} of {API_VERSION}")
            found = ", ".join(said) or f"its {key} is no text"
            raise PydanticCustomError(kind, reason, {"place": key, "found": found, "remedy": remedy})


def flatten(document: Mapping[str, Tree]) -> dict[str, Tree]:
    """Turn kubectl's document into the flat form; what stands in a wrong place keeps it, as a prefix of its key."""
    _refuse_another_kind(document)
    metadata, spec = document.get("metadata"), document.get("spec")
    if not isinstance(spec, Mapping):
        kind = "no_spec"
        raise PydanticCustomError(kind, "a Job needs a spec (a mapping)", {"place": "spec"})
    if not isinstance(metadata, Mapping):
        kind = "no_metadata"
        raise PydanticCustomError(kind, "a Job needs metadata (a mapping) with a name", {"place": "metadata"})
    # An unknown key of the metadata is no key of the spec, and no key of the spec (name, …) overwrites metadata.
    flat = {
        key if key in IN_METADATA else f".metadata.{key}": value
        for key, value in metadata.items()
        if key not in SERVER_METADATA
    }
    flat |= {f"spec.{key}" if key in METADATA_FIELDS else key: value for key, value in spec.items()}
    flat |= {f".{key}": value for key, value in document.items() if key not in DOCUMENT_FIELDS}
    return flat
