"""Tables for people. The command line formats them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """A table with a title."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Explanation:
    """Tables about one job or one Pod. Empty tables are left out."""

    title: str
    sections: tuple[Section, ...]
