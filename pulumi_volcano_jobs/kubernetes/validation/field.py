"""A mapping of a Pod template with its place, and the rules that many fields share.

What is not known yet (a leaf) is passed over: nothing here looks into one. The template has the right types already
(`schema.Walk`), and a field that is null is not in it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import ErrorType, Problem, Stage, shown
from pulumi_volcano_jobs.core.leaf import Leaf, is_given
from pulumi_volcano_jobs.core.text import cropped

Wire = Mapping[str, Any]
EMPTY = "this must not be empty"
_ALIKE = 0.75
_SHOWN = 100


def rejected(path: str, error_type: ErrorType, reason: str, value: object = None, hint: str = "") -> Problem:
    """Return the problem of a value that Volcano's webhook rejects; the value is shown without quotes."""
    return Problem(path, error_type, reason, hint, "" if value is None else str(value), Stage.WEBHOOK)


def fault(path: str, error_type: ErrorType, reason: str, value: Any = None, hint: str = "") -> Problem:
    """Return the problem of a value that Volcano's webhook rejects; the value is shown as in Python."""
    return rejected(path, error_type, reason, None if value is None else shown(value), hint)


def invalid(path: str, value: str, rule: str, hint: str) -> Problem:
    """Return the problem of a value that breaks a rule, in the words of the API server."""
    return fault(path, "Invalid", f'Invalid value: "{cropped(value, _SHOWN)}": {rule}', hint=hint)


def unsupported(path: str, value: str, supported: Iterable[str], hint: str) -> Problem:
    """Return the problem of a value that is not one of those supported, in the words of the API server."""
    words = ", ".join(f'"{word}"' for word in sorted(supported))
    return fault(
        path, "NotSupported", f'Unsupported value: "{cropped(value, _SHOWN)}": supported values: {words}', hint=hint
    )


def meant(word: str, words: Sequence[str]) -> str:
    """Ask whether a right word was meant, if one is much like a wrong one."""
    folded = [known for known in words if known.lower() == word.lower()]
    close = folded or difflib.get_close_matches(word, words, n=1, cutoff=_ALIKE)
    return f"did you mean {close[0]}?" if close else ""


@dataclass(frozen=True)
class Place:
    """A mapping that is known, and where it stands; what it holds may be unknown."""

    fields: Wire
    path: str

    def at(self, *keys: str | int) -> str:
        """Give the place of a field."""
        return paths.join(self.path, *keys)

    def has(self, key: str) -> bool:
        """Tell whether a field is there, if only an empty one or one that is not known yet."""
        return key in self.fields

    def given(self, key: str) -> bool:
        """Tell whether a field is there and not empty, or not known yet."""
        return is_given(self.fields.get(key))

    def unknown(self, key: str) -> bool:
        """Tell whether a field is not known yet."""
        return isinstance(self.fields.get(key), Leaf)

    def text(self, key: str) -> str:
        """Give a text; empty if there is none, or none is known yet."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else ""

    def is_empty_text(self, key: str) -> bool:
        """Tell whether a field is there, and an empty text."""
        value = self.fields.get(key)
        return isinstance(value, str) and not value

    def number(self, key: str) -> int | None:
        """Give a whole number, or None if there is none, or none is known yet."""
        value = self.fields.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def is_true(self, key: str) -> bool:
        """Tell whether a field is known to be true."""
        return self.fields.get(key) is True

    def is_false(self, key: str) -> bool:
        """Tell whether a field is known to be false."""
        return self.fields.get(key) is False

    def child(self, key: str) -> Place | None:
        """Give a mapping in this one, an empty one too; None if there is none, or none is known yet."""
        value = self.fields.get(key)
        return Place(value, self.at(key)) if isinstance(value, Mapping) else None

    def items(self, key: str) -> list[tuple[str, Any]]:
        """Give what is known of a list, each entry with its place."""
        value = self.fields.get(key)
        entries = value if isinstance(value, (list, tuple)) else ()
        return [(self.at(key, index), item) for index, item in enumerate(entries) if not isinstance(item, Leaf)]

    def children(self, key: str) -> list[Place]:
        """Give the mappings of a list that are known."""
        return [Place(item, path) for path, item in self.items(key) if isinstance(item, Mapping)]

    def names(self, key: str) -> frozenset[str] | None:
        """Give the names of the entries of a list, or None if any of them is not known yet."""
        entries = self.children(key)
        value = self.fields.get(key, ())
        if isinstance(value, Leaf) or len(entries) < len(value) or any(entry.unknown("name") for entry in entries):
            return None
        return frozenset(entry.text("name") for entry in entries)

    def fault(self, key: str, error_type: ErrorType, reason: str, hint: str = "", *, show: bool = True) -> Problem:
        """Say that Volcano's webhook refuses a field, and show its value."""
        value = self.fields.get(key) if show and not self.unknown(key) else None
        return fault(self.at(key), error_type, reason, value, hint)

    def required(
        self, key: str, hint: str = "", reason: str = EMPTY, error_type: ErrorType = "Required"
    ) -> Iterator[Problem]:
        """Yield a Problem if a field is empty or not there."""
        if not self.given(key):
            yield self.fault(key, error_type, reason, hint, show=False)

    def between(
        self,
        key: str,
        least: int,
        most: int,
        reason: str = "",
        hint: str = "",
        error_type: ErrorType = "Invalid",
    ) -> Iterator[Problem]:
        """Yield a Problem if a number is out of a range."""
        number = self.number(key)
        if number is not None and not least <= number <= most:
            yield self.fault(key, error_type, reason or f"this must be from {least} to {most}", hint)

    def at_most(self, key: str, most: int, what: str, error_type: ErrorType = "TooMany") -> Iterator[Problem]:
        """Yield a Problem if a list is too long."""
        count = len(self.items(key))
        if count > most:
            yield fault(self.at(key), error_type, f"at most {most} {what} can be here", count, "remove some")

    def at_least(self, key: str, least: int, hint: str = "") -> Iterator[Problem]:
        """Yield a Problem if a number is too small."""
        number = self.number(key)
        if number is not None and number < least:
            yield self.fault(key, "Invalid", f"this must be at least {least}", hint)


@dataclass(frozen=True)
class Choices:
    """The values that a field can have; without `required` an empty one is the default."""

    key: str
    values: Sequence[str]
    hint: str = ""
    required: bool = False
    error_type: ErrorType = "NotSupported"

    def check(self, place: Place) -> Iterator[Problem]:
        """Yield a Problem if a field has another value."""
        value = place.fields.get(self.key)
        if isinstance(value, str) and value not in self.values and (value or self.required):
            hint = self.hint or meant(value, self.values)
            yield fault(
                place.at(self.key), self.error_type, f"this must be one of {', '.join(self.values)}", value, hint
            )


def twice(
    found: Iterable[tuple[str, Any]],
    reason: str = "this stands here twice",
    hint: str = "remove one of them",
    error_type: ErrorType = "Duplicate",
) -> Iterator[Problem]:
    """Yield a Problem for each text, given with its place, that has stood before."""
    seen: set[str] = set()
    for path, value in found:
        if isinstance(value, str) and value:
            if value in seen:
                yield fault(path, error_type, reason, value, hint)
            seen.add(value)


def unique(
    places: Iterable[Place], key: str, reason: str = "this stands here twice", error_type: ErrorType = "Duplicate"
) -> Iterator[Problem]:
    """Yield a Problem for each entry of a list whose key stands in one before it."""
    hint = "give each a name of its own" if key == "name" else "remove one of them"
    return twice(((place.at(key), place.text(key)) for place in places), reason, hint, error_type)


def one_of(
    place: Place, kinds: Sequence[str], what: str, missing: str = "", error_type: ErrorType | None = None
) -> Iterator[Problem]:
    """Yield a Problem if more than one of some fields is set, or none although one is required.

    `error_type` is the type of both problems, where the API server has one for both.
    """
    found = [kind for kind in kinds if place.has(kind)]
    if len(found) > 1:
        yield place.fault(
            found[1],
            error_type or "Forbidden",
            f"{what}, and {found[0]} is there too",
            "remove one of them",
            show=False,
        )
    elif not found and missing:
        yield fault(place.path, error_type or "Required", missing, hint=f"set one of {', '.join(kinds)}")
