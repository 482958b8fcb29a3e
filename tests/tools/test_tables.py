"""The tables in docs/ are those of the code, and each setting, option and field has a row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import tables

from pulumi_volcano_jobs import VolcanoQueueArgs
from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.core.docstrings import docs_of
from pulumi_volcano_jobs.plugins import BUILT_IN, Plugin
from pulumi_volcano_jobs.plugins.settings import facts_of
from pulumi_volcano_jobs.plugins.svc_allow import Allow

PAGES = {page.stem: page.read_text("utf-8") for page in sorted(tables.DOCS.glob("*.md"))}
PLACES = {name: page for page, text in PAGES.items() for name in tables.names(text)}


def rows(name: str) -> dict[str, list[str]]:
    """Return the cells of each row of a table in docs/, by the name in its first cell."""
    (_, body), *others = re.findall(
        rf"(<!-- table: {name}, .*?-->)(.*?)<!-- end of the table -->", PAGES[PLACES[name]], re.DOTALL
    )
    assert others == []
    lines = [line for line in body.splitlines() if line.startswith("| `")]
    cells = [re.split(r" ?(?<!\\)\| ?", line)[1:-1] for line in lines]
    return {first.strip("`"): [first, *rest] for first, *rest in cells}


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_up_to_date(page: str) -> None:
    """`make schema` writes them."""
    assert tables.with_tables(PAGES[page]) == PAGES[page], "run `make schema`"


def test_each_table_is_on_one_page() -> None:
    """A table without markers would be read by nobody."""
    assert sorted(name for text in PAGES.values() for name in tables.names(text)) == sorted(tables.TABLES)


@pytest.mark.parametrize("plugin", [kind for kind in BUILT_IN if kind.model_fields], ids=lambda plugin: plugin.name)
def test_each_setting_of_a_plugin_has_a_row(plugin: type[Plugin]) -> None:
    """On the page of the plugin, with its flag, its first release, its description and its limits."""
    found, described = rows(plugin.__name__), docs_of(plugin)

    assert PLACES[plugin.__name__] == ("frameworks" if plugin.name == "hcclrank" else plugin.name)
    assert list(found) == list(plugin.model_fields)
    for setting, facts in facts_of(plugin).items():
        _, values, default, flag, meaning = found[setting]
        assert values
        assert default
        assert flag.startswith(f"`--{facts['flag']}`") if "flag" in facts else flag == ""
        assert flag.partition(", since Volcano ")[2] == facts.get("since", "")
        assert ("; recommended: " in default) == ("recommended" in facts)
        assert meaning.startswith(described[setting].replace("|", "\\|"))
        assert ("Not with `managed_by" in meaning) == ("not_native" in facts)
        assert ("Not with `--set`" in meaning) == ("secret" in facts)


def test_each_option_of_a_job_has_a_row() -> None:
    """With the option of the command line, if there is one."""
    found = rows("JobOptions")

    assert found.keys() == JobOptions.__annotations__.keys()
    assert {name: cells[2].strip("`") for name, cells in found.items() if cells[2]} == {
        "managed_by": "--managed-by",
        "on_conflict": "--on-conflict",
        "defaults": "--defaults",
        "plugin_options": "--set",
        "ignore_warnings": "--ignore",
        "kubernetes_version": "--kubernetes-version",
        "volcano_version": "--volcano-version",
    }


def test_each_field_of_a_queue_has_a_row() -> None:
    """Nested fields have their path."""
    found = rows("VolcanoQueue")

    assert {name.partition(".")[0].removesuffix("[]") for name in found} == VolcanoQueueArgs.__annotations__.keys()
    assert {"guarantee.resource", "extend_clusters[].weight"} <= found.keys()
    assert found["dequeue_strategy"][1] == '`"fifo"` or `"traverse"`'


def test_each_field_of_an_entry_of_svc_has_a_row() -> None:
    """With words instead of types."""
    found = rows("Allow")

    assert found.keys() == Allow.__annotations__.keys()
    assert found["ports"][1] == "a list of numbers or strings"


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (bool, "`True` or `False`"),
        (int | str, "a number or a string"),
        (int | None, "a number"),
        (tuple[str, ...], "a list of strings"),
        (Path | None, "`Path`"),
    ],
    ids=str,
)
def test_types_are_written_in_words(hint: Any, words: str) -> None:
    """None means that the value is not set."""
    assert tables.values(hint) == words


def test_cells_are_one_line_with_links_between_pages() -> None:
    """Docstrings name files of the repository."""
    made = tables.table("fields", ("field", "meaning"), [("`a`", "one | two\n    (docs/stack.md)")])

    assert "| `a` | one \\| two ([stack](stack.md)) |\n" in made
