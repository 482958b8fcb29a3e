"""Kubernetes quantities (`500m`, `4Gi`, `1e3`): read, added and written as the API server does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

Format = Literal["decimal", "binary", "exponent"]

_NANO = 10**9
_LARGEST = (2**63 - 1) * _NANO  # what is larger is cut to it
_LARGEST_EXPONENT = 1000  # beyond, a number is cut to the largest or rounded up from nothing all the same
# No two repeated parts can match the same digits, so that it does not backtrack over long ones.
_QUANTITY = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)")
_MOST_DIGITS = 2000  # more change no result: with the least exponent there is too much, with the largest too little
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_KIBI = 1024


@dataclass(frozen=True)
class Quantity:
    """An amount in units of 10^-9, and how it is written."""

    nano: int
    style: Format = "decimal"

    def __add__(self, other: Quantity) -> Quantity:
        """Add; the sum is written like the first that is not zero."""
        return Quantity(self.nano + other.nano, self.style if self.nano else other.style)

    def __mul__(self, factor: int) -> Quantity:
        """Multiply by a whole number."""
        return Quantity(self.nano * factor, self.style)

    def __str__(self) -> str:
        """Write it in canonical form: no fraction, the largest suffix that fits."""
        if self.style == "binary" and abs(self.nano) >= _KIBI * _NANO and self.nano % _NANO == 0:
            return self._binary()
        return self._decimal()

    def _binary(self) -> str:
        number, suffix = self.nano // _NANO, ""
        for name in _BINARY:
            if number % _KIBI:
                break
            number, suffix = number // _KIBI, name
        return f"{number}{suffix}"

    def _decimal(self) -> str:
        number, exponent = self.nano, -9
        while number and number % 1000 == 0 and exponent < max(_DECIMAL.values()):
            number, exponent = number // 1000, exponent + 3
        if not number:
            return "0"
        suffix = next(name for name, power in _DECIMAL.items() if power == exponent)
        if self.style == "exponent" and exponent:
            return f"{number}e{exponent}"
        return f"{number}{suffix}"


def parse(text: Any) -> Quantity:
    """Read a quantity from text or a number: what is smaller than 10^-9 is rounded up, what is too large cut.

    Raises:
        ValueError: if it is none.
    """
    match = _QUANTITY.fullmatch(str(text))
    if not match or isinstance(text, bool):
        # Without the text: it may be a secret.
        message = "not a quantity"
        raise ValueError(message)
    sign, whole, fraction, exponent, suffix = match.groups(default="")
    whole, fraction = _shortened(whole.lstrip("0"), fraction)
    style: Format = "exponent" if exponent else "binary" if suffix in _BINARY else "decimal"
    power = _exponent(exponent) or _DECIMAL.get(suffix, 0)
    power = max(min(power, _LARGEST_EXPONENT), -_LARGEST_EXPONENT) - len(fraction) - _DECIMAL["n"]
    number = int(whole + fraction or 0) * 2 ** _BINARY.get(suffix, 0)
    nano = number * 10**power if power >= 0 else -(-number // 10**-power)
    return Quantity(min(nano, _LARGEST) * (-1 if sign == "-" else 1), style)


def as_text(amount: Any) -> Any:
    """Return an amount as text: Volcano's resource definitions reject numbers with a fraction, such as 0.5."""
    return amount if isinstance(amount, (str, bool)) else str(parse(amount))


def _shortened(whole: str, fraction: str) -> tuple[str, str]:
    """Leave out digits that change nothing; of those after the point it counts whether there are others than 0."""
    more = "1" if fraction[_MOST_DIGITS:].strip("0") else ""
    return whole[:_MOST_DIGITS], fraction[:_MOST_DIGITS] + more


def _exponent(text: str) -> int:
    """Read an exponent; one of many digits is the largest."""
    digits = text.lstrip("+-").lstrip("0")
    number = int(digits or 0) if len(digits) <= len(str(_LARGEST_EXPONENT)) else _LARGEST_EXPONENT
    return -number if text.startswith("-") else number
