"""Volcano's plugin arguments, read as Go's `flag` package reads them (contract section 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.text import Sealed

Kind = Literal["string", "int", "bool"]

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
MIN, MAX = -(2**63), 2**63 - 1
_INTEGER = re.compile(r"[+-]?(0[xX](_?[0-9a-fA-F])+|0[bB](_?[01])+|0[oO](_?[0-7])+|0(_?[0-7])*|[1-9](_?[0-9])*)")
# What is no name of a flag may be a key.
_NAME = re.compile(r"[A-Za-z][-_A-Za-z0-9]{,31}")
_SHORTEST_FLAG = 2
_LONGEST_SHOWN = 32
_MOST_DIGITS = 1000  # far beyond 64 bits; Python refuses to read much longer numbers


@dataclass(frozen=True)
class FlagError:
    """Something that Go's parser passes over or trips on, at an argument's position."""

    position: int
    reason: str
    flag: str = ""
    unknown: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class ParsedFlags(Sealed):
    """The flags that were read, and the mistakes."""

    values: Mapping[str, Any]
    """The value of each flag, by name. A flag with a bad value has the one that Go sets."""
    errors: tuple[FlagError, ...]
    flags: tuple[tuple[str, tuple[Any, ...]], ...]
    """The flags without a mistake, in order: the name, and the one or two arguments that set it."""


class _StopParsing(Exception):  # noqa: N818  # it ends the reading, as Go's parser does; it never leaves this module
    def __init__(self, reason: str, flag: str = "", *, unknown: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.flag, self.unknown = reason, flag, unknown


def parse(kinds: Mapping[str, Kind], args: Sequence[Any], *, read_on: bool = False) -> ParsedFlags:
    """Read arguments from left to right; an argument that is a Leaf can only be a flag's value.

    The first mistake ends the reading, as in Go; with `read_on` it does not, so that all mistakes are found.
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
    """Read a flag into `values`, and return its name and its arguments."""
    if isinstance(argument, Leaf):
        reason = "an argument must be plain text; only the value behind a flag may be an Output"
        raise _StopParsing(reason)
    if len(argument) < _SHORTEST_FLAG or not argument.startswith("-"):
        reason = "this is no flag, and Volcano stops reading here"
        raise _StopParsing(reason)
    if argument == "--":
        reason = "Volcano stops reading at --"
        raise _StopParsing(reason)
    name, equals, text = argument.removeprefix("-").removeprefix("-").partition("=")
    if not name or name.startswith("-"):
        reason = "this is not how a flag is written"
        raise _StopParsing(reason)
    if name not in kinds:
        shown = f" --{name}" if _NAME.fullmatch(name) else ""
        reason = f"unknown argument{shown}; Volcano drops it and all behind it"
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
    """Convert a value as Go does: a bad one still changes its flag (second item: what is wrong)."""
    if kind == "string" or isinstance(text, Leaf):
        return text, ""
    if kind == "bool":
        return (
            text in _TRUE,
            "" if text in _TRUE | _FALSE else f"{_abbreviated(text)} is neither true nor false; Volcano takes false",
        )
    if not _INTEGER.fullmatch(text):
        return 0, f"{_abbreviated(text)} is not a whole number; Volcano takes 0"
    number = _integer(text) if len(text) <= _MOST_DIGITS else MIN - 1 if text.startswith("-") else MAX + 1
    if not MIN <= number <= MAX:
        return min(max(number, MIN), MAX), f"{_abbreviated(text)} does not fit into 64 bits"
    return number, ""


def _abbreviated(text: str) -> str:
    # What is no number may be anything, a key too.
    return repr(text) if len(text) <= _LONGEST_SHOWN else "what was given"


def _integer(text: str) -> int:
    digits = text.lstrip("+-").replace("_", "")
    sign = -1 if text.startswith("-") else 1
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return sign * int(digits, 8)
    return sign * int(digits, 0)


def int32(number: int) -> int:
    """Cut a number to 32 bits, as a container port is in Volcano."""
    return (number + 2**31) % 2**32 - 2**31
