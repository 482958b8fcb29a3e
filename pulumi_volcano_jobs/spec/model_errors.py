"""Conversion of pydantic's errors to Problems: path in Volcano's spelling, value, reason and hint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from typing import get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import (
    ErrorType,
    Problem,
    RejectionStage,
    job_error,
    key_text,
    not_plain,
    value_text,
)
from pulumi_volcano_jobs.core.leaf import OutputLike, may_be_output
from pulumi_volcano_jobs.core.suggestions import closest, did_you_mean, suggestion
from pulumi_volcano_jobs.core.text import holds_output
from pulumi_volcano_jobs.kubernetes.schema import A_LIST_HINT, SURROGATE, output_not_allowed
from pulumi_volcano_jobs.spec.document import GENERATE_NAME, IN_METADATA
from pulumi_volcano_jobs.spec.fields import as_flags, name_of_resource

_Rule = tuple[ErrorType, str, str]
# Errors of the decoder of Volcano's mutating webhook: a wrong JSON type, or a number out of range.
_DECODE_ERRORS = (
    "_type",
    "sequence_str",
    "is_instance_of",
    "no_spec",
    "no_metadata",
    "not_a_job",
    "no_job_fields",
    "invalid_key",
    "string_unicode",
    "less_than_equal",
    "plugin_names",
    "plugin_twice",
)
_A_LIST: _Rule = ("TypeInvalid", "must be a list", "write it as a YAML list: [...]")
_A_MAPPING: _Rule = ("TypeInvalid", "must be a mapping", "write it as key: value lines")
_AN_INTEGER: _Rule = ("TypeInvalid", "must be a whole number", "write it without quotes or fraction")
_LIST_EXAMPLES = {
    "env": '[{"name": "A", "value": "1"}]',
    "command": '["python", "train.py"]',
    "args": '["--epochs", "3"]',
}
_PYTHON_HINTS = {
    A_LIST_HINT: "put it in a list: [...]",
    "put it in quotes": "pass a str",
    _A_LIST[2]: "put it in a list: [...]",
    _A_MAPPING[2]: 'write it as a dict: {"key": value}',
}
_WITHOUT_QUOTES = "write it without quotes"
_PYTHON_TYPES = {"must be a whole number": "an int", "must be a number": "an int or a float"}
_RULES: dict[str, _Rule] = {
    "int_type": _AN_INTEGER,
    "float_type": ("TypeInvalid", "must be a number", _WITHOUT_QUOTES),
    "bool_type": ("TypeInvalid", "must be True or False", _WITHOUT_QUOTES),
    "string_type": ("TypeInvalid", "must be a string", "put it in quotes"),
    "is_instance_of": _A_LIST,
    "list_type": _A_LIST,
    "sequence_str": _A_LIST,
    "tuple_type": _A_LIST,
    "dict_type": _A_MAPPING,
    "duration_type": ("Invalid", "{problem}", "{fix}"),
    "model_type": _A_MAPPING,
    "greater_than_equal": ("Invalid", "must be at least {ge}", ""),
    "less_than_equal": ("Invalid", "must be at most {le}", ""),
    "string_too_long": ("TooLong", "may not be more than {max_length} characters", ""),
    "generated_name": (
        "Required",
        "a job needs a fixed name, because its Pods are named after it",
        "set metadata.name instead of metadata.generateName",
    ),
    "not_a_job": ("NotSupported", "not a Volcano Job ({found})", "{remedy}"),
    "no_job_fields": ("Required", "no field of a Volcano Job is set", "pass a batch.volcano.sh/v1alpha1 Job"),
    "string_unicode": ("Invalid", SURROGATE, ""),
    "invalid_key": ("TypeInvalid", "each key must be a string", "put it in quotes"),
    "no_spec": ("Required", "must be a mapping", "{fix}"),
    "no_metadata": ("Required", "must be a mapping", "{fix}"),
    "plugin_type": (
        "TypeInvalid",
        "must be a list of plugin objects such as PytorchPlugin()",
        "{fix}",
    ),
    "plugin_names": ("TypeInvalid", "must be a mapping of plugins to lists of Volcano's arguments", "{fix}"),
    "plugin_arguments_type": ("TypeInvalid", "must be a list of Volcano's arguments", "{fix}"),
    "plugin_twice": ("Duplicate", "the plugin {name} is listed twice", "keep one of them"),
    "json_invalid": ("Invalid", "must be JSON: {error}", ""),
    "int64_overflow": ("Invalid", "must fit into 64 bits", ""),
    "too_short": ("Required", "must have at least one entry", ""),
}
# Reasons why a field cannot be an Output; `_STRUCTURE` for all other fields.
_STRUCTURE = "it decides which objects exist or what their names are"
_PLAIN_REASONS = {
    "replicas": "it sets the number of Pods",
    "minAvailable": "it sets the size of the gang",
    "schedulerName": "it decides whether the Pods are scheduled as a gang",
    "volumeClaimName": "it decides which volumes the Pods have",
    "plugins": "plugins decide which objects exist",
}
_OTHER_FIXES = {
    "volumeClaimName": "for a claim of this program, pass the text that names it, and set depends_on in opts",
}


@contextmanager
def as_job_error(
    owner: str, settings: Mapping[str, FieldInfo] | None = None, *, of_program: bool = True
) -> Iterator[None]:
    """Convert pydantic's errors to a JobError.

    Args:
        owner: the owner of the fields, such as `Task[worker]`; empty for a job.
        settings: the settings of the owner if it is a plugin.
        of_program: whether hints are for Python instead of YAML.

    Raises:
        JobError: with a Problem for each invalid field.
    """
    try:
        yield
    except ValidationError as error:
        errors = root_errors(error)
        if settings is None:
            problems = [problem(item, owner) for item in errors]
        else:
            # pydantic reports an error for each type of a union.
            groups = groupby(errors, key=lambda item: (item["loc"][0], id(item["input"])))
            problems = [_of_setting([*items], owner, settings) for _, items in groups]
        raise job_error(map(in_python, problems) if of_program else problems) from None


def root_errors(validation_error: ValidationError) -> list[ErrorDetails]:
    """Return pydantic's errors without consequences of other errors: a list with only invalid entries is not short."""
    errors = validation_error.errors(include_url=False)
    places = [error["loc"] for error in errors]
    return [
        error
        for error in errors
        if error["type"] != "too_short"
        or not any(
            place[:-1] and place[: len(error["loc"])] == error["loc"] and place != error["loc"] for place in places
        )
    ]


def problem(error: ErrorDetails, owner: str = "") -> Problem:
    """Return the Problem of an error.

    Args:
        error: one of `root_errors`.
        owner: the owner of the field; empty for a job.
    """
    given_value, location = error["input"], _on_the_wire([key for key in error["loc"] if key != "[key]"])
    kind = "invalid_key" if "[key]" in error["loc"] else error["type"]
    path = _path(location, owner) or error.get("ctx", {}).get("place", "")
    if may_be_output(given_value) or holds_output(given_value):
        field = path.rpartition(".")[2]
        return output_not_allowed(path, _PLAIN_REASONS.get(field, _STRUCTURE), _OTHER_FIXES.get(field, ""))
    if kind == "missing" and path == "metadata.name" and GENERATE_NAME in given_value:
        kind, path = "generated_name", f"metadata.{GENERATE_NAME}"
    rule = _nearly_right(kind, location, given_value) or _rule(kind, location, error)
    stage = RejectionStage.DECODE if kind.endswith(_DECODE_ERRORS) else RejectionStage.SCHEMA
    value = "" if kind == "json_invalid" else _value_text(given_value, location)
    return Problem(path, *rule, value, stage)


def _nearly_right(kind: str, location: Sequence[int | str], value: object) -> _Rule | None:
    """Return the rule of a value that has the form of another field."""
    if kind == "missing" and [*location[:1], *location[2:]] == ["volumes", "mountPath"] and _is_pod_volume(value):
        return "Required", "", "set mountPath, or move a volume of Pods to spec.tasks[0].template.spec.volumes"
    if (
        kind == "missing"
        and isinstance(value, Mapping)
        and (similar := closest(str(location[-1]), map(key_text, value)))
    ):
        return "Required", "", f"write {location[-1]} instead of {similar}"
    is_argument = location[:1] == ["plugins"] and isinstance(location[-1], int)
    if is_argument and isinstance(value, Mapping):
        return "TypeInvalid", "must be a string", f"write {', '.join(as_flags(value))}"
    if location[-1:] == ["dependsOn"] and isinstance(value, (str, list, tuple)):
        return "TypeInvalid", "must be a mapping", "write dependsOn: {name: [...]} with the names of tasks"
    return None


def _is_pod_volume(value: object) -> bool:
    """Check whether an entry of `spec.volumes` is a volume of a Pod spec, which has a name and a source."""
    return isinstance(value, Mapping) and "name" in value


def in_python(problem: Problem) -> Problem:
    """Return a problem with a hint for Python programs instead of YAML files."""
    if problem.hint == _AN_INTEGER[2]:
        source = "; to read it from the configuration, use config.get_int" if problem.value.startswith('"') else ""
        return replace(problem, hint=f"pass an int{source}")
    if problem.hint == _WITHOUT_QUOTES:
        return replace(problem, hint=f"pass {_PYTHON_TYPES.get(problem.reason, 'a bool')}")
    field = problem.path.rpartition(".")[2]
    if problem.hint == A_LIST_HINT and field in _LIST_EXAMPLES:
        return replace(problem, hint=f"write {_LIST_EXAMPLES[field]}")
    return replace(problem, hint=_PYTHON_HINTS.get(problem.hint, problem.hint))


def _of_setting(errors: Sequence[ErrorDetails], owner: str, settings: Mapping[str, FieldInfo]) -> Problem:
    """Return the Problem of a plugin setting."""
    name, first, facts = str(errors[0]["loc"][0]), errors[0], errors[0].get("ctx", {})
    path = paths.join(
        owner, *first["loc"][: None if len(errors) == 1 else -1]
    )  # the last key names a type of the union
    if name not in settings:
        hint = suggestion(name, settings) if settings else "remove it"
        return Problem(path, "Forbidden", "unknown setting", hint)
    value = value_text(first["input"]) if settings[name].repr and first["type"] != "string_unicode" else ""
    if may_be_output(first["input"]) or holds_output(first["input"]):
        return not_plain(path, facts.get("hint", ""))
    error_type, reason, hint = _rule(first["type"], first["loc"], first)
    if first["type"] == "literal_error":
        return Problem(path, error_type, reason, hint, value)
    if error_type == "TypeInvalid":
        types = [_type_in_words(item) for item in errors if item.get("ctx") != {"class": OutputLike.__name__}]
        types += ["None"] * (type(None) in get_args(settings[name].annotation))
        reason = f"must be {' or '.join(dict.fromkeys(types))}"
        hint = hint if len(types) == 1 else ""
    return Problem(path, error_type, reason, hint, value, RejectionStage.DECODE)


def _type_in_words(error: ErrorDetails) -> str:
    if error["type"] == "is_instance_of":
        return f"a {error['ctx']['class']}"
    return _rule(error["type"], error["loc"], error)[1].removeprefix("must be ")


def _path(location: Sequence[int | str], owner: str) -> str:
    if owner:
        return paths.join(owner, *location)
    return paths.from_location(location, metadata=IN_METADATA) if location else ""


def _rule(kind: str, location: Sequence[int | str], error: ErrorDetails) -> _Rule:
    """Return the type of the error, its reason and its hint."""
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(str(location[-1]), _NAME_PATTERN)
    if kind == "missing":
        return "Required", "", f"set {location[-1]}"
    if kind == "literal_error":
        # pydantic's text is: 'a', 'b' or 'c'.
        values = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        hint = did_you_mean(error["input"], values) if isinstance(error["input"], str) else ""
        return "NotSupported", f"supported values: {', '.join(map(value_text, values))}", hint
    if kind not in _RULES:
        return "Invalid", error["msg"], ""
    if kind == "string_type" and (name := name_of_resource(error["input"])):
        return "TypeInvalid", f"must be a string, not a {type(error['input']).__name__}", f"pass its {name}"
    error_type, *texts = _RULES[kind]
    if kind == "duration_type" and not isinstance(error["input"], str):
        error_type = "TypeInvalid"
    reason, hint = (text.format(**error.get("ctx", {})) for text in texts)
    return error_type, reason, hint


_NAME_PATTERN: _Rule = (
    "Invalid",
    "must consist of lower case letters, digits and '-', and start and end with a letter or digit",
    "for example my-job-1",
)
_PATTERNS: dict[str, _Rule] = {"mountPath": ("Invalid", "must be a path without ':'", "for example /data")}


def _on_the_wire(location: Sequence[int | str]) -> list[int | str]:
    """Return a location in Volcano's spelling: a field in snake_case is reported in camelCase."""
    wire_location: list[int | str] = []
    for key in location:
        is_free = bool(wire_location) and wire_location[-1] in _FREE
        wire_location.append(key if isinstance(key, int) or is_free else paths.wire_name(key))
    return wire_location


def _value_text(value: object, location: Sequence[int | str]) -> str:
    """Return the text of a value, or "" if it may be secret, as in arguments of plugins and in templates."""
    is_plain = isinstance(value, (str, int, float)) and value != ""
    return value_text(value) if is_plain and _SECRETIVE.isdisjoint(location) else ""


_FREE = frozenset({"labels", "annotations", "plugins"})  # users choose the keys of these mappings
_SECRETIVE = _FREE | {"template", "volumeClaim"}
