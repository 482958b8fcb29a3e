"""Both programs, in each of our stacks."""

from __future__ import annotations

from pathlib import Path

from platform_jobs import TEAMS
from platform_jobs.rules import team_problems
from pulumi_volcano_jobs.testing import Result, failed

ROOT = Path(__file__).parents[1]


def test_each_team_has_a_queue_under_its_name(queues: Result) -> None:
    """Other stacks find it there."""
    assert queues.outputs == {"language": "team-language", "vision": "team-vision"}
    assert queues.names("Queue") == ["team-language", "team-vision"]


def test_a_queue_has_the_share_of_its_team(queues: Result) -> None:
    """Of the GPUs, and while teams want more than there is."""
    queue = queues.manifests()["Queue team-vision"]

    assert queue["spec"]["weight"] == TEAMS["vision"].weight
    assert queue["spec"]["capability"] == {"nvidia.com/gpu": str(TEAMS["vision"].gpus)}
    assert queue["metadata"]["labels"] == {"team": "vision", "cost-centre": "4711"}


def test_only_prod_keeps_its_queues_from_being_deleted(queues: Result, stack: str) -> None:
    """A queue may go while jobs run in it, so there it must not go by mistake."""
    assert queues.resources["Queue team-vision"].protect is (stack == "prod")


def test_jobs_are_in_the_queues_of_the_other_stack(training: Result) -> None:
    """Each in that of its team."""
    assert training.outputs["queues"] == {"llm": "team-language", "resnet": "team-vision"}
    assert training.job("llm").pod_group.spec["queue"] == "team-language"


def test_every_pod_is_as_our_policy_wants_it(training: Result) -> None:
    """We need not wait for a preview to be told."""
    pods = [pod for job in training.jobs.values() for pod in job.pods]

    assert [problem for pod in pods for problem in team_problems(pod.labels)] == []
    assert all(str(pod.image).startswith("registry.example.com/training/") for pod in pods)


def test_pods_have_what_the_stack_s_jobs_share(training: Result, stack: str) -> None:
    """From `Pulumi.<stack>.yaml`."""
    pod = training.job("llm").pod("worker", 1)

    assert pod.image == "registry.example.com/training/llm:" + {"dev": "dev", "prod": "stable"}[stack]
    assert pod.node_selector == {"pool": "gpu"}
    assert pod.labels["stage"] == stack
    assert pod.metadata["namespace"] == "training"
    assert pod.spec["imagePullSecrets"] == [{"name": "registry"}]


def test_nothing_is_warned_of(queues: Result, training: Result) -> None:
    """A warning that nobody acts on hides the next one."""
    assert queues.warnings + training.warnings == []


def test_a_queue_that_is_not_there_yet_is_told() -> None:
    """Of a team that is entered, and whose queue nobody has brought up."""
    failure = failed(ROOT / "training", stack="dev", stacks={"organization/platform-queues/dev": {"vision": "a"}})

    assert str(failure.error) == (
        "the stack organization/platform-queues/dev has no queue of the team language (it has vision): enter the team"
        " in platform_jobs/teams.py, and run `pulumi up` in queues/"
    )
