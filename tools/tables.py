"""Write the tables of settings, options and fields in docs/ from their declarations.

On the command line::

    python tools/tables.py    # writes the tables (see `TABLES`) into the pages

A page has a pair of markers for each table. Types, defaults and descriptions are those of the code.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from argtypes import QUEUE_METADATA, type_parts
from pydantic.alias_generators import to_snake
from typer.main import get_command

from pulumi_volcano_jobs.cli import app
from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.core.docstrings import docs_of
from pulumi_volcano_jobs.core.leaf import Text
from pulumi_volcano_jobs.kubernetes import queue_schema
from pulumi_volcano_jobs.plugins import BUILT_IN, Plugin
from pulumi_volcano_jobs.plugins.settings import default_of, facts_of
from pulumi_volcano_jobs.plugins.svc_allow import Allow

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
_MARKED = re.compile(r"(<!-- table: (.+?), written by `make schema` -->\n).*?(<!-- end of the table -->\n)", re.DOTALL)
_WORDS: Mapping[Any, str] = {
    bool: "`True` or `False`",
    int: "a number",
    str: "a string",
    Text: "a string or an Output",
    Any: "any",
}
_PLURALS: Mapping[Any, str] = {int: "numbers", str: "strings", Text: "strings", Any: "values"}
_QUEUE_WORDS = {
    "array": "a list of strings",
    "boolean": "`True` or `False`",
    "integer": "a number",
    "object": "quantities by resource",
    "string": "a string",
}
_METADATA_WORDS = {"str": "a string", "labels": "a mapping of names to strings"}
_COMMAND_OPTIONS = {"plugin_options": "--set", "ignore_warnings": "--ignore"}
"""Options of the commands whose names differ from the names in programs."""


def values(hint: Any) -> str:
    """Return the values of a type in words. None, which means that a value is not set, is omitted."""
    kind, _ = type_parts(hint)
    if kind in _WORDS:
        return _WORDS[kind]
    origin, items = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(filter(None, (", ".join(map(code, items[:-1])), code(items[-1]))))
    if origin in (Union, types.UnionType):
        return " or ".join(map(values, items))
    if origin is tuple or origin is Sequence:
        return f"a list of {_plural(items[0])}"
    if origin is Mapping:
        return f"a mapping of names to {_plural(items[1])}"
    return f"`{kind.__name__}`"


def _plural(hint: Any) -> str:
    kind, _ = type_parts(hint)
    if kind in _PLURALS:
        return _PLURALS[kind]
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(map(_plural, get_args(kind)))
    return "mappings" if get_origin(kind) is Mapping else f"`{kind.__name__}`"


def code(value: Any) -> str:
    """Return a value as Python code."""
    return f"`{json.dumps(value) if isinstance(value, str) else repr(value)}`"


def settings(plugin: type[Plugin]) -> str:
    """Return the table of a plugin's settings."""
    return table(
        "settings",
        ("setting", "values", "default", "Volcano's flag", "meaning"),
        (_setting(plugin, name) for name in plugin.model_fields),
    )


def _setting(plugin: type[Plugin], name: str) -> tuple[str, ...]:
    facts, hint = facts_of(plugin)[name], get_type_hints(plugin, include_extras=True)[name]
    default = code(default_of(plugin, name))
    if "recommended" in facts:
        default += f"; recommended: {code(facts['recommended'])}"
    flag = f"`--{facts['flag']}`" if "flag" in facts else ""
    flag += f", since Volcano {facts['since']}" if "since" in facts else ""
    meaning = docs_of(plugin)[name]
    if "not_native" in facts:
        meaning += f' Not with `managed_by="volcano"`: {facts["not_native"]}.'
    if "secret" in facts:
        meaning += " Not with `--set`."
    return f"`{name}`", values(hint), default, flag, meaning


def options() -> str:
    """Return the table of the options of a job."""
    hints, docs = get_type_hints(JobOptions, include_extras=True), docs_of(JobOptions)
    known = _command_options()
    commands = {name: _COMMAND_OPTIONS.get(name, "--" + name.replace("_", "-")) for name in hints}
    return table(
        "options",
        ("option", "values", "command line", "meaning"),
        (
            (f"`{name}`", values(hints[name]), f"`{commands[name]}`" if commands[name] in known else "", docs[name])
            for name in hints
        ),
    )


def _command_options() -> set[str]:
    commands = get_command(app).commands.values()  # type: ignore[attr-defined]  # the application is a group
    return {option for command in commands for item in command.params for option in item.opts}


def fields(kind: type) -> str:
    """Return the table of the fields of a typed dictionary."""
    hints, docs = get_type_hints(kind), docs_of(kind)
    return table("fields", ("field", "values", "meaning"), ((f"`{n}`", values(hints[n]), docs[n]) for n in hints))


def queue() -> str:
    """Return the table of the fields of a queue."""
    metadata = ((f"`{name}`", _METADATA_WORDS[kind], doc) for name, (kind, doc) in QUEUE_METADATA.items())
    rows = (*metadata, *_queue_fields(queue_schema.SPEC, ""))
    return table("fields", ("field", "values", "meaning"), rows)


def _queue_fields(definition: str, parent: str) -> Iterator[tuple[str, ...]]:
    for key, item in queue_schema.DEFINITIONS[definition]["properties"].items():
        path, inner = f"{parent}{to_snake(key)}", item.get("items", item).get("$ref", "")
        if not inner:
            words = [code(word) for word in item.get("enum", ())]
            yield f"`{path}`", " or ".join(words) or _QUEUE_WORDS[item["type"]], item["description"]
            continue
        is_list = item.get("type") == "array"
        yield f"`{path}`", "a list of mappings" if is_list else "a mapping", item["description"]
        yield from _queue_fields(inner.removeprefix("#/$defs/"), f"{path}[]." if is_list else f"{path}.")


def table(kind: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table. docs/site.css sets the widths of its columns by its kind."""
    lines = [head, ["---"] * len(head), *([_cell(text) for text in row] for row in rows)]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f'<div class="{kind}" markdown>\n\n{body}\n\n</div>\n'


def _cell(text: str) -> str:
    """Return text for a cell. A page of docs/ becomes a link."""
    linked = re.sub(r"docs/([\w-]+)\.md", r"[\1](\1.md)", " ".join(text.split()))
    return linked.replace("|", "\\|")


TABLES: dict[str, Callable[[], str]] = {
    **{plugin.__name__: lambda plugin=plugin: settings(plugin) for plugin in BUILT_IN if plugin.model_fields},  # type: ignore[misc]  # the default binds the variable of the loop
    "Allow": lambda: fields(Allow),
    "JobOptions": options,
    "VolcanoQueue": queue,
}
"""The tables by the names in the markers."""


def with_tables(text: str) -> str:
    """Return a page with new tables between its markers."""
    return _MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", text)


def names(text: str) -> list[str]:
    """Return the names of the tables of a page."""
    return [found[2] for found in _MARKED.finditer(text)]


if __name__ == "__main__":
    for page in sorted(DOCS.glob("*.md")):
        page.write_text(with_tables(page.read_text("utf-8")), "utf-8")
