"""Conversion of a document to a `Job`, with a Problem for each invalid field."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import TypeAdapter, ValidationError

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, key_text
from pulumi_volcano_jobs.spec import model_errors, placeholders
from pulumi_volcano_jobs.spec.document import DOCUMENT_FIELDS, flatten, warnings
from pulumi_volcano_jobs.spec.fields import Tree
from pulumi_volcano_jobs.spec.model import Job, Model


def parse_valid_parts(document: Mapping[str, Tree]) -> tuple[Job | None, list[Problem]]:
    """Build a Job from the valid parts of a document, so that they can be checked further; return it and the problems.

    The Job is None if no valid part is left.
    """
    job, problems = _parse(document)
    found = placeholders.find(document)
    return job, [*(placeholders.explained(problem, found) for problem in problems), *warnings(document)]


def _parse(document: Mapping[str, Tree]) -> tuple[Job | None, list[Problem]]:
    data: Tree = document
    problems: list[Problem] = []
    # Later attempts are in the flat form, but the names are still those of a document.
    by_name = not DOCUMENT_FIELDS & document.keys()
    for _ in range(_ATTEMPTS):
        try:
            return _JOB.validate_python(data, by_alias=True, by_name=by_name), problems
        except ValidationError as error:
            errors = model_errors.root_errors(error)
        # The first attempt reports all errors. Errors of later attempts are consequences of removed fields.
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
_STAND_IN = "job"  # replaces a missing or invalid name, so that the other fields can be checked
_ATTEMPTS = 4  # each attempt removes the errors of the previous one; a job has no more levels


def _flat_form(document: Mapping[str, Tree]) -> Tree:
    return flatten(document) if DOCUMENT_FIELDS & document.keys() else document


def _without(tree: Tree, locations: list[_Location]) -> Tree:
    """Return a copy of a tree without the values at the locations; None if the tree itself is one of them."""
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
        # A location that is left names a field that the tree does not have.
        return None if any(() in locations_below for locations_below in below.values()) else result
    if isinstance(tree, (list, tuple)):
        entries = [_without(item, below[index]) if index in below else item for index, item in enumerate(tree)]
        # Removing an entry would change the index of the entries after it.
        return None if any(entry is None for entry in entries) else entries
    return tree


_Location = tuple[int | str, ...]
