"""Mistakes in a job or a queue as Pulumi shows them: the messages alone, with their paths, and no traceback."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import pulumi

from pulumi_volcano_jobs.core.errors import JobError, Problem, job_error
from pulumi_volcano_jobs.core.text import escaped

ProblemLocator = Callable[[Iterable[Problem]], list[Problem]]


class JobInputError(JobError, pulumi.RunError, pulumi.InputPropertiesError):
    """Bad arguments of a component: Pulumi gets each problem with its path."""

    def __init__(self, summary: str, problems: Sequence[Problem]) -> None:
        """Say the problems, each in a line, under the summary."""
        details = [pulumi.InputPropertyErrorDetails(property_path=item.path, reason=item.reason) for item in problems]
        JobError.__init__(self, problems)
        # What is shown is the message, with the job's name in it.
        pulumi.InputPropertiesError.__init__(self, summary, details)


class OutputValueError(pulumi.RunError):
    """An Output whose value turns out wrong while an update runs.

    It is no ValueError: Pulumi would show that with a traceback and with the other values of the resource.
    """

    def __init__(self, summary: str, problems: Sequence[Problem]) -> None:
        """Show the summary, with every problem in a line of its own."""
        super().__init__(summary)
        self.problems = tuple(problems)
        """All of them."""


def raise_output_error(name: str, kind: str, problems: Sequence[Problem]) -> NoReturn:
    """Raise the problems of a value that has become known.

    Args:
        name: the resource's name.
        kind: what the resource is.
        problems: what is wrong with the value.
    """
    raise OutputValueError(_summary(name, kind, problems, ""), problems)


def _summary(name: str, kind: str, problems: Sequence[Problem], source: str) -> str:
    count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
    lines = "\n".join(f"  {text_in_file(problem, source)}" for problem in problems)
    return f"the {kind} {name} has {count}:\n{lines}"


@contextmanager
def as_input_errors(
    name: str, source: str = "", locate: ProblemLocator = list, kind: str = "VolcanoJob"
) -> Iterator[None]:
    """Turn a JobError into what Pulumi shows for the resource `name`.

    Args:
        name: the resource's name.
        source: the file that the job is read from.
        locate: gives problems their lines in it.
        kind: what the resource is.
    """
    try:
        yield
    except JobError as error:
        problems = JobError(locate(error.problems)).problems
    else:
        return
    raise JobInputError(_summary(name, kind, problems, source), problems)


def as_dict(lifted: Any, args: object, expected: str, example: str) -> dict[str, Any]:
    """Return the arguments of a component, without its Outputs, if they are a dict.

    Raises:
        JobError: if they are not.
    """
    if isinstance(lifted, dict):
        return lifted
    reason = f"the arguments are a {type(args).__name__}; they must be {expected}"
    raise job_error([Problem("", "TypeInvalid", reason, f"write {example}")])


def text_in_file(problem: Problem, source: str) -> str:
    """Say a problem with the place in the file that it is read from."""
    if not problem.line:
        return str(problem)
    place = f"{escaped(source)}:{problem.line}" if source else f"line {problem.line}"
    return f"{place}:{problem.column}: {problem}"
