"""The arguments of a component: keyword arguments or one dictionary, and for a job also a `Job` or a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import pulumi

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, job_error
from pulumi_volcano_jobs.core.resource_types import PACKAGE
from pulumi_volcano_jobs.files.job_file import Document
from pulumi_volcano_jobs.spec.model import Job
from pulumi_volcano_jobs.spec.model_errors import in_python


@dataclass(frozen=True, eq=False)
class JobInput:
    """A job with the overrides of a program."""

    data: Mapping[str, Any]
    """The fields and options of the job."""
    overridden: frozenset[str]
    """The paths of the values that the program sets."""
    problems: Sequence[Problem] = ()
    """Problems of the file and of the overrides."""
    file: Document | None = None
    """The document of the job, if it is from a file."""

    @property
    def source(self) -> str:
        """The name of the file; empty without a file."""
        return self.file.source if self.file else ""

    @property
    def neighbors(self) -> Sequence[Mapping[str, Any]]:
        """The other objects of the file."""
        return self.file.neighbors if self.file else ()

    def is_of_program(self, problem: Problem) -> bool:
        """Return whether the problem is about a value or a default that the program sets."""
        return problem.path.startswith(f"{PACKAGE}:") or not self.overridden.isdisjoint(
            paths.with_parents(problem.path)
        )

    def located(self, problems: Iterable[Problem]) -> list[Problem]:
        """Add lines to problems of the file, and hints for Python to problems of the program."""
        return [located for problem in problems for located in self._located(problem)]

    def _located(self, problem: Problem) -> list[Problem]:
        if self.file is None or self.is_of_program(problem):
            return [in_python(problem)]
        return self.file.with_positions([problem])


def one_form(
    resource_name: str, args: Mapping[str, Any] | None, fields: Mapping[str, Any], kind: str
) -> Mapping[str, Any]:
    """Return the arguments of a component, which are keyword arguments or one dictionary.

    Args:
        resource_name: the name of the resource.
        args: the positional argument after the name.
        fields: the keyword arguments.
        kind: the kind of the resource.

    Raises:
        JobError: if there are both, or if the positional argument is not a dictionary.
    """
    if args is None or args is NO_ARGUMENTS:
        return fields
    call = f'{kind}("{resource_name}", '
    if isinstance(args, pulumi.ResourceOptions):
        _reject(args, f"pass it by name: {call}..., opts=...)")
    if isinstance(args, Job):
        _reject(args, f'write {kind}.from_job("{resource_name}", job)')
    if isinstance(args, str):
        _reject(args, f'write {kind}.from_yaml("{resource_name}", ...)' if kind == "VolcanoJob" else f"{call}...)")
    if not isinstance(args, Mapping):
        _reject(args, f"write {call}{_EXAMPLES[kind]})")
    if fields:
        reason = f"may not be both a dictionary and keyword arguments ({', '.join(fields)})"
        raise job_error([Problem("", "Forbidden", f"arguments {reason}", "pass all of them as keyword arguments")])
    return args


NO_ARGUMENTS: Any = {}
"""The default of the positional argument. It is not None, because mypy names a wrong key only without a union."""
_EXAMPLES = {"VolcanoJob": "tasks=[...]", "VolcanoQueue": "weight=2"}


def _reject(args: object, hint: str) -> NoReturn:
    reason = f"arguments must be keyword arguments or a dictionary, not {type(args).__name__}"
    raise job_error([Problem("", "TypeInvalid", reason, hint)])
