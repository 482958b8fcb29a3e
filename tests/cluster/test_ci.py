"""docs/ci.md: the pipelines are valid, and their commands run on the real engine and API server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.conftest import Space
from tests.cluster.repository import Repository
from tests.pages.blocks import blocks

PAGE = "docs/ci.md"
GITHUB, GITLAB = (block.text for block in blocks() if block.key == (PAGE, "yaml"))
STORE_KUBECONFIG, NIGHTLY = (block.text.strip() for block in blocks() if block.key == (PAGE, "sh"))
(VIOLATION,) = (block.text.strip() for block in blocks() if block.key == (PAGE, "text"))
FLAGS = {"stack-name": "--stack", "policyPacks": "--policy-pack"}
"""Flags of the Pulumi CLI by the input of pulumi/actions@v7, which passes them to the Automation API."""
INPUTS = {"command", "comment-on-pr", "diff", "plan", *FLAGS}
NOT_RUN = ("curl", "export", "pip install", "pulumi install")
"""Steps that install what the test already has."""


def new_repository(folder: Path, space: Space) -> Repository:
    """Return a repository whose stack has the kubeconfig of the cluster."""
    made = Repository(folder, space)
    made.succeeds(STORE_KUBECONFIG)
    made.environment.pop("KUBECONFIG")
    return made


@pytest.fixture
def repository(space: Space, tmp_path: Path) -> Repository:
    """Provide a repository for one test."""
    return new_repository(tmp_path, space)


@pytest.fixture(scope="module")
def created(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Provide a repository in which each command of GitLab's jobs has succeeded."""
    made = new_repository(tmp_path_factory.mktemp("gitlab"), new_space())
    for name in ("validate", "preview", "up"):
        for line in lines(f"gitlab-{name}"):
            made.succeeds(line)
    return made


def workflow() -> dict[str, Any]:
    """Return the workflow of GitHub. YAML 1.1 reads its key `on` as true."""
    found: dict[str, Any] = yaml.safe_load(GITHUB)
    return {("on" if key is True else key): value for key, value in found.items()}


def steps(name: str) -> list[dict[str, Any]]:
    """Return the steps of a job of GitHub."""
    found: list[dict[str, Any]] = workflow()["jobs"][name]["steps"]
    return found


def command(name: str) -> str:
    """Return the command that pulumi/actions runs in a job of GitHub."""
    (inputs,) = (step["with"] for step in steps(name) if "command" in step.get("with", {}))
    return cli(inputs)


def cli(inputs: Mapping[str, Any]) -> str:
    """Return the command line for inputs of pulumi/actions."""
    assert inputs.keys() <= INPUTS
    is_up = inputs["command"] == "up"
    options: Sequence[str] = [f"{FLAGS[key]} {value}" for key, value in inputs.items() if key in FLAGS]
    plan = "--plan" if is_up else "--save-plan"
    rest = ["--yes", "--skip-preview"] if is_up else ["--diff"] * inputs["diff"]
    return " ".join(["pulumi", inputs["command"], *options, plan, inputs["plan"], *rest])


def lines(name: str) -> list[str]:
    """Return the lines of a job of GitHub or GitLab that the test runs."""
    if name in workflow()["jobs"]:
        found = [step["run"] for step in steps(name) if "run" in step]
    else:
        pipeline = yaml.safe_load(GITLAB)
        found = [*pipeline["default"]["before_script"], *pipeline[name.removeprefix("gitlab-")]["script"]]
    return [line for line in found if not line.startswith(NOT_RUN)]


def test_the_workflow_of_github_is_valid() -> None:
    """Each step has an action or a command, and each job waits for jobs that exist."""
    found = workflow()

    assert found["on"].keys() == {"pull_request", "push"}
    for name, item in found["jobs"].items():
        assert {"runs-on", "steps"} <= item.keys()
        assert item.get("needs", "validate") in found["jobs"].keys() - ({name} if "needs" in item else set())
        assert all(("uses" in step) != ("run" in step) for step in item["steps"])
    assert found["jobs"]["validate"]["permissions"]["security-events"] == "write"
    assert found["jobs"]["preview"]["permissions"]["pull-requests"] == "write"


def test_both_pipelines_run_the_same_commands() -> None:
    """They differ in flags that GitHub's action sets itself."""
    for name in ("preview", "up"):
        (line,) = lines(f"gitlab-{name}")
        ours, theirs = (set(re.findall(r"--\S+(?: [^-]\S*)?", text)) for text in (command(name), line))
        assert ours - theirs <= {"--skip-preview"}
        assert theirs <= ours


def test_the_log_is_written_with_errors_and_without(repository: Repository) -> None:
    """The step fails if a file has errors, and GitHub can still upload the log."""
    (line,) = lines("validate")
    for image, code in (("ghcr.io/me/train:1", 0), ("ghcr.io/me/Train:1", 1)):
        repository.edit(image)

        assert repository.run(line).returncode == code

        (run,) = json.loads((repository.folder / "volcano-jobs.sarif").read_text("utf-8"))["runs"]
        assert bool(run["results"]) == bool(code)


def test_only_an_approved_preview_is_applied(repository: Repository) -> None:
    """The preview changes nothing, and the policy pack runs in both commands. The error is that of the page."""
    repository.succeeds(command("preview"))
    repository.edit("ghcr.io/me/train:2")
    run = repository.run(command("up"))
    assert run.returncode
    assert VIOLATION in run.stdout + run.stderr
    assert repository.space.pods() == {}

    repository.edit("ghcr.io/me/train:1")
    repository.succeeds(command("up"))

    assert repository.images() == {"ghcr.io/me/train:1"}
    repository.edit("docker.io/me/train:1")
    assert "the registry is not allowed" in repository.run(command("preview")).stdout


def test_the_pipeline_of_gitlab_creates_the_job(created: Repository) -> None:
    """The Pods have the image of the program."""
    assert created.images() == {"ghcr.io/me/train:1"}


def test_the_nightly_command_fails_if_a_pod_is_missing(created: Repository) -> None:
    """Pods that only changed their phase are no difference."""
    space = created.space
    space.run()
    created.succeeds(NIGHTLY)

    space.cluster.delete("Pod", "train-worker-0", space.name)
    space.cluster.wait(lambda: len(space.pods()) == 1, "the Pod to be gone")

    assert created.run(NIGHTLY).returncode
