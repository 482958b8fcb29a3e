"""Scheduling of a Pod: node selector, tolerations, affinity, topology spread constraints and gates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.kubernetes.validation import selectors
from pulumi_volcano_jobs.kubernetes.validation.field import (
    ObjectField,
    SupportedValues,
    check_unique,
    duplicates,
    webhook_problem,
)
from pulumi_volcano_jobs.kubernetes.validation.names import dns_label, is_qualified, label_key, label_value, labels

COMPARISONS = ("Lt", "Gt")
"""The operators of a toleration that compare numbers."""
# The last two operators need a feature gate, and the gates of the cluster are not known here.
_OPERATORS = ("Exists", "Equal", *COMPARISONS)
_OPERATOR = SupportedValues("operator", _OPERATORS, "remove it for the default, Equal")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_EFFECT = SupportedValues("effect", _EFFECTS, "remove it to tolerate every effect")
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_MAX_WEIGHT = 100
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_SPREAD = (
    SupportedValues("whenUnsatisfiable", ("DoNotSchedule", "ScheduleAnyway"), required=True),
    SupportedValues("nodeAffinityPolicy", ("Honor", "Ignore"), required=True),
    SupportedValues("nodeTaintsPolicy", ("Honor", "Ignore"), required=True),
)
_GATE_RULE = "must be a qualified name such as example.org/ready"


def check(spec: ObjectField) -> Iterator[Problem]:
    """Yield invalid scheduling fields of a Pod."""
    yield from labels(spec.fields.get("nodeSelector"), spec.at("nodeSelector"), RejectionStage.WEBHOOK)
    for toleration in spec.children("tolerations"):
        yield from _toleration(toleration)
    affinity = spec.child("affinity")
    if affinity:
        yield from _affinity(affinity)
    constraints = spec.children("topologySpreadConstraints")
    yield from duplicates(
        ((item.path, _kind(item)) for item in constraints),
        "topologyKey and whenUnsatisfiable must be unique",
    )
    for constraint in constraints:
        yield from _constraint(constraint)
    for key, name in (("schedulingGates", "name"), ("readinessGates", "conditionType")):
        for gate in spec.children(key):
            if not gate.is_unknown(name) and not is_qualified(gate.text(name)):
                yield gate.problem(name, "Invalid", _GATE_RULE)
    yield from check_unique(spec.children("schedulingGates"), "name")


def _toleration(toleration: ObjectField) -> Iterator[Problem]:
    operator, effect = toleration.text("operator"), toleration.text("effect")
    if toleration.text("key"):
        yield from label_key(toleration.text("key"), toleration.at("key"))
    yield from _OPERATOR.check(toleration)
    if operator in (*_OPERATORS, "") and not toleration.is_unknown("operator"):
        yield from _compared(toleration)
    if toleration.has("tolerationSeconds") and not toleration.is_unknown("effect") and effect != "NoExecute":
        reason = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield toleration.problem("effect", "Invalid", reason, "set effect: NoExecute, or remove tolerationSeconds")
    else:
        yield from _EFFECT.check(toleration)


def _compared(toleration: ObjectField) -> Iterator[Problem]:
    """Yield a Problem if a supported operator does not match the key and value of a toleration."""
    operator, value = toleration.text("operator"), toleration.text("value")
    if operator == "Exists" and value:
        reason = "value must be empty when `operator` is 'Exists'"
        yield toleration.problem("value", "Invalid", reason, "remove it, or set operator: Equal")
    elif operator != "Exists" and not toleration.is_given("key"):
        reason = "operator must be Exists when `key` is empty"
        yield webhook_problem(
            toleration.path,
            "Invalid",
            reason,
            hint="set the key of the taint, or set operator: Exists to tolerate every taint",
        )
    elif operator in COMPARISONS and not toleration.is_unknown("value") and not _WHOLE.fullmatch(value):
        yield toleration.problem(
            "value", "Invalid", f"must be an integer when `operator` is '{operator}'", "use a quoted integer"
        )
    elif operator in ("Equal", ""):
        yield from label_value(value, toleration.at("value"))


def _affinity(affinity: ObjectField) -> Iterator[Problem]:
    nodes = affinity.child("nodeAffinity")
    if nodes:
        yield from _nodes(nodes)
    for kind in ("podAffinity", "podAntiAffinity"):
        pods = affinity.child(kind)
        for term in pods.children(_REQUIRED) if pods else ():
            yield from _pods(term)
        for weighted in pods.children(_PREFERRED) if pods else ():
            yield from weighted.check_range("weight", 1, _MAX_WEIGHT)
            preferred = weighted.child("podAffinityTerm")
            yield from _pods(preferred) if preferred else ()


def _nodes(nodes: ObjectField) -> Iterator[Problem]:
    required = nodes.child(_REQUIRED)
    if required:
        yield from required.check_required("nodeSelectorTerms", reason="must have at least one node selector term")
        for term in required.children("nodeSelectorTerms"):
            yield from selectors.check_node_selector_term(term, values_too=True)
    for weighted in nodes.children(_PREFERRED):
        yield from weighted.check_range("weight", 1, _MAX_WEIGHT)
        preferred = weighted.child("preference")
        yield from selectors.check_node_selector_term(preferred, values_too=False) if preferred else ()


def _pods(term: ObjectField) -> Iterator[Problem]:
    if term.text("topologyKey"):
        yield from label_key(term.text("topologyKey"), term.at("topologyKey"))
    else:
        yield from term.check_required("topologyKey", "set a label key such as kubernetes.io/hostname")
    for key in ("labelSelector", "namespaceSelector"):
        yield from selectors.check_label_selector(term, key)
    for path, name in term.items("namespaces"):
        yield from dns_label(name, path)
    yield from _keys(term, "matchLabelKeys")
    yield from _keys(term, "mismatchLabelKeys")
    mismatch_keys = {key for _, key in term.items("mismatchLabelKeys")}
    for path, key in term.items("matchLabelKeys"):
        if key in mismatch_keys:
            yield webhook_problem(
                path, "Invalid", "exists in both matchLabelKeys and mismatchLabelKeys", key, "remove one of them"
            )


def _keys(term: ObjectField, kind: str) -> Iterator[Problem]:
    if term.is_given(kind) and not term.has("labelSelector"):
        yield term.problem(
            kind, "Forbidden", "must not be specified when labelSelector is not set", "add a labelSelector", show=False
        )
        return
    for path, key in term.items(kind):
        yield from label_key(key, path)


def _constraint(constraint: ObjectField) -> Iterator[Problem]:
    yield from constraint.check_minimum("maxSkew", 1)
    yield from constraint.check_required("topologyKey", "set a label key such as topology.kubernetes.io/zone")
    for choices in _SPREAD:
        yield from choices.check(constraint)
    yield from constraint.check_minimum("minDomains", 1, "remove it for the default, 1")
    if constraint.has("minDomains") and constraint.text("whenUnsatisfiable") == "ScheduleAnyway":
        reason = "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
        yield constraint.problem("minDomains", "Invalid", reason, "set whenUnsatisfiable: DoNotSchedule, or remove it")
    yield from selectors.check_label_selector(constraint, "labelSelector")
    yield from _keys(constraint, "matchLabelKeys")
    selector = constraint.child("labelSelector")
    match_labels = selector.child("matchLabels") if selector else None
    for path, key in constraint.items("matchLabelKeys"):
        if match_labels and key in match_labels.fields:
            yield webhook_problem(
                path, "Invalid", "exists in both matchLabelKeys and labelSelector", key, "remove one of them"
            )


def _kind(constraint: ObjectField) -> str:
    key, unsatisfiable = constraint.text("topologyKey"), constraint.text("whenUnsatisfiable")
    return f"{key} {unsatisfiable}" if key and unsatisfiable else ""
