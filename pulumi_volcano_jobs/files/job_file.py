"""Job files: YAML in, with the line of every value for problems; manifests out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

import yaml

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, job_error, not_following, raise_if_any
from pulumi_volcano_jobs.core.text import HIDDEN, Sealed, hidden_escaped, json_text
from pulumi_volcano_jobs.files import yaml_reader, yaml_scalars
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from pulumi_volcano_jobs.spec.model import Job
from pulumi_volcano_jobs.spec.parse import parse_valid_parts

# libyaml's is some ten times faster; a Python built without it has the other.
_BaseDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

# Text, in any case, that YAML readers other than kubectl may read as a null, a boolean or a number.
_NO_TEXT = re.compile(
    r"~|null|y|yes|on|true|n|no|off|false|<<|[-+]?(0x[0-9a-f_]+|0b[01_]+|0o?[0-7_]+|[1-9][0-9_]*)"
    r"|[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)(e[-+]?[0-9]+)?|[-+]?\.inf|\.nan|",
    re.IGNORECASE,
)
# What JSON's escapes are for: control characters, other systems' line breaks, byte order marks, what is no character.
_ESCAPED = re.compile(
    f"[^\n -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|{HIDDEN.pattern}"
)
_LISTS = frozenset({"List", "JobList"})
MOST_BYTES = 64 << 20
"""In a file; standard input and devices need not end."""


@dataclass(frozen=True, eq=False, repr=False)
class Document(Sealed):
    """One YAML document of a file: its data, and the line and column of each place in it (counted from 1)."""

    source: str
    data: dict[str, Any]
    positions: Mapping[str, yaml_reader.Position] = field(repr=False)
    problems: tuple[Problem, ...] = ()
    """What is wrong with the YAML: keys that stand twice, tags."""

    def job(self) -> Job:
        """Build the job.

        Raises:
            JobError: with the place of each problem.
        """
        job, malformed = parse_valid_parts(self.data)
        errors = [problem for problem in self.problems if not problem.warning]
        errors += not_following([problem for problem in malformed if not problem.warning], errors)
        if errors or job is None:
            raise job_error(self.with_positions(errors))
        return job

    def with_positions(self, problems: Iterable[Problem]) -> list[Problem]:
        """Give problems their line and column: the value's, or that of the nearest thing around it."""
        return [problem if problem.line else problem.at(*self._position(problem.path)) for problem in problems]

    def _position(self, path: str) -> yaml_reader.Position:
        # The file has the plugin; what was chosen for it stands elsewhere.
        path = re.sub(r"^plugin_options\.", "spec.plugins.", path)
        return next(
            (self.positions[place] for place in (*paths.with_parents(path), "") if place in self.positions), (1, 1)
        )


def load_jobs(source: str | Path) -> list[Job]:
    """Read the Volcano Jobs of a file (a Path, or a str without a line break) or of YAML text.

    Raises:
        JobError: if the text is no YAML, a document is no Volcano Job, or a job is malformed.
        OSError: if the file cannot be read.
    """
    is_text = isinstance(source, str) and "\n" in source
    text = str(source) if is_text else text_of(Path(source))
    return [document.job() for document in read(text, "" if is_text else str(source))]


def text_of(path: Path) -> str:
    """Read a file as text.

    Raises:
        JobError: if it is none, or too large for a job file.
        OSError: if it cannot be read.
    """
    with path.open("rb") as file:
        return decode(file, str(path))


def decode(file: BinaryIO, name: str) -> str:
    """Read text from an open file, which may have no end.

    Raises:
        JobError: if it is no text, or too large for a job file.
    """
    raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        reason = f"cannot read {name}: it is larger than {MOST_BYTES >> 20} MiB"
        raise job_error([Problem("", "TooLong", reason, "write several files", stage=RejectionStage.DECODE)])
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        reason = f"cannot read {name}: it is not UTF-8 text"
        raise job_error([Problem("", "Invalid", reason, stage=RejectionStage.DECODE)]) from None


def read(text: str, source: str = "") -> list[Document]:
    """Read all documents of YAML text; empty ones are skipped, and a List is its items, as `kubectl get` prints it.

    Raises:
        JobError: if the text is no YAML, or holds no document, or one that is no mapping.
    """
    documents, problems = read_valid_documents(text, source)
    raise_if_any(problems)
    return documents


def read_valid_documents(text: str, source: str = "") -> tuple[list[Document], list[Problem]]:
    """Read the documents that can be read, and say what is wrong with the others."""
    documents: list[Document] = []
    problems: list[Problem] = []
    builder = yaml_reader.DocumentBuilder()
    try:
        for root in yaml_reader.compose(text):
            for node in _items(root):
                try:
                    documents.append(_document(builder, node, source))
                except yaml_reader.FileTooLargeError:
                    raise
                except yaml_reader.YamlError as error:
                    problems.append(error.problem)
    except yaml_reader.YamlError as error:
        problems.append(error.problem)
    if not documents and not problems:
        problems = [
            Problem(
                "", "Required", "there is no document in it", "write a Volcano Job", stage=RejectionStage.DECODE
            ).at(1, 1)
        ]
    return documents, problems


def _items(node: yaml.Node) -> list[yaml.Node]:
    """Give the items of a List, or else the node alone."""
    fields = {key.value: value for key, value in node.value} if _has_text_keys(node) else {}
    kind, items = fields.get("kind"), fields.get("items")
    if isinstance(kind, yaml.ScalarNode) and kind.value in _LISTS and isinstance(items, yaml.SequenceNode):
        return list(items.value)
    return [node]


def _has_text_keys(node: yaml.Node) -> bool:
    return isinstance(node, yaml.MappingNode) and all(isinstance(key, yaml.ScalarNode) for key, _ in node.value)


def _document(builder: yaml_reader.DocumentBuilder, node: yaml.Node, source: str) -> Document:
    built = builder.build(node)
    if not isinstance(built.data, dict):
        problem = Problem("", "TypeInvalid", "a document must be a mapping", "write a Job", stage=RejectionStage.DECODE)
        raise yaml_reader.YamlError(problem.at(*built.positions[""]))
    return Document(source, built.data, built.positions, tuple(built.problems))


class _Dumper(_BaseDumper):  # type: ignore[misc]  # its base is chosen when the module is loaded
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # shared values are written out, never as anchors
        return True


def _represent_text(dumper: Any, text: str) -> Any:
    style = None
    if _ESCAPED.search(text):
        style = '"'
    elif "\n" in text:
        style = "|" if not any(line.endswith(" ") for line in text.split("\n")) else '"'
    elif _NO_TEXT.fullmatch(text) or not isinstance(yaml_scalars.plain(text), str):
        style = "'"
    # The text itself: an Enum's own str() says something else.
    return dumper.represent_scalar("tag:yaml.org,2002:str", str.__str__(text), style=style)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_multi_representer(str, _represent_text)


def scalar(value: Any) -> str:
    """Write a value in one line."""
    text: str = yaml.dump(value, Dumper=_Dumper, default_flow_style=True, width=4096, explicit_end=False)
    return text.removesuffix("\n").removesuffix("...").strip()


def canonical(tree: Any, *, top: bool = True) -> Any:
    """Order the keys: apiVersion, kind and metadata first, all else by name."""
    if isinstance(tree, Mapping):
        leading = [key for key in ("apiVersion", "kind", "metadata") if top and key in tree]
        other_keys = sorted(key for key in tree if key not in leading)
        return {key: canonical(tree[key], top=False) for key in [*leading, *other_keys]}
    if isinstance(tree, (list, tuple)):
        return [canonical(item, top=False) for item in tree]
    return tree


def dump(manifests: Sequence[Manifest], style: Literal["yaml", "json"] = "yaml") -> str:
    """Write manifests: YAML documents, or one JSON `v1` List. The same manifests always give the same bytes."""
    ordered = [canonical(manifest) for manifest in manifests]
    if style == "json":
        return json_text({"apiVersion": "v1", "kind": "List", "items": ordered}) + "\n"
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
    # Hidden characters occur only in double quotes, where YAML has the same escapes as JSON.
    return hidden_escaped(text)
