"""An observation about one object. Equal observations about several objects become one reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pulumi_volcano_jobs.core.text import without_keys
from pulumi_volcano_jobs.status.model import Reason

CODES = (
    "failed",
    "restarting",
    "image",
    "configuration",
    "volume",
    "claim",
    "controller",
    "queue",
    "no-pod-group",
    "scheduler",
    "suspended",
    "pods-gone",
    "too-few-pods",
    "quota",
    "capability",
    "insufficient",
    "node-selector",
    "taint",
    "unschedulable",
    "depends-on",
    "node",
    "network-policy",
    "init",
    "terminating",
    "starting",
    "not-ready",
    "host-lists",
    "gang",
    "idle",
    "clients",
)
"""The codes of reasons, most likely first: a cause precedes its effects."""
_RANKS = {code: rank for rank, code in enumerate(CODES)}


@dataclass(frozen=True)
class Observation:
    """A problem that one object shows, and the fix."""

    code: str
    kind: str
    name: str
    problem: str
    fix: str
    lines: tuple[str, ...] = ()


def as_reasons(observations: Iterable[Observation]) -> tuple[Reason, ...]:
    """Return observations as reasons, most likely first. Observations of several objects can be one reason."""
    grouped: dict[tuple[str, str, str, str], list[Observation]] = {}
    for item in observations:
        grouped.setdefault((item.code, item.kind, item.problem, item.fix), []).append(item)
    reasons = [
        Reason(
            code,
            kind,
            tuple(dict.fromkeys(item.name for item in items)),
            without_keys(problem),
            fix,
            tuple(map(without_keys, next((item.lines for item in items if item.lines), ()))),
        )
        for (code, kind, problem, fix), items in grouped.items()
    ]
    ordered = sorted(reasons, key=lambda reason: _RANKS[reason.code])
    # The message about the gang repeats a cause that is known.
    is_explained = bool(ordered) and _RANKS[ordered[0].code] < _RANKS["gang"]
    return tuple(reason for reason in ordered if reason.code != "gang" or not is_explained)
