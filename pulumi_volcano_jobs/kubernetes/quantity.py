"""Kubernetes quantities (`500m`, `4Gi`, `1e3`): parsed, added and formatted as the API server does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from pulumi_volcano_jobs.core.integers import MAX_INT64, truncated

Format = Literal["decimal", "binary", "exponent"]

NANO = 10**9
"""Amounts are integers of 10^-9."""
_LARGEST = MAX_INT64 * NANO
_LARGEST_EXPONENT = 1000  # larger exponents are reduced to this, to bound the work
_SHORT = 18  # digits that Kubernetes stores as an integer and a scale
_WRAPPED = (0, 1, 2, 3, 6, 9)  # scales that Kubernetes multiplies such an integer by without an overflow check
# No two repeated parts match the same digits, so the pattern does not backtrack over long numbers.
_QUANTITY = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)")
_MOST_DIGITS = 2000  # further digits are dropped, to bound the work
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_KIBI = 1024


@dataclass(frozen=True)
class Quantity:
    """An amount in units of 10^-9, and the format of its text."""

    nano: int
    style: Format = "decimal"

    def __add__(self, other: Quantity) -> Quantity:
        """Add two quantities; the sum has the format of the first one that is not zero."""
        return Quantity(self.nano + other.nano, self.style if self.nano else other.style)

    def __mul__(self, factor: int) -> Quantity:
        """Multiply by a whole number."""
        return Quantity(self.nano * factor, self.style)

    def __str__(self) -> str:
        """Return the canonical form: no fraction, and the largest suffix that fits."""
        if self.style == "binary" and abs(self.nano) >= _KIBI * NANO and self.nano % NANO == 0:
            return self._binary()
        return self._decimal()

    def _binary(self) -> str:
        number, suffix = self.nano // NANO, ""
        for name in _BINARY:
            if number % _KIBI:
                break
            number, suffix = number // _KIBI, name
        return f"{number}{suffix}"

    def _decimal(self) -> str:
        number, exponent = self.nano, -9
        most = _LARGEST_EXPONENT if self.style == "exponent" else max(_DECIMAL.values())
        while number and number % 1000 == 0 and exponent < most:
            number, exponent = number // 1000, exponent + 3
        if not number:
            return "0"
        if self.style == "exponent" and exponent:
            return f"{number}e{exponent}"
        suffix = next(name for name, power in _DECIMAL.items() if power == exponent)
        return f"{number}{suffix}"


def parse(text: Any) -> Quantity:
    """Parse a quantity from text or a number.

    An amount below 10^-9 is rounded up. As in the API server, a binary amount (`Ki` to `Ei`) is at most 2^63 - 1;
    other amounts have no limit.

    Raises:
        ValueError: if the text is not a quantity.
    """
    written = _read(text)
    return Quantity(written.nano(), written.style)


def in_int64(text: Any, digits: int) -> int:
    """Return an amount in units of 10^-digits, rounded up, as the API server computes it in 64 bits.

    An amount that is too large wraps around. It becomes 0 if it has at most 18 digits and its scale is not one that
    Kubernetes multiplies by without a check (`Quantity.ScaledValue`).

    Raises:
        ValueError: if the text is not a quantity.
    """
    written = _read(text)
    exact: int = -(-written.nano() // 10 ** (-_DECIMAL["n"] - digits))
    scale = written.power - len(written.fraction)
    is_short = written.style != "binary" and len(written.whole + written.fraction) <= _SHORT
    if is_short and scale + digits not in _WRAPPED and abs(exact) > MAX_INT64:
        return 0
    return truncated(exact, 64)


@dataclass(frozen=True)
class _ParsedQuantity:
    """The parts of a quantity's text."""

    is_negative: bool
    whole: str
    fraction: str
    power: int
    suffix: str
    style: Format

    def nano(self) -> int:
        """Return the amount in units of 10^-9."""
        power = self.power - len(self.fraction) - _DECIMAL["n"]
        number = int(self.whole + self.fraction or 0) * 2 ** _BINARY.get(self.suffix, 0)
        amount: int = number * 10**power if power >= 0 else -(-number // 10**-power)
        amount = min(amount, _LARGEST) if self.style == "binary" else amount
        return -amount if self.is_negative else amount


def _read(text: Any) -> _ParsedQuantity:
    match = _QUANTITY.fullmatch(str(text))
    if not match or isinstance(text, bool):
        # The message omits the text, which may be a secret.
        message = "not a quantity"
        raise ValueError(message)
    sign, whole, fraction, exponent, suffix = match.groups(default="")
    whole, fraction = _shortened(whole.lstrip("0"), fraction)
    style: Format = "exponent" if exponent else "binary" if suffix in _BINARY else "decimal"
    power = _exponent(exponent) or _DECIMAL.get(suffix, 0)
    power = max(min(power, _LARGEST_EXPONENT), -_LARGEST_EXPONENT)
    return _ParsedQuantity(sign == "-", whole, fraction, power, suffix, style)


def as_text(amount: Any) -> Any:
    """Return an amount as text: Volcano's resource definitions reject numbers with a fraction, such as 0.5."""
    return amount if isinstance(amount, (str, bool)) else str(parse(amount))


def _shortened(whole: str, fraction: str) -> tuple[str, str]:
    """Drop digits beyond the limit; a dropped digit of the fraction that is not 0 still rounds the amount up."""
    rounding = "1" if fraction[_MOST_DIGITS:].strip("0") else ""
    return whole[:_MOST_DIGITS], fraction[:_MOST_DIGITS] + rounding


def _exponent(text: str) -> int:
    """Parse an exponent; one with too many digits becomes the largest exponent."""
    digits = text.lstrip("+-").lstrip("0")
    number = int(digits or 0) if len(digits) <= len(str(_LARGEST_EXPONENT)) else _LARGEST_EXPONENT
    return -number if text.startswith("-") else number
