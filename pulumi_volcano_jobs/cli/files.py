"""Read the files and folders of a command."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from pulumi_volcano_jobs.cli.findings import print_problems
from pulumi_volcano_jobs.cli.output import STDIN, USAGE, display_name, exit_with_usage_error, reason_of
from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.errors import JobError, Problem
from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.files import job_file, yaml_reader
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.document import is_for_kubectl

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})


@dataclass(frozen=True, eq=False, repr=False)
class InputFile(Sealed):
    """A file of a command: its documents, and the problems of the text that is not a document."""

    name: str
    documents: Sequence[job_file.Document]
    problems: Sequence[Problem]


def read_files(files: Sequence[str]) -> list[InputFile]:
    """Read all files, and the files in all folders. Exit with a message if one of them cannot be read."""
    listed = [(path, path != file) for file in files for path in _files_of(file)]
    for path, count in Counter(path for path, _ in listed).items():
        if count > 1:
            exit_with_usage_error(f"{display_name(path)} is listed {count} times: list it once")
    return [_read_file(path, from_folder=from_folder) for path, from_folder in listed]


def _read_file(path: str, *, from_folder: bool) -> InputFile:
    name = display_name(path)
    documents, problems = job_file.read_valid_documents(read(path), name)
    if from_folder:
        documents = [item for item in documents if is_for_kubectl(item.data)]
        problems = [problem for problem in problems if problem.type in {"Invalid", "TooMany"}]
    return InputFile(name, documents, problems)


def _files_of(file: str) -> Sequence[str]:
    """Return a file itself, or the files in a folder."""
    if file == STDIN or not _is_folder(file):
        return [file]
    found = sorted(_files_in(file))
    if not found:
        exit_with_usage_error(f"{display_name(file)} has no file that ends in .yaml, .yml or .json")
    return found


def _is_folder(file: str) -> bool:
    try:
        return bool(file) and Path(file).is_dir()
    except ValueError:
        return False


def _files_in(folder: str) -> Iterator[str]:
    """Yield the YAML and JSON files below a folder, without hidden files and folders."""
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if Path(name).suffix in _SUFFIXES and not name.startswith("."):
                yield os.path.normpath(Path(path) / name)


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


def check_output(output: str, files: Sequence[str]) -> None:
    """Exit if -o is empty, or would overwrite a file that the command reads."""
    if not output:
        exit_with_usage_error("-o needs a file, or - for standard output")
    inputs = (path for file in files if STDIN not in {file, output} for path in _files_of(file))
    if any(_is_same_file(output, path) for path in inputs):
        exit_with_usage_error(f"-o {output} would overwrite an input file: choose another file")


def _is_same_file(path: str, other: str) -> bool:
    """Check whether two paths refer to the same existing file."""
    try:
        return Path(path).samefile(other)
    except (OSError, ValueError):
        return False


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
        print_problems(name, error.problems, err=True)
        raise typer.Exit(USAGE) from None
