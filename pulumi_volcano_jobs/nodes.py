"""YAML text as plain data: read as kubectl reads it, within bounds, with the place of every value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import yaml

from pulumi_volcano_jobs import paths
from pulumi_volcano_jobs.bounds import MOST_LEVELS, MOST_VALUES
from pulumi_volcano_jobs.errors import Problem, Stage

Position = tuple[int, int]

_LONGEST_PATH = 400  # what stands below a longer one is placed at what is around it

# libyaml's is some ten times faster; a Python built without it has the other.
_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# What a plain scalar is to kubectl (go-yaml). PyYAML takes 2026-01-01 for a date and 8080:22 for a number: text to
# kubectl; and y, 1e3 and 0o17 for text: none to kubectl.
PLAIN = {
    "null": r"~|null|Null|NULL|",
    "bool": r"y|Y|yes|Yes|YES|on|On|ON|true|True|TRUE|n|N|no|No|NO|off|Off|OFF|false|False|FALSE",
    "int": r"[-+]?(0x[0-9a-fA-F_]+|0b[01_]+|0o?[0-7_]+|0|[1-9][0-9_]*)",
    "float": r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
    "merge": r"<<",
}
_YAML = "tag:yaml.org,2002:"
_TRUE = frozenset({"y", "yes", "on", "true"})
_PREFIXES = {"0x": 16, "0b": 2, "0o": 8}
_MOST_DIGITS = 4000  # Python refuses to read much longer numbers, since it would take long

# What YAML's text cannot have, and a byte order mark that is not the first character is none.
_NO_CHARACTER = re.compile("[^\t\n\r -~\u0085\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# JSON's escape of a character beyond Unicode's first plane, which YAML does not know.
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
# Helm's, Jinja's: a line of their own, or a place where a value is to be.
_TEMPLATE_LINE = re.compile(r"\s*(- +)?(\{\{|\{%|\{#)")
_TEMPLATE_VALUE = re.compile(r"\{\{-?\s*(\.(Values|Release|Chart)\b|(include|template|tpl|toYaml)\s)")
_TEMPLATE = Problem(
    "",
    "this is a template, as of Helm or Jinja, and no YAML yet",
    "fill it in first: helm template CHART | volcano-jobs validate -",
    stage=Stage.DECODE,
)
_TOO_DEEP = Problem(
    "",
    f"this is nested more than {MOST_LEVELS} levels deep, or an alias stands inside of what it names",
    "write it flatter, without aliases",
    stage=Stage.DECODE,
)
_HINTS = {
    "did not find expected <document start>": "put a line of --- between two documents",
    "mapping values are not allowed in this context": "put text with a colon in quotes, or indent the line less",
}


class Refused(Exception):  # noqa: N818  # it never leaves the modules that read YAML
    """A document in which nothing can be told but this problem."""

    def __init__(self, problem: Problem) -> None:
        """Take the problem, with its place."""
        super().__init__(problem.reason)
        self.problem = problem


class TooLarge(Refused):
    """More than is read of any file."""


class _Loader(_BaseLoader):  # type: ignore[misc]  # its base is chosen when the module is loaded
    """Composes nodes, and counts them while it does."""

    yaml_implicit_resolvers: ClassVar[dict[str | None, Any]] = {
        None: [(f"{_YAML}{tag}", re.compile(f"(?:{pattern})\\Z")) for tag, pattern in PLAIN.items()],
    }
    values = levels = 0

    def descend_resolver(self, parent: yaml.Node | None, _index: Any) -> None:
        """Count a node; called before each is composed."""
        self.values += 1
        self.levels += 1
        _check_bounds(self.values, self.levels, parent)

    def ascend_resolver(self) -> None:
        """Leave a node."""
        self.levels -= 1


def _check_bounds(values: int, levels: int, node: yaml.Node | None) -> None:
    place = _start(node) if node else (1, 1)
    if values > MOST_VALUES:
        reason = f"a file has at most {MOST_VALUES} keys and values, those of aliases counted each time"
        raise TooLarge(Problem("", reason, "write several files, or without aliases", stage=Stage.DECODE).at(*place))
    if levels > MOST_LEVELS:
        raise Refused(_TOO_DEEP.at(*place))


@dataclass
class Built:
    """What a node stands for, where each value of it is, and what is wrong with it."""

    data: Any = None
    positions: dict[str, Position] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def load(text: str) -> list[Any]:
    """Read the data of all documents of a text that are not empty.

    Raises:
        Refused: with the first problem.
    """
    builder = Builder()
    documents = [builder.build(node) for node in compose(text)]
    for problem in (problem for built in documents for problem in built.problems if not problem.warning):
        raise Refused(problem)
    return [built.data for built in documents]


def compose(text: str) -> Iterator[yaml.Node]:
    """Yield the nodes of the documents of a text that are not empty.

    Raises:
        Refused: where the text is no YAML, or beyond the bounds.
    """
    found = _NO_CHARACTER.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        reason = f"this is no YAML: the character U+{ord(found[0]):04X} cannot stand in it"
        raise Refused(Problem("", reason, "save it as UTF-8 text without it", stage=Stage.DECODE).at(line, column))
    if text.lstrip().startswith("{"):
        text = _PAIR.sub(_joined, text)
    try:
        for node in yaml.compose_all(text, Loader=_Loader):
            if not (isinstance(node, yaml.ScalarNode) and node.tag == f"{_YAML}null"):
                yield node
    except yaml.MarkedYAMLError as error:
        raise Refused(_syntax(error, text)) from None


def _joined(match: re.Match[str]) -> str:
    """Write a character that JSON escapes in two halves as YAML does, in one."""
    high, low = int(match[2], 16), int(match[3], 16)
    return f"{match[1]}\\U{0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF):08X}"


def _syntax(error: yaml.MarkedYAMLError, text: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    lines = text.split("\n")[:line]
    last = lines[-1]
    if "{{" in last or "{%" in last:
        return _TEMPLATE.at(line, column)
    for number, earlier in enumerate(lines, 1):
        if _TEMPLATE_LINE.match(earlier):
            return _TEMPLATE.at(number, 1)
    if "\t" in last[: len(last) - len(last.lstrip())]:
        reason = "this is no YAML: a tab indents this line"
        return Problem("", reason, "indent with spaces", stage=Stage.DECODE).at(line, column)
    if str(error.problem).endswith("nesting depth"):
        return _TOO_DEEP.at(line, column)
    message = " ".join(str(part) for part in (error.context, error.problem) if part)
    hint = _HINTS.get(str(error.problem), "")
    return Problem("", f"this is no YAML: {message}", hint, stage=Stage.DECODE).at(line, column)


class Builder:
    """Makes plain data of nodes; one for each file, since its bounds are the file's."""

    def __init__(self) -> None:
        """Begin to count."""
        self._values = 0
        self._built = Built()

    def build(self, node: yaml.Node) -> Built:
        """Make the data of a document: mappings with text for keys, lists, text, numbers, truth values and nulls.

        Raises:
            Refused: if it is a template, or beyond the bounds.
        """
        self._built = Built(positions={"": _start(node)})
        self._built.data = self._make(node, "", 1)
        return self._built

    def _make(self, node: yaml.Node, path: str, level: int) -> Any:
        self._values += 1
        _check_bounds(self._values, level, node)
        kind = node.tag.removeprefix(_YAML)
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return self._mapping(node, path, level)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [
                self._make(item, self._place(path, index, item), level + 1) for index, item in enumerate(node.value)
            ]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, kind, path)
        return self._tell(path, node, f"the tag {_tag(node)} does not fit here", "write the plain value")

    def _scalar(self, node: yaml.ScalarNode, kind: str, path: str) -> Any:
        if kind in {"str", "merge"}:
            if _TEMPLATE_VALUE.search(node.value):
                raise Refused(_TEMPLATE.at(*_start(node)))
            return node.value
        if kind not in PLAIN:
            return self._tell(path, node, f"the tag {_tag(node)} is not known here", "write the plain value")
        if not re.fullmatch(PLAIN[kind], node.value):
            return self._tell(path, node, f"this does not fit its tag {_tag(node)}", "write the plain value")
        try:
            return _plain(kind, node.value)
        except ValueError:
            return self._tell(
                path, node, "this is no number that can be read", "write fewer digits, or put it in quotes"
            )

    def _mapping(self, node: yaml.MappingNode, path: str, level: int) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key, value in node.value:
            if key.tag == f"{_YAML}merge":
                merged = self._merged(value, path, level) | merged
                continue
            name = self._key(key, node, path)
            if name is None:
                continue
            place = self._place(path, name, key)
            made = self._make(value, place, level + 1)
            if name in own:
                self._built.problems.append(_twice(place, own[name], made, lines[name]).at(*_start(key)))
            own[name] = made
            lines[name] = _start(value)[0]
        return merged | own

    def _merged(self, node: yaml.Node, path: str, level: int) -> dict[str, Any]:
        """Give what a merge key fills in: of several mappings, the first that has a key."""
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, Any] = {}
        for source in sources:
            if isinstance(source, yaml.MappingNode):
                self._values += 1
                _check_bounds(self._values, level + 1, source)
                merged = self._mapping(source, path, level + 1) | merged
            else:
                self._tell(path, source, "<< takes a mapping, or a list of them", "write an alias such as *base")
        return merged

    def _key(self, node: yaml.Node, parent: yaml.Node, path: str) -> str | None:
        """Spell a key as kubectl does: what is no text becomes some."""
        if not isinstance(node, yaml.ScalarNode):
            for inner, outer in ((node, parent), (_first_key(node), node)):
                # {{ .Values.name }} is a mapping that has a mapping for its key.
                if isinstance(inner, yaml.MappingNode) and inner.start_mark.index == outer.start_mark.index + 1:
                    raise Refused(_TEMPLATE.at(*_start(outer)))
            self._tell(f"{path}.?", node, "a list or a mapping cannot be a key", "write text before the colon")
            return None
        key = self._scalar(node, node.tag.removeprefix(_YAML), path)
        if key is None:
            self._tell(
                f"{path}.null", node, "a null cannot be a key", "write text before the colon, or put it in quotes"
            )
        return key if key is None or isinstance(key, str) else json.dumps(key)

    def _place(self, path: str, key: str | int, node: yaml.Node) -> str:
        """Spell the place of what stands in another, and note its line and column."""
        place = paths.join(path, key) if len(path) <= _LONGEST_PATH else path
        self._built.positions[place] = _start(node)
        return place

    def _tell(self, path: str, node: yaml.Node, reason: str, hint: str) -> None:
        self._built.problems.append(Problem(path, reason, hint, stage=Stage.DECODE).at(*_start(node)))


def _first_key(node: yaml.Node) -> yaml.Node | None:
    return node.value[0][0] if isinstance(node, yaml.MappingNode) and node.value else None


def _start(node: yaml.Node) -> Position:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _tag(node: yaml.Node) -> str:
    return node.tag.replace(_YAML, "!!")


def _plain(kind: str, text: str) -> Any:
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in _TRUE
    text = text.replace("_", "")
    if kind == "float":
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    sign, digits = (-1 if text.startswith("-") else 1), text.lstrip("+-")
    if len(digits) > _MOST_DIGITS:
        raise ValueError(kind)
    if digits[:2] in _PREFIXES:
        return sign * int(digits[2:], _PREFIXES[digits[:2]])
    return sign * int(digits, 8 if digits.startswith("0") else 10)


def _twice(path: str, first: Any, second: Any, line: int) -> Problem:
    if json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True):
        return Problem(
            path, f"this stands twice, with one value (first in line {line})", "remove one", warning=True, code="VJ115"
        )
    return Problem(path, f"this stands twice, with two values (first in line {line})", "keep the one that is meant")
