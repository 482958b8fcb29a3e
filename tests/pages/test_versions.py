"""docs/versions.md lists the versions of the package metadata, the installed packages and the pinned tools."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import package
import pins
import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.plugins.settings import flags_of, since_of
from pulumi_volcano_jobs.spec import releases
from tests import upstream

tomllib = pytest.importorskip("tomllib", reason="Python has it from 3.11 on")

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
REQUIREMENTS = {
    **{Requirement(text).name: Requirement(text) for text in PROJECT["dependencies"]},
    **{Requirement(text).name: Requirement(text) for extra in EXTRAS.values() for text in extra},
}
BUILT = {
    "Pulumi CLI": "pulumi",
    "Pulumi's Kubernetes provider": "pulumi-resource-kubernetes",
    "Pulumi's host for YAML programs": "pulumi-language-yaml",
    "Kubernetes: API server of the tests": "kube-apiserver",
    "etcd of the tests": "etcd",
    "kwok of the tests": "kwok",
}
"""Rows of tools that the tests build, and their names in `tools/pins.py`."""
RELEASES = "Volcano: releases for `--volcano-version`"
OTHERS = ("Python", "Kubernetes: fields of templates", "Volcano: plugins, webhooks and resource definitions", RELEASES)


class Row(NamedTuple):
    """A row of the table."""

    oldest: str
    below: str
    newest: str
    source: str


def page() -> tuple[str, str]:
    """Return the page's text before and after the heading about releases of Volcano."""
    before, _, after = (
        (ROOT / "docs" / "versions.md").read_text("utf-8").partition("## What a release of Volcano lacks")
    )
    return before, after


def rows() -> dict[str, Row]:
    """Return the rows of the first table by their first cell."""
    found = re.findall(r"^\| (?!what |-)(.*) \|$", page()[0], re.MULTILINE)
    cells = [[cell.strip() for cell in line.split("|")] for line in found]
    return {what: Row(*rest) for what, *rest in cells}


def row(package: str) -> Row:
    """Return the row of a package, whose name may include its extra."""
    (found,) = (row for what, row in rows().items() if what.startswith(f"`{package}`"))
    return found


def test_each_row_is_checked() -> None:
    """Each package and tool also has a row."""
    extras = {Requirement(text).name: extra for extra, texts in EXTRAS.items() for text in texts}
    packages = [f"`{name}`" + (f" (extra `{extras[name]}`)" if name in extras else "") for name in REQUIREMENTS]

    assert sorted(rows()) == sorted([*packages, *BUILT, *OTHERS])


@pytest.mark.parametrize("package", REQUIREMENTS)
def test_a_package_has_the_bounds_of_the_metadata(package: str) -> None:
    """They are the minimum, and the first excluded version."""
    bounds = {bound.operator: bound.version for bound in REQUIREMENTS[package].specifier}

    assert bounds == {sign: text for sign, text in ((">=", row(package).oldest), ("<", row(package).below)) if text}


@pytest.mark.parametrize("package", REQUIREMENTS)
def test_installed_packages_have_at_least_the_tested_versions(package: str) -> None:
    """Newer releases are allowed."""
    assert Version(version(package)) >= Version(row(package).newest)


def test_python_has_the_bounds_of_the_metadata() -> None:
    """The classifiers list each tested version from the oldest to the newest."""
    python = rows()["Python"]
    named = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)]

    assert PROJECT["requires-python"] == f">={python.oldest}"
    assert named == [python.oldest, "3.11", "3.12", python.newest]
    assert [*package.PYTHONS] == [*named, "3.14"]


@pytest.mark.parametrize("what", BUILT)
def test_a_tool_has_the_version_of_its_pin(what: str) -> None:
    """It is a release, or a commit with its date; the minimum is that of a tool on PATH."""
    tool = pins.TOOLS[BUILT[what]]
    pin = re.search(rf"^\s*(?:require )?{re.escape(tool.module)} v(\S+)", tool._go_mod(), re.MULTILINE)
    assert pin is not None
    commit = re.fullmatch(r"4\.0\.0-(\d{4})(\d\d)(\d\d)\d{6}-(\w+)", pin[1])

    assert rows()[what].newest == (f"{commit[4]} ({commit[1]}-{commit[2]}-{commit[3]})" if commit else pin[1])
    assert rows()[what].oldest == (tool.stamped_version or ".".join(map(str, tool.minimum or ())))


def test_the_versions_of_kubernetes_are_those_of_the_schemas() -> None:
    """The newest is the one that Volcano's CRD embeds."""
    fields = rows()["Kubernetes: fields of templates"]

    assert (fields.oldest, fields.newest) == (schema.versions()[0], schema.versions()[-1])
    assert f"{fields.newest}.0" == schema.KUBERNETES_VERSION


def test_the_releases_of_volcano_are_those_of_the_library() -> None:
    """The newest has the Pod template that the library embeds."""
    row = rows()[RELEASES]

    assert (row.oldest, row.newest) == (releases.MINORS[0], releases.MINORS[-1])
    assert releases.embedded_kubernetes(row.newest) == rows()["Kubernetes: fields of templates"].newest


def test_the_page_names_each_plugin_and_flag_with_its_first_release() -> None:
    """The plugins declare the releases."""
    lines = re.findall(r"^\| (1\S+) \| (.*?) \|", page()[1], re.MULTILINE)
    named = {(since, flag) for since, what in lines for flag in re.findall(r"`--([\w-]+)`", what)}
    plugins = {(since, name) for since, what in lines for name in re.findall(r"the plugin (\w+)", what)}
    flags = {(since_of(plugin, name), name) for plugin in BUILT_IN for name in flags_of(plugin)}

    assert named == {(since, name) for since, name in flags if since}
    assert plugins == {(plugin.since, plugin.name) for plugin in BUILT_IN if plugin.since}


@upstream.compares_with_definitions
def test_volcano_has_the_version_of_the_crds() -> None:
    """Test clusters install these CRDs."""
    commit, day = rows()["Volcano: plugins, webhooks and resource definitions"].newest.rstrip(")").split(" (")

    assert f"volcano-sh/volcano {commit}, {day}," in (upstream.DEFINITIONS / "README.md").read_text("utf-8")
