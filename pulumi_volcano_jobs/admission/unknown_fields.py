"""Check for unknown fields of a Job, and suggest a known field for each."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.spec.document import IN_METADATA
from pulumi_volcano_jobs.spec.model import Job, Model, Task


def check(model: Model, path: str = "") -> Iterator[Problem]:
    """Yield a Problem for each unknown field of a job, outside of its templates and new claims."""
    root = isinstance(model, Job)
    fields = type(model).model_fields
    for key in model.model_extra or {}:
        known = [field.alias or name for name, field in fields.items()]
        place = _job_path(key) if root else paths.join(path, key)
        field_name = key.rpartition(".")[2]
        hint = _misplaced(field_name, model, path) or suggestion(field_name, known)
        yield Problem(place, "Forbidden", "unknown field; Volcano drops it", hint)
    for name, field in fields.items():
        value, alias = getattr(model, name), field.alias or name
        place = _job_path(alias) if root else paths.join(path, alias)
        if isinstance(value, Model):
            yield from check(value, place)
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, Model):
                    yield from check(item, paths.join(place, index))


def _misplaced(name: str, model: Model, path: str) -> str:
    """Return the hint for a field of another part of the job, otherwise an empty text."""
    if isinstance(model, Task):
        return schema.misplaced(name, f"{path}.template")
    if not isinstance(model, Job):
        return ""
    if name in _names(Job):
        return f"move it to {_job_path(name)}"
    if name in _names(Task):
        return f"move it to spec.tasks[0].{name}"
    return schema.misplaced(name, "spec.tasks[0].template")


def _names(model: type[Model]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def _job_path(key: str) -> str:
    """Return the path of a key in the flat job (see `Job._flatten` for the prefixes)."""
    if key.startswith("."):
        return key.removeprefix(".")
    if key.startswith("spec."):
        return key
    return paths.join("metadata" if key in IN_METADATA else "spec", key)
