"""What to say of a job's parts that are not enacted on Pods that Pulumi made."""

from __future__ import annotations

from typing import Literal

from pulumi_volcano_jobs.core.errors import Problem

Unsupported = Literal["error", "warn", "ignore"]


def as_warning(found: list[tuple[str, str]]) -> str:
    """Say it calmly, once for a job, and what to do about it."""
    lines = "\n".join(f"  - {meaning} ({path})" for path, meaning in found)
    return (
        "the job runs, but nobody enacts this on Pods that Pulumi manages (they have no controller):\n"
        f'{lines}\nWith managed_by="volcano" Volcano\'s controllers enact it; unsupported="ignore" silences this.'
    )


def as_problems(found: list[tuple[str, str]]) -> list[Problem]:
    """Make a Problem of each, for `unsupported="error"`."""
    hint = 'remove it, or say unsupported="warn"'
    return [
        Problem(path, "Forbidden", f"nobody enacts this on Pods that Pulumi manages: {meaning}", hint)
        for path, meaning in found
    ]
