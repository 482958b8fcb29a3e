"""The files of a command: read, rendered document by document, and reported on."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import typer

from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.errors import JobError, Problem, in_order
from pulumi_volcano_jobs.core.text import Sealed, cropped, escaped, without_keys
from pulumi_volcano_jobs.files import job_file, yaml_reader
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef, identity
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.options import ManagedBy

PROBLEMS, USAGE = 1, 2
_OWNER_ONLY, _BY_UMASK = 0o600, 0o666
STDIN = "-"
Report = Callable[[str, Iterable[Problem]], None]
"""Tells the problems of a file."""


@dataclass(frozen=True, eq=False, repr=False)
class RenderedDocument(Sealed):
    """A job as it was rendered, and the document that it comes from."""

    file: str
    document: job_file.Document
    rendered: Rendered

    def manifests(self, managed_by: ManagedBy) -> list[Manifest]:
        """Give the job's manifests in canonical order."""
        if managed_by == "volcano":
            extension_objects = (
                item for item in self.rendered.objects if ObjectRef.of(item) in self.rendered.extension_objects
            )
            return [*extension_objects, self.rendered.native_job.to_manifest()]
        return [*self.rendered.objects, *self.rendered.pods]


def for_each(
    files: Sequence[str], make: Callable[[job_file.Document], Rendered], report: Report
) -> list[RenderedDocument]:
    """Render all documents of all files; report all problems of all of them before giving up."""
    for file, count in Counter(files).items():
        if count > 1:
            exit_with_usage_error(f"{display_name(file)} is given {count} times: give it once")
    rendered_documents, failed = [], False
    for file in files:
        text, name = read(file), display_name(file)
        documents, problems = job_file.read_valid_documents(text, name)
        failed = failed or bool(problems)
        for document in documents:
            try:
                rendered_documents.append(RenderedDocument(name, document, make(document)))
                problems += [*document.problems, *document.with_positions(rendered_documents[-1].rendered.warnings)]
            except JobError as error:
                problems += [*document.problems, *document.with_positions(error.problems)]
                failed = True
        report(name, problems)
    if failed:
        raise typer.Exit(PROBLEMS)
    return rendered_documents


def display_name(file: str) -> str:
    """Give a file's name as messages have it."""
    return "<stdin>" if file == STDIN else escaped(file)


def read(file: str) -> str:
    """Read a file, or standard input; end the command if that cannot be."""
    if not file:
        exit_with_usage_error("a FILE has an empty name: give one, or - for standard input")
    if file == STDIN and sys.stdin is None:
        exit_with_usage_error(f"cannot read {display_name(file)}: it is closed")
    try:
        return job_file.decode(sys.stdin.buffer, display_name(file)) if file == STDIN else job_file.text_of(Path(file))
    except JobError as error:
        exit_with_usage_error(str(error))
    except (OSError, ValueError) as error:
        exit_with_usage_error(f"cannot read {display_name(file)}: {reason_of(error)}")


def reason_of(error: OSError | ValueError) -> str:
    """Return why a file cannot be opened: a name with a null character raises a ValueError."""
    return getattr(error, "strerror", None) or str(error)


def is_same_file(path: str, other: str) -> bool:
    """Check whether two paths lead to the same existing file."""
    try:
        return Path(path).samefile(other)
    except (OSError, ValueError):
        return False


def write_file(path: Path, text: str, *, private: bool) -> None:
    """Write a file as a whole or not at all: write a temporary file in its folder, and rename it.

    A symlink at the path is replaced, not followed.

    Args:
        path: the file.
        text: its contents.
        private: whether only its owner may read it; otherwise an existing file keeps its mode.

    Raises:
        OSError: if it cannot be written; an existing file is then unchanged.
    """
    temporary = path.with_name(f".volcano-jobs-{secrets.token_hex(8)}.tmp")
    mode = _OWNER_ONLY if private else _mode_of(path)
    # O_EXCL and O_NOFOLLOW: a symlink that another user has placed there is an error.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(temporary, flags, _BY_UMASK if mode is None else _OWNER_ONLY)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _mode_of(path: Path) -> int | None:
    """Return the mode of a regular file; None if there is none."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    return stat.S_IMODE(mode) if stat.S_ISREG(mode) else None


def cluster_facts(file: Path | None) -> ClusterFacts:
    """Read what the cluster has; end the command if the file is not what kubectl prints."""
    if file is None:
        return ClusterFacts()
    name = display_name(str(file))
    try:
        objects = yaml_reader.load(read(str(file)))
    except yaml_reader.FileTooLargeError:
        most = f"{name} has more than {bounds.MOST_VALUES} keys and values"
        exit_with_usage_error(
            f"{most}; leave out what the jobs do not need: kubectl get -n NAMESPACE in the place of -A"
        )
    except yaml_reader.YamlError:
        exit_with_usage_error(f"{name} is no YAML; it must be what kubectl get ... -o yaml prints")
    if not objects:
        exit_with_usage_error(f"{name} is empty; it must be what kubectl get ... -o yaml prints")
    try:
        return ClusterFacts.from_objects(objects)
    except JobError as error:
        report(name, error.problems)
        raise typer.Exit(USAGE) from None


def report(file: str, problems: Iterable[Problem]) -> None:
    """Print problems by place, each on one line."""
    for problem in in_order(problems):
        place = f"{file}:{problem.line}:{problem.column}" if problem.line else file
        level = "warning: " if problem.warning else ""
        text = escaped(" ".join(str(problem).removeprefix(": ").split()))
        typer.echo(f"{place}: {level}{text}", err=True)


def errors_only(report: Report) -> Report:
    """Let a report leave out warnings: they are told where a job is judged or made, not where it is looked at."""

    def tell(file: str, problems: Iterable[Problem]) -> None:
        report(file, [problem for problem in problems if not problem.warning])

    return tell


def write_out(text: str) -> None:
    """Print what a command is asked for, in UTF-8, whatever the terminal speaks."""
    if sys.stdout is None:
        # As with `volcano-jobs ... >&-`: click prints nothing and reports no error.
        exit_with_usage_error("cannot write to standard output: it is closed")
    try:
        typer.echo(text.encode(), nl=False)
    except BrokenPipeError:
        # The reader has had enough; typer ends the command without a word.
        raise
    except OSError as error:
        # Python would try again at its end, and show a traceback.
        sys.stdout = None
        exit_with_usage_error(f"cannot write to standard output: {error.strerror}")


def exit_with_usage_error(message: str) -> NoReturn:
    """End the command for bad usage or a file that cannot be read or written."""
    typer.echo(f"volcano-jobs: {escaped(cropped(without_keys(message)))}", err=True)
    raise typer.Exit(USAGE)


def reject_duplicates(documents: Sequence[RenderedDocument], managed_by: ManagedBy, report: Report) -> None:
    """Refuse objects of several jobs that have one kind, namespace and name: the last would overwrite the others."""
    owners: dict[tuple[str, str, str], RenderedDocument] = {}
    failed = False
    for item in documents:
        duplicates = {}
        for key in map(identity, item.manifests(managed_by)):
            if key in owners:
                duplicates[key] = owners[key]
            owners[key] = item
        if duplicates:
            report(item.file, item.document.with_positions([_duplicate(duplicates)]))
            failed = True
    if failed:
        raise typer.Exit(PROBLEMS)


def reject_duplicates_per_file(documents: Sequence[RenderedDocument], managed_by: ManagedBy, report: Report) -> None:
    """Reject duplicates within a file; files may be alternatives, such as one for each cluster."""
    by_file: dict[str, list[RenderedDocument]] = {}
    for item in documents:
        by_file.setdefault(item.file, []).append(item)
    for jobs in by_file.values():
        reject_duplicates(jobs, managed_by, report)


def _duplicate(duplicates: Mapping[tuple[str, str, str], RenderedDocument]) -> Problem:
    (kind, namespace, name), owner = next(iter(duplicates.items()))
    more = f" (and {len(duplicates) - 1} more)" if len(duplicates) > 1 else ""
    reason = f"the {kind} {name}{more} in the namespace {namespace} is made by the job {owner.rendered.job.name} too"
    return Problem("metadata.name", "Duplicate", f"{reason}, in {owner.file}", "rename one of the jobs or its tasks")
