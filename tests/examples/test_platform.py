"""examples/platform: its tests and type checks pass, and its README is correct.

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

ROOT = Path(__file__).parents[2]
PLATFORM = ROOT / "examples" / "platform"
README = (PLATFORM / "README.md").read_text("utf-8")
QUEUES = {"organization/platform-queues/dev": {"vision": "team-vision", "language": "team-language"}}


def of(language: str) -> list[Block]:
    """Return the blocks of a language in the README."""
    return [block for block in blocks() if block.key == ("examples/platform/README.md", language)]


def run_module(*command: str, folder: Path = PLATFORM) -> str:
    """Run a module in the folder of the example or in another one, and check that it succeeds."""
    # The plugins of our own tests take as long as the tests of the example.
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def installed() -> Iterator[None]:
    """Add the package of the platform to the import path for the program of the README."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(PLATFORM)
        yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "platform_jobs"]:
        del sys.modules[name]


def program(text: str) -> Callable[[], None]:
    """Return the program of a text."""
    return lambda: exec(text, {})  # noqa: S102  # our own page


def run_readme(text: str) -> Result:
    """Run the program of the README with the queues of the other stack."""
    return run(program(text), stack="dev", stacks=QUEUES, secrets={"token": "hunter2"})


def test_the_tests_of_the_example_pass() -> None:
    """They run in its folder with its configuration."""
    said = run_module("pytest", "-q", "-p", "no:cacheprovider")

    assert re.search(r"^\d+ passed", said, re.MULTILINE)


def test_the_tests_of_the_example_run_from_the_root() -> None:
    """`pytest examples/platform` uses the configuration of the example, which sets the import path."""
    said = run_module("pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "examples/platform", folder=ROOT)

    assert re.search(r"^\d+ tests collected", said, re.MULTILINE)


def test_the_type_checks_of_the_example_pass() -> None:
    """They are strict, by its configuration."""
    said = run_module("mypy")

    assert said.startswith("Success: no issues found in ")


def test_the_program_of_the_readme_creates_the_job(installed: None) -> None:
    """It has two nodes in the queue of its team, and the token is a secret."""
    (block,) = of("python")

    job = run_readme(block.text).job("segment")

    assert [pod.name for pod in job.pods] == ["segment-master-0", "segment-worker-0"]
    assert job.pod_group.spec["queue"] == "team-vision"
    assert str(job.pod("master", 0).env["TOKEN"]) == "[secret]"


def test_the_readme_quotes_the_errors(installed: None) -> None:
    """One job has too many nodes for the queue, and one Pod has no team."""
    refusal, rule = (block.text.strip() for block in of("text"))
    (block,) = of("python")
    assert block.text.count("nodes=2") == 1

    failure = failed(
        program(block.text.replace("nodes=2", "nodes=3")), stack="dev", stacks=QUEUES, secrets={"token": "hunter2"}
    )

    assert str(failure.error) == refusal
    # The engine's tests look for this one.
    assert rule.removeprefix("job own, task worker: ") in (PLATFORM / "tests" / "test_rules.py").read_text("utf-8")


def test_the_readme_lists_all_folders() -> None:
    """Each listed folder exists."""
    named = set(re.findall(r"^\| `(\w+)/`", README, re.MULTILINE))

    there = {path.name for path in PLATFORM.iterdir() if path.is_dir() and path.name[0] not in "._"}
    assert named == there


def test_the_commands_of_the_readme_use_existing_names() -> None:
    """They use existing folders, stacks, flags and outputs."""
    folder = PLATFORM
    for block in of("sh"):
        for line in block.text.splitlines():
            words = shlex.split(line, comments=True)
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
                case [".venv/bin/pip", "install", "../.."]:
                    assert 'name = "pulumi-volcano-jobs"' in (PLATFORM / "../../pyproject.toml").read_text("utf-8")
                case [".venv/bin/pip", "install", "--editable", ".[dev]"]:
                    assert '[project.optional-dependencies]\ndev = ["mypy' in (PLATFORM / "pyproject.toml").read_text(
                        "utf-8"
                    )
                case _:
                    assert line in {". .venv/bin/activate", "pytest", "mypy"}
    assert folder == PLATFORM / "training"


def virtual_environments() -> Iterator[Path]:
    """Return the folders in which Pulumi looks for Python."""
    for file in ("queues/Pulumi.yaml", "training/Pulumi.yaml", "policy/PulumiPolicy.yaml"):
        settings = yaml.safe_load((PLATFORM / file).read_text("utf-8"))
        yield ((PLATFORM / file).parent / settings["runtime"]["options"]["virtualenv"]).resolve()


@pytest.mark.parametrize("program", ["queues", "training"])
def test_the_stack_configurations_are_committed(program: str) -> None:
    """`.gitignore` ignores other stack files."""
    files = subprocess.run(
        ["git", "ls-files", f"examples/platform/{program}"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout

    assert {Path(file).name for file in files.splitlines()} >= {"Pulumi.dev.yaml", "Pulumi.prod.yaml", "Pulumi.yaml"}
