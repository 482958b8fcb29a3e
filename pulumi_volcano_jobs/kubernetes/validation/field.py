"""A mapping of a Pod template with its path, and the rules that many fields share.

Rules skip unresolved Outputs (leaves). `schema.SchemaPruner` has already checked the types and dropped nulls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import ErrorType, Problem, RejectionStage, value_text
from pulumi_volcano_jobs.core.leaf import Leaf, is_given
from pulumi_volcano_jobs.core.suggestions import did_you_mean
from pulumi_volcano_jobs.core.text import cropped

Wire = Mapping[str, Any]
EMPTY = "must not be empty"
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


@dataclass(frozen=True)
class ObjectField:
    """A mapping with its path. Its values may be unresolved Outputs (leaves)."""

    fields: Wire
    path: str

    def at(self, *keys: str | int) -> str:
        """Return the path of a field."""
        return paths.join(self.path, *keys)

    def has(self, key: str) -> bool:
        """Return whether a field is set, even if it is empty or unresolved."""
        return key in self.fields

    def is_given(self, key: str) -> bool:
        """Return whether a field is set and not empty, or unresolved."""
        return is_given(self.fields.get(key))

    def is_unknown(self, key: str) -> bool:
        """Return whether a field is unresolved."""
        return isinstance(self.fields.get(key), Leaf)

    def text(self, key: str) -> str:
        """Return a string field; an empty text if it is not set, or unresolved."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else ""

    def is_empty_text(self, key: str) -> bool:
        """Return whether a field is set to an empty text."""
        value = self.fields.get(key)
        return isinstance(value, str) and not value

    def number(self, key: str) -> int | None:
        """Return an integer field; None if it is not set, or unresolved."""
        value = self.fields.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def is_true(self, key: str) -> bool:
        """Return whether a field is true, and resolved."""
        return self.fields.get(key) is True

    def is_false(self, key: str) -> bool:
        """Return whether a field is false, and resolved."""
        return self.fields.get(key) is False

    def child(self, key: str) -> ObjectField | None:
        """Return a mapping in this one, even if it is empty; None if it is not set, or unresolved."""
        value = self.fields.get(key)
        return ObjectField(value, self.at(key)) if isinstance(value, Mapping) else None

    def items(self, key: str) -> list[tuple[str, Any]]:
        """Return the resolved entries of a list, each with its path."""
        value = self.fields.get(key)
        entries = value if isinstance(value, (list, tuple)) else ()
        return [(self.at(key, index), item) for index, item in enumerate(entries) if not isinstance(item, Leaf)]

    def children(self, key: str) -> list[ObjectField]:
        """Return the resolved mappings of a list."""
        return [ObjectField(item, path) for path, item in self.items(key) if isinstance(item, Mapping)]

    def names(self, key: str) -> frozenset[str] | None:
        """Return the names of the entries of a list, or None if one of them is unresolved."""
        entries = self.children(key)
        value = self.fields.get(key, ())
        if isinstance(value, Leaf) or len(entries) < len(value) or any(entry.is_unknown("name") for entry in entries):
            return None
        return frozenset(entry.text("name") for entry in entries)

    def problem(self, key: str, error_type: ErrorType, reason: str, hint: str = "", *, show: bool = True) -> Problem:
        """Return the problem of a field that Volcano's webhook rejects, with its value if `show` is set."""
        value = self.fields.get(key) if show and not self.is_unknown(key) else None
        return webhook_problem(self.at(key), error_type, reason, value, hint)

    def check_required(
        self, key: str, hint: str = "", reason: str = "", error_type: ErrorType = "Required"
    ) -> Iterator[Problem]:
        """Yield a Problem if a field is empty or not set."""
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
        """Yield a Problem if a number is out of range."""
        number = self.number(key)
        if number is not None and not minimum <= number <= maximum:
            yield self.problem(key, error_type, reason or f"must be between {minimum} and {maximum}, inclusive", hint)

    def check_max_items(
        self, key: str, maximum: int, noun: str, error_type: ErrorType = "TooMany"
    ) -> Iterator[Problem]:
        """Yield a Problem if a list is too long."""
        count = len(self.items(key))
        if count > maximum:
            yield webhook_problem(
                self.at(key), error_type, f"must not have more than {maximum} {noun}", count, "remove some of them"
            )

    def check_minimum(self, key: str, minimum: int, hint: str = "") -> Iterator[Problem]:
        """Yield a Problem if a number is too small."""
        number = self.number(key)
        if number is not None and number < minimum:
            yield self.problem(key, "Invalid", f"must be greater than or equal to {minimum}", hint)


@dataclass(frozen=True)
class SupportedValues:
    """The supported values of a field. Unless it is `required`, an empty value means the default."""

    key: str
    values: Sequence[str]
    hint: str = ""
    required: bool = False
    error_type: ErrorType = "NotSupported"

    def check(self, field: ObjectField) -> Iterator[Problem]:
        """Yield a Problem if a field has an unsupported value."""
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
    reason: str = "",
    hint: str = "remove one of them",
    error_type: ErrorType = "Duplicate",
) -> Iterator[Problem]:
    """Yield a Problem for each text, with its path, that is equal to an earlier one."""
    earlier_values: set[str] = set()
    for path, value in values:
        if isinstance(value, str) and value:
            if value in earlier_values:
                yield webhook_problem(path, error_type, reason, value, hint)
            earlier_values.add(value)


def check_unique(
    fields: Iterable[ObjectField], key: str, reason: str = "", error_type: ErrorType = "Duplicate"
) -> Iterator[Problem]:
    """Yield a Problem for each entry of a list with the key of an earlier entry."""
    hint = "rename or remove one of them" if key == "name" and error_type == "Duplicate" else "remove one of them"
    return duplicates(((field.at(key), field.text(key)) for field in fields), reason, hint, error_type)


def check_one_of(
    field: ObjectField, kinds: Sequence[str], rule: str, missing: str = "", error_type: ErrorType | None = None
) -> Iterator[Problem]:
    """Yield a Problem if more than one of the fields `kinds` is set, or if none is set and there is a reason `missing`.

    `error_type` is the type of both problems, if the API server uses one type for both.
    """
    present = [kind for kind in kinds if field.has(kind)]
    if len(present) > 1:
        yield field.problem(
            present[1],
            error_type or "Forbidden",
            rule,
            f"remove {present[0]} or {present[1]}",
            show=False,
        )
    elif not present and missing:
        yield webhook_problem(
            field.path,
            error_type or "Required",
            missing,
            hint="" if kinds[0] in missing else f"set one of {', '.join(kinds)}",
        )
