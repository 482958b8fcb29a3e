"""Check and render the documents of files: Jobs, Queues and other objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import typer

from pulumi_volcano_jobs.admission import references
from pulumi_volcano_jobs.cli.check_options import Checks
from pulumi_volcano_jobs.cli.files import InputFile, read_files
from pulumi_volcano_jobs.cli.findings import Report
from pulumi_volcano_jobs.cli.output import PROBLEMS, exit_with_usage_error
from pulumi_volcano_jobs.core.errors import JobError, Problem, RejectionStage, as_warning, wrong_type
from pulumi_volcano_jobs.core.phrases import counted
from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef, identity
from pulumi_volcano_jobs.kubernetes.object_kinds import group_of, is_namespaced
from pulumi_volcano_jobs.rendering import queue
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec.document import Role, nested_jobs, submitted_object
from pulumi_volcano_jobs.spec.options import ManagedBy

_MOST_NAMES = 5
# The fields of an object whose values must be text.
_TEXTS = {"ConfigMap": ("data", "binaryData"), "Secret": ("data", "stringData")}
Scope = Literal["file", "command"]
_Key = tuple[str, str, str, str]


@dataclass(frozen=True, eq=False, repr=False)
class RenderedJob(Sealed):
    """A rendered job and its document."""

    file: str
    document: job_file.Document
    rendered: Rendered

    @property
    def owner(self) -> str:
        """The job, for messages about duplicates."""
        return f"the job {self.rendered.job.name} in {self.file}"

    def manifests(self, managed_by: ManagedBy) -> list[Manifest]:
        """Return the job's manifests in canonical order."""
        if managed_by == "volcano":
            extension_objects = (
                item for item in self.rendered.objects if ObjectRef.of(item) in self.rendered.extension_objects
            )
            return [*extension_objects, self.rendered.native_job.to_manifest()]
        return [*self.rendered.objects, *self.rendered.pods]


@dataclass(frozen=True, eq=False, repr=False)
class OtherObject(Sealed):
    """An object that is not a Job, as it is applied: with an explicit namespace, as the objects of a job have."""

    file: str
    document: job_file.Document
    manifest: Manifest

    @property
    def owner(self) -> str:
        """The file, for messages about duplicates."""
        return self.file

    def manifests(self, _managed_by: ManagedBy) -> list[Manifest]:
        """Return the object."""
        return [self.manifest]


Item = RenderedJob | OtherObject
Make = Callable[[job_file.Document, Checks], Rendered]
"""Function that renders the document of a job."""


@dataclass(frozen=True, eq=False, repr=False)
class Batch(Sealed):
    """The valid documents of all files, in their order."""

    items: Sequence[Item]
    files: int
    failed: bool

    @property
    def jobs(self) -> list[RenderedJob]:
        """The jobs."""
        return [item for item in self.items if isinstance(item, RenderedJob)]

    @property
    def others(self) -> list[OtherObject]:
        """The objects that are not Jobs."""
        return [item for item in self.items if isinstance(item, OtherObject)]

    def exit_if_failed(self) -> None:
        """Exit if a document has a problem."""
        if self.failed:
            raise typer.Exit(PROBLEMS)

    def exit_if_empty(self, items: Sequence[object]) -> None:
        """Exit if there is nothing to write."""
        if not items:
            exit_with_usage_error(f"nothing to write from {counted(self.files, 'file')}: add a file with a Job")

    def require_jobs(self) -> list[RenderedJob]:
        """Return the jobs. Exit if there is a problem, or no job."""
        self.exit_if_failed()
        if not self.jobs:
            exit_with_usage_error(f"no Volcano Job in {counted(self.files, 'file')}: add a file with a Job")
        return self.jobs

    def note_skipped(self, checks: Checks, kinds: Sequence[Role], reason: str) -> None:
        """Print one note about the objects that a command skips, with the reason.

        Args:
            checks: the options of the command.
            kinds: the roles of the documents that it does not skip.
            reason: the documents that it does not skip, as a sentence.
        """
        names = [item.document.label for item in self.others if item.document.role not in kinds]
        if names:
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            checks.note(f"skipped {', '.join(names[:_MOST_NAMES])}{more}: {reason}")


def process(
    files: Sequence[str], make: Make, checks: Checks, report: Report, managed_by: ManagedBy, duplicates: Scope
) -> Batch:
    """Check all documents of all files, and report every problem.

    Args:
        files: files and folders.
        make: function that renders a job.
        checks: the options of the command.
        report: function that reports problems.
        managed_by: the mode in which the jobs are rendered.
        duplicates: whether two files can create the same object, because they are alternatives.
    """
    report = checks.filtered(report)
    batch = _Processor(read_files(files), make, checks, report).batch()
    if batch.failed:
        return batch
    owners: dict[str, dict[_Key, tuple[Item, Manifest]]] = {}
    failed = False
    for item in batch.items:
        scope = owners.setdefault(item.file if duplicates == "file" else "", {})
        if problem := _register(item, item.manifests(managed_by), scope):
            report(item.file, item.document.with_positions([problem]))
            failed = True
    return Batch(batch.items, batch.files, failed)


class _Processor:
    """Check of each document of some files, which knows the objects that the files define."""

    def __init__(self, files: Sequence[InputFile], make: Make, checks: Checks, report: Report) -> None:
        objects = [document.data for file in files for document in file.documents]
        self._checks = checks.with_objects(objects)
        self._defined = references.DefinedObjects(objects, checks.namespace)
        self._files, self._make, self._report = files, make, report

    def batch(self) -> Batch:
        """Check all files."""
        items: list[Item] = []
        failed = False
        for file in self._files:
            problems = list(file.problems)
            in_file = references.DefinedObjects((item.data for item in file.documents), self._checks.namespace)
            for document in file.documents:
                item, findings = self._check(document, file.name, in_file)
                items += [item] if item else []
                problems += [*document.problems, *document.with_positions(findings)]
                failed = failed or item is None
            failed = failed or bool(file.problems)
            self._report(file.name, problems)
        return Batch(items, len(self._files), failed)

    def _check(
        self, document: job_file.Document, file: str, in_file: references.DefinedObjects
    ) -> tuple[Item | None, Iterable[Problem]]:
        """Return a document that is valid, and its problems."""
        try:
            if document.role != "job":
                return self._other_object(document, file)
            rendered = self._make(document, self._checks)
        except JobError as error:
            return None, [*error.problems, *error.warnings]
        created = map(ObjectRef.of, rendered.objects)
        missing = references.check(rendered.job, created, in_file, self._defined)
        return RenderedJob(file, document, rendered), [*rendered.warnings, *missing]

    def _other_object(self, document: job_file.Document, file: str) -> tuple[OtherObject | None, list[Problem]]:
        problems = [*_of_object(document, lenient=self._checks.lenient), *nested_jobs(document.data)]
        if any(not problem.warning for problem in (*problems, *document.problems)):
            return None, problems
        return OtherObject(file, document, _with_namespace(document.data, self._checks.namespace)), problems


def each_once(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return each manifest once, even if several files define its object."""
    unique: dict[_Key, Manifest] = {}
    for manifest in manifests:
        unique.setdefault(_key(manifest), manifest)
    return list(unique.values())


def _key(manifest: Manifest) -> _Key:
    return group_of(manifest["apiVersion"]), *identity(manifest)


def _of_object(document: job_file.Document, *, lenient: bool) -> Iterator[Problem]:
    """Yield the problems of a Queue, or of the fields of another object that the commands read."""
    data = document.data
    if document.role == "queue":
        for problem in queue.check_document(data):
            yield as_warning(problem) if lenient and problem.stage >= RejectionStage.STRICT else problem
        return
    metadata = data.get("metadata")
    if not isinstance(metadata, Mapping):
        yield wrong_type("metadata", "a mapping")
    elif not (isinstance(metadata.get("name"), str) and metadata["name"]):
        is_generated = bool(metadata.get("generateName"))
        reason = "kubectl apply needs a fixed name" if is_generated else "an object needs a name"
        hint = f"set metadata.name{' instead of metadata.generateName' if is_generated else ''}"
        yield Problem("metadata.name", "Required", reason, hint, stage=RejectionStage.API)
    elif not isinstance(metadata.get("namespace", ""), (str, type(None))):
        yield wrong_type("metadata.namespace", "a string")
    for field in _TEXTS.get(str(data.get("kind")), ()):
        yield from _of_texts(data.get(field), field)


def _of_texts(values: Any, path: str) -> Iterator[Problem]:
    if not isinstance(values, (Mapping, type(None))):
        yield wrong_type(path, "a mapping")
    elif values:
        yield from (wrong_type(f"{path}.{key}", "a string") for key in values if not isinstance(values[key], str))


def _with_namespace(data: Mapping[str, Any], namespace: str) -> Manifest:
    """Return the manifest of an object. Without a namespace, `kubectl apply` would use that of the current context."""
    manifest = submitted_object(data)
    metadata = manifest["metadata"]
    if is_namespaced(manifest["apiVersion"], manifest["kind"]) and not metadata.get("namespace"):
        manifest["metadata"] = {**metadata, "namespace": namespace}
    return manifest


def _register(item: Item, manifests: Iterable[Manifest], owners: dict[_Key, tuple[Item, Manifest]]) -> Problem | None:
    """Register the objects of an item. Return a Problem if another item has one of them with another content."""
    duplicates: list[tuple[Manifest, Item]] = []
    for manifest in manifests:
        key = _key(manifest)
        if key in owners and not _is_repeated(item, manifest, *owners[key]):
            duplicates.append((manifest, owners[key][0]))
        owners[key] = (item, manifest)
    return _duplicate(item, duplicates) if duplicates else None


def _is_repeated(item: Item, manifest: Manifest, owner: Item, other: Manifest) -> bool:
    """Check whether two files define the same object, such as the Namespace of their jobs."""
    return isinstance(item, OtherObject) and isinstance(owner, OtherObject) and manifest == other


def _duplicate(item: Item, duplicates: Sequence[tuple[Manifest, Item]]) -> Problem:
    manifest, owner = duplicates[0]
    kind, namespace, name = identity(manifest)
    more = f" (and {len(duplicates) - 1} more)" if len(duplicates) > 1 else ""
    verb = "creates" if isinstance(owner, RenderedJob) else "defines"
    place = f" in namespace {namespace}" if "namespace" in manifest["metadata"] else ""
    reason = f"{owner.owner} also {verb} {kind} {name}{more}{place}"
    hint = "rename one of the jobs or its tasks" if isinstance(item, RenderedJob) else "rename one of the objects"
    return Problem("metadata.name", "Duplicate", reason, hint)
