"""Durations as Go's `time.ParseDuration` parses them, for fields of the type `metav1.Duration`."""

from __future__ import annotations

import re

from pulumi_volcano_jobs.core.integers import MAX_INT64

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^.0-9]*)", re.ASCII)
# The largest duration has 19 digits in nanoseconds; Go drops the digits of a fraction that overflow.
_MOST_DIGITS = 19
_HOURS = {"d": 24, "w": 7 * 24}
_LONGEST = 60


def problem(text: str) -> str:
    """Return Go's message if a text is not a duration, otherwise an empty text."""
    rest, total = re.sub(r"\A[-+]", "", text), 0
    if rest == "0":
        return ""
    for whole, fraction, unit in _PART.findall(rest)[:-1] or [("", "", "")]:
        # Python does not parse more than 4,300 digits, even if they are zeros.
        number = whole.lstrip("0")
        if not (whole or fraction) or len(number) > _MOST_DIGITS:
            return f"invalid duration {_quoted(text)}"
        if unit not in _UNITS:
            return f"{f'unknown unit {_quoted(unit)}' if unit else 'missing unit'} in duration {_quoted(text)}"
        parts = fraction[:_MOST_DIGITS]
        total += (int(f"0{number}{parts}") * _UNITS[unit]) // 10 ** len(parts)
    return f"invalid duration {_quoted(text)}" if total > MAX_INT64 else ""


def fix(text: str) -> str:
    """Return a hint for an invalid duration, with a corrected text if possible."""
    match = re.fullmatch(r"([0-9]{1,9})\s*([a-z]*)", text, re.ASCII)
    unit = match[2] if match else ""
    if match and unit in _HOURS:
        return f'write "{int(match[1]) * _HOURS[unit]}h"'
    if match and (not unit or unit in _UNITS) and text != match[1] + unit:
        return f'write "{match[1]}{unit}"'
    if match and not unit:
        return f'write "{match[1]}s"'
    return 'use the units h, m and s, for example "1h30m"'


def _quoted(text: str) -> str:
    return f'"{text[:_LONGEST]}…"' if len(text) > _LONGEST else f'"{text}"'
