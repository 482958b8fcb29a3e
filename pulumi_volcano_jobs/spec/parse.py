"""From a document to a `Job`, with a Problem for each field that does not fit."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import TypeAdapter, ValidationError

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, key_text
from pulumi_volcano_jobs.spec import model_errors
from pulumi_volcano_jobs.spec.document import DOCUMENT_FIELDS, flatten, warnings
from pulumi_volcano_jobs.spec.fields import Tree
from pulumi_volcano_jobs.spec.model import Job, Model


def parse_valid_parts(document: Mapping[str, Tree]) -> tuple[Job | None, list[Problem]]:
    """Build a Job of what fits, so that the rest can be looked at too, and say what does not.

    There is no Job if nothing is left to make one of.
    """
    job, problems = _parse(document)
    return job, [*problems, *warnings(document)]


def _parse(document: Mapping[str, Tree]) -> tuple[Job | None, list[Problem]]:
    data: Tree = document
    problems: list[Problem] = []
    for _ in range(_ATTEMPTS):
        try:
            return _JOB.validate_python(data), problems
        except ValidationError as error:
            errors = model_errors.root_errors(error)
        # All is found at once; what the next attempt finds follows from what has been taken out.
        problems = problems or [model_errors.problem(item) for item in errors]
        locations = [error["loc"] for error in errors]
        if () in locations and problems[0].path == "metadata":
            data = {**document, "metadata": {"name": _STAND_IN}}
            continue
        data = None if () in locations else _without({"name": _STAND_IN} | _flat_form(data), locations)
        if data is None:
            break
        data = {"name": _STAND_IN} | data
    return None, problems


_JOB = TypeAdapter(Job)
_STAND_IN = "job"  # for a name that is missing or wrong, so that the rest can be looked at
_ATTEMPTS = 4  # each takes out what the one before found; what a job is made of is no deeper


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
        result = {}
        for key, value in tree.items():
            inside = [
                locations_below
                for name in dict.fromkeys((key, paths.wire_name(key_text(key))))
                for locations_below in below.pop(name, ())
            ]
            reduced = _without(value, inside) if inside else value
            if reduced is not None:
                result[key] = reduced
        # What is still there is missing in the tree.
        return None if any(() in locations_below for locations_below in below.values()) else result
    if isinstance(tree, (list, tuple)):
        entries = [_without(item, below[index]) if index in below else item for index, item in enumerate(tree)]
        # The others must keep their places.
        return None if any(entry is None for entry in entries) else entries
    return tree


_Location = tuple[int | str, ...]
