"""Read the files of a command, render their documents, and report problems."""

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
"""Function that reports the problems of a file."""


@dataclass(frozen=True, eq=False, repr=False)
class RenderedDocument(Sealed):
    """A rendered job and its document."""

    file: str
    document: job_file.Document
    rendered: Rendered

    def manifests(self, managed_by: ManagedBy) -> list[Manifest]:
        """Return the job's manifests in canonical order."""
        if managed_by == "volcano":
            extension_objects = (
                item for item in self.rendered.objects if ObjectRef.of(item) in self.rendered.extension_objects
            )
            return [*extension_objects, self.rendered.native_job.to_manifest()]
        return [*self.rendered.objects, *self.rendered.pods]


def for_each(
    files: Sequence[str], make: Callable[[job_file.Document], Rendered], report: Report
) -> list[RenderedDocument]:
    """Render all documents of all files. Report all problems of all files before the command ends."""
    for file, count in Counter(files).items():
        if count > 1:
            exit_with_usage_error(f"{display_name(file)} is listed {count} times: list it once")
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
    """Return the name of a file for messages."""
    return "<stdin>" if file == STDIN else escaped(file)


def read(file: str) -> str:
    """Read a file or standard input. Exit with a message if it cannot be read."""
    if not file:
        exit_with_usage_error("FILE is empty: set the name of a file, or - for standard input")
    if file == STDIN and sys.stdin is None:
        exit_with_usage_error(f"cannot read {display_name(file)}: the stream is closed")
    try:
        return job_file.decode(sys.stdin.buffer, display_name(file)) if file == STDIN else job_file.text_of(Path(file))
    except JobError as error:
        exit_with_usage_error(str(error))
    except (OSError, ValueError) as error:
        exit_with_usage_error(f"cannot read {display_name(file)}: {reason_of(error)}")


def reason_of(error: OSError | ValueError) -> str:
    """Return the reason why a file cannot be opened. A null character in its name raises a ValueError."""
    return getattr(error, "strerror", None) or str(error)


def is_same_file(path: str, other: str) -> bool:
    """Check whether two paths refer to the same existing file."""
    try:
        return Path(path).samefile(other)
    except (OSError, ValueError):
        return False


def write_file(path: Path, text: str, *, private: bool) -> None:
    """Write a file atomically: write a temporary file in the same folder, then rename it.

    A symlink at the path is replaced, not followed.

    Args:
        path: the file.
        text: its contents.
        private: whether only its owner can read the file. Otherwise an existing file keeps its mode.

    Raises:
        OSError: if the file cannot be written. An existing file is unchanged.
    """
    temporary = path.with_name(f".volcano-jobs-{secrets.token_hex(8)}.tmp")
    mode = _OWNER_ONLY if private else _mode_of(path)
    # O_EXCL and O_NOFOLLOW: a symlink that another user has created there is an error.
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
    """Return the mode of a regular file, or None if it does not exist."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    return stat.S_IMODE(mode) if stat.S_ISREG(mode) else None


def cluster_facts(file: Path | None) -> ClusterFacts:
    """Read facts about the cluster from a file. Exit with a message if it is not output of kubectl."""
    if file is None:
        return ClusterFacts()
    name = display_name(str(file))
    try:
        objects = yaml_reader.load(read(str(file)))
    except yaml_reader.FileTooLargeError:
        most = f"{name} has more than {bounds.MOST_VALUES} keys and values"
        exit_with_usage_error(f"{most}: limit the output to one namespace with kubectl get -n NAMESPACE instead of -A")
    except yaml_reader.YamlError:
        exit_with_usage_error(f"{name} must be the output of kubectl get ... -o yaml, but it is not valid YAML")
    if not objects:
        exit_with_usage_error(f"{name} must be the output of kubectl get ... -o yaml, but it is empty")
    try:
        return ClusterFacts.from_objects(objects)
    except JobError as error:
        report(name, error.problems)
        raise typer.Exit(USAGE) from None


def report(file: str, problems: Iterable[Problem]) -> None:
    """Print problems in the order of their lines, one problem on each line."""
    for problem in in_order(problems):
        place = f"{file}:{problem.line}:{problem.column}" if problem.line else file
        level = "warning: " if problem.warning else ""
        text = escaped(" ".join(str(problem).removeprefix(": ").split()))
        typer.echo(f"{place}: {level}{text}", err=True)


def errors_only(report: Report) -> Report:
    """Return a report without warnings, for commands that only show a job."""

    def tell(file: str, problems: Iterable[Problem]) -> None:
        report(file, [problem for problem in problems if not problem.warning])

    return tell


def write_out(text: str) -> None:
    """Write output in UTF-8 to standard output, whatever the encoding of the terminal is."""
    if sys.stdout is None:
        # After `volcano-jobs ... >&-`, click prints nothing and reports no error.
        exit_with_usage_error("cannot write to standard output: the stream is closed")
    try:
        typer.echo(text.encode(), nl=False)
    except BrokenPipeError:
        # The reader closed the pipe. typer exits without a message.
        raise
    except OSError as error:
        # At exit, Python would flush again and print a traceback.
        sys.stdout = None
        exit_with_usage_error(f"cannot write to standard output: {error.strerror}")


def exit_with_usage_error(message: str) -> NoReturn:
    """Exit because of wrong usage, or a file that cannot be read or written."""
    typer.echo(f"volcano-jobs: {escaped(cropped(without_keys(message)))}", err=True)
    raise typer.Exit(USAGE)


def reject_duplicates(documents: Sequence[RenderedDocument], managed_by: ManagedBy, report: Report) -> None:
    """Reject objects of several jobs with the same kind, namespace and name. The last would overwrite the others."""
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
    """Reject duplicates within a file. Several files may be alternatives, such as one for each cluster."""
    by_file: dict[str, list[RenderedDocument]] = {}
    for item in documents:
        by_file.setdefault(item.file, []).append(item)
    for jobs in by_file.values():
        reject_duplicates(jobs, managed_by, report)


def _duplicate(duplicates: Mapping[tuple[str, str, str], RenderedDocument]) -> Problem:
    (kind, namespace, name), owner = next(iter(duplicates.items()))
    more = f" (and {len(duplicates) - 1} more)" if len(duplicates) > 1 else ""
    reason = (
        f"the job {owner.rendered.job.name} in {owner.file} also creates {kind} {name}{more} in namespace {namespace}"
    )
    return Problem("metadata.name", "Duplicate", reason, "rename one of the jobs or its tasks")
