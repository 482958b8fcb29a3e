"""Short texts for tables and messages: ranges of values, cropped values, numbers and names."""

from __future__ import annotations

import heapq
from collections.abc import Collection

_LONGEST = 120
_TAIL = 40
_MOST = 12


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


def some(names: Collection[str]) -> str:
    """Return the first names in alphabetical order, to keep messages short."""
    return ", ".join([*heapq.nsmallest(_MOST, names), *(["…"] if len(names) > _MOST else [])])
