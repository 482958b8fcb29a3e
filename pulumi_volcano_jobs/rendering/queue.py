"""The manifest of a Volcano Queue.

The fields are flat and in camelCase: `name`, `labels` and `annotations`, and the fields of the `spec`. All fields
except the name may be leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulumi_volcano_jobs.admission import queues
from pulumi_volcano_jobs.admission.queues import HIERARCHY, WEIGHTS
from pulumi_volcano_jobs.core.errors import raise_if_any
from pulumi_volcano_jobs.core.leaf import Derived, Leaf, derive, is_given
from pulumi_volcano_jobs.core.resource_types import QUEUE
from pulumi_volcano_jobs.kubernetes import queue_schema
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from pulumi_volcano_jobs.kubernetes.schema import SchemaPruner
from pulumi_volcano_jobs.spec.cluster import ROOT_QUEUE

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
