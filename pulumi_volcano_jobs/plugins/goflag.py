"""Parser for Volcano's plugin arguments, which follows Go's `flag` package (contract section 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pulumi_volcano_jobs.core.integers import MAX_INT64, MIN_INT64, truncated
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.text import Sealed

Kind = Literal["string", "int", "bool"]

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
_INTEGER = re.compile(r"[+-]?(0[xX](_?[0-9a-fA-F])+|0[bB](_?[01])+|0[oO](_?[0-7])+|0(_?[0-7])*|[1-9](_?[0-9])*)")
# Other text is not shown in messages, because it may be a private key.
_NAME = re.compile(r"[A-Za-z][-_A-Za-z0-9]{,31}")
# A flag with another dash or none, and with a blank or a colon instead of the equals sign.
_NEARLY_FLAG = re.compile(r"\s*[-\u2010-\u2015]*([A-Za-z][-\w]*)\s*(?:[=:\s]\s*(.*?))?\s*", re.DOTALL)
_SHORTEST_FLAG = 2
_LONGEST_SHOWN = 32
_MOST_DIGITS = 1000  # much more than 64 bits; Python rejects far longer numbers


@dataclass(frozen=True)
class FlagError:
    """An argument that Go's parser rejects or ignores, with its position."""

    position: int
    reason: str
    flag: str = ""
    unknown: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class ParsedFlags(Sealed):
    """Parsed flags, and mistakes."""

    values: Mapping[str, Any]
    """The value of each flag, by name. For an invalid value, it is the value that Go sets."""
    errors: tuple[FlagError, ...]
    flags: tuple[tuple[str, tuple[Any, ...]], ...]
    """The flags without a mistake, in order: the name, and the one or two arguments of the flag."""


class _StopParsing(Exception):  # noqa: N818  # internal to this module: Go's parser stops at this argument
    def __init__(self, reason: str, flag: str = "", *, unknown: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.flag, self.unknown = reason, flag, unknown


def parse(kinds: Mapping[str, Kind], args: Sequence[Any], *, read_on: bool = False) -> ParsedFlags:
    """Parse arguments from left to right. A leaf can only be the value of a flag.

    As in Go, parsing stops at the first mistake. With `read_on`, it continues and finds all mistakes.
    """
    values: dict[str, Any] = {}
    flags: list[tuple[str, tuple[Any, ...]]] = []
    errors: list[FlagError] = []
    reader = iter(enumerate(args))
    for position, argument in reader:
        try:
            flags.append(_read(kinds, argument, reader, values))
        except _StopParsing as stop:
            errors.append(FlagError(position, stop.reason, stop.flag, unknown=stop.unknown))
            if not read_on:
                break
    return ParsedFlags(values, tuple(errors), tuple(flags))


def _read(
    kinds: Mapping[str, Kind], argument: Any, reader: Iterator[tuple[int, Any]], values: dict[str, Any]
) -> tuple[str, tuple[Any, ...]]:
    """Parse a flag into `values`, and return its name and its arguments."""
    if isinstance(argument, Leaf):
        reason = "must be plain text: only the value after a flag may be an Output"
        raise _StopParsing(reason)
    if len(argument) < _SHORTEST_FLAG or not argument.startswith("-"):
        reason = "not a flag: Volcano stops parsing here"
        raise _StopParsing(reason)
    if argument == "--":
        reason = "Volcano stops parsing at --"
        raise _StopParsing(reason)
    name, equals, text = argument.removeprefix("-").removeprefix("-").partition("=")
    if not name or name.startswith("-"):
        reason = "bad flag syntax"
        raise _StopParsing(reason)
    if name not in kinds:
        shown = f" --{name}" if _NAME.fullmatch(name) else ""
        reason = f"unknown flag{shown}: Volcano ignores it and all arguments after it"
        raise _StopParsing(reason, name, unknown=True)
    value: Any = text
    arguments: tuple[Any, ...] = (argument,)
    if not equals and kinds[name] != "bool":
        _, value = next(reader, (0, None))
        if value is None:
            reason = f"--{name} needs a value"
            raise _StopParsing(reason, name)
        arguments = (argument, value)
    values[name], error = _convert(kinds[name], value if equals or kinds[name] != "bool" else "true")
    if error:
        raise _StopParsing(f"--{name}: {error}", name)
    return name, arguments


def _convert(kind: Kind, text: Any) -> tuple[Any, str]:
    """Convert a value as Go does, and return it with an error message. An invalid value also sets the flag."""
    if kind == "string" or isinstance(text, Leaf):
        return text, ""
    if kind == "bool":
        return (
            text in _TRUE,
            "" if text in _TRUE | _FALSE else f"{_abbreviated(text)} is not true or false; Volcano would use false",
        )
    if not _INTEGER.fullmatch(text):
        return 0, f"{_abbreviated(text)} is not a whole number; Volcano would use 0"
    number = _integer(text) if len(text) <= _MOST_DIGITS else MIN_INT64 - 1 if text.startswith("-") else MAX_INT64 + 1
    if not MIN_INT64 <= number <= MAX_INT64:
        return min(max(number, MIN_INT64), MAX_INT64), f"{_abbreviated(text)} does not fit into 64 bits"
    return number, ""


def _abbreviated(text: str) -> str:
    # A long value may be a private key.
    return repr(text) if len(text) <= _LONGEST_SHOWN else "the value"


def _integer(text: str) -> int:
    digits = text.lstrip("+-").replace("_", "")
    sign = -1 if text.startswith("-") else 1
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return sign * int(digits, 8)
    return sign * int(digits, 0)


def nearly_right(kinds: Mapping[str, Kind], argument: str, previous: Any = "") -> str:
    """Return the flag that an argument without the form of a flag is probably meant to be, or an empty string.

    Text is not shown, because it may be a private key.

    Args:
        kinds: the flags.
        argument: an argument such as `port=29500`, `--port 29500` or `true`.
        previous: the argument before it, such as `--enabled`.
    """
    name, value = previous.lstrip("-") if isinstance(previous, str) else "", argument
    if kinds.get(name) != "bool" or value not in _TRUE | _FALSE:
        flag = _NEARLY_FLAG.fullmatch(argument)
        name, value = (flag[1], flag[2] or "") if flag else ("", "")
    if name not in kinds:
        return ""
    is_shown = kinds[name] != "string" and re.fullmatch(r"\w{1,20}", value)
    return f"--{name}={value if is_shown else '...'}" if value else f"--{name}"


def int32(number: int) -> int:
    """Truncate a number to 32 bits, as Volcano does with container ports."""
    return truncated(number, 32)
