"""Every block of the pages is run by a test, or there is a reason why not."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.plugins import registry
from tests.cli.conftest import Shell
from tests.component.harness import run
from tests.pages.blocks import ELSEWHERE, HERE, NOT_RUN, NOT_RUN_COMMANDS, ROOT, Block, blocks, commands, run_here

JOB = (ROOT / "examples" / "pytorch" / "job.yaml").read_text("utf-8")
RAY = (ROOT / "tests" / "documents" / "jobs" / "ray.yaml").read_text("utf-8")


def of(language: str) -> list[pytest.ParameterSet]:
    """Give the blocks of a language that are run here."""
    return [pytest.param(block, id=str(block)) for block in run_here() if block.language == language]


@pytest.mark.parametrize("block", [pytest.param(block, id=str(block)) for block in blocks()])
def test_somebody_runs_a_block_or_there_is_a_reason(block: Block) -> None:
    """A new page, or another language on an old one, is entered in `blocks.py`."""
    assert block.key in {*ELSEWHERE, *NOT_RUN} or block.language in HERE, f"nobody runs the block at {block}"


def test_nothing_is_entered_that_is_not_there() -> None:
    """Entries of blocks that have gone say nothing."""
    there = {block.key for block in blocks()}
    lines = [line for block in run_here() if block.language == "sh" for line in block.text.splitlines()]

    assert {*ELSEWHERE, *NOT_RUN} - there == set()
    assert NOT_RUN_COMMANDS.keys() - {name for line in lines for name in commands(line)} == set()


@pytest.mark.parametrize(("key", "test"), ELSEWHERE.items(), ids=[" ".join(key) for key in ELSEWHERE])
def test_who_runs_a_page_s_blocks_reads_the_page(key: tuple[str, str], test: str) -> None:
    """The test that is named is there, and names the page."""
    name = Path(key[0]).stem

    assert name.lower() in (ROOT / test).read_text("utf-8").lower()


@pytest.mark.parametrize("block", of("python"))
def test_a_program_runs(block: Block, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As it stands, where a `job.yaml` is; it makes a job, or a plugin of one's own."""
    (tmp_path / "job.yaml").write_text(JOB, "utf-8")
    monkeypatch.chdir(tmp_path)
    before = registry.names()
    monkeypatch.setattr(registry, "_plugins", dict(registry._plugins))

    done = run(lambda: exec(block.text, {}))  # noqa: S102  # our own page

    assert done.names("Pod") or done.names("Job") or registry.names() != before


@pytest.mark.parametrize("block", of("yaml"))
def test_a_document_is_what_it_says(block: Block) -> None:
    """A Volcano Job renders; a Pulumi project says what it is called and what runs it."""
    documents = list(yaml.safe_load_all(block.text))

    assert documents
    for document in documents:
        if document.get("apiVersion") == "batch.volcano.sh/v1alpha1":
            assert render(document).pods
        else:
            assert {"name", "runtime"} <= document.keys()


@pytest.mark.parametrize("block", of("sh"))
def test_commands_run(block: Block, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`volcano-jobs` does as it is told; all other commands have a reason not to be run."""
    shell = Shell(tmp_path / "work")
    shell.folder.mkdir()
    monkeypatch.chdir(shell.folder)
    shell.write("../job.yaml", JOB)
    for name in ("job.yaml", "train.yaml", "evaluate.yaml"):
        # What is told of a head is told of a Ray job.
        shell.write(name, RAY if "task: head" in block.text else JOB.replace("pytorch-job", Path(name).stem))
    for line in block.text.splitlines():
        programs = set(commands(line))
        if programs and not programs & NOT_RUN_COMMANDS.keys():
            assert programs == {"volcano-jobs"}
            arguments = shlex.split(line.partition(" > ")[0], comments=True)[1:]
            assert shell(*arguments).code == 0, line
