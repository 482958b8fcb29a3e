"""Arguments that select jobs in a cluster: names, or files with jobs."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from pulumi_volcano_jobs.cli.files import read
from pulumi_volcano_jobs.cli.findings import to_stderr
from pulumi_volcano_jobs.cli.output import STDIN, USAGE, display_name, exit_with_usage_error
from pulumi_volcano_jobs.core.errors import value_text
from pulumi_volcano_jobs.files import job_file, yaml_reader
from pulumi_volcano_jobs.kubernetes.dns import DNS_SUBDOMAIN
from pulumi_volcano_jobs.status.fields import listed, mapping, name_of, namespace_of, number, text
from pulumi_volcano_jobs.status.kubectl import KubectlError
from pulumi_volcano_jobs.status.objects import RecordedObjects

JobArgument = Annotated[str, typer.Argument(metavar="JOB", hidden=True)]
JOB_HELP = "JOB is the name of a job, or a file with Volcano Jobs (job.yaml, or - for standard input)."
Namespace = Annotated[
    str, typer.Option("-n", "--namespace", metavar="NAME", help="Namespace of the job. The default is that of kubectl.")
]
Context = Annotated[str, typer.Option("--context", metavar="NAME", help="Context of the kubeconfig.")]
KubeConfig = Annotated[str, typer.Option("--kubeconfig", metavar="FILE", help="Kubeconfig that kubectl uses.")]
_SUFFIXES = (".yaml", ".yml", ".json")
_RECORD = "kubectl get ... -o json"


@dataclass(frozen=True)
class Target:
    """A job to look up."""

    name: str
    namespace: str
    replicas: Mapping[str, int]
    """The replicas by task, if a file is known."""


@contextlib.contextmanager
def kubectl_errors() -> Iterator[None]:
    """Exit with the message of kubectl if it fails."""
    try:
        yield
    except KubectlError as error:
        exit_with_usage_error(str(error))


def targets(job: str, namespace: str) -> list[Target]:
    """Return the jobs that an argument selects. Exit with a message if it selects none."""
    if namespace and not re.fullmatch(DNS_SUBDOMAIN, namespace):
        exit_with_usage_error(f"--namespace {value_text(namespace)} is not the name of a namespace")
    if job == STDIN or job.endswith(_SUFFIXES) or Path(job).is_file():
        return _targets_of_file(job, namespace)
    if not re.fullmatch(DNS_SUBDOMAIN, job):
        exit_with_usage_error(f"{value_text(job)} is neither the name of a job nor a file")
    return [Target(job, namespace, {})]


def _targets_of_file(file: str, namespace: str) -> list[Target]:
    name = display_name(file)
    documents, problems = job_file.read_valid_documents(read(file), name)
    if any(not problem.warning for problem in problems):
        to_stderr(name, problems)
        raise typer.Exit(USAGE)
    found = [_target(document.data, namespace) for document in documents if document.role == "job"]
    if not found:
        exit_with_usage_error(f"no Volcano Job in {name}: pass a file with a Job, or the name of a job")
    return found


def _target(document: Mapping[str, Any], namespace: str) -> Target:
    name, own = name_of(document), namespace_of(document)
    if not re.fullmatch(DNS_SUBDOMAIN, name):
        exit_with_usage_error("metadata.name: Required value: the job of the file needs a valid name")
    if namespace and own and namespace != own:
        exit_with_usage_error(
            f"--namespace {namespace}: the namespace of the job {name} in the file is {own}: remove one of the two"
        )
    tasks = listed(mapping(document, "spec"), "tasks")
    replicas = {text(task, "name"): number(task, "replicas") for task in tasks if text(task, "name")}
    return Target(name, namespace or own, replicas)


def recorded_objects(file: str) -> RecordedObjects:
    """Read objects that `kubectl get -o json` or `-o yaml` has printed. Exit with a message if there are none."""
    name = display_name(file)
    content = read(file)
    try:
        is_json = content.lstrip().startswith(("{", "["))
        documents: Sequence[Any] = list(_json_documents(content)) if is_json else yaml_reader.load(content)
    except yaml_reader.FileTooLargeError:
        exit_with_usage_error(f"{name} is too large for YAML: record it with {_RECORD}")
    except (yaml_reader.YamlError, ValueError, RecursionError):
        exit_with_usage_error(f"{name} must be the output of {_RECORD}, but it is neither valid JSON nor YAML")
    if not any(isinstance(item, Mapping) and item.get("kind") for item in documents):
        exit_with_usage_error(f"{name} must be the output of {_RECORD}, but it has no objects")
    return RecordedObjects(documents)


def _json_documents(content: str) -> Iterator[Any]:
    """Yield the documents of a text: the output of several commands can be in one file."""
    decoder = json.JSONDecoder()
    position = 0
    while match := re.compile(r"\S").search(content, position):
        document, position = decoder.raw_decode(content, match.start())
        yield document
