"""Comparison of two runs of a stack: the changes that the engine decides on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_volcano_jobs.testing.resources import Resource
from pulumi_volcano_jobs.testing.values import reveal

_STEP = re.compile(r'\["([^"]+)"\]|\[(\d+|\*)\]|([^.\[]+)')
_ALL = "*"
_ABSENT = object()


@dataclass(frozen=True)
class Changes:
    """The resources that differ between two runs, by kind and name.

    The engine decides which resources are created, deleted, or replaced because of a trigger. For other differences,
    the provider decides between update and replacement: the Kubernetes provider replaces a changed ConfigMap or Secret
    by default.
    """

    made: list[str]
    """The new resources."""
    deleted: list[str]
    """The resources that the second run does not have."""
    replaced: list[str]
    """The resources whose replacement trigger, or a field in `replace_on_changes`, differs."""
    changed: list[str]
    """The resources with other inputs, except inputs in `ignore_changes`."""


def compare(before: Mapping[str, Resource], after: Mapping[str, Resource]) -> Changes:
    """Compare two runs of a stack."""
    # The engine identifies resources by URN: with another parent, the same kind and name is another resource.
    olds, news = ({item.urn: (name, item) for name, item in run.items()} for run in (before, after))
    in_both = [(name, olds[urn][1], item) for urn, (name, item) in news.items() if urn in olds]
    replaced = [name for name, old, new in in_both if _is_replaced(old, new)]
    return Changes(
        made=sorted(name for urn, (name, _) in news.items() if urn not in olds),
        deleted=sorted(name for urn, (name, _) in olds.items() if urn not in news),
        replaced=sorted(replaced),
        changed=sorted(name for name, old, new in in_both if name not in replaced and _is_changed(old, new)),
    )


def _is_replaced(old: Resource, new: Resource) -> bool:
    # Adding a trigger to a resource does not replace it.
    has_trigger = old.replacement_trigger is not None and new.replacement_trigger is not None
    return (has_trigger and old.replacement_trigger != new.replacement_trigger) or any(
        _at(old.inputs, _steps(path)) != _at(new.inputs, _steps(path)) for path in new.replace_on_changes
    )


def _is_changed(old: Resource, new: Resource) -> bool:
    """Check whether inputs differ that are not ignored."""
    old_inputs, new_inputs = old.inputs, new.inputs
    for path in new.ignore_changes:
        old_inputs, new_inputs = (_without(tree, _steps(path)) for tree in (old_inputs, new_inputs))
    return old_inputs != new_inputs


def _steps(path: str) -> list[str]:
    return [quoted or index or plain for quoted, index, plain in _STEP.findall(path)]


def _at(tree: Any, steps: Sequence[str]) -> Any:
    if not steps:
        return tree
    step, *rest = steps
    fields = _below(tree)
    if step == _ALL:
        return {key: _at(value, rest) for key, value in fields.items()}
    return _at(fields[step], rest) if step in fields else _ABSENT


def _without(tree: Any, steps: Sequence[str]) -> Any:
    step, *rest = steps
    fields = _below(tree)
    removed = fields.keys() if step == _ALL else fields.keys() & {step}
    if not removed:
        return tree
    remaining = {key: value for key, value in fields.items() if key not in removed}
    return remaining | {key: _without(fields[key], rest) for key in removed} if rest else remaining


def _below(tree: Any) -> Mapping[str, Any]:
    if isinstance(tree, list):
        return {str(index): item for index, item in enumerate(tree)}
    plain = reveal(tree)
    return plain if isinstance(plain, Mapping) else {}
