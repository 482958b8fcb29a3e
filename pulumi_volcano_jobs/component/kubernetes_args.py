"""Templates and claims as pulumi_kubernetes has them, brought into the form that they have on the wire.

Its args classes and TypedDicts spell fields in snake_case. The walk goes by Kubernetes' schemas: changing the spelling
blindly is wrong for `hostIPC`, `setHostnameAsFQDN` and some thirty others, and for the keys of maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_volcano_jobs.kubernetes import schema


def to_wire(value: Any, definition: str) -> Any:
    """Copy a value of a Kubernetes type with the names of the wire; names that are on it already stay.

    An Output that holds such a value is converted once it is known; it stays one Output.
    """
    if isinstance(value, pulumi.Output):
        return value.apply(lambda known: to_wire(known, definition))
    fields = _fields(value)
    if fields is None:
        return value
    # Of a field in both spellings one stays as it is, and is told to be unknown.
    names = {key: name for key, name in schema.wire_names(definition).items() if name not in fields}
    return {names.get(key, key): _field(item, definition, names.get(key, key)) for key, item in fields.items()}


def _field(value: Any, definition: str, name: str) -> Any:
    child, is_list = schema.child_definition(definition, name)
    if not child:
        return value
    if not is_list:
        return to_wire(value, child)
    if isinstance(value, pulumi.Output):
        return value.apply(lambda known: _field(known, definition, name))
    return [to_wire(item, child) for item in value] if isinstance(value, (list, tuple)) else value


def _fields(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping):
        return value
    # An args class of pulumi_kubernetes, or one of the program's own that is such, keeps what it was given under its
    # Python names.
    if any(base.__module__.startswith("pulumi_kubernetes.") for base in type(value).__mro__):
        attributes: dict[str, Any] = vars(value)
        return attributes
    return None
