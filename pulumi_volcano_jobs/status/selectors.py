"""Label selectors, as Kubernetes matches them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pulumi_volcano_jobs.status.fields import Object, listed, mapping, text, texts

_DIGITS = 18
_OPERATORS: Mapping[str, Callable[[str | None, Sequence[str]], bool]] = {
    "In": lambda label, values: label in values,
    "NotIn": lambda label, values: label not in values,
    "Exists": lambda label, _: label is not None,
    "DoesNotExist": lambda label, _: label is None,
    "Gt": lambda label, values: _integer(label) > _integer(values[0] if values else ""),
    "Lt": lambda label, values: _integer(label) < _integer(values[0] if values else ""),
}


def has_labels(labels: Object, wanted: Object) -> bool:
    """Check whether an object has all wanted labels."""
    return all(labels.get(key) == label for key, label in wanted.items())


def meets(labels: Object, expressions: Sequence[Object]) -> bool:
    """Check whether labels meet all expressions. An unknown operator is met."""
    return all(_holds(labels, item) for item in expressions)


def matches(labels: Object, selector: Object) -> bool:
    """Check whether a LabelSelector selects an object with these labels."""
    return has_labels(labels, mapping(selector, "matchLabels")) and meets(labels, listed(selector, "matchExpressions"))


def _holds(labels: Object, expression: Object) -> bool:
    label = labels.get(text(expression, "key"))
    holds = _OPERATORS.get(text(expression, "operator"))
    return holds is None or holds(label if isinstance(label, str) else None, texts(expression, "values"))


def _integer(label: str | None) -> int:
    try:
        return int((label or "")[:_DIGITS])
    except ValueError:
        return 0
