"""The ranges of Go's integers, which are the types of Kubernetes' fields."""

from __future__ import annotations

MIN_INT32, MAX_INT32 = -(2**31), 2**31 - 1
MIN_INT64, MAX_INT64 = -(2**63), 2**63 - 1


def truncated(number: int, bits: int) -> int:
    """Return the signed integer of a size that Go makes of a larger number: only the lowest bits are kept."""
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half
