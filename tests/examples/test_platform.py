"""examples/platform as a team has it: its tests pass, its types are right, and its README says what is so.

tests/engine/test_platform.py runs its programs and its policy.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from pulumi_volcano_jobs.testing import Result, failed, run
from tests.pages.blocks import Block, blocks
from tests.programs import MYPY_CACHE

ROOT = Path(__file__).parents[2]
PLATFORM = ROOT / "examples" / "platform"
README = (PLATFORM / "README.md").read_text("utf-8")
QUEUES = {"organization/platform-queues/dev": {"vision": "team-vision", "language": "team-language"}}


def of(language: str) -> list[Block]:
    """Give the README's blocks of a language."""
    return [block for block in blocks() if block.key == ("examples/platform/README.md", language)]


def ran(*command: str, folder: Path = PLATFORM) -> str:
    """Run a module in the example's folder, as its README says, or in another; it must succeed."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def installed() -> Iterator[None]:
    """Let the README's program import the platform's package."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(PLATFORM)
        yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "platform_jobs"]:
        del sys.modules[name]


def program(text: str) -> Callable[[], None]:
    """Give the program of a text."""
    return lambda: exec(text, {})  # noqa: S102  # our own page


def made(text: str) -> Result:
    """Run the README's program with the queues of the other stack."""
    return run(program(text), stack="dev", stacks=QUEUES, secrets={"token": "hunter2"})


def test_its_own_tests_pass() -> None:
    """Where it lies, with its own settings."""
    said = ran("pytest", "-q", "-p", "no:cacheprovider")

    assert re.search(r"^\d+ passed", said, re.MULTILINE)


def test_its_own_tests_are_found_from_the_root() -> None:
    """As `pytest examples/platform`: with its own settings, by which they import its package."""
    said = ran("pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "examples/platform", folder=ROOT)

    assert re.search(r"^\d+ tests collected", said, re.MULTILINE)


def test_its_own_types_are_right() -> None:
    """Strictly, by its own settings."""
    said = ran("mypy", MYPY_CACHE)

    assert said.startswith("Success: no issues found in ")


def test_the_readme_s_job_is_one(installed: None) -> None:
    """Two nodes in the queue of its team; the token is a secret."""
    (block,) = of("python")

    job = made(block.text).job("segment")

    assert [pod.name for pod in job.pods] == ["segment-master-0", "segment-worker-0"]
    assert job.pod_group.spec["queue"] == "team-vision"
    assert str(job.pod("master", 0).env["TOKEN"]) == "[secret]"


def test_what_the_readme_shows_is_what_is_said(installed: None) -> None:
    """One node more than the queue has, and a Pod of no team."""
    refusal, rule = (block.text.strip() for block in of("text"))
    (block,) = of("python")
    assert block.text.count("nodes=2") == 1

    failure = failed(
        program(block.text.replace("nodes=2", "nodes=3")), stack="dev", stacks=QUEUES, secrets={"token": "hunter2"}
    )

    assert str(failure.error) == refusal
    # The engine's tests look for this one.
    assert rule.removeprefix("job own, task worker: ") in (PLATFORM / "tests" / "test_rules.py").read_text("utf-8")


def test_the_readme_names_what_is_there() -> None:
    """Folders of the table, and all of them."""
    named = set(re.findall(r"^\| `(\w+)/`", README, re.MULTILINE))

    there = {path.name for path in PLATFORM.iterdir() if path.is_dir() and path.name[0] not in "._"}
    assert named == there


def test_the_readme_s_commands_are_possible() -> None:
    """Folders, stacks, flags and outputs are those that are there."""
    folder = PLATFORM
    for block in of("sh"):
        for line in block.text.splitlines():
            words = shlex.split(line)
            match words:
                case ["cd", where]:
                    folder = (folder / where).resolve()
                case ["pulumi", "stack", "init", name] | ["pulumi", "stack", "select", "--create", name]:
                    assert (folder / f"Pulumi.{name}.yaml").is_file()
                case ["pulumi", "up", "--policy-pack", where]:
                    assert (folder / where / "PulumiPolicy.yaml").is_file()
                case ["pulumi", "stack", "output", name]:
                    assert f'pulumi.export("{name}"' in (folder / "__main__.py").read_text("utf-8")
                case ["python", "-m", "venv", where]:
                    assert set(virtual_environments()) == {PLATFORM / where}
                case [".venv/bin/pip", "install", "--group", "dev", "--editable", "."]:
                    assert 'dev = ["mypy' in (PLATFORM / "pyproject.toml").read_text("utf-8")
                case _:
                    assert line in {". .venv/bin/activate", "pytest", "mypy"}
    assert folder == PLATFORM / "training"


def virtual_environments() -> Iterator[Path]:
    """Give where Pulumi looks for Python."""
    for file in ("queues/Pulumi.yaml", "training/Pulumi.yaml", "policy/PulumiPolicy.yaml"):
        settings = yaml.safe_load((PLATFORM / file).read_text("utf-8"))
        yield ((PLATFORM / file).parent / settings["runtime"]["options"]["virtualenv"]).resolve()


@pytest.mark.parametrize("program", ["queues", "training"])
def test_the_stacks_settings_are_in_the_repository(program: str) -> None:
    """`.gitignore` leaves out others' stacks, and not these."""
    files = subprocess.run(
        ["git", "ls-files", f"examples/platform/{program}"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout

    assert {Path(file).name for file in files.splitlines()} >= {"Pulumi.dev.yaml", "Pulumi.prod.yaml", "Pulumi.yaml"}
