"""Conversion of templates and claims of pulumi_kubernetes to wire format.

Its args classes and TypedDicts have field names in snake_case. The conversion follows the schemas of Kubernetes,
because converting every name would be wrong for `hostIPC`, `setHostnameAsFQDN` and about thirty other fields, and for
the keys of maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pulumi

from pulumi_volcano_jobs.core.calls import checked_call
from pulumi_volcano_jobs.core.errors import job_error, wrong_type
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.kubernetes.template_types import PodTemplateSpecDict

if TYPE_CHECKING:
    # Programs that do not use these classes need not wait for their import.
    from pulumi_kubernetes.core.v1 import PodTemplateSpecArgs


@checked_call("pod_template")
def pod_template(template: PodTemplateSpecArgs | Mapping[str, Any]) -> PodTemplateSpecDict:
    """Return a Pod template of pulumi_kubernetes, or of any mapping, as a dictionary with the field names of YAML.

    A task accepts such a template without this function, but type checkers accept only a dictionary there. Presets need
    a dictionary also.

    Raises:
        JobError: if the template has another type.
    """
    if _fields(template) is None:
        raise job_error([wrong_type("template", "a PodTemplateSpecArgs or a mapping", "")])
    wire: PodTemplateSpecDict = to_wire(template, schema.POD_TEMPLATE)
    return wire


def to_wire(value: Any, definition: str) -> Any:
    """Return a copy of a value of a Kubernetes type with field names in camelCase.

    An Output is converted when its value is known, and stays one Output.
    """
    if isinstance(value, pulumi.Output):
        return value.apply(lambda known: to_wire(known, definition))
    fields = _fields(value)
    if fields is None:
        return value
    # If a field is set in both spellings, the one in snake_case stays, and is reported as unknown.
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
    # An instance of an args class of pulumi_kubernetes, or of a subclass, has its values under Python names.
    if any(base.__module__.startswith("pulumi_kubernetes.") for base in type(value).__mro__):
        attributes: dict[str, Any] = vars(value)
        return attributes
    return None
