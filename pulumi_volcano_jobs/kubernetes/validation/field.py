"""A mapping of a Pod template with its place, and the rules that many fields share.

What is not known yet (a leaf) is passed over: nothing here looks into one. The template has the right types already
(`schema.SchemaPruner`), and a field that is null is not in it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import ErrorType, Problem, RejectionStage, value_text
from pulumi_volcano_jobs.core.leaf import Leaf, is_given
from pulumi_volcano_jobs.core.text import cropped

Wire = Mapping[str, Any]
EMPTY = "must not be empty"
_MIN_SIMILARITY = 0.75
_SHOWN = 100


def webhook_problem(path: str, error_type: ErrorType, reason: str, value: Any = None, hint: str = "") -> Problem:
    """Return the problem of a value that Volcano's webhook rejects."""
    return Problem(path, error_type, reason, hint, "" if value is None else value_text(value), RejectionStage.WEBHOOK)


def invalid(path: str, value: str, rule: str, hint: str) -> Problem:
    """Return the problem of a value that breaks a rule, in the words of the API server."""
    return webhook_problem(path, "Invalid", rule, cropped(value, _SHOWN), hint)


def unsupported(path: str, value: str, supported: Iterable[str], hint: str) -> Problem:
    """Return the problem of a value that is not one of those supported, in the words of the API server."""
    words = ", ".join(map(value_text, sorted(supported)))
    return webhook_problem(path, "NotSupported", f"supported values: {words}", cropped(value, _SHOWN), hint)


def did_you_mean(word: str, words: Sequence[str]) -> str:
    """Ask whether a right word was meant, if one is much like a wrong one."""
    folded = [known for known in words if known.lower() == word.lower()]
    close = folded or difflib.get_close_matches(word, words, n=1, cutoff=_MIN_SIMILARITY)
    return f"did you mean {close[0]}?" if close else ""


@dataclass(frozen=True)
class ObjectField:
    """A mapping that is known, and where it stands; what it holds may be unknown."""

    fields: Wire
    path: str

    def at(self, *keys: str | int) -> str:
        """Give the place of a field."""
        return paths.join(self.path, *keys)

    def has(self, key: str) -> bool:
        """Tell whether a field is there, if only an empty one or one that is not known yet."""
        return key in self.fields

    def is_given(self, key: str) -> bool:
        """Tell whether a field is there and not empty, or not known yet."""
        return is_given(self.fields.get(key))

    def is_unknown(self, key: str) -> bool:
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

    def child(self, key: str) -> ObjectField | None:
        """Give a mapping in this one, an empty one too; None if there is none, or none is known yet."""
        value = self.fields.get(key)
        return ObjectField(value, self.at(key)) if isinstance(value, Mapping) else None

    def items(self, key: str) -> list[tuple[str, Any]]:
        """Give what is known of a list, each entry with its place."""
        value = self.fields.get(key)
        entries = value if isinstance(value, (list, tuple)) else ()
        return [(self.at(key, index), item) for index, item in enumerate(entries) if not isinstance(item, Leaf)]

    def children(self, key: str) -> list[ObjectField]:
        """Give the mappings of a list that are known."""
        return [ObjectField(item, path) for path, item in self.items(key) if isinstance(item, Mapping)]

    def names(self, key: str) -> frozenset[str] | None:
        """Give the names of the entries of a list, or None if any of them is not known yet."""
        entries = self.children(key)
        value = self.fields.get(key, ())
        if isinstance(value, Leaf) or len(entries) < len(value) or any(entry.is_unknown("name") for entry in entries):
            return None
        return frozenset(entry.text("name") for entry in entries)

    def problem(self, key: str, error_type: ErrorType, reason: str, hint: str = "", *, show: bool = True) -> Problem:
        """Say that Volcano's webhook refuses a field, and show its value."""
        value = self.fields.get(key) if show and not self.is_unknown(key) else None
        return webhook_problem(self.at(key), error_type, reason, value, hint)

    def check_required(
        self, key: str, hint: str = "", reason: str = EMPTY, error_type: ErrorType = "Required"
    ) -> Iterator[Problem]:
        """Yield a Problem if a field is empty or not there."""
        if not self.is_given(key):
            yield self.problem(key, error_type, reason, hint, show=False)

    def check_range(
        self,
        key: str,
        minimum: int,
        maximum: int,
        reason: str = "",
        hint: str = "",
        error_type: ErrorType = "Invalid",
    ) -> Iterator[Problem]:
        """Yield a Problem if a number is out of a range."""
        number = self.number(key)
        if number is not None and not minimum <= number <= maximum:
            yield self.problem(key, error_type, reason or f"must be from {minimum} to {maximum}", hint)

    def check_max_items(
        self, key: str, maximum: int, noun: str, error_type: ErrorType = "TooMany"
    ) -> Iterator[Problem]:
        """Yield a Problem if a list is too long."""
        count = len(self.items(key))
        if count > maximum:
            yield webhook_problem(
                self.at(key), error_type, f"at most {maximum} {noun} can be here", count, "remove some"
            )

    def check_minimum(self, key: str, minimum: int, hint: str = "") -> Iterator[Problem]:
        """Yield a Problem if a number is too small."""
        number = self.number(key)
        if number is not None and number < minimum:
            yield self.problem(key, "Invalid", f"must be at least {minimum}", hint)


@dataclass(frozen=True)
class SupportedValues:
    """The values that a field can have; without `required` an empty one is the default."""

    key: str
    values: Sequence[str]
    hint: str = ""
    required: bool = False
    error_type: ErrorType = "NotSupported"

    def check(self, field: ObjectField) -> Iterator[Problem]:
        """Yield a Problem if a field has another value."""
        value = field.fields.get(self.key)
        if isinstance(value, str) and value not in self.values and (value or self.required):
            hint = self.hint or did_you_mean(value, self.values)
            yield webhook_problem(
                field.at(self.key),
                self.error_type,
                f"supported values: {', '.join(map(value_text, self.values))}",
                value,
                hint,
            )


def duplicates(
    values: Iterable[tuple[str, Any]],
    reason: str = "this stands here twice",
    hint: str = "remove one of them",
    error_type: ErrorType = "Duplicate",
) -> Iterator[Problem]:
    """Yield a Problem for each text, given with its place, that has stood before."""
    earlier_values: set[str] = set()
    for path, value in values:
        if isinstance(value, str) and value:
            if value in earlier_values:
                yield webhook_problem(path, error_type, reason, value, hint)
            earlier_values.add(value)


def check_unique(
    fields: Iterable[ObjectField], key: str, reason: str = "this stands here twice", error_type: ErrorType = "Duplicate"
) -> Iterator[Problem]:
    """Yield a Problem for each entry of a list whose key stands in one before it."""
    hint = "give each a name of its own" if key == "name" else "remove one of them"
    return duplicates(((field.at(key), field.text(key)) for field in fields), reason, hint, error_type)


def check_one_of(
    field: ObjectField, kinds: Sequence[str], rule: str, missing: str = "", error_type: ErrorType | None = None
) -> Iterator[Problem]:
    """Yield a Problem if more than one of some fields is set, or none although one is required.

    `error_type` is the type of both problems, where the API server has one for both.
    """
    present = [kind for kind in kinds if field.has(kind)]
    if len(present) > 1:
        yield field.problem(
            present[1],
            error_type or "Forbidden",
            f"{rule}, and {present[0]} is there too",
            "remove one of them",
            show=False,
        )
    elif not present and missing:
        yield webhook_problem(field.path, error_type or "Required", missing, hint=f"set one of {', '.join(kinds)}")
