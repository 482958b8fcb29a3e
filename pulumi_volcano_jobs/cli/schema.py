"""`volcano-jobs schema`: print the JSON schema of job files."""

from __future__ import annotations

from typing import Annotated

import typer

from pulumi_volcano_jobs.cli import arguments
from pulumi_volcano_jobs.cli.job_schema import job_schema
from pulumi_volcano_jobs.cli.output import STDIN, exit_with_usage_error, save
from pulumi_volcano_jobs.core.text import json_text

EXAMPLES = """\b
Examples:
  volcano-jobs schema -o volcano-job.schema.json

An editor with yaml-language-server uses it for a file that begins with this line:

\b
  # yaml-language-server: $schema=volcano-job.schema.json"""


def schema_command(
    *,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="-|FILE", help="Write to a file, or to standard output (-).")
    ] = STDIN,
    force: arguments.ForceAny = False,
) -> None:
    """Print a JSON schema of job files, for editors."""
    if not output:
        exit_with_usage_error("-o needs a file, or - for standard output")
    save(output, f"{json_text(job_schema())}\n", force=force)
