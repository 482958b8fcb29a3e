"""`volcano-jobs graph`: the topology of a job as a picture."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import mermaidx
import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.explain.flowchart import graph
from tests.cli.conftest import Shell
from tests.cli.jobs import accepted, private_keys
from tests.conftest import container, job, task

ROOT = Path(__file__).parents[2]
PYTORCH = ROOT / "examples" / "pytorch" / "job.yaml"
# Mermaid needs half a second for each; together they have every kind of node and edge.
HANDFUL = ("mpi", "tensorflow", "volume-mixed")
LABEL = r'"[^"\\`]*"'
LINES = {
    "begin": r"flowchart LR",
    "box": rf"subgraph (\w+)\[{LABEL}\]",
    "direction": r"direction (?:LR|TB)",
    "end": r"end",
    "node": rf"(\w+)[\[(]{LABEL}[\])]:::(\w+)",
    "link": rf"(\w+) (?:-->|<-->|-\.-)\|{LABEL}\| (\w+)",
    "class": r"class (\w+),(\w+) (\w+)",
    "style": r"classDef (\w+) [\w:#,-]+",
}


def words(svg: str) -> set[str]:
    """Return the lines of text in a picture."""
    root = ET.fromstring(svg)  # noqa: S314  # our own
    texts = {text.strip() for element in root.iter() for text in (element.text, element.tail) if text}
    return texts - {""}


def assert_well_formed(text: str) -> None:
    """Check that each line is valid Mermaid and that each identifier is defined once."""
    found: dict[str, list[tuple[str, ...]]] = {kind: [] for kind in LINES}
    for line in text.splitlines():
        matches = {kind: match for kind, rule in LINES.items() if (match := re.fullmatch(rule, line.strip()))}
        ((kind, match),) = matches.items()
        found[kind].append(match.groups())
    nodes = [name for name, *_ in (*found["node"], *found["box"])]
    styles = {style for (style,) in found["style"]}
    assert len(nodes) == len(set(nodes))
    assert len(found["box"]) == len(found["end"])
    assert {end for link in found["link"] for end in link} <= set(nodes)
    assert {style for _, style in found["node"]} | {style for *_, style in found["class"]} <= styles


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
def test_every_job_has_a_well_formed_graph_without_keys(*, strict: bool) -> None:
    """All accepted jobs of the guides and golden cases are drawn."""
    files = accepted(strict=strict)
    for file, rendered in files.items():
        text = graph([rendered])
        assert_well_formed(text)
        assert [key for key in private_keys(file) if key in text] == []
    assert len(files) > 120
    assert_well_formed(graph(files.values()))


def labels(text: str) -> set[str]:
    """Return the lines of the labels of a graph."""
    return {line for label in re.findall(r'"([^"]*)"', text) for line in label.split("<br/>")}


def test_mermaid_draws_the_labels_of_a_graph() -> None:
    """The job's name, its namespace and its PodGroup are among them."""
    drawn = {file.stem: rendered for file, rendered in accepted(strict=True).items() if file.stem in HANDFUL}

    assert sorted(drawn) == sorted(HANDFUL)
    for rendered in drawn.values():
        text = graph([rendered])
        assert labels(text) <= words(mermaidx.render(text).svg())
        assert any({rendered.job.name, rendered.job.namespace} <= set(label.split()) for label in labels(text))
        assert "PodGroup" in labels(text)


def test_an_svg_has_the_labels_of_the_text(shell: Shell) -> None:
    """The output is one SVG element."""
    text = shell.good("graph", str(PYTORCH)).out
    svg = shell.good("graph", str(PYTORCH), "--format", "svg").out

    assert svg.startswith("<svg ")
    assert svg.endswith("</svg>\n")
    assert labels(text) <= words(svg)


def test_special_characters_in_names_are_escaped(shell: Shell) -> None:
    """Characters that end a label or that have a meaning in HTML are shown unchanged."""
    name = 'x"]; <b>#1 & `y`'
    # The only name that Kubernetes does not validate.
    volumes = [{"name": "a", "secret": {"secretName": name}}]
    mounting = container(volumeMounts=[{"name": "a", "mountPath": "/a"}])
    file = shell.write("job.yaml", job(task(containers=[mounting], volumes=volumes)))

    assert name in words(shell.good("graph", "--lenient", file, "--format", "svg").out)


def test_svg_without_the_extra_is_bad_usage(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """The message names the extra to install, without a traceback."""
    monkeypatch.setitem(sys.modules, "mermaidx", None)

    answer = shell("graph", str(PYTORCH), "--format", "svg")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == snapshot
    shell.good("graph", str(PYTORCH))


def test_jobs_of_several_files_are_drawn_in_one_graph(shell: Shell) -> None:
    """Each job has a box."""
    files = [shell.write(f"{name}.yaml", job(name=name)) for name in ("one", "two")]

    text = shell.good("graph", *files).out

    assert_well_formed(text)
    assert text.count("subgraph") == 4


def test_nothing_is_drawn_for_a_rejected_job(shell: Shell) -> None:
    """Problems are reported as by the other commands."""
    answer = shell("graph", shell.write("job.yaml", job(queue=1)))

    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("job.yaml:6:3: spec.queue: ")


def test_the_help_ends_with_examples(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Each example is on its own line at any width."""

    def examples(columns: str) -> str:
        monkeypatch.setenv("COLUMNS", columns)
        return shell.good("graph", "--help").out.partition("Examples:\n")[2]

    assert examples("80") == examples("140") == snapshot
