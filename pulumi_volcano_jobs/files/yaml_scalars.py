"""Resolve YAML scalars as kubectl does: go-yaml v2 (YAML 1.1 with exceptions), and sigs.k8s.io/yaml for keys."""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from decimal import Decimal
from typing import Any

from pulumi_volcano_jobs.core.integers import MAX_INT64, MIN_INT64

_YAML = "tag:yaml.org,2002:"
_MAX_UINT64 = 2**64 - 1
_LONGEST_DECIMAL = 20
"""The digits of the largest number of 64 bits. Python's `int()` rejects text with thousands of digits."""

TAGS = frozenset({"str", "int", "float", "bool", "null", "binary", "timestamp"})
"""Tags of scalars, without their prefix, that determine the type. A scalar with any other tag is a string."""
_RESOLVED = TAGS - {"binary"}
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **{f"{sign}.{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_INT = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
# go-yaml removes the prefix and reads a number with its sign.
_SIGNED_BINARY = re.compile(r"0b([-+])()([01]+)()()")
_BASES = (16, 2, 8, 10)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
# After a leading point, go-yaml leaves the underscores to Go's strconv, which requires digits on both sides.
_POINT = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?\S*)?")
_SMALLEST_EXPONENT, _LARGEST_EXPONENT = -4, 6
_SINGLE_DIGITS = 9
_EXACT, _WRITTEN_OUT = 2.0**53, 1e21
"""The limit up to which a double represents every integer, and the limit below which Go writes no exponent."""


def resolve(tag: str, text: str) -> Any:
    """Return the value of a scalar.

    Args:
        tag: the tag in the text; empty for a plain scalar without a tag.
        text: the scalar's text.

    Raises:
        ValueError: if the text does not fit its tag.
    """
    kind = tag.removeprefix(_YAML)
    if kind == "binary":
        return _binary(text)
    if kind == "str" or (tag and kind not in _RESOLVED):
        return text
    value = plain(text)
    if kind and not _fits(kind, value, text):
        message = f"must have the type of its tag !!{kind}"
        raise ValueError(message)
    return float(value) if kind == "float" else value


def as_value(value: Any) -> Any:
    """Return a scalar's value as Go writes it in JSON: a large integer has its shortest digits, then zeros.

    Raises:
        ValueError: if the value is infinite or NaN.
    """
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        message = "must be a finite number, because JSON has no infinity or NaN"
        raise ValueError(message)
    return int(Decimal(repr(value))) if _EXACT < abs(value) < _WRITTEN_OUT else value


def is_null(tag: str, text: str) -> bool:
    """Check whether a scalar is a null."""
    return tag in {"", f"{_YAML}null"} and text in _WORDS and _WORDS[text] is None


def as_key(value: str | float) -> str:
    """Return the key of a mapping as kubectl writes it. Go writes a float with the digits of a 32-bit float."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _single(value) if isinstance(value, float) else str(value)


def plain(text: str) -> Any:
    """Return the value of a plain scalar without a tag."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first == ".":
        return _float(text) if _POINT.fullmatch(text) else text
    if first not in "+-0123456789":
        return text
    digits = text.replace("_", "")
    number = _integer(digits)
    if number is not None:
        return number
    return _float(text) if _FLOAT.fullmatch(digits) else text


def _integer(digits: str) -> int | None:
    match = _INT.fullmatch(digits) or _SIGNED_BINARY.fullmatch(digits)
    if not match:
        return None
    sign, *parts = match.groups()
    written, base = next((part, base) for part, base in zip(parts, _BASES, strict=True) if part)
    if base == 10 and len(written) > _LONGEST_DECIMAL:  # noqa: PLR2004
        return None
    number = int(written, base) * (-1 if sign == "-" else 1)
    # Only an unsigned number may have 64 bits.
    return number if MIN_INT64 <= number <= (MAX_INT64 if sign else _MAX_UINT64) else None


def _float(text: str) -> float | str:
    number = float(text.replace("_", ""))
    # Go reads a number outside the range of a double as a string.
    return number if math.isfinite(number) else text


def _fits(kind: str, value: Any, text: str) -> bool:
    if kind == "timestamp":
        return isinstance(value, str) and bool(_TIMESTAMP.fullmatch(text))
    if kind == "float":
        return isinstance(value, float) or (_is_int(value) and value <= MAX_INT64)
    checks = {"null": value is None, "bool": isinstance(value, bool), "int": _is_int(value)}
    return checks[kind]


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _binary(text: str) -> str:
    try:
        raw = base64.b64decode(text.translate({10: None, 13: None}), validate=True)
    except (binascii.Error, ValueError):
        message = "must be base64, because its tag is !!binary"
        raise ValueError(message) from None
    # Go replaces each byte that is not UTF-8 by U+FFFD.
    return re.sub("[\udc80-\udcff]", "\ufffd", raw.decode("utf-8", "surrogateescape"))


def _single(number: float) -> str:
    try:
        (single,) = struct.unpack("f", struct.pack("f", number))
    except OverflowError:
        return ".inf" if number > 0 else "-.inf"
    if not math.isfinite(single):
        return ".nan" if math.isnan(single) else ".inf" if single > 0 else "-.inf"
    forms = (f"{single:.{digits}e}" for digits in range(_SINGLE_DIGITS))
    shortest = next(form for form in forms if struct.pack("f", float(form)) == struct.pack("f", single))
    mantissa, _, exponent = shortest.partition("e")
    if _SMALLEST_EXPONENT <= int(exponent) < _LARGEST_EXPONENT:
        return f"{Decimal(shortest):f}"
    return f"{mantissa}e{int(exponent):+03d}"
