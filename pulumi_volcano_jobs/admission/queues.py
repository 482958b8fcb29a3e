"""Check the fields of a Volcano Queue, and the queue of a job.

Only Volcano's webhook checks the sums of sibling queues, and whether a parent queue has Pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.admission.defaults import QUEUE
from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import ErrorType, Problem, RejectionStage, key_text, value_text, wrong_type
from pulumi_volcano_jobs.core.integers import MAX_INT32, MIN_INT32
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.phrases import counted
from pulumi_volcano_jobs.kubernetes import quantity, validation
from pulumi_volcano_jobs.kubernetes.dns import MAX_LABEL, MAX_SUBDOMAIN
from pulumi_volcano_jobs.kubernetes.schema import output_not_allowed
from pulumi_volcano_jobs.kubernetes.validation import resources
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, SupportedValues, webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.names import is_label_value, is_qualified, subdomain
from pulumi_volcano_jobs.spec.cluster import ROOT_QUEUE, ClusterFacts
from pulumi_volcano_jobs.spec.model import Job

HIERARCHY, WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"
_MAX_WEIGHT = 65535
_STRATEGY = SupportedValues("dequeueStrategy", ("fifo", "traverse"), required=True)
# Resources that the scheduler knows without a domain. It ignores all other resources without a domain.
_COUNTED = ("cpu", "memory", "pods", "ephemeral-storage")
_COUNTED_PREFIXES = ("hugepages-", "attachable-volumes-")
_FLAT = ("fields of metadata and spec are at the top level", "move its fields one level up")
_ELSEWHERE = {
    "metadata": _FLAT,
    "spec": _FLAT,
    "namespace": ("a queue is cluster-scoped", "remove it"),
    "state": (
        "state is read-only; Volcano reports it in status",
        "remove it, and run `vcctl queue operate --action close --name NAME` to close a queue",
    ),
    "status": ("status is read-only; Volcano sets it", "remove it"),
}

READ_ONLY = {key: _ELSEWHERE[key] for key in ("state", "status")}
"""Fields that Volcano reports in the status of a Queue, each with a reason and a hint."""
ELSEWHERE = frozenset(_ELSEWHERE)
"""Fields that the flat form of a Queue does not have."""


def misplaced(fields: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a Problem for each field that the flat form of a Queue does not have."""
    for key, (reason, hint) in _ELSEWHERE.items():
        if fields.get(key) is not None:
            yield Problem(key, "Forbidden", reason, hint)


def check(metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of a Queue whose spec has the right types."""
    yield from _metadata(metadata)
    yield from _spec(ObjectField(spec, "spec"), metadata.get("name"))


def warnings(fields: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a warning for each field of a valid queue that Volcano stores with another value."""
    if ObjectField(fields, "").number("weight") == 0:
        reason = "equal to no weight, so Volcano stores 1"
        yield Problem("spec.weight", "Warning", reason, "set weight to 1 or more, or remove it", "0")


def _metadata(metadata: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _name(metadata.get("name"))
    maps = {key: metadata.get(key) for key in ("labels", "annotations")}
    for key, mapping in maps.items():
        yield from _texts(mapping, f"metadata.{key}")
    readable = {key: _with_text_keys(mapping) for key, mapping in maps.items()}
    yield from validation.object_meta(readable, "metadata", RejectionStage.SCHEMA)
    yield from _hierarchy(ObjectField(readable["annotations"], "metadata.annotations"))


def _name(name: Any) -> Iterator[Problem]:
    path = "metadata.name"
    if isinstance(name, Leaf):
        yield output_not_allowed(path, "the program must know the name of the queue")
    elif not isinstance(name, str) or not name:
        error_type: ErrorType = "TypeInvalid" if name and not isinstance(name, str) else "Required"
        reason = "must be a string" if error_type == "TypeInvalid" else ""
        yield Problem(path, error_type, reason, 'set a name such as "research"', stage=RejectionStage.SCHEMA)
    elif name in {ROOT_QUEUE, QUEUE}:
        reason = f"Volcano creates the queue {value_text(name)} and rejects its deletion"
        hint = "use another name, or edit the queue with pulumi_kubernetes.apiextensions.CustomResourcePatch"
        yield webhook_problem(path, "Forbidden", reason, name, hint)
    else:
        yield from subdomain(name, path)


def _texts(mapping: Any, path: str) -> Iterator[Problem]:
    if mapping is None or isinstance(mapping, Leaf):
        return
    if not isinstance(mapping, Mapping):
        yield wrong_type(path, "a mapping")
        return
    for key, value in mapping.items():
        if not (isinstance(key, str) and isinstance(value, (str, Leaf))):
            reason = "must be a string" if isinstance(key, str) else "each key must be a string"
            yield Problem(
                paths.join(path, key_text(key)), "TypeInvalid", reason, "put it in quotes", stage=RejectionStage.DECODE
            )


def _with_text_keys(mapping: Any) -> dict[str, Any]:
    items = mapping.items() if isinstance(mapping, Mapping) else ()
    return {key: value for key, value in items if isinstance(key, str)}


def _hierarchy(annotations: ObjectField) -> Iterator[Problem]:
    """Yield the problems of the two annotations that nest queues in older releases of the drf plugin."""
    is_unknown = annotations.is_unknown(HIERARCHY) or annotations.is_unknown(WEIGHTS)
    if is_unknown or not (annotations.is_given(HIERARCHY) or annotations.is_given(WEIGHTS)):
        return
    names, weights = (annotations.text(key).split("/") for key in (HIERARCHY, WEIGHTS))
    if len(names) != len(weights):
        reason = f"must have as many parts as {HIERARCHY}, which has {len(names)}"
        yield annotations.problem(
            WEIGHTS, "Invalid", reason, "set one weight for each part, such as root/research and 1/2"
        )
    elif not all(map(_is_weight, weights)):
        yield annotations.problem(WEIGHTS, "Invalid", "each part must be greater than 0", "set weights such as 1/2")


def _is_weight(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _spec(spec: ObjectField, name: Any) -> Iterator[Problem]:
    yield from spec.check_range("weight", 0, _MAX_WEIGHT, f"must be from 1 to {_MAX_WEIGHT}")
    yield from spec.check_range("priority", 0, MAX_INT32)
    yield from _STRATEGY.check(spec)
    yield from _parent(spec, name)
    if len(spec.text("type")) > MAX_SUBDOMAIN:
        yield spec.problem("type", "TooLong", f"may not be more than {MAX_SUBDOMAIN} characters", "shorten it")
    yield from _node_groups(spec)
    for cluster in spec.children("extendClusters"):
        yield from cluster.check_range("weight", MIN_INT32, MAX_INT32)
        yield from _amounts(cluster, "capacity")
    yield from _amounts(spec, "capability")
    yield from _amounts(spec, "deserved")
    guarantee = spec.child("guarantee")
    if guarantee:
        yield from _amounts(guarantee, "resource")
    yield from _order(spec, guarantee)


def _parent(spec: ObjectField, name: Any) -> Iterator[Problem]:
    if spec.is_given("parent"):
        yield from subdomain(spec.fields["parent"], spec.at("parent"))
        if isinstance(name, str) and spec.text("parent") == name:
            yield spec.problem(
                "parent", "Invalid", "must not be the queue itself", "use another queue, or remove parent to use root"
            )


def _node_groups(spec: ObjectField) -> Iterator[Problem]:
    affinity = spec.child("affinity")
    kinds = [affinity.child(kind) for kind in ("nodeGroupAffinity", "nodeGroupAntiAffinity")] if affinity else []
    for path, group in [item for terms in kinds if terms for key in terms.fields for item in terms.items(key)]:
        if not group or not is_label_value(group):
            reason = "must be a value of the node label volcano.sh/nodegroup-name"
            yield webhook_problem(path, "Invalid", reason, group, "use a label value such as gpu")


def _amounts(holder: ObjectField, key: str) -> Iterator[Problem]:
    declared = holder.child(key)
    if declared:
        for name in declared.fields:
            yield from _resource(name, declared.at(name)) or [
                *resources.check_quantity(declared, name),
                *_check_job(declared, name),
            ]


def _resource(name: str, path: str) -> list[Problem]:
    if not is_qualified(name):
        hint = "use cpu, memory or a name such as nvidia.com/gpu"
        return [webhook_problem(path, "Invalid", "must be the name of a resource", name, hint)]
    if "/" not in name and name not in _COUNTED and not name.startswith(_COUNTED_PREFIXES):
        names = ", ".join(map(value_text, _COUNTED))
        reason = f"Volcano's scheduler ignores this resource; supported values: {names}, or a name with a domain"
        hint = resources.similar_resource(name, _COUNTED) or "add its domain, such as nvidia.com/gpu"
        return [Problem(path, "NotSupported", reason, hint, value_text(name))]
    return []


def _check_job(declared: ObjectField, name: str) -> Iterator[Problem]:
    nano = resources.parsed(declared.fields[name]) or 0
    if nano > 0 and nano % quantity.NANO and (name == "pods" or not resources.is_native(name)):
        yield declared.problem(name, "Invalid", "must be an integer", "use a whole number")


def _order(spec: ObjectField, guarantee: ObjectField | None) -> Iterator[Problem]:
    """Yield a Problem for each resource whose guarantee, deserved and capability are not in ascending order.

    Volcano's webhook treats a resource without capability as unlimited, and requires deserved for each guarantee. A
    guarantee above capability is always rejected, because deserved cannot be between them.
    """
    yield from _exceeding(spec, "deserved", spec, "capability")
    if guarantee:
        problems = [
            *_exceeding(guarantee, "resource", spec, "capability"),
            *_exceeding(guarantee, "resource", spec, "deserved"),
        ]
        first_problems: dict[str, Problem] = {}
        for problem in (*problems, *_undeserved(guarantee, spec)):
            first_problems.setdefault(problem.path, problem)
        yield from first_problems.values()


def _exceeding(holder: ObjectField, key: str, limits: ObjectField, limit: str) -> Iterator[Problem]:
    declared, maximums = holder.child(key), resources.valid_amounts(limits, limit)
    for resource, nano in resources.valid_amounts(holder, key).items():
        if declared and nano > maximums.get(resource, nano):
            reason = f"must be less than or equal to {limit} of the queue"
            yield declared.problem(resource, "Invalid", reason, f"raise {limit}, or lower this value")


def _undeserved(guarantee: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    """Yield a Problem for each guaranteed resource, even with amount 0, that deserved does not contain."""
    declared, deserved = guarantee.child("resource"), spec.child("deserved")
    if declared and not spec.is_unknown("deserved"):
        for resource in declared.fields:
            if not (deserved and deserved.has(resource)):
                reason = f"must be less than or equal to deserved, which does not contain {resource}"
                yield declared.problem(resource, "Invalid", reason, f"add {resource} to deserved")


def of_job(job: Job, cluster: ClusterFacts) -> Iterator[Problem]:
    """Yield a Problem if Volcano's webhook rejects a job because of its queue."""
    queue = job.queue
    if not isinstance(queue, str):
        return
    if queue == ROOT_QUEUE:
        yield webhook_problem(
            "spec.queue", "Forbidden", "the root queue does not accept jobs", queue, "use a queue below root"
        )
    elif cluster.queues is not None:
        facts = cluster.queues.get(queue)
        if facts is None:
            yield webhook_problem(
                "spec.queue",
                "NotFound",
                "the cluster has no queue with this name",
                queue,
                "set spec.queue, which defaults to this queue" if queue == QUEUE else "create the queue first",
            )
        elif facts.state != "Open":
            yield webhook_problem(
                "spec.queue", "Forbidden", f"the queue's state is {facts.state or 'unknown'}, not Open", queue
            )
        elif facts.children:
            reason = f"must be a leaf queue, but has {counted(facts.children, 'child queue')}"
            yield webhook_problem("spec.queue", "Forbidden", reason, queue)


def label(job: Job) -> Iterator[Problem]:
    """Yield a Problem if the Pods of a job cannot have its queue as a label."""
    if isinstance(job.queue, str) and len(job.queue) > MAX_LABEL:
        reason = f"may not be more than {MAX_LABEL} bytes, because the name of the queue is a label value of each Pod"
        yield Problem(
            "spec.queue",
            "TooLong",
            reason,
            "use a queue with a shorter name",
            value_text(job.queue),
            RejectionStage.API,
        )
