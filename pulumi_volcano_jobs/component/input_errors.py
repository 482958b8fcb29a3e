"""Errors about a job or a queue in the form that Pulumi shows: messages with paths, without a traceback."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

import pulumi

from pulumi_volcano_jobs.core.errors import JobError, Problem, not_plain, wrong_type
from pulumi_volcano_jobs.core.text import escaped, holds_output

ProblemLocator = Callable[[Iterable[Problem]], list[Problem]]


class JobInputError(JobError, pulumi.RunError, pulumi.InputPropertiesError):
    """Invalid arguments of a component. Pulumi gets each problem with its path."""

    def __init__(self, summary: str, problems: Sequence[Problem]) -> None:
        """Store the problems, with a summary that has a line for each."""
        details = [
            pulumi.InputPropertyErrorDetails(property_path=item.path, reason=item.reason or "required value")
            for item in problems
        ]
        JobError.__init__(self, problems)
        # Pulumi shows the summary, which has the name of the resource.
        pulumi.InputPropertiesError.__init__(self, summary, details)


class OutputValueError(pulumi.RunError):
    """An Output whose value is found to be invalid during an update.

    It is not a ValueError, because Pulumi shows that with a traceback and the other values of the resource.
    """

    def __init__(self, summary: str, problems: Sequence[Problem]) -> None:
        """Store the problems, with a summary that has a line for each."""
        super().__init__(summary)
        self.problems = tuple(problems)
        """All problems."""


def raise_output_error(name: str, kind: str, problems: Sequence[Problem]) -> NoReturn:
    """Raise the problems of a value that has become known.

    Args:
        name: the name of the resource.
        kind: the kind of the resource.
        problems: the problems of the value.
    """
    raise OutputValueError(_summary(name, kind, problems, ""), problems)


def _summary(name: str, kind: str, problems: Sequence[Problem], source: str) -> str:
    shown_name = f" {name}" if name and isinstance(name, str) and not holds_output(name) else ""
    count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
    lines = "\n".join(f"  {text_in_file(problem, source)}" for problem in problems)
    return f"the {kind}{shown_name} has {count}:\n{lines}"


@contextmanager
def as_input_errors(
    name: str, source: str = "", locate: ProblemLocator = list, kind: str = "VolcanoJob"
) -> Iterator[None]:
    """Convert a JobError to an error that Pulumi shows for a resource.

    Args:
        name: the name of the resource.
        source: the file that the job is read from.
        locate: adds line numbers of the file to problems.
        kind: the kind of the resource.
    """
    try:
        yield
    except JobError as error:
        problems = JobError(locate(error.problems)).problems
    else:
        return
    raise JobInputError(_summary(name, kind, problems, source), problems) from None


def check_call(resource_name: object, opts: object) -> Iterator[Problem]:
    """Yield the problems of the arguments that every resource has. Pulumi reports them with a traceback."""
    if not isinstance(resource_name, str):
        yield wrong_type("resource_name", "a string", 'write a name such as "train"')
    elif not resource_name:
        yield Problem("resource_name", "Required", "", 'write a name such as "train"')
    elif holds_output(resource_name):
        yield not_plain("resource_name", "use a plain value, for example from pulumi.Config")
    if opts is not None and not isinstance(opts, pulumi.ResourceOptions):
        yield wrong_type("opts", "pulumi.ResourceOptions", "write pulumi.ResourceOptions(protect=True), for example")


def text_in_file(problem: Problem, source: str) -> str:
    """Return the text of a problem with its position in the file."""
    if not problem.line:
        return str(problem)
    place = f"{escaped(source)}:{problem.line}" if source else f"line {problem.line}"
    return f"{place}:{problem.column}: {problem}"
