"""PersistentVolumeClaims of jobs and of ephemeral volumes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf, has_leaf
from pulumi_volcano_jobs.core.suggestions import did_you_mean
from pulumi_volcano_jobs.kubernetes.validation import selectors
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, Wire, invalid, unsupported, webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.names import SUBDOMAIN_RULE, dns_label, is_subdomain, subdomain
from pulumi_volcano_jobs.kubernetes.validation.resources import parsed

_ACCESS = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
# As kubectl shows them.
_SHORT = dict(zip(("RWO", "ROX", "RWX", "RWOP"), _ACCESS, strict=True))
_MODES = ("Filesystem", "Block")
_QUANTITY_RULE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_CLAIM = "PersistentVolumeClaim"
# The fields that name the source.
_OF_A_SOURCE = ("apiGroup", "kind", "name")
_OLD_SOURCES = {("", _CLAIM), ("snapshot.storage.k8s.io", "VolumeSnapshot")}
"""The API groups and kinds that `dataSource` may name."""


def of_job(spec: Wire, path: str) -> Iterator[Problem]:
    """Yield the fields of a new claim of the job that the API server rejects or ignores."""
    place = ObjectField(spec, path)
    dropped = list(ignored_data_source(place))
    yield from dropped
    for problem in check(place):
        if not dropped or not problem.path.startswith(place.at("dataSource")):
            yield replace(problem, stage=RejectionStage.API)


def check(spec: ObjectField) -> Iterator[Problem]:
    """Yield the fields that Kubernetes rejects in a PersistentVolumeClaimSpec."""
    reason = "at least 1 access mode is required"
    yield from spec.check_required("accessModes", "set modes such as [ReadWriteOnce]", reason)
    modes = spec.items("accessModes")
    for path, mode in modes:
        if mode not in _ACCESS:
            hint = f"write {_SHORT[mode]}" if mode in _SHORT else did_you_mean(mode, _ACCESS)
            yield unsupported(path, mode, _ACCESS, hint)
    if len({mode for _, mode in modes}) > 1 and "ReadWriteOncePod" in [mode for _, mode in modes]:
        reason = "may not use ReadWriteOncePod with other access modes"
        yield spec.problem("accessModes", "Forbidden", reason, "remove the other modes", show=False)
    mode = spec.text("volumeMode")
    if mode not in _MODES and (mode or spec.is_empty_text("volumeMode")):
        yield unsupported(spec.at("volumeMode"), mode, _MODES, did_you_mean(mode, _MODES))
    for key in ("storageClassName", "volumeAttributesClassName"):
        name = spec.text(key)
        if name and not is_subdomain(name):
            yield invalid(spec.at(key), name, SUBDOMAIN_RULE, "set the name of a class in the cluster")
    yield from selectors.check_label_selector(spec, "selector")
    yield from _storage(spec)
    yield from _sources(spec)


def ignored_data_source(spec: ObjectField) -> Iterator[Problem]:
    """Yield a data source that the API server drops from a new claim, so that the volume would be empty."""
    source = spec.child("dataSource")
    if source is None or spec.has("dataSourceRef") or has_leaf(source.fields):
        return
    if (source.text("apiGroup"), source.text("kind")) not in _OLD_SOURCES:
        reason = (
            "must be a PersistentVolumeClaim, or a VolumeSnapshot of the apiGroup snapshot.storage.k8s.io: the API "
            "server ignores other sources"
        )
        yield Problem(spec.at("dataSource"), "Invalid", reason, "correct apiGroup and kind, or use dataSourceRef")


def _storage(spec: ObjectField) -> Iterator[Problem]:
    if spec.is_unknown("resources"):
        return
    resources = spec.child("resources") or ObjectField({}, spec.at("resources"))
    requests = resources.child("requests") or ObjectField({}, resources.at("requests"))
    size = requests.fields.get("storage")
    yield from _unreadable(resources)
    if resources.is_unknown("requests") or isinstance(size, Leaf):
        return
    amount, path = parsed(size), requests.at("storage")
    if size is None:
        yield webhook_problem(path, "Required", "", hint="set a size such as 100Gi")
    elif amount is not None and amount <= 0:
        yield invalid(path, str(size), "must be greater than zero", "set a size such as 100Gi")


def _unreadable(resources: ObjectField) -> Iterator[Problem]:
    """Yield the amounts of any resource that the API server cannot parse."""
    for amounts in filter(None, map(resources.child, ("requests", "limits"))):
        for key, value in amounts.fields.items():
            if not isinstance(value, Leaf) and parsed(value) is None:
                yield invalid(amounts.at(key), str(value), _QUANTITY_RULE, "set a size such as 100Gi")


def _sources(spec: ObjectField) -> Iterator[Problem]:
    """Yield the problems of dataSource and dataSourceRef, which both refer to the source of a new volume."""
    source, reference = spec.child("dataSource"), spec.child("dataSourceRef")
    for field in (source, reference):
        yield from _source(field) if field else ()
    namespace = reference.text("namespace") if reference else ""
    yield from dns_label(namespace or None, f"{spec.at('dataSourceRef')}.namespace")
    if source and reference and not has_leaf([source.fields, reference.fields]):
        if namespace:
            reason = "may not be specified when dataSourceRef.namespace is specified"
            yield spec.problem("dataSource", "Forbidden", reason, "remove it", show=False)
        elif any(source.fields.get(key) != reference.fields.get(key) for key in _OF_A_SOURCE):
            yield spec.problem("dataSource", "Invalid", "must match dataSourceRef", "remove one of them", show=False)


def _source(source: ObjectField) -> Iterator[Problem]:
    yield from source.check_required("name", "set the name of the source object")
    yield from source.check_required("kind", f"set a kind such as {_CLAIM}")
    group, kind = source.text("apiGroup"), source.text("kind")
    yield from subdomain(group or None, source.at("apiGroup"))
    if not group and not source.is_unknown("apiGroup") and kind not in (_CLAIM, ""):
        rule = f"must be '{_CLAIM}' when referencing the default apiGroup"
        yield invalid(source.path, kind, rule, "set apiGroup, such as snapshot.storage.k8s.io")
