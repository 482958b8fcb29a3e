"""The manifest of a Volcano Queue, and the checks of a Queue in a file.

The fields of the manifest are flat and in camelCase: `name`, `labels` and `annotations`, and the fields of the `spec`.
All fields except the name may be leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pulumi_volcano_jobs.admission import queues
from pulumi_volcano_jobs.admission.queues import HIERARCHY, WEIGHTS
from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import (
    Problem,
    RejectionStage,
    key_text,
    not_supported,
    raise_if_any,
    wrong_type,
)
from pulumi_volcano_jobs.core.field_places import Child, FieldTree, Kind
from pulumi_volcano_jobs.core.leaf import Derived, Leaf, derive, is_given
from pulumi_volcano_jobs.core.resource_types import QUEUE
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.kubernetes import queue_schema
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from pulumi_volcano_jobs.kubernetes.schema import SchemaPruner, fields_of
from pulumi_volcano_jobs.spec.cluster import ROOT_QUEUE
from pulumi_volcano_jobs.spec.document import DOCUMENT_FIELDS, IN_METADATA, SERVER_METADATA, submitted_object

_METADATA = ("annotations", "labels", "name")
# Volcano's webhook sets reclaimable and weight only when it creates a queue, so the first update of a partial queue
# would remove them. Its controller sets parent and then owns the field, so a later parent would conflict with it.
_DEFAULTS = {"parent": ROOT_QUEUE, "reclaimable": True, "weight": 1}
# Zero values that Volcano replaces with the default.
_ZEROS = {"parent": "", "weight": 0}


def queue(fields: Mapping[str, Any]) -> Manifest:
    """Build the manifest of a Queue, with the defaults of Volcano's webhook and controller.

    Raises:
        JobError: with all problems.
    """
    pruner = SchemaPruner()
    known = {key: value for key, value in fields.items() if key not in queues.ELSEWHERE and key not in _METADATA}
    spec = pruner.apply(known, queue_schema.SPEC, "spec")
    metadata = {key: fields[key] for key in _METADATA if fields.get(key) is not None}
    reported_paths = {problem.path for problem in pruner.problems}
    problems = [problem for problem in queues.check(metadata, spec) if problem.path not in reported_paths]
    raise_if_any([*queues.misplaced(fields), *pruner.problems, *problems])
    if "annotations" in metadata:
        annotations = metadata["annotations"]
        metadata["annotations"] = (
            Derived(_with_root, annotations) if isinstance(annotations, Leaf) else _with_root(annotations)
        )
    # The CRD rejects quantities that are numbers with a fraction.
    with_text_quantities = SchemaPruner(quantities_as_text=True).apply(spec, queue_schema.SPEC, "spec")
    return {
        "apiVersion": QUEUE.api_version,
        "kind": QUEUE.kind,
        "metadata": metadata,
        "spec": _with_defaults(with_text_quantities),
    }


def check_document(document: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of a Queue in the form for kubectl, or the warnings of a valid one."""
    problems = list(_of_identity(document))
    metadata, spec = document.get("metadata"), document.get("spec")
    if not isinstance(metadata, Mapping):
        problems.append(_not_a_mapping("metadata", metadata, "add metadata.name"))
    if spec is not None and not isinstance(spec, Mapping):
        problems.append(_not_a_mapping("spec", spec, "write it as key: value lines"))
    pruner = SchemaPruner()
    known = pruner.apply(spec, queue_schema.SPEC, "spec") if isinstance(spec, Mapping) else {}
    problems += map(_of_field, pruner.problems)
    reported_paths = {problem.path for problem in problems}
    problems += [
        problem
        for problem in queues.check(metadata if isinstance(metadata, Mapping) else {}, known)
        if problem.path not in reported_paths
        # `kubectl apply` can also change the queues that Volcano creates.
        and (problem.path, problem.type) != ("metadata.name", "Forbidden")
        and not (problem.path.startswith("metadata") and "metadata" in reported_paths)
    ]
    return problems if any(problems) else list(queues.warnings(known))


def flat_fields(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a valid Queue in a file in the flat form of `queue`, without the API server's own."""
    submitted = submitted_object(document)
    metadata, spec = submitted["metadata"], submitted.get("spec") or {}
    fields = {key: metadata[key] for key in _METADATA if metadata.get(key)}
    return {**fields, **SchemaPruner().apply(spec, queue_schema.SPEC, "spec")}


def _of_identity(document: Mapping[str, Any]) -> Iterator[Problem]:
    for key, expected in (("apiVersion", QUEUE.api_version), ("kind", QUEUE.kind)):
        if document.get(key) != expected:
            yield replace(not_supported(key, document.get(key), [expected]), stage=RejectionStage.DECODE)
    metadata = document.get("metadata")
    for path, part, known in (
        ("", document, DOCUMENT_FIELDS),
        ("metadata", metadata if isinstance(metadata, Mapping) else {}, IN_METADATA | SERVER_METADATA),
    ):
        for key in (key_text(key) for key in part if key not in known):
            hint = _TREE.hint(key, path) or suggestion(key, known - {"status"} - SERVER_METADATA)
            yield Problem(paths.join(path, key), "Forbidden", "unknown field", hint)


def _fields_of(kind: Kind) -> Mapping[str, Child]:
    """Return the fields of a Queue in the form for kubectl, of its metadata, or of a definition."""
    if kind == _DOCUMENT:
        parts = {"metadata": Child(_OF_METADATA), "spec": Child(queue_schema.SPEC)}
        return {**dict.fromkeys(DOCUMENT_FIELDS, Child()), **parts}
    return dict.fromkeys(IN_METADATA, Child()) if kind == _OF_METADATA else fields_of(kind)


_DOCUMENT, _OF_METADATA = "document", "metadata"
_TREE = FieldTree(_DOCUMENT, "", _fields_of)


def _not_a_mapping(path: str, value: Any, hint: str) -> Problem:
    if value is None:
        return Problem(path, "Required", "must be a mapping", hint, stage=RejectionStage.SCHEMA)
    return wrong_type(path, "a mapping", hint)


def _of_field(problem: Problem) -> Problem:
    """Return a problem of the schema. A field that Volcano reports in status has its own reason."""
    reason, hint = queues.READ_ONLY.get(problem.path.removeprefix("spec."), ("", ""))
    return replace(problem, reason=reason, hint=hint) if reason else problem


def _with_defaults(spec: Mapping[str, Any]) -> dict[str, Any]:
    nonzero = {key: derive(_nonzero, key, spec[key]) for key in _ZEROS if key in spec}
    return {**_DEFAULTS, **spec, **nonzero}


def _nonzero(key: str, value: Any) -> Any:
    return _DEFAULTS[key] if value == _ZEROS[key] else value


def _with_root(annotations: Any) -> Any:
    """Add the root queue to a hierarchy. Volcano's webhook adds it only when the queue is created."""
    if not isinstance(annotations, Mapping):
        return annotations
    names, weights = (annotations.get(key) for key in (HIERARCHY, WEIGHTS))
    if not (is_given(names) and is_given(weights)):
        return annotations
    return {
        **annotations,
        HIERARCHY: derive(_below_root, names, weights, names, ROOT_QUEUE),
        WEIGHTS: derive(_below_root, names, weights, weights, "1"),
    }


def _below_root(names: Any, weights: Any, value: Any, root: str) -> Any:
    is_prefixed = isinstance(names, str) and names and weights and not names.startswith(ROOT_QUEUE)
    return f"{root}/{value}" if is_prefixed else value
