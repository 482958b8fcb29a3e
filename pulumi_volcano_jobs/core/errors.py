"""What went wrong, as data: a `Problem` each, raised together as one `JobError`."""

from __future__ import annotations

import enum
import functools
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.text import cropped, escaped, without_keys


class RejectionStage(enum.IntEnum):
    """Who would refuse the job, in the order in which a cluster with Volcano would ask them."""

    DECODE = 1
    """The mutating webhook's decoder: a value of the wrong JSON type."""
    SCHEMA = 2
    """The API server, by the schema of Volcano's resource definition."""
    WEBHOOK = 3
    """Volcano's validating webhook."""
    CONTROLLER = 4
    """Volcano's job controller, once the job is stored."""
    PLUGIN = 5
    """A plugin, when Pods are made."""
    API = 6
    """The API server, when it is sent what the plugins made."""
    STRICT = 7
    """Nobody: Volcano would go on and do something else than what was meant."""


ErrorType = Literal[
    "Duplicate", "Forbidden", "Invalid", "NotFound", "NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"
]
"""The type of an error, as in `field.ErrorType` of k8s.io/apimachinery."""
ProblemType = Literal[ErrorType, "Warning"]
"""The type of a `Problem`."""

WARNINGS = {
    "VJ101": "a Pod without restartPolicy starts again for ever",
    "VJ102": "an MPI master with restartPolicy Never ends if it starts before its workers",
    "VJ103": "a gang may start with fewer Pods than its ranks",
    "VJ104": "init containers look for peers that are not ready before them",
    "VJ105": "the NetworkPolicy keeps others from Ray's dashboard",
    "VJ106": "hostNetwork, and sshd on the port of the node's own",
    "VJ107": "hostNetwork, and a wait for the master's port",
    "VJ108": "an ssh key that its user may not read, or that ssh finds too open",
    "VJ109": "a variable that refers to one which comes later",
    "VJ110": "ssh without svc",
    "VJ111": "the ports of mpi and ssh differ",
    "VJ112": "one hostname for several Pods",
    "VJ113": "a subdomain that svc makes no Service for",
    "VJ114": "an argument that Volcano's guide and code call differently",
    "VJ115": "a key that stands twice in YAML, with one value",
    "VJ116": "an entry of a template that repeats the key of another",
    "VJ117": "a key pair that Volcano makes anew with each restart",
    "VJ118": "Ray workers that start again when the head has ended",
    "VJ119": "a port's name in svc's allow-list that no container has",
    "VJ121": "a claim that is deleted with the stored Job that it was created for",
    "VJ122": 'an option that a shared managed_by="volcano" ignores',
    "VJ123": "a field that needs a feature gate which is off by default",
    "VJ124": "a YAML tag that kubectl ignores",
    "VJ125": "a YAML merge key (<<) after a key that it overrides",
    "VJ126": "a DSA key, which sshd refuses",
    "VJ127": "a plugin without a value, which the job does not use",
}
"""The codes of warnings, and what each is about; `docs/warnings.md` tells when which is right."""


def value_text(value: object) -> str:
    """Return a value as a message shows it: as JSON, like the API server."""
    is_scalar = value is None or isinstance(value, (str, int, float))
    try:
        return json.dumps(value, ensure_ascii=False) if is_scalar else repr(value)
    except ValueError:
        # Python does not write numbers of thousands of digits.
        return "a number of thousands of digits"


def key_text(key: object) -> str:
    """Write the key of a mapping, which a program may give in any type, as text."""
    try:
        return str(key)
    except ValueError:
        return value_text(key)


_PREFIXES: Mapping[ProblemType, tuple[str, bool]] = {
    "Duplicate": ("Duplicate value", True),
    "Forbidden": ("Forbidden", False),
    "Invalid": ("Invalid value", True),
    "NotFound": ("Not found", True),
    "NotSupported": ("Unsupported value", True),
    "Required": ("Required value", False),
    "TooLong": ("Too long", False),
    "TooMany": ("Too many", True),
    "TypeInvalid": ("Invalid value", True),
    "Warning": ("", True),
}
"""How messages of a type begin, and whether they show the value (k8s.io/apimachinery, `field.Error.ErrorBody`)."""
_LONGEST_TEXT = {"reason": 1950, "hint": 1950, "value": 100}


@dataclass(frozen=True)
class Problem:
    """One mistake: where it is, what is there, which rule it breaks and the way out.

    `value` is shown to the user; whoever makes a Problem about a secret leaves it out.
    """

    path: str
    """The field, from the job's root: `spec.tasks[0].replicas`."""
    type: ProblemType
    """The kind of the problem: a type of error of the Kubernetes API, or Warning for what does not reject the job."""
    reason: str
    """The rule that it breaks."""
    hint: str = ""
    """The way out."""
    value: str = ""
    """What is there, as it is shown."""
    stage: RejectionStage = RejectionStage.STRICT
    """Who would refuse the job first, if anybody does."""
    code: str = ""
    """Of a warning: what switches it off (see `WARNINGS`)."""
    line: int = 0
    """The line in the file, from 1; 0 if there is none."""
    column: int = 0
    """The column in that line, from 1."""

    def __post_init__(self) -> None:
        """Replace private keys in all text, cut text that is too long, and escape hidden characters."""
        # The path is the key of a place; it is escaped when it is shown.
        object.__setattr__(self, "path", without_keys(self.path))
        for name, longest in _LONGEST_TEXT.items():
            text = without_keys(getattr(self, name)).replace("\n", " ")
            # Escaped first: a copy of the Problem (see `at`) escapes and cuts the result again.
            object.__setattr__(self, name, cropped(escaped(text), longest))

    @property
    def warning(self) -> bool:
        """Whether the job is created nevertheless."""
        return self.type == "Warning"

    def at(self, line: int, column: int) -> Problem:
        """Give the same problem with its place in a file (both count from 1)."""
        return replace(self, line=line, column=column)

    def __str__(self) -> str:
        """Return `path: problem: fix` in the words of the API server, with the code of a warning at the end."""
        is_short = len(self.path) <= paths.LONGEST_SHOWN
        path = escaped(self.path if is_short else f"{self.path[: paths.LONGEST_SHOWN]}…")
        prefix, has_value = _PREFIXES[self.type]
        parts = [path, prefix, self.value if has_value else "", self.reason, self.hint]
        code = f" [{self.code}]" if self.code else ""
        return ": ".join(filter(None, parts)) + code


def not_supported(path: str, value: object, supported: Iterable[str]) -> Problem:
    """Say that a value is none of those that there are."""
    return Problem(
        path, "NotSupported", f"supported values: {', '.join(map(value_text, supported))}", value=value_text(value)
    )


_TYPE_HINTS = {"a mapping": "write it as key: value lines", "a string": "put it in quotes"}


def wrong_type(
    path: str, expected: str, hint: str | None = None, value: str = "", stage: RejectionStage = RejectionStage.DECODE
) -> Problem:
    """Return the problem of a value that has another type than `expected`.

    Without a hint, it is the one for YAML.
    """
    hint = _TYPE_HINTS.get(expected, "") if hint is None else hint
    return Problem(path, "TypeInvalid", f"must be {expected}", hint, value, stage)


def not_plain(path: str, hint: str = "", why: str = "") -> Problem:
    """Return the problem of an Output in the place of a value that the program must know."""
    return wrong_type(path, f"a plain value, not an Output{why and f': {why}'}", hint)


class JobError(ValueError):
    """A job that cannot be made as it was written, with all its problems at once.

    In a Pulumi program it is also a `pulumi.RunError`, which Pulumi shows without a traceback (see `job_error`).
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Take what was found; there is at least one problem."""
        self.problems = tuple(in_order(problems))
        """All of them, sorted by place."""
        self.stage = min(problem.stage for problem in self.problems)
        """The first of Volcano's stages that would refuse the job."""
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[JobError], tuple[tuple[Problem, ...]]]:
        """Travel between processes as the problems: an exception would be made of its text."""
        return JobError, (self.problems,)


def job_error(problems: Iterable[Problem]) -> JobError:
    """Return the error of these problems; where Pulumi is loaded, as in a program, it is also a `pulumi.RunError`."""
    run_error = getattr(sys.modules.get("pulumi"), "RunError", None)
    kind = _with_base(run_error) if run_error else JobError
    return kind(problems)


@functools.cache
def _with_base(base: type[Exception]) -> type[JobError]:
    return type("JobError", (JobError, base), {"__doc__": JobError.__doc__, "__module__": JobError.__module__})


def without_ignored(problems: Iterable[Problem], ignored: Collection[str]) -> list[Problem]:
    """Leave out the warnings that are switched off by their codes."""
    return [problem for problem in problems if not problem.code or problem.code not in ignored]


def unknown_codes(codes: Sequence[str], path: str) -> Iterator[Problem]:
    """Yield a Problem for each code that no warning has."""
    for index, code in enumerate(codes):
        if code not in WARNINGS:
            known = f"{min(WARNINGS)} to {max(WARNINGS)}"
            yield Problem(
                f"{path}[{index}]", "NotSupported", "no warning has this code", f"they are {known}", value=repr(code)
            )


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Sort problems by place, each once."""
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.line, problem.column))


def raise_if_any(problems: Iterable[Problem]) -> None:
    """Raise the problems that are not mere warnings, if there are any."""
    errors = [problem for problem in problems if not problem.warning]
    if errors:
        raise job_error(errors)


def not_following(problems: Sequence[Problem], reported: Sequence[Problem]) -> list[Problem]:
    """Leave out problems of a path that has a reported one, or of a path below a value that the cluster rejects.

    Problems below a value that only strict mode rejects, such as that of a duplicate key, stay. If such a value is
    missing and the schema requires it, both problems stay, so that nothing is computed from the value.
    """
    errors = [problem for problem in reported if not problem.warning]
    stages: dict[str, RejectionStage] = {}
    for problem in errors:
        stages[problem.path] = min(problem.stage, stages.get(problem.path, problem.stage))
    unread = {problem.path for problem in errors if problem.stage is not RejectionStage.STRICT}
    return [
        problem
        for problem in problems
        if (problem.path not in stages or problem.stage <= RejectionStage.SCHEMA < stages[problem.path])
        and unread.isdisjoint(paths.with_parents(problem.path))
    ]
