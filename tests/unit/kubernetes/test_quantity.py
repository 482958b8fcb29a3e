"""Quantities are parsed, added and formatted as in Kubernetes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.kubernetes.quantity import Quantity, in_int64, parse

NANO = 10**9

CANONICAL: dict[Any, str] = {
    # Whole numbers in different forms.
    "0": "0",
    "-0": "0",
    "0.0": "0",
    "0Ki": "0",
    "0m": "0",
    "1": "1",
    "+1": "1",
    "-1": "-1",
    "007": "7",
    1: "1",
    2.5: "2500m",
    4.0: "4",
    # Decimal suffixes: the largest suffix that leaves no fraction.
    "1000m": "1",
    "1500m": "1500m",
    "0.5": "500m",
    ".5": "500m",
    "5.": "5",
    "0.001": "1m",
    "0.0001": "100u",
    "1000000n": "1m",
    "1000u": "1m",
    "1n": "1n",
    "1000": "1k",
    "1001": "1001",
    "1000k": "1M",
    "1.5M": "1500k",
    "2G": "2G",
    "3000G": "3T",
    "1P": "1P",
    "1E": "1E",
    # Binary suffixes.
    "1Ki": "1Ki",
    "1024": "1024",
    "1024Ki": "1Mi",
    "1000Ki": "1000Ki",
    "1.5Gi": "1536Mi",
    "2048Gi": "2Ti",
    "1Pi": "1Pi",
    "4Ei": "4Ei",
    # Below 1Ki, and with a fraction of a byte, a binary quantity is written in decimal.
    "0.5Ki": "512",
    "1.0001Ki": "1024102400u",
    # Exponents: e or E, in steps of three.
    "1e3": "1e3",
    "1E3": "1e3",
    "12e1": "120",
    "1e-3": "1e-3",
    "100e-3": "100e-3",
    "1.5e3": "1500",
    "1e6": "1e6",
    "5e0": "5",
    # Amounts below a billionth are rounded up.
    "0.1n": "1n",
    "1.00000000001": "1000000001n",
    "1e-20": "1e-9",
    "1e-99999999999": "1e-9",
    "-0.1n": "-1n",
    # Only binary amounts above 63 bits are cut.
    "8Ei": "9223372036854775807",
    "10E": "10E",
    "-10E": "-10E",
    "1e19": "10e18",
    "1.5e30": "1500e27",
    "1000e30": "1e33",
    "12345678901234567890k": "12345678901234567890k",
    "0e99999999999": "0",
    "123456789012345678901234567890123456789012345678901234567890123456789": (
        "123456789012345678901234567890123456789012345678901234567890123456789"
    ),
}
# Thousandths and units, as Go's resource.Quantity gives them after the API server's defaults.
IN_64_BITS = {
    "1.5": (1500, 2),
    "8Ei": (-1000, 2**63 - 1),
    "10E": (0, 0),
    "1e30": (0, 0),
    "12345678901234567890": (4807115922877858896, -6101065172474983726),
    "1234567890123456789": (-1363962815083169272, 1234567890123456789),
    "9223372036854775807": (-1000, 2**63 - 1),
    "9223372036854775808": (0, -(2**63)),
    "100000000000000000": (7766279631452241920, 10**17),
    "1e17": (0, 10**17),
    "12345678901234567890k": (-7484280360334075776, 4807115922877858896),
    "9223372036854776k": (192000, -9223372036854775616),
}


@pytest.mark.parametrize(("given", "numbers"), IN_64_BITS.items(), ids=IN_64_BITS)
def test_amounts_beyond_64_bits_wrap_as_in_kubernetes(given: str, numbers: tuple[int, int]) -> None:
    """Rules for devices and huge pages look at these numbers."""
    assert (in_int64(given, 3), in_int64(given, 0)) == numbers


@pytest.mark.parametrize(("given", "written"), CANONICAL.items(), ids=repr)
def test_a_quantity_is_written_in_canonical_form(given: Any, written: str) -> None:
    """The form of the input does not matter."""
    assert str(parse(given)) == written


@pytest.mark.parametrize("given", CANONICAL, ids=repr)
def test_the_canonical_form_is_the_same_amount_and_is_stable(given: Any) -> None:
    """Parsing it again loses nothing."""
    quantity = parse(given)

    again = parse(str(quantity))

    assert again.nano == quantity.nano
    assert str(again) == str(quantity)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1Ki", "1024"),
        ("1Mi", "1048576"),
        ("1Gi", "1073741824"),
        ("1k", "1000"),
        ("1M", "1000000"),
        ("250m", "0.25"),
        ("3u", "0.000003"),
        ("7n", "0.000000007"),
        ("7Ei", "8070450532247928832"),
        ("-2.5", "-2.5"),
    ],
)
def test_a_suffix_multiplies(text: str, amount: str) -> None:
    """Ki is 1024, k is 1000, m a thousandth."""
    assert parse(text).nano == Decimal(amount) * NANO


@pytest.mark.parametrize(
    "given",
    [
        *(
            "",
            " ",
            "x",
            "1 ",
            " 1",
            "1 Gi",
            "1gi",
            "1GI",
            "1K",
            "1e",
            "1e1.5",
            "1.2.3",
            "--1",
            "1kk",
            "Gi",
            ".",
            "1_000",
        ),
        *("0x10", "1,5", "inf", "nan", "1\n", "٣", "²", "1e3Ki", True, False, None, [], {"a": 1}),
    ],
    ids=repr,
)
def test_a_value_that_is_not_a_quantity_is_rejected(given: Any) -> None:
    """The message does not have the value, since it may be a secret."""
    assert rejection(given) == rejection("x")


def rejection(given: Any) -> str:
    """Return the message of a value that is not a quantity."""
    with pytest.raises(ValueError, match="quantity") as caught:
        parse(given)
    return str(caught.value)


def test_the_message_of_a_value_that_is_not_a_quantity_is_short(snapshot: SnapshotAssertion) -> None:
    """Callers add the path and the value."""
    assert rejection("x") == snapshot


SUMS = {
    "the first one's form counts": (["1Gi", "1"], "1073741825"),
    "binary forms add up": (["512Mi", "512Mi"], "1Gi"),
    "a zero has no form": (["0", "1Gi", "1Gi"], "2Gi"),
    "decimal forms add up": (["500m", "1.5"], "2"),
    "a decimal first makes bytes decimal": (["1000", "24"], "1024"),
    "an exponent first stays": (["1e3", "1k"], "2e3"),
}


@pytest.mark.parametrize(("parts", "total"), SUMS.values(), ids=SUMS)
def test_a_sum_has_the_format_of_its_first_part(parts: list[str], total: str) -> None:
    """The first part that is not zero."""
    assert str(sum((parse(part) for part in parts), Quantity(0))) == total


@pytest.mark.parametrize(("text", "factor", "total"), [("250m", 4, "1"), ("1Gi", 3, "3Gi"), ("100m", 0, "0")])
def test_a_product_keeps_the_format(text: str, factor: int, total: str) -> None:
    """Equal Pods are multiplied, not added one by one."""
    assert str(parse(text) * factor) == total
