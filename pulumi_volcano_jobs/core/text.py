"""Text for people: private keys replaced, hidden characters escaped, long text cropped."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

PRIVATE = "<private>"
"""The text that replaces a private key."""

# PEM in any case and with any number of dashes. The end may be missing, because messages are cropped.
_PEM = re.compile(
    r"--\s?BEGIN[^-]{0,40}PRIVATE KEY.*?(?:--\s?END[^-]{0,40}PRIVATE KEY-*|\Z)|PuTTY-User-Key-File-.*\Z",
    re.DOTALL | re.IGNORECASE,
)
# Base64 that is long enough for a key.
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{40,}")
# "BEGIN " in base64 at each of the three offsets, and the first bytes of OpenSSH's own format.
_MARKS = ("QkVHSU4g", "JFR0lOI", "CRUdJTi")
_OPENSSH = "b3BlbnNzaC1rZXktdj"
_LONGEST, _LONGEST_ENDING = 950, 50
# The text of an Output in Python, and its repr; and the text in TypeScript, .NET and Java.
_PYTHON_OUTPUT = re.compile(r"Calling __str__ on an Output\[T\] is not supported|<pulumi\.output\.Output object at 0x")
_OTHER_OUTPUT = re.compile(r"Calling \[[tT]oString\] on an \[Output<T>\] is not supported")
HIDDEN = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]"
)
"""Characters that are invisible or change how others are displayed: control, zero-width, bidirectional."""


def without_keys(text: str) -> str:
    """Return a text with private keys replaced: PEM, PuTTY's format, and base64 of both."""
    if "PRIVATE" in text.upper() or "PuTTY" in text:
        text = _PEM.sub(PRIVATE, text)
    return _BASE64.sub(lambda match: PRIVATE if _is_key(match[0]) else match[0], text)


def redacted(tree: Any) -> Any:
    """Return a copy of a tree with private keys replaced."""
    if isinstance(tree, str):
        shown = without_keys(tree)
        return tree if shown == tree else shown
    if isinstance(tree, Mapping):
        return {redacted(key): redacted(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [redacted(item) for item in tree]
    return tree


def holds_output(text: object) -> bool:
    """Check whether a text contains the text of a Pulumi Output, as an f-string or `str` makes it."""
    if not isinstance(text, str) or "Output" not in text:
        return False
    return bool(_PYTHON_OUTPUT.search(text)) or is_output_of_other_language(text)


def is_output_of_other_language(text: str) -> bool:
    """Check whether a text contains the text of an Output that another language than Python makes."""
    return bool(_OTHER_OUTPUT.search(text))


def holds_key(text: str) -> bool:
    """Check whether a text contains a private key."""
    return without_keys(text) != text


def _is_key(run: str) -> bool:
    if _OPENSSH in run:
        return True
    if not any(mark in run for mark in _MARKS):
        return False
    for start in range(4):
        part = run[start:].rstrip("=")
        try:
            raw = base64.b64decode(part[: len(part) // 4 * 4])
        except (binascii.Error, ValueError):
            continue
        if b"PRIVATE KEY" in raw:
            return True
    return False


def escaped(text: str) -> str:
    """Escape characters that break a line, control a terminal, reorder text or are invisible."""
    if text.isprintable() and not HIDDEN.search(text):
        return text
    return "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    return (
        character
        if character.isprintable() and not HIDDEN.match(character)
        else character.encode("unicode_escape").decode()
    )


def json_text(data: Any) -> str:
    """Return data as indented JSON without hidden characters."""
    return hidden_escaped(json.dumps(data, indent=2, ensure_ascii=False))


def hidden_escaped(text: str) -> str:
    """Escape hidden characters in JSON or double-quoted YAML. The parsed data stays the same."""
    return HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def cropped(text: str, longest: int = _LONGEST) -> str:
    """Crop a text that is too long to read. A text that is already cropped stays as it is."""
    return text if len(text) <= longest + _LONGEST_ENDING else f"{text[:longest]}… ({len(text)} characters)"


class _UnquotedText(str):
    """Text that replaces a private key. Its repr has no quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the text without quotes."""
        return str.__str__(self)


# Patterns for names of flags, settings and keys, in any spelling.
_NEVER_KEY = re.compile(r"-*ssh[-_]?(key[-_]?file[-_]?path|port)", re.IGNORECASE)
_MAY_BE_KEY = re.compile(r"priv|key|kye|secret|passw|token|credential|pem", re.IGNORECASE)
_FLAG = re.compile(r"--?[A-Za-z][-_.A-Za-z0-9]{0,40}")
_SECRET_FIELDS = ("data", "stringData")


def redacted_for_repr(tree: Any) -> Any:
    """Return a copy of a tree for its repr, without private keys, data of Secrets and arguments that may be keys."""
    if isinstance(tree, str):
        shown = without_keys(tree)
        return tree if shown == tree else _UnquotedText(shown)
    if isinstance(tree, Mapping):
        return {redacted_for_repr(key): _entry(tree, key, value) for key, value in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return tree
    if isinstance(tree, (list, tuple)):
        return type(tree)(map(redacted_for_repr, tree))
    return tree


def _entry(tree: Mapping[Any, Any], key: Any, value: Any) -> Any:
    if key == "plugins" and isinstance(value, Mapping):
        return {name: _use(use) for name, use in value.items()}
    if key in {"plugin_options", "pluginOptions"} and isinstance(value, Mapping):
        return {name: _settings(use) for name, use in value.items()}
    if key in _SECRET_FIELDS and tree.get("kind") == "Secret" and isinstance(value, Mapping):
        return dict.fromkeys(value, _UnquotedText(PRIVATE))
    return redacted_for_repr(value)


def _use(use: Any) -> Any:
    if isinstance(use, Mapping):
        return _settings(use)
    if isinstance(use, str):
        return redacted_arguments([use])[0]
    return tuple(redacted_arguments(use)) if isinstance(use, (list, tuple)) else use


def _settings(settings: Any) -> Any:
    if not isinstance(settings, Mapping):
        return redacted_for_repr(settings)
    return {
        key: _UnquotedText(PRIVATE) if may_be_key(str(key)) else redacted_for_repr(value)
        for key, value in settings.items()
    }


def may_be_key(name: str) -> bool:
    """Check whether a flag or setting with this name, which may be misspelled, may hold a private key."""
    return not _NEVER_KEY.fullmatch(name) and bool(_MAY_BE_KEY.search(name))


def redacted_arguments(arguments: Sequence[Any], known: Collection[str] = ()) -> list[Any]:
    """Return a copy of a plugin's arguments without values that may be keys.

    Args:
        arguments: Volcano's arguments.
        known: the flags of the plugin that do not hold a key, without dashes.
    """
    shown: list[Any] = []
    flag = ""
    for argument in arguments:
        if not isinstance(argument, str):
            shown.append(redacted_for_repr(argument))
            flag = ""
            continue
        name, equals, _ = argument.partition("=")
        is_flag = bool(_FLAG.fullmatch(name))
        is_flag_only = is_flag and not equals
        flag_of_value = name if is_flag else flag
        is_known = flag_of_value.lstrip("-") in known
        if is_flag_only or is_known or (flag_of_value and not may_be_key(flag_of_value)):
            shown.append(redacted_for_repr(argument))
        else:
            shown.append(f"{name}={PRIVATE}" if is_flag else PRIVATE)
        # A Go flag without a value reads it from the next argument.
        flag = name if is_flag_only else ""
    return shown


class Sealed:
    """Base class of dataclasses that may hold a private key (`eq=False, repr=False`).

    The repr omits keys. A failed comparison in pytest prints this repr: pytest prints each field only if the
    dataclass has the `__eq__` of the decorator.
    """

    def __eq__(self, other: object) -> bool:
        """Compare the fields."""
        if type(self) is not type(other):
            return NotImplemented
        # Tuples do not compare identical objects. Comparing a Leaf raises an error.
        return _values(self) == _values(other)

    def __hash__(self) -> int:
        """Hash the fields."""
        return hash(_values(self))

    def __repr__(self) -> str:
        """Show the fields without keys."""
        items: Any = dataclasses.fields(self)  # type: ignore[arg-type]  # subclasses are dataclasses
        fields = ", ".join(
            f"{item.name}={redacted_for_repr(getattr(self, item.name))!r}" for item in items if item.repr
        )
        return f"{type(self).__qualname__}({fields})"


def _values(sealed: Any) -> tuple[Any, ...]:
    return tuple(getattr(sealed, item.name) for item in dataclasses.fields(sealed) if item.compare)
