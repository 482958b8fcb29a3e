"""Metadata of the installed distribution."""

from __future__ import annotations

import re
from importlib.metadata import entry_points, metadata
from pathlib import Path

import pulumi_volcano_jobs

NAME = "pulumi-volcano-jobs"


def test_the_description_is_the_readme_with_absolute_links() -> None:
    """A package index has no other page of the repository."""
    page = metadata(NAME)["Description"]

    assert page.startswith("# pulumi_volcano_jobs\n")
    assert "| PyTorch, TensorFlow, MPI, Ray | a complete program" in page
    assert [link for link in re.findall(r"\]\(([^)]*)\)", page) if not link.startswith("https://")] == []


def test_the_distribution_declares_its_licence_and_types() -> None:
    """Tools read them."""
    said = metadata(NAME)

    assert (said["License-Expression"], said["License-File"]) == ("Apache-2.0", "LICENSE")
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert Path(pulumi_volcano_jobs.__file__).with_name("py.typed").is_file()


def test_the_distribution_has_two_commands() -> None:
    """The command line, and the provider by the name that Pulumi looks for."""
    ours = [point.name for point in entry_points(group="console_scripts") if point.dist and point.dist.name == NAME]

    assert sorted(ours) == ["pulumi-resource-volcano-jobs", "volcano-jobs"]
