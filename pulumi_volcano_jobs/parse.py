"""From a document to a `Job`, with a Problem for each field that does not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from pulumi_volcano_jobs import paths
from pulumi_volcano_jobs.errors import JobError, Problem, Stage, shown
from pulumi_volcano_jobs.leaf import Leaf
from pulumi_volcano_jobs.model import (
    DOCUMENT_FIELDS,
    IN_METADATA,
    DependsOn,
    Job,
    Model,
    NetworkTopology,
    PartitionPolicy,
    Policy,
    Task,
    Tree,
    Volume,
    flatten,
)
from pulumi_volcano_jobs.schema import SURROGATE, structural

# What the decoder of Volcano's mutating webhook refuses: the wrong JSON type, or a number that does not fit.
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
    "plugin_twice",
    "int_from_float",
)
_REASONS: dict[str, tuple[str, str]] = {
    "missing": ("this field is required", "add it"),
    "int_type": ("this must be a whole number", "write it without quotes or fraction"),
    "string_type": ("this must be a string", "put it in quotes"),
    "is_instance_of": ("this must be a list", "write it as a YAML list: [...]"),
    "sequence_str": ("this must be a list", "write it as a YAML list: [...]"),
    "sequence_type": ("this must be a list", "write it as a YAML list: [...]"),
    "tuple_type": ("this must be a list", "write it as a YAML list: [...]"),
    "dict_type": ("this must be a mapping", "write it as key: value lines"),
    "greater_than_equal": ("this must be at least {ge}", "give a larger number"),
    "less_than_equal": ("this must be at most {le}", "give a smaller number"),
    "literal_error": ("this must be one of {expected}", "choose one of them"),
    "string_too_long": ("this must be at most {max_length} characters long", "shorten it"),
    "not_a_job": ("this is no Volcano Job: {found}", "{remedy}"),
    "no_job_fields": ("this is no Volcano Job: it has none of its fields", "give a batch.volcano.sh/v1alpha1 Job"),
    "string_unicode": (SURROGATE, ""),
    "invalid_key": ("each key must be a string", "put it in quotes"),
    "no_spec": ("a Job needs a spec, which is a mapping", "add it"),
    "no_metadata": ("a Job needs metadata, which are a mapping with a name", "add them"),
    "plugin_type": (
        "a list of plugins holds plugins such as PytorchPlugin()",
        'write Volcano\'s own arguments as a mapping: {{"pytorch": ["--port=29500"]}}',
    ),
    "plugin_twice": ("the plugin {name} is listed twice", "keep one of them"),
    "too_short": ("this must not be empty", "add at least one entry"),
    "model_type": ("this must be a mapping", "write it as key: value lines"),
}


# Why a field cannot be an Output, where there is more to say than `_STRUCTURE`.
_STRUCTURE = "it decides which objects there are or what they are called"
_WHY_PLAIN = {
    "replicas": "it decides how many Pods there are",
    "minAvailable": "it decides the size of the gang",
    "schedulerName": "it decides whether the scheduler sees a gang",
    "volumeClaimName": "it decides which volumes the Pods have",
    "plugins": "plugins decide which objects there are",
}


def _problem(error: ErrorDetails) -> Problem:
    kind, location = error["type"], _on_the_wire([key for key in error["loc"] if key != "[key]"])
    if "[key]" in error["loc"]:
        kind = "invalid_key"
    if kind in _REASONS:
        reason, hint = (text.format(**error.get("ctx", {})) for text in _REASONS[kind])
    else:
        reason, hint = error["msg"].removeprefix("Value error, "), ""
    if kind == "string_pattern_mismatch":
        reason, hint = _PATTERNS.get(str(location[-1]), _NAME_PATTERN)
    decode = kind.endswith(_DECODE_ERRORS)
    path = error.get("ctx", {}).get("place", "")
    if location:
        path = paths.from_location(location, metadata=IN_METADATA)
    if isinstance(error["input"], Leaf):
        return structural(path, _WHY_PLAIN.get(path.rpartition(".")[2], _STRUCTURE))
    value = error["input"] if _may_show(location) and isinstance(error["input"], (str, int, float)) else ""
    return Problem(path, reason, hint, value=shown(value) if value != "" else "", stage=_stage(decode=decode))


_NAME_PATTERN = (
    "this must be lower-case letters, digits and '-', beginning and ending with a letter or digit",
    "for example my-job-1",
)
_PATTERNS = {"mountPath": ("this must be a path without ':'", "for example /data")}


def _on_the_wire(location: Sequence[int | str]) -> list[int | str]:
    """Spell a location as YAML has it: fields that were given in snake_case are reported so."""
    spelled: list[int | str] = []
    for key in location:
        is_free = bool(spelled) and spelled[-1] in {"labels", "annotations", "plugins"}
        spelled.append(key if isinstance(key, int) or is_free else _ALIASES.get(key, key))
    return spelled


_ALIASES = {
    name: field.alias or name
    for model in (Job, Task, Policy, Volume, DependsOn, PartitionPolicy, NetworkTopology)
    for name, field in model.model_fields.items()
}


def _may_show(location: Sequence[int | str]) -> bool:
    """Tell whether the value at a place may be printed: plugin arguments and templates may hold secrets."""
    return not {"plugins", "template", "volumeClaim", "annotations", "labels"} & set(location)


def _stage(*, decode: bool) -> Stage:
    return Stage.DECODE if decode else Stage.SCHEMA


def parse_job(document: Mapping[str, Tree]) -> Job:
    """Build a Job from either form.

    Raises:
        JobError: with a Problem for each field that has the wrong type or a value outside its range.
    """
    job, problems = parse_what_fits(document)
    if problems or job is None:
        raise JobError(problems)
    return job


def parse_what_fits(document: Mapping[str, Tree]) -> tuple[Job | None, list[Problem]]:
    """Build a Job of what fits, so that the rest can be looked at too, and say what does not.

    There is no Job if nothing is left to make one of.
    """
    if not any(isinstance(key, str) and key in _KNOWN for key in document):
        reason, hint = _REASONS["no_job_fields"]
        return None, [Problem("", reason, hint, stage=Stage.DECODE)]
    data: Tree = document
    problems: list[Problem] = []
    for _ in range(_ATTEMPTS):
        try:
            return Job.model_validate(data), problems
        except ValidationError as error:
            errors = _own(error.errors(include_url=False))
        # All is found at once; what the next attempt finds follows from what has been taken out.
        problems = problems or [_generated(_problem(details), document) for details in errors]
        locations = [error["loc"] for error in errors]
        if () in locations and problems[0].path == "metadata":
            data = {**document, "metadata": {"name": _STAND_IN}}
            continue
        data = None if () in locations else _without({"name": _STAND_IN} | _flat_form(data), locations)
        if data is None:
            break
        data = {"name": _STAND_IN} | data
    return None, problems


_STAND_IN = "job"  # for a name that is missing or wrong, so that the rest can be looked at
_KNOWN = DOCUMENT_FIELDS | {key for name, field in Job.model_fields.items() for key in (name, field.alias or name)}
_ATTEMPTS = 4  # each takes out what the one before found; what a job is made of is no deeper


def _generated(problem: Problem, document: Mapping[str, Tree]) -> Problem:
    metadata = document.get("metadata")
    if problem.path != "metadata.name" or not isinstance(metadata, Mapping) or "generateName" not in metadata:
        return problem
    reason = "a job needs a name: its Pods are called after it, and generateName gives another one each time"
    return Problem("metadata.generateName", reason, "write name instead", stage=problem.stage)


def _flat_form(document: Mapping[str, Tree]) -> Tree:
    return flatten(document) if DOCUMENT_FIELDS & document.keys() else document


def _without(tree: Tree, locations: list[_Location]) -> Tree:
    """Copy a tree without what stands at the locations; None if the tree itself is among them."""
    if () in locations:
        return None
    below: dict[int | str, list[_Location]] = {}
    for head, *rest in locations:
        below.setdefault(head, []).append(tuple(rest))
    if isinstance(tree, Model):
        tree = dict(tree)
    if isinstance(tree, Mapping):
        kept = {}
        for key, value in tree.items():
            inside = [where for name in dict.fromkeys((key, to_camel(str(key)))) for where in below.pop(name, ())]
            left = _without(value, inside) if inside else value
            if left is not None:
                kept[key] = left
        # What is still there is missing in the tree.
        return None if any(() in where for where in below.values()) else kept
    if isinstance(tree, (list, tuple)):
        entries = [_without(item, below[index]) if index in below else item for index, item in enumerate(tree)]
        # The others must keep their places.
        return None if any(entry is None for entry in entries) else entries
    return tree


_Location = tuple[int | str, ...]


def _own(errors: list[ErrorDetails]) -> list[ErrorDetails]:
    """Leave out what only follows from other errors: a list of nothing but wrong entries counts as too short."""
    places = [error["loc"] for error in errors]
    return [
        error
        for error in errors
        if error["type"] != "too_short"
        or not any(
            place[:-1] and place[: len(error["loc"])] == error["loc"] and place != error["loc"] for place in places
        )
    ]
