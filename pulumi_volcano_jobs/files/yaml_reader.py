"""Read YAML text as kubectl does, with limits on its size, and with the line and column of every value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from pulumi_volcano_jobs.core import bounds, paths
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.core.integers import MAX_INT64
from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.files import yaml_scalars
from pulumi_volcano_jobs.spec import placeholders

Position = tuple[int, int]

# The loader of libyaml is about ten times faster. PyYAML may be built without libyaml.
_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_YAML = "tag:yaml.org,2002:"
# Tags that do not change the value.
_PLAIN_TAGS: dict[type[yaml.Node], frozenset[str]] = {
    yaml.MappingNode: frozenset({"", "!", "map"}),
    yaml.SequenceNode: frozenset({"", "!", "seq"}),
    yaml.ScalarNode: yaml_scalars.TAGS | {"", "!", "merge"},
}

# Characters that YAML does not allow, and byte order marks, which are allowed only as the first character.
_NO_CHARACTER = re.compile("[^\t\n\r -~\u0085\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A surrogate pair: the JSON escape of a character above U+FFFF, which YAML does not support.
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
# An escaped slash, which JSON allows.
_SLASH = re.compile(r"(?<!\\)(?:\\\\)*\\/")
# go-yaml reads a comma after a tag as a part of the tag, and drops the value or the entry.
_TAG_WITH_COMMA = re.compile(r"(?:&\S+\s+)?!(?!<)[^\s,\[\]{}]*,")
# Template syntax of Helm or Jinja: a separate line, or a placeholder for a value.
_TEMPLATE_LINE = re.compile(r"\s*(- +)?(\{\{|\{%|\{#)")
_TEMPLATE_VALUE = re.compile(r"\{\{-?\s*(\.(Values|Release|Chart)\b|(include|template|tpl|toYaml)\s)")
_TEMPLATE = Problem(
    "",
    "Invalid",
    "must be YAML, not a template of Helm or Jinja",
    "render the template first: helm template CHART | volcano-jobs validate -",
    stage=RejectionStage.DECODE,
)
_UNFILLED = Problem(
    "",
    "Invalid",
    "must be YAML, not a template with placeholders",
    "fill in the template first, for example with envsubst, or put the value in quotes",
    stage=RejectionStage.DECODE,
)
# Directives of ytt, which are comments in YAML: on a line of their own, or instead of a value.
_YTT = re.compile(
    r"^[ \t]*#@(/|[ \t]*(load|def|if|elif|else|for|while|end|data|overlay|library)\b)|[:-][ \t]+#@[ \t]", re.MULTILINE
)
_YTT_TEMPLATE = Problem(
    "",
    "Invalid",
    "must be YAML, not a template of ytt",
    "render the template first: ytt -f FILE | volcano-jobs validate -",
    stage=RejectionStage.DECODE,
)
_TOO_DEEP = Problem(
    "",
    "Invalid",
    f"may not be nested more than {bounds.MOST_LEVELS} levels deep, and may not have recursive aliases",
    "reduce the nesting, and remove aliases",
    stage=RejectionStage.DECODE,
)
_TOO_MANY = Problem(
    "",
    "TooMany",
    f"must have at most {bounds.MOST_VALUES} keys and values, including those of each alias",
    "split the file, or write it without aliases",
    stage=RejectionStage.DECODE,
)
_QUESTION_MARK = "found '?' in a plain scalar inside brackets"
_HINTS = {
    _QUESTION_MARK: "put the text in quotes",
    "did not find expected <document start>": "separate the documents with a line of ---",
    "mapping values are not allowed in this context": "put text with a colon in quotes, or indent the line less",
}


class YamlError(Exception):  # internal to the modules that read YAML
    """A problem that ends the reading of a document."""

    def __init__(self, problem: Problem) -> None:
        """Store the problem, which has its line and column."""
        super().__init__(problem.reason)
        self.problem = problem


class FileTooLargeError(YamlError):
    """A file with more keys and values than the limit."""


class _NodeComposer:
    """Composer that builds nodes from the parser's events and counts them.

    PyYAML's own composer rejects an anchor that is defined again; kubectl accepts it. Each node has the tag that is
    written in the text. A plain scalar without a tag has an empty tag.
    """

    def __init__(self, text: str) -> None:
        """Create a composer of a text."""
        self._text = text
        # Any: the types of PyYAML's events have no fields.
        self._events: Iterator[Any] = yaml.parse(text, Loader=_BaseLoader)
        self._anchors: dict[str, yaml.Node] = {}
        # The number of values of each complete node that has an anchor, with those of its aliases.
        self._sizes: dict[yaml.Node, int] = {}
        self._values = self._levels = self._flows = 0

    def documents(self) -> Iterator[yaml.Node]:
        """Yield the root node of each document."""
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors, self._sizes = {}, {}
                yield self._node(next(self._events), None)

    def _node(self, event: Any, parent: yaml.Node | None) -> yaml.Node:
        if isinstance(event, yaml.AliasEvent):
            return self._alias_target(event, parent)
        before = self._values
        self._levels += 1
        _check_levels(self._levels, parent)
        self._add(1, parent)
        node = self._collection(event)
        is_flow = bool(getattr(event, "flow_style", False))
        self._flows += is_flow
        if event.anchor:
            self._anchors[event.anchor] = node
        if isinstance(node, yaml.SequenceNode):
            for item in self._until(yaml.SequenceEndEvent):
                node.value.append(self._node(item, node))
        elif isinstance(node, yaml.MappingNode):
            for key in self._until(yaml.MappingEndEvent):
                node.value.append((self._node(key, node), self._node(next(self._events), node)))
        self._levels -= 1
        self._flows -= is_flow
        if event.anchor:
            self._sizes[node] = self._values - before
        return node

    def _add(self, values: int, parent: yaml.Node | None) -> None:
        self._values += values
        if self._values > bounds.MOST_VALUES:
            raise FileTooLargeError(_TOO_MANY.at(*_start(parent)))

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

    def _alias_target(self, event: Any, parent: yaml.Node | None) -> yaml.Node:
        if event.anchor not in self._anchors:
            raise yaml.MarkedYAMLError(None, None, f"found undefined alias {event.anchor!r}", event.start_mark)
        node = self._anchors[event.anchor]
        if node not in self._sizes:
            # The alias is inside its own value.
            raise YamlError(_TOO_DEEP.at(*_start(event)))
        # A few lines of aliases can stand for more values than fit in memory.
        self._add(self._sizes[node], parent)
        return node

    def _check_text(self, event: Any) -> None:
        """Reject text that libyaml accepts, but not kubectl's go-yaml, which implements YAML 1.1."""
        is_plain = event.style in {None, ""}
        if is_plain and self._flows and "?" in event.value:
            raise yaml.MarkedYAMLError(None, None, _QUESTION_MARK, event.start_mark)
        if event.style == '"' and _SLASH.search(self._text, event.start_mark.index, event.end_mark.index):
            raise yaml.MarkedYAMLError(None, None, "found unknown escape character '/'", event.start_mark)


def _check_levels(levels: int, node: yaml.Node | None) -> None:
    if levels > bounds.MOST_LEVELS:
        raise YamlError(_TOO_DEEP.at(*_start(node)))


@dataclass(eq=False, repr=False)
class ParsedDocument(Sealed):
    """The data of a node, the position of each value, and the problems."""

    data: Any = None
    positions: dict[str, Position] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def load(text: str) -> list[Any]:
    """Return the data of all documents of a text, without empty ones.

    Raises:
        YamlError: if there is a problem that is not a warning; the first one.
    """
    documents = [DocumentBuilder(node).build() for node in compose(text)]
    for problem in (problem for built in documents for problem in built.problems if not problem.warning):
        raise YamlError(problem)
    return [built.data for built in documents]


def compose(text: str) -> Iterator[yaml.Node]:
    """Yield the root nodes of all documents of a text, without empty ones.

    Raises:
        YamlError: if the text is not YAML, or exceeds a limit.
    """
    match = _NO_CHARACTER.search(text)
    if match:
        line = text.count("\n", 0, match.start()) + 1
        column = match.start() - text.rfind("\n", 0, match.start())
        reason = f"must be valid YAML: the character U+{ord(match[0]):04X} is not allowed"
        raise YamlError(
            Problem(
                "", "Invalid", reason, "remove the character, and save the file as UTF-8", stage=RejectionStage.DECODE
            ).at(line, column)
        )
    if match := _YTT.search(text):
        raise YamlError(_YTT_TEMPLATE.at(text.count("\n", 0, match.start()) + 1, 1))
    # After the byte order mark is removed, the parser's positions are positions in the text.
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith("{"):
        # kubectl reads a text that starts with a brace as JSON.
        text = _SLASH.sub(lambda match: match[0].removesuffix("\\/") + "/", _PAIR.sub(_surrogates_joined, text))
    try:
        for node in _NodeComposer(text).documents():
            if not (isinstance(node, yaml.ScalarNode) and yaml_scalars.is_null(node.tag, node.value)):
                yield node
    except yaml.MarkedYAMLError as error:
        raise YamlError(_syntax_problem(error, text)) from None


def _surrogates_joined(match: re.Match[str]) -> str:
    """Replace a surrogate pair by the YAML escape of the same character."""
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
        reason = "must be valid YAML: the line is indented with a tab"
        return Problem("", "Invalid", reason, "indent with spaces", stage=RejectionStage.DECODE).at(line, column)
    if str(error.problem).endswith("nesting depth"):
        return _TOO_DEEP.at(line, column)
    if placeholders.in_text(last):
        return _UNFILLED.at(line, column)
    message = " ".join(str(part) for part in (error.context, error.problem) if part)
    hint = _HINTS.get(str(error.problem), "")
    return Problem("", "Invalid", f"must be valid YAML: {message}", hint, stage=RejectionStage.DECODE).at(line, column)


class DocumentBuilder:
    """Builder of plain data from the root node of a document."""

    def __init__(self, root: yaml.Node) -> None:
        """Create a builder of one document."""
        self._root = root
        self._document = ParsedDocument(positions={"": _start(root)})

    def build(self) -> ParsedDocument:
        """Return the data of a document: mappings with string keys, lists, strings, numbers, booleans and nulls.

        Raises:
            YamlError: if the document is a template, or exceeds a limit.
        """
        self._document.data = self._value(self._root, "", 1)
        return self._document

    def _value(self, node: yaml.Node, path: str, level: int) -> Any:
        _check_levels(level, node)
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
        reason = f"kubectl ignores the tag {_tag(node)} and reads the value as written"
        hint = "remove the tag, or first run the tool that replaces it"
        self._document.problems.append(Problem(path, "Warning", reason, hint, code="VJ124").at(*_start(node)))

    def _scalar(self, node: yaml.Node, path: str, *, is_key: bool) -> Any:
        try:
            value = yaml_scalars.resolve(node.tag, node.value)
            value = value if is_key else yaml_scalars.as_value(value)
        except ValueError as error:
            self._report(path, node, str(error), "write a plain value")
            return None
        if isinstance(value, str) and _TEMPLATE_VALUE.search(value):
            raise YamlError(_TEMPLATE.at(*_start(node)))
        return value

    def _mapping(self, node: yaml.MappingNode, path: str, level: int) -> dict[str, Any]:
        """Build a mapping as kubectl does: `<<` overrides the keys before it, and the keys after it override `<<`."""
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
        """Return the keys that `<<` merges. The first of several mappings takes precedence."""
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, Any] = {}
        for source in sources:
            if isinstance(source, yaml.MappingNode):
                _check_levels(level + 1, source)
                merged = self._mapping(source, path, level + 1) | merged
            else:
                self._report(path, source, "<< must be a mapping or a list of mappings", "write an alias such as *base")
        return merged

    def _key(self, node: yaml.Node, parent: yaml.Node, path: str) -> str | None:
        """Return a key as kubectl reads it: numbers and booleans become strings."""
        if not isinstance(node, yaml.ScalarNode):
            for inner, outer in ((node, parent), (_first_key(node), node)):
                # YAML reads {{ .Values.name }} as a mapping whose key is a mapping.
                if isinstance(inner, yaml.MappingNode) and inner.start_mark.index == outer.start_mark.index + 1:
                    raise YamlError(_TEMPLATE.at(*_start(outer)))
            self._report(
                f"{path}.?", node, "keys must be strings, not lists or mappings", "write a string before the colon"
            )
            return None
        self._warn_about_tag(node, path)
        if yaml_scalars.is_null(node.tag, node.value):
            self._report(
                f"{path}.null",
                node,
                "keys must not be null",
                "write a string before the colon, or put the key in quotes",
            )
            return None
        key = self._scalar(node, path, is_key=True)
        if key is None:
            return None
        if isinstance(key, int) and key > MAX_INT64:
            self._report(path, node, "numeric keys must fit in 63 bits", "put the key in quotes")
            return None
        return yaml_scalars.as_key(key)

    def _place(self, path: str, key: str | int, node: yaml.Node) -> str:
        """Return the path of a key or an index, and store the line and column of its node."""
        place = paths.join(path, key) if len(path) <= paths.LONGEST_SHOWN else path
        self._document.positions[place] = _start(node)
        return place

    def _report(self, path: str, node: yaml.Node, reason: str, hint: str) -> None:
        self._document.problems.append(
            Problem(path, "Invalid", reason, hint, stage=RejectionStage.DECODE).at(*_start(node))
        )


def _first_key(node: yaml.Node) -> yaml.Node | None:
    return node.value[0][0] if isinstance(node, yaml.MappingNode) and node.value else None


def _start(node: yaml.Node | None) -> Position:
    """Return the position of a node, or the beginning of the text for the parent of a root node."""
    return (node.start_mark.line + 1, node.start_mark.column + 1) if node else (1, 1)


def _tag(node: yaml.Node) -> str:
    return node.tag.replace(_YAML, "!!")


def _is_merge(key: yaml.Node) -> bool:
    # A quoted "<<" is an ordinary key.
    return isinstance(key, yaml.ScalarNode) and key.value == "<<" and key.tag in {"", "!", f"{_YAML}merge"}


def _are_equal(value: Any, other: Any) -> bool:
    # Compare as JSON, because 1, 1.0 and True are equal in Python.
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)


def _overridden_key(path: str, line: int) -> Problem:
    reason = f"<< overrides the value in line {line}"
    return Problem(path, "Warning", reason, "move << before the mapping's own keys", code="VJ125")


def _duplicate_key(path: str, first: Any, second: Any, line: int) -> Problem:
    if _are_equal(first, second):
        return Problem(
            path, "Warning", f"the key already has this value in line {line}", "remove one of the two", code="VJ115"
        )
    return Problem(path, "Duplicate", f"the key has another value in line {line}", "remove one of the two")
