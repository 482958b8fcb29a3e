"""Warnings about volumes that the API server accepts, but that the kubelet rejects or sets up in another way."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem, value_text
from pulumi_volcano_jobs.core.suggestions import did_you_mean
from pulumi_volcano_jobs.kubernetes.validation import volumes
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, Wire

_MEMORY, _HUGE_PAGES = "Memory", "HugePages"
_LIKE_OCTAL = frozenset({400, 440, 444, 500})
"""Numbers that are common modes if they are read as octal, and that as decimal numbers are modes nobody sets."""


def check(template: Wire, path: str) -> Iterator[Problem]:
    """Yield the warnings about the volumes of a template."""
    spec = ObjectField(template.get("spec") or {}, f"{path}.spec")
    for volume in spec.children("volumes"):
        empty = volume.child("emptyDir")
        if empty:
            yield from _medium(empty)
        for field, key in volumes.modes(volume):
            yield from _mode(field, key)


def _medium(empty: ObjectField) -> Iterator[Problem]:
    """Yield a warning about a medium that the kubelet does not know (`SetUpAt` of its emptyDir plugin)."""
    medium = empty.text("medium")
    if medium and medium not in {_MEMORY, _HUGE_PAGES} and not medium.startswith(f"{_HUGE_PAGES}-"):
        reason = "unknown storage medium: the kubelet cannot mount the volume, so the Pod never starts"
        known = f"{_MEMORY}, {_HUGE_PAGES} or {_HUGE_PAGES}-<size>"
        hint = did_you_mean(medium, (_MEMORY, _HUGE_PAGES)) or f"set {known}, or remove it for the disk of the node"
        yield Problem(empty.at("medium"), "Warning", reason, hint, value_text(medium), code="VJ146")


def _mode(field: ObjectField, key: str) -> Iterator[Problem]:
    mode = field.number(key)
    if mode in _LIKE_OCTAL:
        reason = f"a decimal number, so the files have the mode 0{mode:o}"
        yield Problem(field.at(key), "Warning", reason, volumes.octal_hint(str(mode)), str(mode), code="VJ147")
