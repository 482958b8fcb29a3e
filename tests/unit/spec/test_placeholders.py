"""Values of unfilled templates: an error has the right fix, and a field without a rule has a warning."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.spec import placeholders
from tests.conftest import Wire, container, job, problems, task

REJECTED: dict[str, tuple[Wire, str, str]] = {
    "a name": (job(name="${NAME}"), "metadata.name", "envsubst"),
    "a number": (job(task() | {"replicas": "$REPLICAS"}), "spec.tasks[0].replicas", "envsubst"),
    "a queue": (job(queue="{{ queue }}"), "spec.queue", "Jinja"),
    "a task": (job({**task(), "name": "$(ROLE)"}), "spec.tasks[0].name", "kustomize"),
    "a claim": (
        job(volumes=[{"mountPath": "/a", "volumeClaimName": "<claim>"}]),
        "spec.volumes[0].volumeClaimName",
        "replace it by a value",
    ),
    "an amount": (
        job(task(containers=[container(resources={"limits": {"cpu": "__CPU__"}})])),
        "spec.tasks[0].template.spec.containers[0].resources.limits.cpu",
        "replace it by a value",
    ),
    "an image": (
        job(task(containers=[container(image="<your-image>")])),
        "spec.tasks[0].template.spec.containers[0].image",
        "replace it by a value",
    ),
    "an argument": (job(plugins={"ssh": ["--ssh-port=${PORT}"], "svc": []}), "spec.plugins.ssh[0]", "envsubst"),
}


@pytest.mark.parametrize(("document", "path", "tool"), REJECTED.values(), ids=REJECTED)
def test_the_fix_of_a_rejected_placeholder_is_to_fill_it_in(document: Wire, path: str, tool: str) -> None:
    """The rule of the field would not help."""
    (problem,) = problems(document)

    assert (problem.path, problem.warning) == (path, False)
    assert tool in problem.hint


FOLDER = "spec.tasks[0].template.spec.containers[0].workingDir"
MARKS = [
    "${A}",
    "${A:-b}",
    "$A",
    "$(A)",
    "{{ a }}",
    "{% if a %}b{% endif %}",
    "[[ a ]]",
    "<a b>",
    "<%= a %>",
    "__A__",
    "@A@",
    "%A%",
    "{a}",
    "YOUR_A",
]


def in_folder(folder: str) -> Wire:
    """Build a job with a value that the API server does not check."""
    return job(task(containers=[container(workingDir=folder)]))


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("folder", ["-", "/home/-:1"], ids=["whole", "part"])
def test_the_marks_of_all_tools_are_placeholders(mark: str, folder: str) -> None:
    """Other text may be before a placeholder and after it."""
    (warning,) = render(in_folder(folder.replace("-", mark))).warnings

    assert (warning.path, warning.code) == (FOLDER, "VJ135")


@pytest.mark.parametrize("word", ["TODO", "CHANGEME", "replace-me"])
def test_a_reminder_is_a_placeholder(word: str) -> None:
    """Only as the whole value, because a name can contain it."""
    assert [warning.path for warning in render(in_folder(word)).warnings] == [FOLDER]
    assert placeholders.find(in_folder(f"/home/{word}-list")) == {}


NO_MARKS = [
    "example.org/todo:1",
    "a__b",
    "a_b_",
    "1<2",
    "50%",
    "a@sha256:0",
    "replace-men",
    "{}",
    "$",
    "$5",
    "A",
    "a[0]",
]


@pytest.mark.parametrize("value", NO_MARKS)
def test_ordinary_text_is_no_placeholder(value: str) -> None:
    """These are near misses."""
    assert placeholders.find(in_folder(value)) == {}


def test_a_default_that_may_be_secret_is_not_shown(snapshot: SnapshotAssertion) -> None:
    """Only a name between marks is."""
    (warning,) = render(in_folder("${A:-s3cret}")).warnings

    assert "s3cret" not in str(warning)
    assert str(warning) == snapshot


def test_a_password_in_an_argument_is_no_placeholder() -> None:
    """It may have any characters."""
    assert placeholders.find(job(plugins={"own": ["--password=a$b<c>{d}"]})) == {}


def test_the_flat_form_has_the_same_paths() -> None:
    """Programs use it."""
    assert placeholders.find({"name": "${A}", "queue": "${B}", "tasks": []}).keys() == {"metadata.name", "spec.queue"}
