"""`volcano-jobs convert`: write a Pulumi program that creates the jobs of a file."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from pulumi_volcano_jobs.cli import arguments
from pulumi_volcano_jobs.cli.check_options import Checks, reject_choice
from pulumi_volcano_jobs.cli.files import (
    STDIN,
    display_name,
    exit_with_usage_error,
    for_each,
    is_same_file,
    reason_of,
    reject_duplicates,
    report,
    write_file,
    write_out,
)
from pulumi_volcano_jobs.convert import Program, Secret, render_normalized, to_python, to_yaml
from pulumi_volcano_jobs.core.text import holds_key
from pulumi_volcano_jobs.files import job_file
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
) -> None:
    """Write a Pulumi program that creates the jobs of all files."""
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
    )
    if not output:
        exit_with_usage_error("-o needs a file, or - for standard output")
    if show_secret and output != STDIN:
        exit_with_usage_error("--show-secret prints to standard output: remove -o")
    if any(is_same_file(output, file) for file in files if STDIN not in {file, output}):
        exit_with_usage_error(f"-o {output} would overwrite an input file: choose another file")
    reject_choice(checks, managed_by)
    jobs: list[Job] = []

    def make(document: job_file.Document) -> Rendered:
        rendered, job = render_normalized(document, **checks.settings(managed_by))
        jobs.append(job)
        return rendered

    reject_duplicates(for_each(files, make, checks.without_ignored(report)), managed_by, report)
    program = _WRITERS[language](jobs, **checks.options(managed_by))
    if show_secret:
        # Pulumi removes one line break at the end.
        write_out(f"{_value(show_secret, program.secrets)}\n")
        return
    _write(output, program)
    _print_secrets(program.secrets, [*checks.arguments(), *files])


def _value(key: str, secrets: Sequence[Secret]) -> str:
    value_by_key = {secret.key: secret.value for secret in secrets}
    if key not in value_by_key:
        exit_with_usage_error(f"no secret {key} in the program (its secrets: {', '.join(value_by_key) or 'none'})")
    return value_by_key[key]


def _write(output: str, program: Program) -> None:
    if output == STDIN:
        write_out(program.text)
        return
    try:
        # Follow the user's symlink. Write into a device or a pipe instead of replacing it.
        path = Path(os.path.realpath(output))
        if _is_special(Path(output)):
            path.write_text(program.text, "utf-8", newline="\n")
        else:
            write_file(path, program.text, private=holds_key(program.text))
    except (OSError, ValueError) as error:
        exit_with_usage_error(f"cannot write {display_name(output)}: {reason_of(error)}")


def _is_special(path: Path) -> bool:
    """Check whether a path is something other than a regular file.

    Raises:
        OSError: if the path cannot be resolved, as in a loop of symlinks.
    """
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False


def _print_secrets(secrets: Sequence[Secret], arguments: Sequence[str]) -> None:
    """Print the commands that set the secrets of the program in the stack."""
    if not secrets:
        return
    typer.echo("volcano-jobs: the program contains no secrets; before `pulumi up`, set them in the stack:", err=True)
    source = " < FILE" if STDIN in arguments else ""
    for secret in secrets:
        show = shlex.join(["volcano-jobs", "convert", "--show-secret", secret.key, *arguments])
        typer.echo(f"  {show}{source} | pulumi config set --secret {secret.key}", err=True)
