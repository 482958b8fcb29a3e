"""Arguments of a program that override fields of a job from a file, or of a `Job`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic.alias_generators import to_camel

from pulumi_volcano_jobs.component.arguments import JobInput
from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.component.kubernetes_args import to_wire
from pulumi_volcano_jobs.core import bounds, paths
from pulumi_volcano_jobs.core.errors import Problem, key_text, raise_if_any, value_text
from pulumi_volcano_jobs.core.suggestions import did_you_mean, suggestion
from pulumi_volcano_jobs.files.job_file import Document
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.spec.document import DOCUMENT_FIELDS, GENERATE_NAME, METADATA_FIELDS
from pulumi_volcano_jobs.spec.model import Job

_MERGED = ("labels", "annotations")


def of_document(document: Document, overrides: Mapping[str, Any]) -> JobInput:
    """Return the job of a document with overrides."""
    return _with_overrides(document.data, overrides, document.problems, document)


def of_job(job: Job, overrides: Mapping[str, Any]) -> JobInput:
    """Return a job with overrides."""
    return _with_overrides({**(job.model_extra or {}), **job.to_wire()}, overrides, job.warnings)


def _with_overrides(
    data: Mapping[str, Any],
    overrides: Mapping[str, Any],
    earlier: Sequence[Problem],
    document: Document | None = None,
) -> JobInput:
    raise_if_any(bounds.check_bounds(overrides))
    edits = _Edits()
    job = edits.job(data, overrides)
    return JobInput(job, frozenset(edits.overridden), [*earlier, *edits.problems], document)


class _Edits:
    """Overrides of a job: the paths of the values that they set, and the problems of the overrides."""

    def __init__(self) -> None:
        self.overridden: set[str] = set()
        self.problems: list[Problem] = []

    def job(self, data: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
        """Return a copy of a job, in either form, with overrides. None means not given."""
        job = dict(data)
        for name, value in overrides.items():
            if value is None:
                continue
            root = "metadata" if name in METADATA_FIELDS else "spec"
            if name in JobOptions.__annotations__:
                job[name] = self._set(name, value)
            elif name not in Job.model_fields:
                known = [*Job.model_fields, *JobOptions.__annotations__]
                self._reject(name, Problem(name, "Forbidden", "unknown field", suggestion(name, known)))
            elif not DOCUMENT_FIELDS & job.keys():
                job = self._field(job, name, value, root)
            elif isinstance(job.get(root), Mapping):  # otherwise, the document is rejected
                job[root] = self._field(job[root], name, value, root)
        return job

    def _set(self, path: str, value: Any) -> Any:
        self.overridden.add(path)
        return value

    def _reject(self, path: str, problem: Problem) -> None:
        self.overridden.add(path)
        self.problems.append(problem)

    def _field(self, holder: Mapping[str, Any], name: str, value: Any, root: str) -> dict[str, Any]:
        """Return a copy of the metadata, the spec or a task with one field set."""
        wire_name = to_camel(name)
        path = paths.join(root, wire_name)
        replaced = (name, GENERATE_NAME) if (root, name) == ("metadata", "name") else (name,)
        result = {key: item for key, item in holder.items() if key == wire_name or key not in replaced}
        previous = holder.get(wire_name, holder.get(name))
        if name == "tasks":
            result[wire_name] = self._tasks(previous, value)
        elif name == "template":
            template = to_wire(previous, schema.POD_TEMPLATE)
            result[wire_name] = self._merged(template, to_wire(value, schema.POD_TEMPLATE), schema.POD_TEMPLATE, path)
        elif name in _MERGED:
            result[wire_name] = self._merged(previous, value, "", path)
        else:
            result[wire_name] = self._set(path, value)
        return result

    def _tasks(self, tasks: Any, overrides: Any) -> Any:
        """Return the tasks with the overrides of each, by the name of the task."""
        if not isinstance(overrides, Mapping):
            hint = 'for example {"worker": {"replicas": 4}}'
            reason = "must be a mapping from names of tasks to fields"
            self._reject("tasks", Problem("tasks", "TypeInvalid", reason, hint))
            return tasks
        if not isinstance(tasks, (list, tuple)):
            return tasks  # the job is rejected
        result = list(tasks)
        named = [(index, task) for index, task in enumerate(tasks) if isinstance(task, Mapping)]
        indexes = {task.get("name") or f"default{index}": index for index, task in named}
        for name, fields in overrides.items():
            if fields is not None and (problem := _task_problem(name, fields, indexes)):
                self._reject(problem.path, problem)
            elif fields is not None:
                index = indexes[name]
                for key, value in fields.items():
                    if value is not None:
                        place = paths.join("spec.tasks", index)
                        result[index] = self._field(result[index], key_text(key), value, place)
        return result

    def _merged(self, base: Any, override: Any, definition: str, path: str) -> Any:
        """Return a strategic merge of two values of a Kubernetes type, or of two plain mappings."""
        if not isinstance(base, Mapping) or not isinstance(override, Mapping):
            return self._set(path, override)
        result = dict(base)
        for key, value in override.items():
            if value is not None:
                child, _ = schema.child_definition(definition, key_text(key)) if definition else ("", False)
                patch = schema.patch_of_list(definition, key_text(key)) if definition else None
                place, previous = paths.join(path, key_text(key)), base.get(key)
                if patch and isinstance(previous, Sequence) and isinstance(value, (list, tuple)):
                    result[key] = self._merged_list(previous, value, child, patch, place)
                else:
                    result[key] = self._merged(previous, value, child, place)
        return result

    def _merged_list(
        self, base: Sequence[Any], override: Sequence[Any], definition: str, patch: schema.ListPatch, path: str
    ) -> list[Any]:
        """Return the entries of a list with those that the override adds or changes."""
        result = list(base)
        identities = [entry.get(patch.key) if isinstance(entry, Mapping) else None for entry in base]
        for entry in override:
            identity = entry.get(patch.key) if isinstance(entry, Mapping) else None
            index = next((index for index, other in enumerate(identities) if _are_same(identity, other)), len(result))
            place = paths.join(path, index)
            if index == len(result):
                result.append(self._set(place, entry))
            elif patch.replaces_entries:
                result[index] = self._set(place, entry)
            else:
                fields = {key: value for key, value in entry.items() if key != patch.key}
                result[index] = self._merged(result[index], fields, definition, place)
        return result


def _are_same(identity: Any, other: Any) -> bool:
    # An Output cannot be compared.
    return isinstance(identity, (str, int)) and isinstance(other, (str, int)) and identity == other


def _task_problem(name: Any, fields: Any, known: Mapping[str, int]) -> Problem | None:
    path = paths.join("tasks", key_text(name))
    if name not in known:
        reason = f"the job has no task of this name (tasks: {', '.join(known)})"
        hint = did_you_mean(key_text(name), known) or "use one of them, or add the task to the job"
        return Problem(path, "NotFound", reason, hint, value_text(key_text(name)))
    if not isinstance(fields, Mapping):
        return Problem(path, "TypeInvalid", "must be a mapping of fields", 'for example {"replicas": 4}')
    if fields.get("name") is not None:
        return Problem(f"{path}.name", "Forbidden", "the name of a task cannot be overridden", "rename it in the job")
    return None
