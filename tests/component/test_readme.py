"""The programs of the README run unchanged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pulumi_volcano_jobs.testing import Resource, run
from tests.readme import ROOT, programs

STACK = "pulumi:pulumi:Stack train-dev"
PODS = {"readme_0": 3, "readme_1": 4}
LINE = re.compile(r" \+   (\W*)(\S+) +(\S+) +create\n")


@pytest.mark.parametrize("name", PODS)
def test_a_program_of_the_readme_runs(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It creates the documented Pods; the program that reads a file gets the file of the example."""
    (tmp_path / "job.yaml").write_text((ROOT / "examples/pytorch/job.yaml").read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)

    done = run(lambda: exec(programs()[name], {}))  # noqa: S102  # our own page

    assert len(done.names("Pod")) == PODS[name]


def test_the_readme_shows_the_resources_of_its_program() -> None:
    """Each line has the type and the name of a resource, and is indented below its parent."""
    _, page = (ROOT / "README.md").read_text("utf-8").split("`pulumi up` shows every object")
    shown, above = set(), [""]
    for indent, type_, name in LINE.findall(page):
        above[1 + len(indent) // 3 :] = [f"{type_} {name}"]
        shown.add((above[-2], above[-1]))
    shown.discard(("", STACK))

    done = run(lambda: exec(programs()["readme_0"], {}))  # noqa: S102  # our own page

    registered = {(_line(item.parent) if item.parent else STACK, _line(item)) for item in done.resources.values()}
    assert shown == registered


def _line(resource: Resource) -> str:
    return f"{resource.type} {resource.name}"


def test_all_programs_of_the_readme_are_tested() -> None:
    """The list above is complete."""
    assert {name for name in programs() if name.startswith("readme")} == PODS.keys()
