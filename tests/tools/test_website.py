"""The documentation site contains each page and each public name, and loads no external files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from email.message import Message
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import reference
import tables
import website
import yaml

import pulumi_volcano_jobs
from pulumi_volcano_jobs.cli.job_schema import job_schema
from pulumi_volcano_jobs.core import distribution
from pulumi_volcano_jobs.kubernetes import template_types

REPOSITORY = "https://github.com/example/pulumi-volcano-jobs"


def test_every_public_name_is_in_the_reference_once() -> None:
    """Public names are those that a program can import."""
    listed = [name for page in reference.PAGES.values() for name in page.names if "." not in name]

    assert sorted(listed) == sorted(pulumi_volcano_jobs.__all__)


def sources() -> Iterator[Any]:
    """Return the objects of each page of the reference, as the Markdown source names them."""
    package = reference._package()
    for page in reference.PAGES.values():
        for name in page.names:
            found = package[reference.path_of(name).removeprefix(f"{reference.PACKAGE}.")]
            yield found.final_target if found.is_alias else found


def test_names_of_the_reference_are_not_modules() -> None:
    """`policy.pack` is a function in a module with the same path; only presets is documented as a module."""
    assert [found.path for found in sources() if found.is_module] == [f"{reference.PACKAGE}.presets"]


def test_each_name_of_the_reference_has_a_docstring() -> None:
    """Attributes and methods of classes are included."""
    told_otherwise = {f"{plugin.__module__}.{plugin.__name__}" for plugin in reference.BUILT_IN}
    told_otherwise |= {f"{template_types.__name__}.{name.rpartition('.')[2]}" for name in reference.TEMPLATE_TYPES}
    told = [found for found in sources() if found.path not in told_otherwise]
    members = [
        member
        for found in told
        if found.is_class
        for name, member in found.members.items()
        if not name.startswith("_") and name not in {"finish", "of"}
    ]

    assert [found.path for found in [*told, *members] if not found.docstring] == []


def docstring(path: str, attribute: str) -> str:
    """Return the docstring of an attribute of a class."""
    (found,) = (found for found in sources() if found.path == f"{reference.PACKAGE}.{path}")
    return str(found.members[attribute].docstring.value)


def test_every_setting_of_a_plugin_is_described() -> None:
    """The page has the tables of the plugins' own pages."""
    page = reference.pages()["plugins"]

    assert [plugin.name for plugin in reference.BUILT_IN if tables.settings(plugin) not in page] == ["env"]


def test_every_field_of_a_job_is_described() -> None:
    """The page has both spellings, and a type without pydantic terms."""
    page = reference.pages()["model"]

    assert f"- **`exit_code`** (`exitCode`, `int`): {docstring('spec.model.Policy', 'exit_code')}\n" in page
    assert f"- **`tasks`** (`list[Task]`): {docstring('spec.model.Job', 'tasks')}\n" in page
    assert "- **`labels`** (`Mapping[str, Text]`): " in page
    assert "Annotated" not in page


def test_the_page_about_custom_plugins_begins_with_an_example() -> None:
    """It is the example of CONTRIBUTING.md."""
    assert reference.pages()["own-plugins"].startswith("# A plugin of your own\n\n```python\nfrom pulumi_volcano_jobs")


def test_the_page_about_commands_has_each_help_text() -> None:
    """Each command is on the page."""
    page = reference.pages()[reference.COMMANDS]

    assert "## volcano-jobs render\n" in page
    assert "Usage: volcano-jobs render [OPTIONS] FILE..." in page


def test_a_page_outside_the_contents_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the fix."""
    (tmp_path / "other.md").write_text("# Other\n", "utf-8")
    monkeypatch.setattr(website, "DOCS", tmp_path)

    with pytest.raises(SystemExit, match=r"^tools/website.py: NAV does not contain other: add it$"):
        website.nav()


def test_files_for_the_registry_are_not_pages_of_the_site() -> None:
    """Pulumi's registry reads them from docs/."""
    assert set(website.FOR_REGISTRY) == {page.stem for page in website.DOCS.glob("*.md")} - {
        page.stem for page in website.pages()
    }


def test_the_first_page_lists_all_pages_by_the_sections_of_the_contents() -> None:
    """The order is the same."""
    _, *sections = (website.DOCS / "index.md").read_text("utf-8").split("\n### ")

    listed = {section.partition("\n")[0]: tuple(re.findall(r"\]\(([\w-]+)\.md\)", section)) for section in sections}
    assert list(listed.items()) == list(website.NAV.items())


def test_a_missing_page_is_omitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A section without pages is also omitted."""
    for name in ("index", "start"):
        (tmp_path / f"{name}.md").write_text("# A page\n", "utf-8")
    monkeypatch.setattr(website, "DOCS", tmp_path)

    assert website.nav()[:-2] == [{"Home": "index.md"}, {"Begin": ["start.md"]}]


def test_the_source_of_the_site_has_all_pages(tmp_path: Path) -> None:
    """They are the pages of docs/ and the reference, in the order of the contents."""
    website.assemble(tmp_path)

    there = {str(page.relative_to(tmp_path / "docs")) for page in (tmp_path / "docs").rglob("*.md")}
    home, *sections, changes = yaml.safe_load((tmp_path / "mkdocs.yml").read_text("utf-8"))["nav"]
    listed = [page for section in sections for pages in section.values() for page in pages]
    assert sorted([*home.values(), *listed, *changes.values()]) == sorted(there)
    assert yaml.safe_load((tmp_path / "mkdocs.yml").read_text("utf-8"))["site_name"].endswith(
        version("pulumi-volcano-jobs")
    )
    # docs/editors.md names it.
    assert json.loads((tmp_path / "docs" / "volcano-job.schema.json").read_text("utf-8")) == job_schema()


def test_links_out_of_the_site_become_text() -> None:
    """The page on GitHub keeps the link."""
    page = "([tests/workloads](../tests/workloads)) and [modes](modes.md#what), [out](https://example.org)"

    text, pictures = website.page_of_site(page, "page", "")

    assert text == "(tests/workloads) and [modes](modes.md#what), [out](https://example.org)"
    assert pictures == {}


def test_links_out_of_the_site_lead_to_a_known_repository() -> None:
    """`[project.urls]` of pyproject.toml has its address."""
    text, _ = website.page_of_site("[tests](../tests/pages), [modes](modes.md)", "page", REPOSITORY)

    assert text == f"[tests]({REPOSITORY}/blob/main/tests/pages), [modes](modes.md)"


@pytest.mark.parametrize("address", ["", REPOSITORY], ids=["unknown", "known"])
def test_only_a_known_repository_has_links(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of docs/ have a link to edit them, and the header of the site has one to the repository."""
    monkeypatch.setattr(website, "repository", lambda: address)
    monkeypatch.setattr(reference, "pages", dict)

    website.assemble(tmp_path)

    settings = yaml.safe_load((tmp_path / "mkdocs.yml").read_text("utf-8"))
    assert settings.get("repo_url", "") == address
    for page in website.pages():
        text = (tmp_path / "docs" / page.name).read_text("utf-8")
        assert (f"[Edit this page]({REPOSITORY}/edit/main/docs/{page.name})" in text) is bool(address)


def test_the_address_of_the_repository_is_that_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `[project.urls]` there is none."""
    about = Message()
    monkeypatch.setattr(distribution, "metadata", lambda _: about)
    unknown = website.repository()
    about["Project-URL"] = "Homepage, https://example.org"
    about["Project-URL"] = f"Repository, {REPOSITORY}/"

    assert (unknown, website.repository()) == ("", REPOSITORY)


def test_the_site_has_the_changelog() -> None:
    """It needs no address, and its links lead to pages of the site."""
    page = website.changelog("")

    assert page.startswith("# Changelog\n")
    assert "](docs/" not in page
    assert "](updates.md)" in page


def test_a_message_block_has_the_class_that_wraps_lines() -> None:
    """docs/site.css uses the class; other blocks are unchanged."""
    text, _ = website.page_of_site("```text\na message\n```\n\n```sh\nls\n```\n", "page", "")

    assert text == "``` { .text .message }\na message\n```\n\n```sh\nls\n```\n"
    assert ".message" in (website.DOCS / "site.css").read_text("utf-8")


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<span title="pulumi_volcano_jobs.core.leaf.Text">Text</span>', {"pulumi_volcano_jobs.core.leaf.Text"}),
        ('<a title="Job (pulumi_volcano_jobs.Job)" href="#Job">Job</a>', set()),
        ('<span title="pulumi.Output">Output</span>', set()),
        ('<span title="pulumi_volcano_jobs.plugins.context.T">T</span>', set()),
        ('<span title="pulumi_volcano_jobs.plugins.settings.UNSET">UNSET</span>', set()),
    ],
    ids=["a type", "a described type", "a type of Pulumi", "a type variable", "a default"],
)
def test_a_type_without_a_description_stops_the_build(html: str, found: set[str], tmp_path: Path) -> None:
    """A name in a signature without a link has no place on any page."""
    (tmp_path / "page.html").write_text(html, "utf-8")

    assert website.types_without_description(tmp_path) == found


def test_each_cell_of_a_table_has_the_head_of_its_column() -> None:
    """docs/site.css shows it on a narrow screen, where a row is a block."""
    page = '<table><tr><th></th><th><code>a="b"</code></th></tr><tr><td>c</td><td>d</td></tr></table><p>e</p>'

    labelled = website.with_heads(page)

    assert '<td data-head="">c</td><td data-head="a=&quot;b&quot;">d</td>' in labelled
    assert labelled.endswith("<p>e</p>")
    assert "attr(data-head)" in (website.DOCS / "site.css").read_text("utf-8")


def test_mermaid_is_drawn_when_the_site_is_built() -> None:
    """The page needs no script."""
    page = "before\n\n```mermaid\nflowchart LR\n  a{{one}} --> b\n```\nafter\n"

    text, pictures = website.page_of_site(page, "page", "")

    assert text == "before\n\n![Diagram of the job](page-0.svg){ .picture }\nafter\n"
    assert [*pictures] == ["page-0.svg"]
    assert pictures["page-0.svg"].startswith("<svg")


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<script src="https://unpkg.com/a"></script>', {"https://unpkg.com/a"}),
        ('<link rel="stylesheet" href="//fonts.example.org/b.css">', {"//fonts.example.org/b.css"}),
        ("<img src=http://example.org/c.png>", {"http://example.org/c.png"}),
        ('<a href="https://example.org">a link</a><script src="assets/a.js"></script>', set()),
    ],
    ids=["script", "style", "picture", "a link and a file"],
)
def test_an_external_file_stops_the_build(html: str, found: set[str], tmp_path: Path) -> None:
    """The site must work without other servers."""
    (tmp_path / "page.html").write_text(html, "utf-8")

    assert website.loaded_from_elsewhere(tmp_path) == found
