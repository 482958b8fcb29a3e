"""Requirements of Pulumi's Registry: fields of the schema, docs/_index.md and docs/installation-configuration.md."""

from __future__ import annotations

import json
import re
from email.message import Message
from pathlib import Path

import pytest
import yaml
from pydantic.alias_generators import to_camel

from pulumi_volcano_jobs import JobDefaults
from pulumi_volcano_jobs.component import provider
from pulumi_volcano_jobs.core import distribution
from tests.pages.blocks import ROOT, blocks

CATEGORIES = {"cloud", "database", "infrastructure", "monitoring", "network", "utility", "vcs"}
"""The categories of registrygen."""
PAGES = [ROOT / "docs" / "_index.md", ROOT / "docs" / "installation-configuration.md"]
ADDRESS = "https://github.com/example/pulumi-volcano-jobs"


def schema_of(about: Message, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Return the schema of a distribution with other metadata."""
    monkeypatch.setattr(distribution, "metadata", lambda _: about)
    monkeypatch.setattr(provider, "metadata", lambda _: about)
    schema: dict[str, object] = json.loads(provider.JobProvider().schema)
    return schema


def installed() -> Message:
    """Return the metadata of the installed distribution without its owner."""
    about = Message()
    for name, value in distribution.metadata(distribution.NAME).items():
        if name not in {"Author", "Project-URL"}:
            about[name] = str(value)
    return about


def test_the_schema_has_the_fields_of_the_registry() -> None:
    """It shows a title, a description and a licence, and reads category and kind from the keywords."""
    schema = json.loads((ROOT / "schema.json").read_text("utf-8"))
    categories = [word.partition("/")[2] for word in schema["keywords"] if word.startswith("category/")]

    assert [name for name in ("displayName", "description", "license", "version") if not schema.get(name)] == []
    assert re.fullmatch(r"[a-zA-Z][-a-zA-Z0-9_]*", schema["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", schema["version"])
    assert len(categories) == 1
    assert set(categories) <= CATEGORIES
    assert "kind/component" in schema["keywords"]


def test_the_owner_of_the_package_is_declared_in_its_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    """`authors` and `[project.urls]` of pyproject.toml become publisher, repository and logoUrl."""
    about = installed()
    unowned = schema_of(about, monkeypatch)
    about["Author"] = "Example"
    about["Project-URL"] = f"Repository, {ADDRESS}/"
    about["Project-URL"] = f"Logo, {ADDRESS}/logo.svg"

    owned = schema_of(about, monkeypatch)

    added = {"publisher": "Example", "repository": ADDRESS, "logoUrl": f"{ADDRESS}/logo.svg"}
    assert owned == unowned | added
    assert not added.keys() & unowned.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_a_title_and_no_relative_links(page: Path) -> None:
    """Front matter has the title. The registry shows the page at another address, and does not allow HTML."""
    _, front, body = page.read_text("utf-8").split("---\n", 2)

    assert {"title", "meta_desc", "layout"} <= yaml.safe_load(front).keys()
    assert re.findall(r"\]\((?!https://)[^)]*\)", body) == []
    assert re.findall(r"<(?:a|img)\b", body) == []


def test_the_examples_of_the_registry_are_those_of_the_repository() -> None:
    """tests/languages compiles them."""
    shown = {block.language: block.text for block in blocks() if block.page == "docs/_index.md"}

    assert shown.keys() == {"go", "python", "typescript", "yaml"}
    assert shown["go"] == (ROOT / "examples" / "go" / "main.go").read_text("utf-8")
    assert shown["typescript"] == (ROOT / "examples" / "typescript" / "index.ts").read_text("utf-8")
    assert shown["yaml"] == (ROOT / "examples" / "yaml" / "Pulumi.yaml").read_text("utf-8")


def test_the_page_of_the_registry_lists_each_key_of_the_configuration() -> None:
    """They are the defaults of a stack, in camelCase."""
    listed = re.findall(r"^\| `volcano-jobs:(\w+)` \|", PAGES[1].read_text("utf-8"), re.MULTILINE)

    assert listed == [to_camel(name) for name in JobDefaults.__annotations__]
