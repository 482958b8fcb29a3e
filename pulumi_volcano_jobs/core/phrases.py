"""Short texts for tables and messages: ranges of values, cropped values, numbers, names and options."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from typing_extensions import Self

_LONGEST = 120
_TAIL = 40
_MOST = 12


class Option(NamedTuple):
    """An option of a job that a message names, with its value or without."""

    name: str
    """Name in a Python program, such as `managed_by`."""
    value: str = ""


class Spelling(NamedTuple):
    """How a language writes options."""

    name: Callable[[str], str]
    """Convert the name of an option from Python."""
    setting: str
    """Format of a name and a value."""

    def text(self, part: str | Option) -> str:
        """Return an option in this spelling. Other text does not change."""
        if isinstance(part, str):
            return part
        name = self.name(part.name)
        return self.setting.format(name, part.value) if part.value else name


PYTHON = Spelling(str, '{}="{}"')
MANAGED_BY_PULUMI, MANAGED_BY_VOLCANO = Option("managed_by", "pulumi"), Option("managed_by", "volcano")


class Phrase(str):
    """Text that names options. As a str it has the spelling of Python."""

    __slots__ = ("parts",)
    parts: tuple[str | Option, ...]
    """The text and the options in it."""

    def __new__(cls, *parts: str | Option) -> Self:
        """Join text, options and other phrases."""
        lists = [part.parts if isinstance(part, Phrase) else (part,) for part in parts]
        flat = tuple(part for parts_of_phrase in lists for part in parts_of_phrase)
        phrase = super().__new__(cls, "".join(map(PYTHON.text, flat)))
        phrase.parts = flat
        return phrase


def joined(separator: str, texts: Iterable[str]) -> str:
    """Join text and phrases."""
    parts = [part for text in texts for part in (separator, text)][1:]
    return Phrase(*parts)


def spelled(text: str, spelling: Spelling) -> str:
    """Return text with its options in another spelling."""
    return "".join(map(spelling.text, text.parts)) if isinstance(text, Phrase) else text


def map_text(text: str, change: Callable[[str], str]) -> str:
    """Return text after a change that does not apply to its options."""
    if isinstance(text, Phrase):
        return Phrase(*(part if isinstance(part, Option) else change(part) for part in text.parts))
    return change(text)


def span(first: str, last: str) -> str:
    """Return two values as a range: `worker-{0..3}` if they differ by one number, or `first to last`."""
    if first == last:
        return first
    start = _common_prefix_length(first, last)
    while start and first[start - 1].isdecimal():
        start -= 1
    first_tail, last_tail = first[start:], last[start:]
    end = _common_prefix_length(first_tail[::-1], last_tail[::-1])
    while end and first_tail[len(first_tail) - end].isdecimal():
        end -= 1
    low, high = first_tail[: len(first_tail) - end], last_tail[: len(last_tail) - end]
    if not (low.isdecimal() and high.isdecimal()):
        return f"{first} to {last}"
    numbers = f"{low}..{high}"
    is_whole = low == first
    return numbers if is_whole else f"{first[:start]}{{{numbers}}}{first_tail[len(first_tail) - end :]}"


def _common_prefix_length(text: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(text), len(other)))


def crop(text: str) -> str:
    """Return a long value without its middle, because its end is as useful as its beginning."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - _TAIL]} … {text[-_TAIL:]}"


def counted(number: int, noun: str) -> str:
    """Return a number and a noun, in the plural unless the number is 1."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listed(noun: str, names: Sequence[str]) -> str:
    """Return names with their noun: `the task master`, or `the tasks master and worker`."""
    *first, last = names
    return f"the {noun}s {', '.join(first)} and {last}" if first else f"the {noun} {last}"


def some(names: Collection[str]) -> str:
    """Return the first names in alphabetical order, to keep messages short."""
    return ", ".join([*heapq.nsmallest(_MOST, names), *(["…"] if len(names) > _MOST else [])])
