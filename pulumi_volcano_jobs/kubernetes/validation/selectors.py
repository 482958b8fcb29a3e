"""Label selectors and node selector terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, SupportedValues, webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.names import SUBDOMAIN_RULE, is_subdomain, label_key, label_value, labels

_SETS = ("In", "NotIn", "Exists", "DoesNotExist")
_OF_NODES = (*_SETS, "Gt", "Lt")


def check_label_selector(holder: ObjectField, key: str) -> Iterator[Problem]:
    """Yield invalid requirements of a label selector."""
    selector = holder.child(key)
    if selector:
        yield from labels(selector.fields.get("matchLabels"), selector.at("matchLabels"), RejectionStage.WEBHOOK)
        for expression in selector.children("matchExpressions"):
            yield from _expression(expression, _SETS, values_too=True)


def check_node_selector_term(term: ObjectField, *, values_too: bool) -> Iterator[Problem]:
    """Yield invalid requirements of a node selector term.

    Kubernetes does not validate the values of a preferred term, so `values_too` is false for one.
    """
    for expression in term.children("matchExpressions"):
        yield from _expression(expression, _OF_NODES, values_too=values_too)
    for expression in term.children("matchFields"):
        yield from _field(expression)


def _expression(expression: ObjectField, operators: Sequence[str], *, values_too: bool) -> Iterator[Problem]:
    operator, values = expression.text("operator"), expression.items("values")
    yield from SupportedValues("operator", operators, required=True, error_type="Invalid").check(expression)
    yield from label_key(expression.fields.get("key", ""), expression.at("key"))
    if operator in ("In", "NotIn"):
        yield from expression.check_required(
            "values", "add at least one value", "must be specified when `operator` is 'In' or 'NotIn'"
        )
    elif operator in ("Exists", "DoesNotExist") and expression.is_given("values"):
        reason = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield expression.problem("values", "Forbidden", reason, "remove them, or set operator: In", show=False)
    elif operator in ("Gt", "Lt") and not expression.is_unknown("values") and _count(expression) != 1:
        yield expression.problem(
            "values",
            "Required",
            "must be specified single value when `operator` is 'Lt' or 'Gt'",
            "set one value",
            show=False,
        )
    for path, value in values if values_too else ():
        yield from label_value(value, path)


def _field(expression: ObjectField) -> Iterator[Problem]:
    yield from SupportedValues("operator", ("In", "NotIn"), required=True, error_type="Invalid").check(expression)
    yield from SupportedValues(
        "key",
        ("metadata.name",),
        "use matchExpressions to select nodes by label",
        required=True,
        error_type="Invalid",
    ).check(expression)
    if not expression.is_unknown("values") and _count(expression) != 1:
        yield expression.problem(
            "values",
            "Required",
            "must be only one value for node field selector",
            "set the name of one node",
            show=False,
        )
    for path, value in expression.items("values"):
        if expression.text("key") == "metadata.name" and isinstance(value, str) and not is_subdomain(value):
            yield webhook_problem(path, "Invalid", SUBDOMAIN_RULE, value)


def _count(expression: ObjectField) -> int:
    values = expression.fields.get("values")
    return len(values) if isinstance(values, (list, tuple)) else 0
