"""Report findings: problems and warnings of files, as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import typer

from pulumi_volcano_jobs.cli.output import write_out
from pulumi_volcano_jobs.core.errors import Problem, in_order
from pulumi_volcano_jobs.core.phrases import counted
from pulumi_volcano_jobs.core.text import cropped, escaped

Report = Callable[[str, Iterable[Problem]], None]
"""Function that reports the problems of a file."""


def print_problems(file: str, problems: Iterable[Problem], *, err: bool) -> None:
    """Print problems in the order of their lines, one problem on each line.

    Args:
        file: the name of the file.
        problems: its problems and warnings.
        err: whether to print to standard error, because standard output has the product of the command.
    """
    for problem in in_order(problems):
        place = f"{file}:{problem.line}:{problem.column}" if problem.line else file
        level = "warning: " if problem.warning else ""
        line = f"{place}: {level}{escaped(' '.join(str(problem).removeprefix(': ').split()))}"
        if err:
            typer.echo(line, err=True)
        else:
            write_out(f"{line}\n")


def to_stderr(file: str, problems: Iterable[Problem]) -> None:
    """Report problems on standard error."""
    print_problems(file, problems, err=True)


def errors_to_stderr(file: str, problems: Iterable[Problem]) -> None:
    """Report problems on standard error, without warnings, for commands that only show a job."""
    to_stderr(file, [problem for problem in problems if not problem.warning])


def silent(_file: str, _problems: Iterable[Problem]) -> None:
    """Report nothing. The exit code still shows whether there are problems."""


class TextFindings:
    """Report on standard output that counts its findings."""

    def __init__(self) -> None:
        """Set the numbers of errors and warnings to 0."""
        self._errors = self._warnings = 0

    def __call__(self, file: str, problems: Iterable[Problem]) -> None:
        """Print the problems of a file."""
        problems = in_order(problems)
        warnings = sum(problem.warning for problem in problems)
        self._warnings += warnings
        self._errors += len(problems) - warnings
        print_problems(file, problems, err=False)

    def print_summary(self, files: int, *, is_empty: bool) -> None:
        """Print the last line, with the numbers of errors, warnings and files.

        Args:
            files: the number of files.
            is_empty: whether the files have nothing to check.
        """
        numbers = [(self._errors, "error"), (self._warnings, "warning")]
        findings = ", ".join(counted(number, noun) for number, noun in numbers if number)
        nothing = "no Jobs or Queues" if is_empty else "no problems"
        write_out(f"{findings or nothing} in {counted(files, 'file')}\n")


def print_note(text: str) -> None:
    """Print a note about the run itself to standard error."""
    typer.echo(f"volcano-jobs: {escaped(cropped(text))}", err=True)
