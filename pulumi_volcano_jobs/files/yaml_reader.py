"""YAML text as plain data: read as kubectl reads it, within bounds, with the place of every value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from pulumi_volcano_jobs.core import bounds, paths
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.files import yaml_scalars

Position = tuple[int, int]

# libyaml's is some ten times faster; a Python built without it has the other.
_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_YAML = "tag:yaml.org,2002:"
# Tags that do not change the value.
_PLAIN_TAGS: dict[type[yaml.Node], frozenset[str]] = {
    yaml.MappingNode: frozenset({"", "!", "map"}),
    yaml.SequenceNode: frozenset({"", "!", "seq"}),
    yaml.ScalarNode: yaml_scalars.TAGS | {"", "!", "merge"},
}

# What YAML's text cannot have, and a byte order mark that is not the first character is none.
_NO_CHARACTER = re.compile("[^\t\n\r -~\u0085\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# JSON's escape of a character beyond Unicode's first plane, which YAML does not know.
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
# A slash that is escaped, as JSON may have it.
_SLASH = re.compile(r"(?<!\\)(?:\\\\)*\\/")
# go-yaml reads a comma after a tag as part of the tag, and drops the value or the entry.
_TAG_WITH_COMMA = re.compile(r"(?:&\S+\s+)?!(?!<)[^\s,\[\]{}]*,")
# Helm's, Jinja's: a line of their own, or a place where a value is to be.
_TEMPLATE_LINE = re.compile(r"\s*(- +)?(\{\{|\{%|\{#)")
_TEMPLATE_VALUE = re.compile(r"\{\{-?\s*(\.(Values|Release|Chart)\b|(include|template|tpl|toYaml)\s)")
_TEMPLATE = Problem(
    "",
    "Invalid",
    "this is a template, as of Helm or Jinja, and no YAML yet",
    "fill it in first: helm template CHART | volcano-jobs validate -",
    stage=RejectionStage.DECODE,
)
_TOO_DEEP = Problem(
    "",
    "Invalid",
    f"this is nested more than {bounds.MOST_LEVELS} levels deep, or an alias stands inside of what it names",
    "write it flatter, without aliases",
    stage=RejectionStage.DECODE,
)
_QUESTION_MARK = "found '?' in plain text inside of brackets"
_HINTS = {
    _QUESTION_MARK: "put the text in quotes",
    "did not find expected <document start>": "put a line of --- between two documents",
    "mapping values are not allowed in this context": "put text with a colon in quotes, or indent the line less",
}


class YamlError(Exception):  # it never leaves the modules that read YAML
    """A document in which nothing can be told but this problem."""

    def __init__(self, problem: Problem) -> None:
        """Take the problem, with its place."""
        super().__init__(problem.reason)
        self.problem = problem


class FileTooLargeError(YamlError):
    """More than is read of any file."""


class _Composer:
    """A composer that builds nodes from the parser's events and counts them.

    PyYAML's own composer rejects an anchor that is defined again, which kubectl accepts. A node has the tag that is
    written in the text. The tag of a plain scalar without one is empty.
    """

    def __init__(self, text: str) -> None:
        """Parse a text."""
        self._text = text
        # Any: the types of PyYAML's events have no fields.
        self._events: Iterator[Any] = yaml.parse(text, Loader=_BaseLoader)
        self._anchors: dict[str, yaml.Node] = {}
        self._values = self._levels = self._flows = 0

    def documents(self) -> Iterator[yaml.Node]:
        """Yield the root node of each document."""
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
                yield self._node(next(self._events), None)

    def _node(self, event: Any, parent: yaml.Node | None) -> yaml.Node:
        if isinstance(event, yaml.AliasEvent):
            return self._alias_target(event)
        self._values += 1
        self._levels += 1
        _check_bounds(self._values, self._levels, parent)
        node = self._collection(event)
        is_flow = bool(getattr(event, "flow_style", False))
        self._flows += is_flow
        if event.anchor:
            # Before its children: Builder rejects an alias inside its own value as too deep.
            self._anchors[event.anchor] = node
        if isinstance(node, yaml.SequenceNode):
            for item in self._until(yaml.SequenceEndEvent):
                node.value.append(self._node(item, node))
        elif isinstance(node, yaml.MappingNode):
            for key in self._until(yaml.MappingEndEvent):
                node.value.append((self._node(key, node), self._node(next(self._events), node)))
        self._levels -= 1
        self._flows -= is_flow
        return node

    def _until(self, end: type[yaml.Event]) -> Iterator[Any]:
        for event in self._events:
            if isinstance(event, end):
                return
            yield event

    def _collection(self, event: Any) -> yaml.Node:
        if event.tag and _TAG_WITH_COMMA.match(self._text, event.start_mark.index):
            raise yaml.MarkedYAMLError(None, None, "found a tag that ends with a comma", event.start_mark)
        marks = (event.start_mark, event.end_mark)
        if isinstance(event, yaml.ScalarEvent):
            self._check_text(event)
            tag = event.tag or ("" if event.implicit[0] else f"{_YAML}str")
            return yaml.ScalarNode(tag, event.value, *marks, style=event.style)
        kind = yaml.SequenceNode if isinstance(event, yaml.SequenceStartEvent) else yaml.MappingNode
        return kind(event.tag or "", [], *marks)

    def _alias_target(self, event: Any) -> yaml.Node:
        if event.anchor not in self._anchors:
            raise yaml.MarkedYAMLError(None, None, f"found undefined alias {event.anchor!r}", event.start_mark)
        return self._anchors[event.anchor]

    def _check_text(self, event: Any) -> None:
        """Reject text that libyaml accepts and kubectl's go-yaml, which is older and reads YAML 1.1, does not."""
        is_plain = event.style in {None, ""}
        if is_plain and self._flows and "?" in event.value:
            raise yaml.MarkedYAMLError(None, None, _QUESTION_MARK, event.start_mark)
        if event.style == '"' and _SLASH.search(self._text, event.start_mark.index, event.end_mark.index):
            raise yaml.MarkedYAMLError(None, None, "found unknown escape character '/'", event.start_mark)


def _check_bounds(values: int, levels: int, node: yaml.Node | None) -> None:
    place = _start(node) if node else (1, 1)
    if values > bounds.MOST_VALUES:
        reason = f"a file has at most {bounds.MOST_VALUES} keys and values, those of aliases counted each time"
        raise FileTooLargeError(
            Problem("", "TooMany", reason, "write several files, or without aliases", stage=RejectionStage.DECODE).at(
                *place
            )
        )
    if levels > bounds.MOST_LEVELS:
        raise YamlError(_TOO_DEEP.at(*place))


@dataclass(eq=False, repr=False)
class ParsedDocument(Sealed):
    """What a node stands for, where each value of it is, and what is wrong with it."""

    data: Any = None
    positions: dict[str, Position] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def load(text: str) -> list[Any]:
    """Read the data of all documents of a text that are not empty.

    Raises:
        Refused: with the first problem.
    """
    builder = DocumentBuilder()
    documents = [builder.build(node) for node in compose(text)]
    for problem in (problem for built in documents for problem in built.problems if not problem.warning):
        raise YamlError(problem)
    return [built.data for built in documents]


def compose(text: str) -> Iterator[yaml.Node]:
    """Yield the nodes of the documents of a text that are not empty.

    Raises:
        Refused: where the text is no YAML, or beyond the bounds.
    """
    match = _NO_CHARACTER.search(text)
    if match:
        line = text.count("\n", 0, match.start()) + 1
        column = match.start() - text.rfind("\n", 0, match.start())
        reason = f"this is no YAML: the character U+{ord(match[0]):04X} cannot stand in it"
        raise YamlError(
            Problem("", "Invalid", reason, "save it as UTF-8 text without it", stage=RejectionStage.DECODE).at(
                line, column
            )
        )
    # Without a byte order mark, the positions of the parser are those in the text.
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith("{"):
        # kubectl reads such a text as JSON.
        text = _SLASH.sub(lambda match: match[0].removesuffix("\\/") + "/", _PAIR.sub(_surrogates_joined, text))
    try:
        for node in _Composer(text).documents():
            if not (isinstance(node, yaml.ScalarNode) and yaml_scalars.is_null(node.tag, node.value)):
                yield node
    except yaml.MarkedYAMLError as error:
        raise YamlError(_syntax_problem(error, text)) from None


def _surrogates_joined(match: re.Match[str]) -> str:
    """Write a character that JSON escapes in two halves as YAML does, in one."""
    high, low = int(match[2], 16), int(match[3], 16)
    return f"{match[1]}\\U{0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF):08X}"


def _syntax_problem(error: yaml.MarkedYAMLError, text: str) -> Problem:
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
        return Problem("", "Invalid", reason, "indent with spaces", stage=RejectionStage.DECODE).at(line, column)
    if str(error.problem).endswith("nesting depth"):
        return _TOO_DEEP.at(line, column)
    message = " ".join(str(part) for part in (error.context, error.problem) if part)
    hint = _HINTS.get(str(error.problem), "")
    return Problem("", "Invalid", f"this is no YAML: {message}", hint, stage=RejectionStage.DECODE).at(line, column)


class DocumentBuilder:
    """Makes plain data of nodes; one for each file, since its bounds are the file's."""

    def __init__(self) -> None:
        """Begin to count."""
        self._values = 0
        self._document = ParsedDocument()

    def build(self, node: yaml.Node) -> ParsedDocument:
        """Make the data of a document: mappings with text for keys, lists, text, numbers, truth values and nulls.

        Raises:
            Refused: if it is a template, or beyond the bounds.
        """
        self._document = ParsedDocument(positions={"": _start(node)})
        self._document.data = self._value(node, "", 1)
        return self._document

    def _value(self, node: yaml.Node, path: str, level: int) -> Any:
        self._values += 1
        _check_bounds(self._values, level, node)
        self._warn_about_tag(node, path)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, level)
        if isinstance(node, yaml.SequenceNode):
            return [
                self._value(item, self._place(path, index, item), level + 1) for index, item in enumerate(node.value)
            ]
        return self._scalar(node, path, is_key=False)

    def _warn_about_tag(self, node: yaml.Node, path: str) -> None:
        if node.tag.removeprefix(_YAML) in _PLAIN_TAGS[type(node)]:
            return
        reason = f"kubectl ignores the tag {_tag(node)}, and reads the value after it as it is written"
        hint = "remove the tag, or run the tool that replaces it before this one"
        self._document.problems.append(Problem(path, "Warning", reason, hint, code="VJ124").at(*_start(node)))

    def _scalar(self, node: yaml.Node, path: str, *, is_key: bool) -> Any:
        try:
            value = yaml_scalars.resolve(node.tag, node.value)
            value = value if is_key else yaml_scalars.as_value(value)
        except ValueError as error:
            self._report(path, node, str(error), "write the plain value")
            return None
        if isinstance(value, str) and _TEMPLATE_VALUE.search(value):
            raise YamlError(_TEMPLATE.at(*_start(node)))
        return value

    def _mapping(self, node: yaml.MappingNode, path: str, level: int) -> dict[str, Any]:
        """Build a mapping as kubectl does: `<<` inserts its keys at its place and overrides the keys before it."""
        result: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key, value in node.value:
            if _is_merge(key):
                merged = self._merged(value, path, level)
                changed = sorted(
                    name for name in lines.keys() & merged.keys() if not _are_equal(merged[name], result[name])
                )
                self._document.problems += [
                    _overridden_key(paths.join(path, overridden), lines[overridden]).at(*_start(key))
                    for overridden in changed
                ]
                result |= merged
                continue
            name = self._key(key, node, path)
            if name is None:
                continue
            place = self._place(path, name, key)
            entry = self._value(value, place, level + 1)
            if name in lines:
                self._document.problems.append(_duplicate_key(place, result[name], entry, lines[name]).at(*_start(key)))
            result[name] = entry
            lines[name] = _start(value)[0]
        return result

    def _merged(self, node: yaml.Node, path: str, level: int) -> dict[str, Any]:
        """Return the keys that `<<` inserts: of several mappings, the first one takes precedence."""
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, Any] = {}
        for source in sources:
            if isinstance(source, yaml.MappingNode):
                self._values += 1
                _check_bounds(self._values, level + 1, source)
                merged = self._mapping(source, path, level + 1) | merged
            else:
                self._report(path, source, "<< takes a mapping, or a list of them", "write an alias such as *base")
        return merged

    def _key(self, node: yaml.Node, parent: yaml.Node, path: str) -> str | None:
        """Return a key as kubectl reads it: numbers and booleans become text."""
        if not isinstance(node, yaml.ScalarNode):
            for inner, outer in ((node, parent), (_first_key(node), node)):
                # {{ .Values.name }} is a mapping that has a mapping for its key.
                if isinstance(inner, yaml.MappingNode) and inner.start_mark.index == outer.start_mark.index + 1:
                    raise YamlError(_TEMPLATE.at(*_start(outer)))
            self._report(f"{path}.?", node, "a list or a mapping cannot be a key", "write text before the colon")
            return None
        self._warn_about_tag(node, path)
        if yaml_scalars.is_null(node.tag, node.value):
            self._report(
                f"{path}.null", node, "a null cannot be a key", "write text before the colon, or put it in quotes"
            )
            return None
        key = self._scalar(node, path, is_key=True)
        if key is None:
            return None
        if isinstance(key, int) and key > yaml_scalars.MAX_INT64:
            self._report(path, node, "a number beyond 63 bits cannot be a key", "put it in quotes")
            return None
        return yaml_scalars.as_key(key)

    def _place(self, path: str, key: str | int, node: yaml.Node) -> str:
        """Spell the place of what stands in another, and note its line and column."""
        place = paths.join(path, key) if len(path) <= paths.LONGEST_SHOWN else path
        self._document.positions[place] = _start(node)
        return place

    def _report(self, path: str, node: yaml.Node, reason: str, hint: str) -> None:
        self._document.problems.append(
            Problem(path, "Invalid", reason, hint, stage=RejectionStage.DECODE).at(*_start(node))
        )


def _first_key(node: yaml.Node) -> yaml.Node | None:
    return node.value[0][0] if isinstance(node, yaml.MappingNode) and node.value else None


def _start(node: yaml.Node) -> Position:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _tag(node: yaml.Node) -> str:
    return node.tag.replace(_YAML, "!!")


def _is_merge(key: yaml.Node) -> bool:
    # A quoted "<<" is an ordinary key.
    return isinstance(key, yaml.ScalarNode) and key.value == "<<" and key.tag in {"", "!", f"{_YAML}merge"}


def _are_equal(value: Any, other: Any) -> bool:
    # As JSON: to Python 1, 1.0 and True are equal.
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)


def _overridden_key(path: str, line: int) -> Problem:
    reason = f"kubectl overrides the value in line {line} with the one from <<"
    return Problem(path, "Warning", reason, "move << before the mapping's own keys", code="VJ125")


def _duplicate_key(path: str, first: Any, second: Any, line: int) -> Problem:
    if _are_equal(first, second):
        return Problem(
            path, "Warning", f"this stands twice, with one value (first in line {line})", "remove one", code="VJ115"
        )
    return Problem(
        path, "Duplicate", f"this stands twice, with two values (first in line {line})", "keep the one that is meant"
    )
