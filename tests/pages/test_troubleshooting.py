"""docs/troubleshooting.md quotes current messages and describes Pods correctly."""

from __future__ import annotations

import re
from typing import Any

import pulumi
import pytest

from pulumi_volcano_jobs import VolcanoJob, render
from pulumi_volcano_jobs.testing import failed
from tests.conftest import Wire, container, job, refused, task
from tests.pages.blocks import ROOT, blocks

PAGE = "docs/troubleshooting.md"
SHOWN = {block.text.strip() for block in blocks() if block.page == PAGE and block.language == "text"}
JOBS: dict[str, Wire] = {
    "two masters": job(task("master", 2), task(), plugins={"pytorch": []}),
    "no worker": job(task("master"), task("node"), plugins={"mpi": []}),
    "another container": job(task("head"), plugins={"ray": []}),
    "a long name": job(task("a" * 40), name="b" * 40),
    "an unknown argument": job(task("master"), task(), plugins={"pytorch": ["--prt=1"]}),
    "two set one": job(
        task("master", containers=[container(env=[{"name": "RANK", "value": "0"}])]), task(), plugins={"pytorch": []}
    ),
    "too large": job(
        task("worker-with-a-very-long-name-indeed", 1600), name="train-with-a-long-name", plugins={"svc": []}
    ),
    "an image": job(task(containers=[container(image="team/Train:1")])),
    "another kind": {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "a"}, "spec": {}},
}


def messages_of_outputs() -> set[str]:
    """Return the errors of programs whose replicas are an Output, and whose image has one in an f-string."""

    def replicas() -> None:
        tasks: list[Any] = [{**task(), "replicas": pulumi.Output.from_input(1)}]
        VolcanoJob("train", {"tasks": tasks})

    def image() -> None:
        tag = pulumi.Output.from_input("1")
        VolcanoJob("train", {"tasks": [task(containers=[container(image=f"ghcr.io/me/train:{tag}")])]})

    return {str(failed(program).error).partition("\n")[2].strip() for program in (replicas, image)}


@pytest.mark.parametrize("case", JOBS)
def test_a_message_is_quoted_exactly(case: str) -> None:
    """Users search for the text of the message."""
    said = [str(problem) for problem in refused(JOBS[case]).problems]

    assert SHOWN & {*said}


def test_the_messages_about_outputs_are_quoted_exactly() -> None:
    """Only a program causes them."""
    assert messages_of_outputs() <= SHOWN


def test_each_quoted_message_is_checked() -> None:
    """The page quotes no other message of the library."""
    said = {str(problem) for document in JOBS.values() for problem in refused(document).problems}

    assert {*SHOWN} - said == messages_of_outputs()


def test_init_containers_have_no_framework_variables() -> None:
    """RANK is empty there, but VC_TASK_INDEX is set."""
    init = {"initContainers": [container("early")]}
    document = job(task("master", **init), task(**init), plugins={"pytorch": [], "env": []})

    names = {entry["name"] for entry in render(document).pods[0]["spec"]["initContainers"][0]["env"]}

    assert "VC_TASK_INDEX" in names
    assert "RANK" not in names


def test_a_task_name_has_underscores_in_variables_and_file_names() -> None:
    """The page has an example."""
    made = render(job(task("trainer-0"), plugins={"svc": []}))

    (data,) = (item["data"] for item in made.objects if item["kind"] == "ConfigMap")
    assert {"trainer_0.host", "VC_TRAINER_0_HOSTS"} <= data.keys()


def test_the_text_of_an_issue_link_has_its_number() -> None:
    """`[volcano 71](…/issues/71)`: a wrong number would lead to another issue."""
    text = (ROOT / PAGE).read_text("utf-8")

    assert re.findall(r"\[[a-z-]+ (\d+)\]\(\S+/(?:issues|pull)/(?!\1\))", text) == []
