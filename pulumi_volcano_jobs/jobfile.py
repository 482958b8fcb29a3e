"""Job files: YAML in, with the line of every value for problems; manifests out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import yaml

from pulumi_volcano_jobs import paths
from pulumi_volcano_jobs.errors import JobError, Problem, Stage, raise_if_any
from pulumi_volcano_jobs.manifest import Manifest
from pulumi_volcano_jobs.model import Job
from pulumi_volcano_jobs.parse import parse_job

Position = tuple[int, int]

# libyaml's are some ten times faster; a Python built without them has the others.
_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BaseDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

# What a plain scalar is to kubectl (go-yaml). PyYAML takes 2026-01-01 for a date and 8080:22 for a number: text to
# kubectl; and y, 1e3 and 0o17 for text: none to kubectl.
_PLAIN = {
    "null": r"~|null|Null|NULL|",
    "bool": r"y|Y|yes|Yes|YES|on|On|ON|true|True|TRUE|n|N|no|No|NO|off|Off|OFF|false|False|FALSE",
    "int": r"[-+]?(0x[0-9a-fA-F_]+|0b[01_]+|0o?[0-7_]+|0|[1-9][0-9_]*)",
    "float": r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
    "merge": r"<<",
}
_NO_TEXT = re.compile("|".join(_PLAIN.values()), re.IGNORECASE)
# What JSON's escapes are for: control characters, other systems' line breaks, byte order marks, what is no character.
_ESCAPED = re.compile("[^\n -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_MOST_PLACES = 500_000  # in a document; a Job that the API server takes has far less, but aliases multiply


class _Loader(_BaseLoader):  # type: ignore[misc]  # its base is chosen when the module is loaded
    yaml_implicit_resolvers: ClassVar[dict[str | None, Any]] = {
        None: [(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})\\Z")) for tag, pattern in _PLAIN.items()],
    }


class _Constructor(yaml.SafeLoader):
    bool_values: ClassVar[dict[str, bool]] = yaml.SafeLoader.bool_values | {"y": True, "n": False}


@dataclass(frozen=True)
class Document:
    """One YAML document of a file: its data, and the line and column of each place in it (counted from 1)."""

    source: str
    data: dict[str, Any]
    positions: Mapping[str, Position] = field(repr=False)
    problems: tuple[Problem, ...] = ()
    """What YAML itself lets pass: keys that stand twice."""

    def job(self) -> Job:
        """Build the job.

        Raises:
            JobError: with the place of each problem.
        """
        try:
            raise_if_any(self.problems)
            return parse_job(self.data)
        except JobError as error:
            found = [*error.problems, *self.problems]
        raise JobError(self.placed(found))

    def placed(self, problems: Iterable[Problem]) -> list[Problem]:
        """Give problems their line and column: the value's, or that of the nearest thing around it."""
        return [problem if problem.line else problem.at(*self._position(problem.path)) for problem in problems]

    def _position(self, path: str) -> Position:
        while path and path not in self.positions:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.positions.get(path, (1, 1))


def load_jobs(source: str | Path) -> list[Job]:
    """Read the Volcano Jobs of a file (a Path, or a str without a line break) or of YAML text.

    Raises:
        JobError: if the text is no YAML, a document is no Volcano Job, or a job is malformed.
        OSError: if the file cannot be read.
    """
    is_text = isinstance(source, str) and "\n" in source
    text = str(source) if is_text else Path(source).read_text("utf-8")
    return [document.job() for document in read(text, "" if is_text else str(source))]


def read(text: str, source: str = "") -> list[Document]:
    """Read all documents of YAML text; empty ones are skipped.

    Raises:
        JobError: if the text is no YAML, or holds no document, or one that is no mapping.
    """
    try:
        nodes = [node for node in yaml.compose_all(text, Loader=_Loader) if not _is_null(node)]
        documents = [_document(node, source) for node in nodes]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        message = " ".join(str(part) for part in (error.context, error.problem) if part)
        raise JobError([Problem("", f"this is no YAML: {message}", stage=Stage.DECODE).at(*place)]) from None
    except yaml.YAMLError as error:
        raise JobError(
            [Problem("", f"this is no YAML: {' '.join(str(error).split())}", stage=Stage.DECODE).at(1, 1)]
        ) from None
    except RecursionError:
        reason = "this is nested too deeply, or an alias stands inside of what it names"
        raise JobError([Problem("", reason, "write it without aliases", stage=Stage.DECODE).at(1, 1)]) from None
    if not documents:
        raise JobError([Problem("", "there is no document in it", "write a Volcano Job", stage=Stage.DECODE).at(1, 1)])
    return documents


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _document(node: yaml.Node, source: str) -> Document:
    place = node.start_mark.line + 1, node.start_mark.column + 1
    if not isinstance(node, yaml.MappingNode):
        raise JobError([Problem("", "a document must be a mapping", "write a Job", stage=Stage.DECODE).at(*place)])
    positions: dict[str, Position] = {"": place}
    problems = list(_walk(node, "", positions))
    return Document(source, _construct(node), positions, tuple(problems))


def _construct(node: yaml.Node) -> Any:
    loader = _Constructor("")
    try:
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or node.start_mark
        problem = Problem("", f"{error.problem}", "use plain values", stage=Stage.DECODE)
        raise JobError([problem.at(mark.line + 1, mark.column + 1)]) from None
    except ValueError as error:  # a tag such as !!int before what is none
        mark = node.start_mark
        problem = Problem("", f"a value does not fit its tag: {error}", "use plain values", stage=Stage.DECODE)
        raise JobError([problem.at(mark.line + 1, mark.column + 1)]) from None
    finally:
        loader.dispose()


def _walk(node: yaml.Node, path: str, positions: dict[str, Position]) -> Iterator[Problem]:
    """Note where each value stands (a mapping's value at its key), and yield the keys that stand twice."""
    if len(positions) > _MOST_PLACES:
        reason = f"a document has at most {_MOST_PLACES} values, those of aliases counted each time"
        raise JobError([Problem("", reason, "write fewer, or without aliases", stage=Stage.DECODE).at(1, 1)])
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            place = paths.join(path, index)
            positions[place] = item.start_mark.line + 1, item.start_mark.column + 1
            yield from _walk(item, place, positions)
    elif isinstance(node, yaml.MappingNode):
        seen: dict[str, yaml.Node] = {}
        for key, value in node.value:
            place = paths.join(path, str(key.value))
            positions[place] = key.start_mark.line + 1, key.start_mark.column + 1
            if str(key.value) in seen:
                yield _twice(place, seen[str(key.value)], value).at(*positions[place])
            seen[str(key.value)] = value
            yield from _walk(value, place, positions)


def _twice(path: str, first: yaml.Node, second: yaml.Node) -> Problem:
    line = first.start_mark.line + 1
    if _meaning(first) == _meaning(second):
        return Problem(
            path, f"this stands twice, with one value (first in line {line})", "remove one", warning=True, code="VJ115"
        )
    return Problem(path, f"this stands twice, with two values (first in line {line})", "keep the one that is meant")


def _meaning(node: yaml.Node) -> Any:
    """Reduce a node to what it says: how it is quoted or laid out, and the order of keys, do not count."""
    if isinstance(node, yaml.MappingNode):
        return node.tag, sorted(((_meaning(key), _meaning(value)) for key, value in node.value), key=repr)
    if isinstance(node, yaml.SequenceNode):
        return node.tag, [_meaning(item) for item in node.value]
    return node.tag, node.value


class _Dumper(_BaseDumper):  # type: ignore[misc]  # its base is chosen when the module is loaded
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # shared values are written out, never as anchors
        return True


def _represent_text(dumper: Any, text: str) -> Any:
    style = None
    if _ESCAPED.search(text):
        style = '"'
    elif "\n" in text:
        style = "|" if not any(line.endswith(" ") for line in text.split("\n")) else '"'
    elif _NO_TEXT.fullmatch(text):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style=style)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_multi_representer(str, _represent_text)


def scalar(value: Any) -> str:
    """Write a value in one line."""
    text: str = yaml.dump(value, Dumper=_Dumper, default_flow_style=True, width=4096, explicit_end=False)
    return text.removesuffix("\n").removesuffix("...").strip()


def canonical(tree: Any, *, top: bool = True) -> Any:
    """Order the keys: apiVersion, kind and metadata first, all else by name."""
    if isinstance(tree, Mapping):
        first = [key for key in ("apiVersion", "kind", "metadata") if top and key in tree]
        rest = sorted(key for key in tree if key not in first)
        return {key: canonical(tree[key], top=False) for key in [*first, *rest]}
    if isinstance(tree, (list, tuple)):
        return [canonical(item, top=False) for item in tree]
    return tree


def dump(manifests: Sequence[Manifest], style: Literal["yaml", "json"] = "yaml") -> str:
    """Write manifests: YAML documents, or one JSON `v1` List. The same manifests always give the same bytes."""
    ordered = [canonical(manifest) for manifest in manifests]
    if style == "json":
        listed = {"apiVersion": "v1", "kind": "List", "items": ordered}
        return json.dumps(listed, indent=2, ensure_ascii=False) + "\n"
    return _yaml(ordered, explicit_start=True)


def dump_as_ordered(document: Mapping[str, Any]) -> str:
    """Write one YAML document with its keys in the order that they have."""
    return _yaml([document])


def _yaml(documents: Sequence[Mapping[str, Any]], *, explicit_start: bool = False) -> str:
    text: str = yaml.dump_all(
        documents,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=False,
        allow_unicode=True,
        width=4096,
        explicit_start=explicit_start,
    )
    return text
