"""Write Python source that is formatted like the output of ruff and Black."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_volcano_jobs.convert.program import Names

WIDTH = 120
_STEP = "    "
_LONGEST_NAME = 40
_SOME_LINES = 2  # a text with this many line breaks is a script, and becomes a constant with triple quotes


@dataclass(frozen=True)
class Call:
    """A call. Arguments without a name are positional."""

    function: str
    arguments: Sequence[tuple[str, Any]] = ()


@dataclass(frozen=True)
class Name:
    """A variable."""

    text: str


class Module:
    """A module: docstring, imports, constants and variables. Texts that are too long for a line become constants."""

    def __init__(self, docstring: str) -> None:
        """Create a module that has only a docstring."""
        self.imports: dict[str, set[str]] = {}
        """The names to import from each module. Without names, the module itself is imported."""
        self._docstring = docstring
        self._statements: list[str] = []
        self._constants: dict[str, str] = {}
        self._names = Names("_")
        self._new: list[str] = []

    def first(self, name: str, value: Any) -> None:
        """Insert a variable with a short value before all other variables."""
        self._statements.insert(0, f"{name} = {_one_line(value)}\n")

    def assign(self, name: str, value: Any, annotation: str = "") -> None:
        """Add a variable whose value is a call or a mapping."""
        self._new = []
        start = f"{name}: {annotation} = " if annotation else f"{name} = "
        lines = _written(self._with_constants(value, "", ("", "")), "", _width(start))
        self._statements += [_constant(self._constants[text], text) for text in self._new]
        self._statements.append(f"{start}{lines}\n")

    def text(self) -> str:
        """Return the source."""
        return "\n".join([f'"""{self._docstring}"""\n', *self._import_blocks(), *self._statements])

    def _import_blocks(self) -> list[str]:
        """Return the imports in the order of isort: first the standard library, then all other modules."""
        blocks: dict[bool, list[str]] = {True: [], False: []}
        for module, names in sorted(self.imports.items(), key=lambda item: (bool(item[1]), item[0])):
            blocks[module.partition(".")[0] in sys.stdlib_module_names].append(_import(module, sorted(names)))
        return ["".join(lines) for lines in blocks.values() if lines]

    def _with_constants(self, value: Any, indent: str, place: tuple[str, str]) -> Any:
        """Return a value with constants instead of texts that are too long for a line.

        `place` is the task and the key of the value. They become the name of the constant.
        """
        _, parts, _ = _brackets_and_parts(value)
        deeper = indent + _STEP
        is_task = isinstance(value, Mapping) and place[1] == "tasks"
        task = str(value.get("name", "")) if is_task else place[0]
        entries = []
        for (prefix, item), key in zip(parts, _keys(value), strict=True):
            if isinstance(item, str):
                is_short = _width(f"{deeper}{prefix}{quoted(item)},") <= WIDTH and item.count("\n") < _SOME_LINES
                entries.append(item if is_short or not item else Name(self._name(item, (task, key or place[1]))))
            else:
                entries.append(self._with_constants(item, deeper, (task, key or place[1])))
        return _rebuilt(value, entries)

    def _name(self, text: str, place: tuple[str, str]) -> str:
        if text not in self._constants:
            task, key = place
            last = "script" if key in {"command", "args"} and "\n" in text else key
            words = [re.sub(r"[^A-Z0-9]+", "_", word.upper(), flags=re.ASCII).strip("_") for word in (task, last)]
            name = "_".join(filter(None, words))[:_LONGEST_NAME].rstrip("_") or "TEXT"
            name = name if name[0].isalpha() else f"TEXT_{name}"
            self._constants[text] = self._names.reserve(name)
            self._new.append(text)
        return self._constants[text]


def _keys(value: Any) -> list[str]:
    """Return the key of each part of a value. The key of an environment variable's value is the variable's name."""
    if isinstance(value, Call):
        return [name for name, _ in value.arguments]
    if isinstance(value, Mapping):
        variable = value.get("name")
        return [variable if key == "value" and isinstance(variable, str) else str(key) for key in value]
    return [""] * len(value) if isinstance(value, (list, tuple)) else []


def _rebuilt(value: Any, items: Sequence[Any]) -> Any:
    """Return a copy of a value with new parts."""
    if isinstance(value, Call):
        return Call(value.function, [(name, item) for (name, _), item in zip(value.arguments, items, strict=True)])
    if isinstance(value, Mapping):
        return dict(zip(value, items, strict=True))
    return list(items) if isinstance(value, (list, tuple)) else value


def _import(module: str, names: Sequence[str]) -> str:
    if not names:
        return f"import {module}\n"
    line = f"from {module} import {', '.join(names)}\n"
    if _width(line) <= WIDTH:
        return line
    name_lines = "".join(f"{_STEP}{name},\n" for name in names)
    return f"from {module} import (\n{name_lines})\n"


def _written(value: Any, indent: str, column: int) -> str:
    """Return the source of a value that starts at `column` and is followed by one character."""
    flat = _one_line(value)
    return flat if column + _width(flat) < WIDTH or not _brackets_and_parts(value)[1] else _multi_line(value, indent)


def _multi_line(value: Any, indent: str) -> str:
    """Return the source of a value, with each part on a new line."""
    opening, parts, closing = _brackets_and_parts(value)
    deeper = indent + _STEP
    lines = [f"{deeper}{prefix}{_written(item, deeper, len(deeper) + _width(prefix))},\n" for prefix, item in parts]
    return f"{opening}\n{''.join(lines)}{indent}{closing}" if lines else f"{opening}{closing}"


def _one_line(value: Any) -> str:
    """Return the source of a value on one line."""
    opening, parts, closing = _brackets_and_parts(value)
    return opening + ", ".join(prefix + _one_line(item) for prefix, item in parts) + closing


def _brackets_and_parts(value: Any) -> tuple[str, list[tuple[str, Any]], str]:
    """Split a value into the opening bracket, the named parts and the closing bracket.

    A plain value has only an opening.
    """
    if isinstance(value, Call):
        return f"{value.function}(", [(f"{name}=" if name else "", item) for name, item in value.arguments], ")"
    if isinstance(value, Mapping):
        return "{", [(f"{_plain(key)}: ", item) for key, item in value.items()], "}"
    if isinstance(value, (list, tuple)):
        return "[", [("", item) for item in value], "]"
    return _plain(value), [], ""


def _plain(value: Any) -> str:
    if isinstance(value, Name):
        return value.text
    if isinstance(value, str):
        return quoted(value)
    return repr(value).replace("e+", "e") if isinstance(value, float) else repr(value)


def _constant(name: str, text: str) -> str:
    """Return the source of a constant: a script in triple quotes, a long text as adjacent strings."""
    lines = text.split("\n")
    if len(lines) > _SOME_LINES and _reads_well(lines):
        script = "\n".join(map(_inside, lines))
        return f'{name} = """\\\n{script}"""\n'
    flat = f"{name} = {quoted(text)}\n"
    if _width(flat) <= WIDTH:
        return flat
    pieces = "".join(f"{_STEP}{quoted(piece)}\n" for piece in _pieces(text))
    return f"{name} = (\n{pieces})\n"


def _reads_well(lines: Sequence[str]) -> bool:
    """Check whether lines fit in triple quotes: they are short, and an editor hides or removes no character in them."""
    return (
        all(_width(_inside(line)) <= WIDTH and line == line.rstrip() for line in lines)
        and all(line.replace("\t", "").isprintable() and '"""' not in line for line in lines)
        and not lines[-1].endswith('"')
    )


def _inside(line: str) -> str:
    return "".join(map(_escaped, line))


def _pieces(text: str) -> Iterator[str]:
    """Split a text into pieces that fit on a line: at line breaks, then between words, then anywhere."""
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        piece = ""
        for word in re.findall(r"\S+\s*|\s+", line):
            if piece and not _is_piece(piece + word) and _is_piece(word):
                yield piece
                piece = ""
            for char in word:
                if not _is_piece(piece + char):
                    yield piece
                    piece = ""
                piece += char
        yield piece


def _is_piece(text: str) -> bool:
    return len(text) < WIDTH and _width(_STEP + quoted(text)) <= WIDTH


_NAMED = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quoted(text: str) -> str:
    """Return a string literal with the quotes that need fewer escapes; double quotes are preferred."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + "".join(f"\\{quote}" if char == quote else _escaped(char) for char in text) + quote


def _escaped(char: str) -> str:
    if char in _NAMED or char.isprintable():
        return _NAMED.get(char, char)
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def _width(text: str) -> int:
    """Return the width of a text as ruff computes it: a wide character has two columns, a combining accent has none."""
    if text.isascii():
        return len(text.removesuffix("\n"))
    return sum(map(_columns, text.removesuffix("\n")))


def _columns(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1
