"""A test runs each code block of the documentation, or a reason is listed."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.plugins import registry
from pulumi_volcano_jobs.testing import run
from tests.cli.conftest import Shell
from tests.pages.blocks import ELSEWHERE, HERE, NOT_RUN, NOT_RUN_COMMANDS, ROOT, Block, blocks, commands, run_here

JOB = (ROOT / "examples" / "pytorch" / "job.yaml").read_text("utf-8")
RAY = (ROOT / "tests" / "documents" / "jobs" / "ray.yaml").read_text("utf-8")


def of(language: str) -> list[pytest.ParameterSet]:
    """Return the blocks of a language that are run here."""
    return [pytest.param(block, id=str(block)) for block in run_here() if block.language == language]


@pytest.mark.parametrize("block", [pytest.param(block, id=str(block)) for block in blocks()])
def test_each_block_has_a_test_or_a_reason(block: Block) -> None:
    """Add new pages, and new languages of a page, to `blocks.py`."""
    assert block.key in {*ELSEWHERE, *NOT_RUN} or block.language in HERE, f"no test runs the block at {block}"


def test_each_entry_has_a_block() -> None:
    """Entries of removed blocks must be deleted."""
    there = {block.key for block in blocks()}
    lines = [line for block in run_here() if block.language == "sh" for line in block.text.splitlines()]

    assert {*ELSEWHERE, *NOT_RUN} - there == set()
    assert NOT_RUN_COMMANDS.keys() - {name for line in lines for name in commands(line)} == set()


@pytest.mark.parametrize(("key", "test"), ELSEWHERE.items(), ids=[" ".join(key) for key in ELSEWHERE])
def test_the_listed_test_reads_the_page(key: tuple[str, str], test: str) -> None:
    """The test file exists and contains the name of the page."""
    name = Path(key[0]).stem

    assert name.lower() in (ROOT / test).read_text("utf-8").lower()


@pytest.mark.parametrize("block", of("python"))
def test_a_program_runs(block: Block, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It runs unchanged next to a `job.yaml`, and creates a job or defines a plugin."""
    (tmp_path / "job.yaml").write_text(JOB, "utf-8")
    monkeypatch.chdir(tmp_path)
    before = registry.names()
    monkeypatch.setattr(registry, "_plugins", dict(registry._plugins))

    done = run(lambda: exec(block.text, {}))  # noqa: S102  # our own page

    assert done.names("Pod") or done.names("Job") or registry.names() != before


@pytest.mark.parametrize("block", of("yaml"))
def test_a_document_is_valid(block: Block) -> None:
    """A Volcano Job renders, and a Pulumi project has a name and a runtime."""
    documents = list(yaml.safe_load_all(block.text))

    assert documents
    for document in documents:
        if document.get("apiVersion") == "batch.volcano.sh/v1alpha1":
            assert render(document).pods
        else:
            assert {"name", "runtime"} <= document.keys()


@pytest.mark.parametrize("block", of("sh"))
def test_commands_run(block: Block, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`volcano-jobs` commands succeed; other commands have a reason not to run."""
    shell = Shell(tmp_path / "work")
    shell.folder.mkdir()
    monkeypatch.chdir(shell.folder)
    shell.write("../job.yaml", JOB)
    (shell.folder / "jobs").mkdir()
    for name in ("job.yaml", "train.yaml", "evaluate.yaml", "jobs/job.yaml"):
        # The text about a head is about a Ray job.
        shell.write(name, RAY if "task: head" in block.text else JOB.replace("pytorch-job", Path(name).stem))
    for line in block.text.splitlines():
        programs = set(commands(line))
        if programs and not programs & NOT_RUN_COMMANDS.keys():
            assert programs == {"volcano-jobs"}
            arguments = shlex.split(line.partition(" > ")[0], comments=True)[1:]
            assert shell(*arguments).code == 0, line
