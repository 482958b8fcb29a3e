"""The ranges of Go's integers, which are the types of Kubernetes' fields."""

from __future__ import annotations

MIN_INT32, MAX_INT32 = -(2**31), 2**31 - 1
MIN_INT64, MAX_INT64 = -(2**63), 2**63 - 1
