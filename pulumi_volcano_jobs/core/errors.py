"""`Problem`, which describes a mistake in a job, and `JobError`, which contains all problems of a job."""

from __future__ import annotations

import enum
import functools
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from pulumi_volcano_jobs.core import paths, phrases
from pulumi_volcano_jobs.core.text import cropped, escaped, is_output_of_other_language, without_keys

E = TypeVar("E", bound=Exception)


class RejectionStage(enum.IntEnum):
    """The part of a cluster that rejects the job, in the order in which Volcano and Kubernetes process it."""

    DECODE = 1
    """The decoder of the mutating webhook, which rejects a value of the wrong JSON type."""
    SCHEMA = 2
    """The API server, which validates the schema of Volcano's CRD."""
    WEBHOOK = 3
    """Volcano's validating webhook."""
    CONTROLLER = 4
    """Volcano's job controller, after the job is stored."""
    PLUGIN = 5
    """A job plugin, when the controller creates Pods."""
    API = 6
    """The API server, when it receives the objects of the plugins."""
    STRICT = 7
    """Only the strict mode of this library: Volcano accepts the job, but it probably does not work as intended."""


ErrorType = Literal[
    "Duplicate", "Forbidden", "Invalid", "NotFound", "NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"
]
"""The type of an error, as in `field.ErrorType` of k8s.io/apimachinery."""
ProblemType = Literal[ErrorType, "Warning"]
"""The type of a `Problem`."""

WARNINGS = {
    "VJ101": "a Pod without restartPolicy restarts forever",
    "VJ102": "an MPI master with restartPolicy Never fails if it starts before its workers",
    "VJ103": "a gang can start with fewer Pods than the framework expects",
    "VJ104": "init containers wait for Pods that have no address yet",
    "VJ105": "the NetworkPolicy blocks other clients of Ray's dashboard",
    "VJ106": "hostNetwork with sshd on the SSH port of the node",
    "VJ107": "hostNetwork with a wait for the master's port",
    "VJ108": "an SSH key with the wrong file mode for its user",
    "VJ109": "a variable that refers to a later variable",
    "VJ110": "the ssh plugin without the svc plugin",
    "VJ111": "different ports for mpi and ssh",
    "VJ112": "one hostname for several Pods",
    "VJ113": "a subdomain without a Service",
    "VJ114": "an argument with different names in Volcano's guide and code",
    "VJ115": "a duplicate YAML key with the same value",
    "VJ116": "duplicate entries in a list of a template",
    "VJ117": "a key pair that Volcano replaces at each restart",
    "VJ118": "Ray Pods that restart after the program of the head has ended",
    "VJ119": "a port name in svc's allow-list that no container declares",
    "VJ120": "torchrun without a rendezvous trains in each Pod alone",
    "VJ121": "a claim that Kubernetes deletes with its stored Job",
    "VJ122": 'an option that a shared managed_by="volcano" ignores',
    "VJ123": "a field that needs a feature gate which is off by default",
    "VJ124": "a YAML tag that kubectl ignores",
    "VJ125": "a YAML merge key (<<) after a key that it overrides",
    "VJ126": "a DSA key, which sshd rejects",
    "VJ127": "a plugin set to null, which does not run",
    "VJ128": "a task of a file without replicas",
    "VJ129": "a job without Pods",
    "VJ130": "an error of strict mode, in lenient mode",
    "VJ131": "a scheduler that is probably not meant",
    "VJ132": "dependsOn in a gang that never starts",
    "VJ133": "0, which Volcano replaces by a default",
    "VJ134": "a policy that never acts",
    "VJ135": "a placeholder of a template",
    "VJ136": "more MPI processes than slots",
    "VJ137": "DeepSpeed without a host file",
    "VJ138": "a script that sets TF_CONFIG",
    "VJ139": "metrics that the NetworkPolicy blocks",
    "VJ140": "one process for several GPUs",
    "VJ141": "a task that never ends",
    "VJ142": "a variable that no plugin sets",
    "VJ143": "a file in /etc/volcano that no plugin writes",
    "VJ144": "a variable that no shell expands",
    "VJ145": "a command that a plugin replaces",
    "VJ146": "a medium that the kubelet does not know",
    "VJ147": "a file mode that is probably meant as octal",
    "VJ150": "a reference to an object that the file does not define",
    "VJ151": "objects of a file that from_yaml does not create",
    "VJ152": "an object from which Volcano creates Jobs",
    "VJ153": "a job with so many Pods that its updates are slow",
}
"""Codes and titles of the warnings. `docs/warnings.md` explains each warning."""
LENIENT = "VJ130"
"""Code of the errors that lenient mode returns as warnings."""


def value_text(value: object) -> str:
    """Return a value as JSON, as the API server shows it in messages."""
    is_scalar = value is None or isinstance(value, (str, int, float))
    try:
        return json.dumps(value, ensure_ascii=False) if is_scalar else repr(value)
    except ValueError:
        # Python does not convert integers with thousands of digits to text.
        return "a number with thousands of digits"


def key_text(key: object) -> str:
    """Return the key of a mapping as text. In a program, a key can have any type."""
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
"""Prefix of each type in messages, and whether the value follows (k8s.io/apimachinery, `field.Error.ErrorBody`)."""
_LONGEST_TEXT = {"reason": 1950, "hint": 1950, "value": 100}


@dataclass(frozen=True)
class Problem:
    """A mistake in a job: the field, its value, the violated rule and the fix.

    Messages show `value`. Leave it empty if the value may be a secret.
    """

    path: str
    """Path of the field from the root of the job: `spec.tasks[0].replicas`."""
    type: ProblemType
    """Error type of the Kubernetes API, or Warning for a problem that does not reject the job."""
    reason: str
    """Violated rule, in the words of the API server. The prefix of `type` and the value precede it in messages."""
    hint: str = ""
    """Fix, as an imperative."""
    value: str = ""
    """Value of the field, as messages show it."""
    stage: RejectionStage = RejectionStage.STRICT
    """First part of a cluster that rejects the job."""
    code: str = ""
    """Code that turns off a warning (see `WARNINGS`)."""
    line: int = 0
    """Line in the file, starting at 1, or 0 without a file."""
    column: int = 0
    """Column in that line, starting at 1."""

    def __post_init__(self) -> None:
        """Replace private keys in all text, crop long text, and escape hidden characters."""
        # The path identifies the field, so only `__str__` escapes it.
        object.__setattr__(self, "path", without_keys(self.path))
        for name, longest in _LONGEST_TEXT.items():
            clean = functools.partial(_clean, longest=longest)
            object.__setattr__(self, name, phrases.map_text(getattr(self, name), clean))

    @property
    def warning(self) -> bool:
        """Whether the problem does not reject the job."""
        return self.type == "Warning"

    def at(self, line: int, column: int) -> Problem:
        """Return the problem with its position in a file. Lines and columns start at 1."""
        return replace(self, line=line, column=column)

    def spelled(self, spelling: phrases.Spelling) -> Problem:
        """Return the problem with the options in its text in another spelling."""
        reason, hint = phrases.spelled(self.reason, spelling), phrases.spelled(self.hint, spelling)
        return replace(self, reason=reason, hint=hint)

    def __str__(self) -> str:
        """Return `path: problem: fix` in the words of the API server, followed by the code of a warning."""
        is_short = len(self.path) <= paths.LONGEST_SHOWN
        path = escaped(self.path if is_short else f"{self.path[: paths.LONGEST_SHOWN]}…")
        prefix, has_value = _PREFIXES[self.type]
        parts = [path, prefix, self.value if has_value else "", self.reason, self.hint]
        code = f" [{self.code}]" if self.code else ""
        return ": ".join(filter(None, parts)) + code


def _clean(text: str, longest: int) -> str:
    # Escape before cropping, because a copy of the Problem (see `at`) does both again.
    return cropped(escaped(without_keys(text).replace("\n", " ")), longest)


def as_warning(problem: Problem) -> Problem:
    """Return an error of strict mode as a warning, with the same text. A warning is returned unchanged."""
    if problem.warning:
        return problem
    prefix, has_value = _PREFIXES[problem.type]
    reason = phrases.joined(": ", filter(None, [prefix, problem.value if has_value else "", problem.reason]))
    return replace(problem, type="Warning", reason=reason, value="", code=LENIENT)


def not_supported(path: str, value: object, supported: Iterable[str]) -> Problem:
    """Return the problem of a value that is not one of the supported values."""
    return Problem(
        path, "NotSupported", f"supported values: {', '.join(map(value_text, supported))}", value=value_text(value)
    )


_TYPE_HINTS = {"a mapping": "write it as key: value lines", "a string": "put it in quotes"}


def wrong_type(
    path: str, expected: str, hint: str | None = None, value: str = "", stage: RejectionStage = RejectionStage.DECODE
) -> Problem:
    """Return the problem of a value whose type is not `expected`.

    The default hint is for YAML.
    """
    hint = _TYPE_HINTS.get(expected, "") if hint is None else hint
    return Problem(path, "TypeInvalid", f"must be {expected}", hint, value, stage)


def not_plain(path: str, hint: str = "", why: str = "") -> Problem:
    """Return the problem of an Output in a field whose value the program must know."""
    return wrong_type(path, f"a plain value, not an Output{why and f': {why}'}", hint)


def output_as_text(path: str, text: str, hint: str = "") -> Problem:
    """Return the problem of a string that contains the text of an Output instead of its value.

    Args:
        path: the path of the string.
        text: the string.
        hint: the fix, if it is not the usual one.
    """
    cause = "an f-string or str()"
    fix = 'use pulumi.Output.concat("text ", output) or pulumi.Output.format("text {0}", output)'
    if is_output_of_other_language(text):
        cause, fix = "string interpolation", "use pulumi.interpolate in TypeScript, or Output.format in other languages"
    reason = f"{cause} cannot read an Output, so this is an error text of Pulumi instead of the value"
    return Problem(path, "Invalid", reason, hint or fix, stage=RejectionStage.DECODE)


class JobError(ValueError):
    """An invalid job, with all its problems.

    In a Pulumi program it is also a `pulumi.RunError`, which Pulumi shows without a traceback (see `job_error`).
    """

    def __init__(self, problems: Iterable[Problem], warnings: Iterable[Problem] = ()) -> None:
        """Sort the problems. There must be at least one."""
        self.problems = tuple(in_order(problems))
        """All problems, sorted by their position in the file."""
        self.warnings = tuple(in_order(warnings))
        """The warnings that were found before the job was rejected. The message does not include them."""
        self.stage = min(problem.stage for problem in self.problems)
        """First stage that rejects the job."""
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[JobError], tuple[tuple[Problem, ...], tuple[Problem, ...]]]:
        """Pickle the problems, because the default is to pass the text of the exception to the constructor."""
        return JobError, (self.problems, self.warnings)


def job_error(problems: Iterable[Problem], warnings: Iterable[Problem] = ()) -> JobError:
    """Return a JobError. If Pulumi is imported, as in a program, it is also a `pulumi.RunError`."""
    return _in_program(JobError)(problems, warnings)


def attribute_error(message: str) -> AttributeError:
    """Return an AttributeError. If Pulumi is imported, as in a program, it is also a `pulumi.RunError`."""
    return _in_program(AttributeError)(message)


def _in_program(kind: type[E]) -> type[E]:
    run_error = getattr(sys.modules.get("pulumi"), "RunError", None)
    return _with_base(kind, run_error) if run_error else kind  # type: ignore[arg-type]  # classes are hashable


@functools.cache
def _with_base(kind: type[E], base: type[Exception]) -> type[E]:
    return type(kind.__name__, (kind, base), {"__doc__": kind.__doc__, "__module__": kind.__module__})


def without_ignored(problems: Iterable[Problem], ignored: Collection[str]) -> list[Problem]:
    """Return the problems without the warnings that have an ignored code."""
    return [problem for problem in problems if not problem.code or problem.code not in ignored]


def unknown_codes(codes: Sequence[str], path: str) -> Iterator[Problem]:
    """Yield a Problem for each unknown code of a warning."""
    for index, code in enumerate(codes):
        if code not in WARNINGS:
            reason = f"supported values: {value_text(min(WARNINGS))} to {value_text(max(WARNINGS))}"
            hint = "use the code at the end of the warning"
            yield Problem(f"{path}[{index}]", "NotSupported", reason, hint, value=value_text(code))


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems sorted by their position in the file, without duplicates."""
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.line, problem.column))


def raise_if_any(problems: Iterable[Problem]) -> None:
    """Raise a JobError if any of the problems is not a warning."""
    found = list(problems)
    errors = [problem for problem in found if not problem.warning]
    if errors:
        raise job_error(errors, (problem for problem in found if problem.warning))


def not_following(problems: Sequence[Problem], reported: Sequence[Problem]) -> list[Problem]:
    """Return the problems that do not follow from a reported error.

    A problem follows from an error at the same path, or from an error at a parent that the cluster rejects. It does
    not follow from an error at a parent that only strict mode rejects, such as a duplicate key. If such a value is
    missing and the schema requires it, both problems are returned, so that no check uses the value.
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
