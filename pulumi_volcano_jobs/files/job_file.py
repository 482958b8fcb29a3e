"""Read files as `kubectl apply -f` does, with the line of every value, and write manifests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

import yaml

from pulumi_volcano_jobs.core import bounds, paths
from pulumi_volcano_jobs.core.calls import checked_call
from pulumi_volcano_jobs.core.errors import (
    ErrorType,
    Problem,
    RejectionStage,
    job_error,
    not_following,
    raise_if_any,
    wrong_type,
)
from pulumi_volcano_jobs.core.text import HIDDEN, Sealed, hidden_escaped, json_text
from pulumi_volcano_jobs.files import yaml_reader, yaml_scalars
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from pulumi_volcano_jobs.spec.document import Role, missing_identity, role_of
from pulumi_volcano_jobs.spec.model import Job
from pulumi_volcano_jobs.spec.parse import parse_valid_parts

# The dumper of libyaml is about ten times faster. PyYAML may be built without libyaml.
_BaseDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

# Text, in upper or lower case, that other YAML readers than kubectl may read as a null, a boolean or a number.
_NO_TEXT = re.compile(
    r"~|null|y|yes|on|true|n|no|off|false|<<|[-+]?(0x[0-9a-f_]+|0b[01_]+|0o?[0-7_]+|[1-9][0-9_]*)"
    r"|[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)(e[-+]?[0-9]+)?|[-+]?\.inf|\.nan|",
    re.IGNORECASE,
)
# Characters that are written as JSON escapes: control characters, line breaks other than \n, byte order marks, and
# code points that are not characters.
_ESCAPED = re.compile(
    f"[^\n -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|{HIDDEN.pattern}"
)
MOST_BYTES = 64 << 20
"""The maximum size of a file. Without a limit, reading standard input or a device might never end."""


@dataclass(frozen=True, eq=False, repr=False)
class Document(Sealed):
    """One YAML document of a file: its data, and the line and column of each value, starting at 1."""

    source: str
    data: dict[str, Any]
    positions: Mapping[str, yaml_reader.Position] = field(repr=False)
    problems: tuple[Problem, ...] = ()
    """Problems of the YAML itself, such as duplicate keys and ignored tags."""
    neighbors: tuple[Mapping[str, Any], ...] = ()
    """The data of the other documents of the file, if they matter to the reader of the document."""

    @property
    def role(self) -> Role:
        """Whether the document is a Volcano Job, a Volcano Queue or another object."""
        return role_of(self.data)

    @property
    def label(self) -> str:
        """The kind and the name, for messages."""
        metadata = self.data.get("metadata")
        name = metadata.get("name") if isinstance(metadata, Mapping) else None
        return f"{self.data.get('kind')} {name}" if isinstance(name, str) else str(self.data.get("kind"))

    def job(self) -> Job:
        """Build the job.

        Raises:
            JobError: if the job is malformed. Each problem has its line and column.
        """
        job, malformed = parse_valid_parts(self.data)
        errors = [problem for problem in self.problems if not problem.warning]
        errors += not_following([problem for problem in malformed if not problem.warning], errors)
        if errors or job is None:
            raise job_error(self.with_positions(errors))
        return job

    def with_positions(self, problems: Iterable[Problem]) -> list[Problem]:
        """Add the line and column of the value to each problem, or of the nearest enclosing value."""
        return [problem if problem.line else problem.at(*self._position(problem.path)) for problem in problems]

    def _position(self, path: str) -> yaml_reader.Position:
        # `plugin_options` are not in the file: use the position of the plugin.
        path = re.sub(r"^plugin_options\.", "spec.plugins.", path)
        return next(
            (self.positions[place] for place in (*paths.with_parents(path), "") if place in self.positions), (1, 1)
        )


@checked_call("load_jobs")
def load_jobs(source: str | Path) -> list[Job]:
    """Read the Volcano Jobs of a file (a Path, or a str without a line break) or of YAML text.

    Other objects of the file, such as a ConfigMap or a Queue, are skipped.

    Raises:
        JobError: if the file cannot be read, the text is not YAML or has no Volcano Job, or a job is malformed.
    """
    return [item.job() for item in jobs_of(read_source(source))]


def read_source(source: str | Path) -> list[Document]:
    """Read the documents of a file or of YAML text, as `load_jobs` does.

    Raises:
        JobError: if the file cannot be read, or the text is not YAML.
    """
    if not isinstance(source, (str, Path)):
        raise job_error([wrong_type("source", "a Path or a str", 'write Path("job.yaml")')])
    if isinstance(source, str) and "\n" in source:
        return read(source)
    if "\0" in str(source):
        raise job_error([Problem("source", "Invalid", "a path may not contain a null character")])
    try:
        text = text_of(Path(source))
    except OSError as error:
        error_type: ErrorType = "NotFound" if isinstance(error, FileNotFoundError) else "Invalid"
        raise job_error([Problem(str(source), error_type, f"cannot read the file: {error.strerror}")]) from None
    return read(text, str(source))


def jobs_of(documents: Sequence[Document]) -> Sequence[Document]:
    """Return the documents that are Volcano Jobs. Without a Job, return all: each is an error."""
    return [item for item in documents if item.role == "job"] or documents


def text_of(path: Path) -> str:
    """Read a file as text.

    Raises:
        JobError: if the file is not UTF-8 text, or is too large.
        OSError: if the file cannot be read.
    """
    with path.open("rb") as file:
        return decode(file, str(path))


def decode(file: BinaryIO, name: str) -> str:
    """Read text from an open file, up to the size limit.

    Raises:
        JobError: if the file is not UTF-8 text, or is too large.
    """
    raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        reason = f"{name} may not be more than {MOST_BYTES >> 20} MiB"
        raise job_error([Problem("", "TooLong", reason, "split the file", stage=RejectionStage.DECODE)])
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        reason = f"{name} must be UTF-8 text"
        raise job_error([Problem("", "Invalid", reason, stage=RejectionStage.DECODE)]) from None


def read(text: str, source: str = "") -> list[Document]:
    """Read all documents of YAML text. Empty documents are skipped. A List from `kubectl get` becomes its items.

    Raises:
        JobError: if the text is not YAML, has no document, or has a document that is not a mapping.
    """
    documents, problems = read_valid_documents(text, source)
    raise_if_any(problems)
    return documents


def read_valid_documents(text: str, source: str = "") -> tuple[list[Document], list[Problem]]:
    """Return the documents that can be read, and the problems of the other documents.

    A file that is too large has no document and one problem, because each document would be checked in vain.
    """
    documents: list[Document] = []
    problems: list[Problem] = []
    try:
        for root in yaml_reader.compose(text):
            for node in _items(root):
                try:
                    documents.append(_document(node, source))
                except yaml_reader.YamlError as error:
                    problems.append(error.problem)
    except yaml_reader.FileTooLargeError as error:
        return [], [error.problem]
    except yaml_reader.YamlError as error:
        problems.append(error.problem)
    if not documents and not problems:
        problems = [
            Problem(
                "", "Required", "the file has no YAML document", "add a Volcano Job", stage=RejectionStage.DECODE
            ).at(1, 1)
        ]
    return documents, problems


def _items(node: yaml.Node, level: int = 1) -> Iterator[yaml.Node]:
    """Yield the items of a List, also of Lists in it, or the node itself if it is not a List."""
    fields = {key.value: value for key, value in node.value} if _has_text_keys(node) else {}
    kind, items = fields.get("kind"), fields.get("items")
    is_list = isinstance(kind, yaml.ScalarNode) and kind.value.endswith("List")
    if is_list and isinstance(items, yaml.SequenceNode) and level <= bounds.MOST_LEVELS:
        for item in items.value:
            yield from _items(item, level + 1)
    else:
        yield node


def _has_text_keys(node: yaml.Node) -> bool:
    return isinstance(node, yaml.MappingNode) and all(isinstance(key, yaml.ScalarNode) for key, _ in node.value)


def _document(node: yaml.Node, source: str) -> Document:
    built = yaml_reader.DocumentBuilder(node).build()
    if not isinstance(built.data, dict):
        problem = Problem("", "TypeInvalid", "must be a mapping", "write a Volcano Job", stage=RejectionStage.DECODE)
        raise yaml_reader.YamlError(problem.at(*built.positions[""]))
    missing = (problem.at(*built.positions[""]) for problem in missing_identity(built.data))
    return Document(source, built.data, built.positions, (*built.problems, *missing))


class _Dumper(_BaseDumper):  # type: ignore[misc]  # the base class is chosen at run time
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # shared values are written in full, without anchors
        return True


def _represent_text(dumper: Any, text: str) -> Any:
    style = None
    if _ESCAPED.search(text):
        style = '"'
    elif "\n" in text:
        style = "|" if not any(line.endswith(" ") for line in text.split("\n")) else '"'
    elif _NO_TEXT.fullmatch(text) or not isinstance(yaml_scalars.plain(text), str):
        style = "'"
    # str() of an Enum may differ from its text.
    return dumper.represent_scalar("tag:yaml.org,2002:str", str.__str__(text), style=style)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_multi_representer(str, _represent_text)


def scalar(value: Any) -> str:
    """Return a value as one line of YAML."""
    text: str = yaml.dump(value, Dumper=_Dumper, default_flow_style=True, width=4096, explicit_end=False)
    return text.removesuffix("\n").removesuffix("...").strip()


def canonical(tree: Any, *, top: bool = True) -> Any:
    """Return a tree with sorted keys; apiVersion, kind and metadata of a manifest come first."""
    if isinstance(tree, Mapping):
        leading = [key for key in ("apiVersion", "kind", "metadata") if top and key in tree]
        other_keys = sorted(key for key in tree if key not in leading)
        return {key: canonical(tree[key], top=False) for key in [*leading, *other_keys]}
    if isinstance(tree, (list, tuple)):
        return [canonical(item, top=False) for item in tree]
    return tree


def dump(manifests: Sequence[Manifest], style: Literal["yaml", "json"] = "yaml") -> str:
    """Return manifests as YAML documents, or as one `v1` List in JSON. The output is deterministic."""
    ordered = [canonical(manifest) for manifest in manifests]
    if style == "json":
        return json_text({"apiVersion": "v1", "kind": "List", "items": ordered}) + "\n"
    return _yaml(ordered, explicit_start=True)


def dump_as_ordered(document: Mapping[str, Any]) -> str:
    """Return one YAML document without sorting its keys."""
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
    # Hidden characters occur only in double quotes, where YAML and JSON have the same escapes.
    return hidden_escaped(text)
