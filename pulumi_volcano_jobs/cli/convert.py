"""`volcano-jobs convert`: write a Pulumi program that creates the jobs of a file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

import typer

from pulumi_volcano_jobs.cli import arguments
from pulumi_volcano_jobs.cli.check_options import Checks, reject_choice
from pulumi_volcano_jobs.cli.documents import Batch, OtherObject, each_once, process
from pulumi_volcano_jobs.cli.files import check_output
from pulumi_volcano_jobs.cli.findings import Report, to_stderr
from pulumi_volcano_jobs.cli.output import STDIN, exit_with_usage_error, save, write_out
from pulumi_volcano_jobs.convert import Objects, Secret, render_normalized, to_python, to_yaml
from pulumi_volcano_jobs.core.errors import JobError, Problem
from pulumi_volcano_jobs.core.text import holds_key
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.rendering import queue
from pulumi_volcano_jobs.rendering.renderer import Rendered
from pulumi_volcano_jobs.spec.model import Job
from pulumi_volcano_jobs.spec.options import ManagedBy

EXAMPLES = """\b
Examples:
  volcano-jobs convert job.yaml > __main__.py
  volcano-jobs convert train.yaml evaluate.yaml -o __main__.py
  volcano-jobs convert --language yaml job.yaml -o Pulumi.yaml

An SSH key in a file is not copied into the program. Set it in the stack:

\b
  volcano-jobs convert --show-secret train-ssh-private-key job.yaml |
    pulumi config set --secret train-ssh-private-key
"""


Language = Literal["python", "yaml"]


_WRITERS = {"python": to_python, "yaml": to_yaml}


def convert(
    files: arguments.Files,
    *,
    language: Annotated[
        Language, typer.Option("--language", help="Language of the program: Python, or Pulumi YAML.")
    ] = "python",
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="-|FILE", help="Write to a file, or to standard output (-).")
    ] = STDIN,
    managed_by: Annotated[
        ManagedBy, typer.Option("--managed-by", help="Whether Pulumi or Volcano's controllers create the Pods.")
    ] = "pulumi",
    force: arguments.ForceAny = False,
    show_secret: Annotated[
        str,
        typer.Option("--show-secret", metavar="KEY", help="Print the value of this secret instead of the program."),
    ] = "",
    lenient: arguments.Lenient = False,
    on_conflict: arguments.Conflict = "error",
    defaults: arguments.PluginDefaults = "volcano",
    plugin_settings: arguments.PluginSettings = None,
    ignore: arguments.Ignore = "",
    kubernetes_version: arguments.KubernetesVersion = "",
    volcano_version: arguments.VolcanoVersion = "",
    cluster: arguments.Cluster = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Write a Pulumi program that creates the jobs of all files, and the other objects of the files.

    Queues become VolcanoQueue resources, and other objects resources of pulumi_kubernetes.
    """
    checks = Checks.read(
        files,
        lenient=lenient,
        on_conflict=on_conflict,
        defaults=defaults,
        plugin_settings=plugin_settings,
        ignore=ignore,
        kubernetes_version=kubernetes_version,
        volcano_version=volcano_version,
        cluster=cluster,
        quiet=quiet,
    )
    check_output(output, files)
    if show_secret and output != STDIN:
        exit_with_usage_error("--show-secret prints to standard output: remove -o")
    reject_choice(checks, managed_by)
    jobs: list[Job] = []

    def make(document: job_file.Document, options: Checks) -> Rendered:
        rendered, job = render_normalized(document, **options.settings(managed_by))
        jobs.append(job)
        return rendered

    report = checks.unless_quiet(to_stderr)
    batch = process(files, make, checks, report, managed_by, duplicates="command")
    batch.exit_if_failed()
    others = _created(batch, report)
    batch.exit_if_empty([*jobs, *others])
    objects = Objects.of(each_once(item.manifest for item in others))
    program = _WRITERS[language](_with_namespaces(jobs, batch), objects, **checks.options(managed_by))
    if show_secret:
        # Pulumi removes one line break at the end.
        write_out(f"{_value(show_secret, program.secrets)}\n")
        return
    save(output, program.text, force=force, private=holds_key(program.text))
    if not checks.quiet:
        _print_secrets(program.secrets, [*checks.arguments(), *files])


def _with_namespaces(jobs: Sequence[Job], batch: Batch) -> list[Job]:
    """Return the jobs, with the namespace of the objects of their files, which do not read it from the stack."""
    namespaced = [item for item in batch.others if "namespace" in item.manifest["metadata"]]
    return [job.with_(namespace=job.namespace or "default") for job in jobs] if namespaced else list(jobs)


def _created(batch: Batch, report: Report) -> list[OtherObject]:
    """Return the objects that are not Jobs, without the queues that Volcano creates. Warn about each of these."""
    created: list[OtherObject] = []
    for item in batch.others:
        if item.document.role == "queue" and (problems := _not_creatable(item.document)):
            report(item.file, item.document.with_positions(problems))
        else:
            created.append(item)
    return created


def _not_creatable(document: job_file.Document) -> list[Problem]:
    """Return why a program cannot create a valid queue, as warnings."""
    try:
        queue.queue(queue.flat_fields(document.data))
    except JobError as error:
        return [replace(problem, type="Warning") for problem in error.problems]
    return []


def _value(key: str, secrets: Sequence[Secret]) -> str:
    value_by_key = {secret.key: secret.value for secret in secrets}
    if key not in value_by_key:
        exit_with_usage_error(f"no secret {key} in the program (its secrets: {', '.join(value_by_key) or 'none'})")
    return value_by_key[key]


def _print_secrets(secrets: Sequence[Secret], arguments: Sequence[str]) -> None:
    """Print the commands that set the secrets of the program in the stack."""
    if not secrets:
        return
    typer.echo("volcano-jobs: the program contains no secrets; before `pulumi up`, set them in the stack:", err=True)
    source = " < FILE" if STDIN in arguments else ""
    for secret in secrets:
        show = shlex.join(["volcano-jobs", "convert", "--show-secret", secret.key, *arguments])
        typer.echo(f"  {show}{source} | pulumi config set --secret {secret.key}", err=True)
