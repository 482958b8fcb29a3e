"""The site: every page and every public name has a place in it, and nothing is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import reference
import website
import yaml

import pulumi_volcano_jobs


def test_every_public_name_is_in_the_reference_once() -> None:
    """What a program may import is told of."""
    listed = [name for page in reference.PAGES.values() for name in page.names if "." not in name]

    assert sorted(listed) == sorted(pulumi_volcano_jobs.__all__)


def sources() -> Iterator[Any]:
    """Give what each page of the reference is about, as it stands in the code."""
    package = reference._package()
    for page in reference.PAGES.values():
        for name in page.names:
            found = package[reference.path_of(name).removeprefix(f"{reference.PACKAGE}.")]
            yield found.final_target if found.is_alias else found


def test_no_name_of_the_reference_is_taken_for_its_module() -> None:
    """`policy.pack` is a function, and the module that it is from has the same path; presets alone are a module."""
    assert [found.path for found in sources() if found.is_module] == [f"{reference.PACKAGE}.presets"]


def test_everything_in_the_reference_is_described() -> None:
    """Each name has a docstring, and so has each attribute and method of a class."""
    told_otherwise = {f"{plugin.__module__}.{plugin.__name__}" for plugin in reference.BUILT_IN}
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
    """The page has types, defaults, and Volcano's argument, or that the setting is an option."""
    page = reference.pages()["plugins"]

    assert (
        "- **`wait_master_timeout`** (`int`, default `300`, recommended `1800`, Volcano's `--wait-master-timeout`): "
        f"{docstring('plugins.pytorch.PytorchPlugin', 'wait_master_timeout')}\n"
    ) in page
    assert (
        "- **`file_modes`** (`'volcano'` or `'by-user'`, default `'volcano'`, recommended `'by-user'`, "
        'not with `managed_by="volcano"`): '
    ) in page


def test_every_field_of_a_job_is_described() -> None:
    """The page has both spellings, and a type that needs no knowledge of pydantic."""
    page = reference.pages()["model"]

    assert f"- **`exit_code`** (`exitCode`, `int`): {docstring('spec.model.Policy', 'exit_code')}\n" in page
    assert f"- **`tasks`** (`list[Task]`): {docstring('spec.model.Job', 'tasks')}\n" in page
    assert "- **`labels`** (`Mapping[str, Text]`): " in page
    assert "Annotated" not in page


def test_the_page_about_one_s_own_plugins_begins_with_one() -> None:
    """That of CONTRIBUTING.md."""
    assert reference.pages()["own-plugins"].startswith("# A plugin of your own\n\n```python\nfrom pulumi_volcano_jobs")


def test_every_command_is_told() -> None:
    """As its help tells it."""
    page = reference.pages()[reference.COMMANDS]

    assert "## volcano-jobs render\n" in page
    assert "Usage: volcano-jobs render [OPTIONS] {FILE}..." in page


def test_every_page_has_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has none stops the build, with the way out."""
    (tmp_path / "other.md").write_text("# Other\n", "utf-8")
    monkeypatch.setattr(website, "DOCS", tmp_path)

    with pytest.raises(SystemExit, match=r"^tools/website.py has no place for other: add it to NAV$"):
        website.nav()


def test_a_page_that_is_not_there_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so is a section without pages."""
    for name in ("index", "start"):
        (tmp_path / f"{name}.md").write_text("# A page\n", "utf-8")
    monkeypatch.setattr(website, "DOCS", tmp_path)

    assert website.nav()[:-1] == [{"Home": "index.md"}, {"Begin": ["start.md"]}]


def test_what_the_site_is_built_from_has_all_pages(tmp_path: Path) -> None:
    """Those of docs/ and those of the reference, as the table of contents has them."""
    website.assemble(tmp_path)

    there = {str(page.relative_to(tmp_path / "docs")) for page in (tmp_path / "docs").rglob("*.md")}
    home, *sections = yaml.safe_load((tmp_path / "mkdocs.yml").read_text("utf-8"))["nav"]
    listed = [page for section in sections for pages in section.values() for page in pages]
    assert sorted([*home.values(), *listed]) == sorted(there)


def test_links_out_of_the_site_keep_their_words_only() -> None:
    """The page on GitHub has the link."""
    page = "([tests/workloads](../tests/workloads)) and [modes](modes.md#what), [out](https://example.org)"

    text, pictures = website.page_of_site(page, "page")

    assert text == "(tests/workloads) and [modes](modes.md#what), [out](https://example.org)"
    assert pictures == {}


def test_a_message_may_break() -> None:
    """Its block has a class, by which docs/site.css knows it; other blocks stay as they are."""
    text, _ = website.page_of_site("```text\na message\n```\n\n```sh\nls\n```\n", "page")

    assert text == "``` { .text .message }\na message\n```\n\n```sh\nls\n```\n"
    assert ".message" in (website.DOCS / "site.css").read_text("utf-8")


def test_mermaid_is_drawn_when_the_site_is_built() -> None:
    """No script draws it in the reader's browser."""
    page = "before\n\n```mermaid\nflowchart LR\n  a{{one}} --> b\n```\nafter\n"

    text, pictures = website.page_of_site(page, "page")

    assert text == "before\n\n![The picture that this page tells of](page-0.svg){ .picture }\nafter\n"
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
def test_what_a_page_loads_from_elsewhere_is_found(html: str, found: set[str], tmp_path: Path) -> None:
    """The build ends with it."""
    (tmp_path / "page.html").write_text(html, "utf-8")

    assert website.loaded_from_elsewhere(tmp_path) == found
