"""The effect of an edit on existing objects: replaced, updated, or unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.conftest import ROOT, Project, Steps

pytestmark = pytest.mark.engine
JOB = (ROOT / "examples" / "pytorch" / "job.yaml").read_text("utf-8")
PROGRAM = """
names = ("restart", "on_scale", "run", "key_rotation")
options = {name: value for name in names if (value := config.get(name))}
VolcanoJob.from_yaml("job", HERE / "job.yaml", opts, **options)
"""
MASTER, WORKERS = "Pod job-master-0", ["Pod job-worker-0", "Pod job-worker-1"]
RESTART = dict.fromkeys([MASTER, *WORKERS], "replace")
# The task component shows the new spec of its Pods.
MASTER_SPEC = {"Task job-master": "update"}
SPECS = {**MASTER_SPEC, "Task job-worker": "update"}
# Each Pod has the world size in a variable.
SCALED = {**SPECS, "PodGroup job": "update", "ConfigMap job-svc": "replace"}
UP, DOWN = ("replicas: 2", "replicas: 3"), ("replicas: 2", "replicas: 1")
IMAGE = ("sendrecv-test:1.0", "sendrecv-test:1.1")
LABEL = ("- replicas: 2\n      name: worker\n      template:\n", "        metadata: {labels: {team: vision}}\n")
OPTIONS = {"default": {}, "keep": {"on_scale": "keep"}, "pod": {"restart": "pod"}}


def job_project(folder: Path, options: dict[str, str] | None = None) -> Project:
    """Create the project of a job, and run `up`."""
    folder.mkdir(exist_ok=True)
    (folder / "job.yaml").write_text(JOB, "utf-8")
    project = Project(folder, PROGRAM, {f"tests:{key}": value for key, value in (options or {}).items()})
    project.up()
    return project


def edited(*edits: tuple[str, str]) -> str:
    """Return the job file with an edit: the first match is replaced, or lines are added below it."""
    text = JOB
    for old, new in edits:
        assert old in text
        text = text.replace(old, old + new if old.endswith("\n") else new, 1)
    return text


def changed(project: Project) -> Steps:
    """Run `up`; check that the preview shows the same steps and that a second one shows none."""
    preview, up = project.preview(), project.up()
    assert preview.urns == up.urns
    assert project.preview().steps == {}
    return up.steps


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    """Provide a job after `up` for each set of options, for previews only."""
    folder = tmp_path_factory.mktemp("previews")
    return {name: job_project(folder / name, options) for name, options in OPTIONS.items()}


@pytest.mark.parametrize(
    ("options", "edits", "steps"),
    [
        ("default", [IMAGE], {**RESTART, **MASTER_SPEC}),
        ("pod", [IMAGE], {MASTER: "replace", **MASTER_SPEC}),
        ("default", [("--port=23456", "--port=23457")], {**RESTART, **SPECS}),
        ("default", [LABEL], dict.fromkeys(WORKERS, "update")),
        ("default", [("minAvailable: 1", "minAvailable: 3")], {"PodGroup job": "update"}),
        ("default", [UP], {**RESTART, **SCALED, "Pod job-worker-2": "create"}),
        ("default", [DOWN], {**RESTART, **SCALED, "Pod job-worker-1": "delete"}),
        ("keep", [UP], {**SCALED, "Pod job-worker-2": "create"}),
        ("keep", [DOWN], {**SCALED, "Pod job-worker-1": "delete"}),
        ("keep", [IMAGE], {**RESTART, **MASTER_SPEC}),
        ("keep", [UP, IMAGE], {**RESTART, **SCALED, "Pod job-worker-2": "create"}),
    ],
    ids=[
        "an image restarts the gang",
        "an image restarts its task alone, if asked",
        "an argument of a plugin restarts the gang",
        "a label is written onto the Pods that run",
        "the size of the gang is the PodGroup's alone",
        "another worker restarts a world of fixed size",
        "a worker less restarts a world of fixed size",
        "another worker joins, if the others are to be kept",
        "a worker less leaves, if the others are to be kept",
        "an image restarts the gang that scaling would keep",
        "an image restarts the gang that is scaled too",
    ],
)
def test_a_preview_shows_the_effect_of_an_edit(
    projects: dict[str, Project], options: str, edits: list[tuple[str, str]], steps: Steps
) -> None:
    """The tests below check that updates do the same as previews."""
    project = projects[options]

    project.write("job.yaml", edited(*edits))

    assert project.preview().steps == steps


def test_the_written_manifests_have_the_edit(tmp_path: Path) -> None:
    """A replaced Pod has the new image, and an updated Pod the new label."""
    project = job_project(tmp_path)

    project.write("job.yaml", edited(LABEL))
    assert changed(project) == dict.fromkeys(WORKERS, "update")
    project.write("job.yaml", edited(LABEL, IMAGE))
    assert changed(project) == {**RESTART, **MASTER_SPEC}

    pods = [item for name, item in project.manifests().items() if name.startswith("Pod ")]
    images = [pod["spec"]["containers"][0]["image"].rpartition(":")[2] for pod in pods]
    assert images == ["1.1", "1.0", "1.0"]
    labelled = [pod["metadata"]["name"] for pod in pods if pod["metadata"]["labels"].get("team") == "vision"]
    assert labelled == ["pytorch-job-worker-0", "pytorch-job-worker-1"]


def test_kept_pods_are_unchanged(tmp_path: Path) -> None:
    """Only the new Pod has the larger world size; the mounted host list is updated for all Pods."""
    project = job_project(tmp_path, OPTIONS["keep"])
    before = project.manifests()

    project.write("job.yaml", edited(UP))
    assert changed(project) == {**SCALED, "Pod job-worker-2": "create"}

    after = project.manifests()
    worlds = {
        name: [entry["value"] for entry in item["spec"]["containers"][0]["env"] if entry["name"] == "WORLD_SIZE"]
        for name, item in after.items()
        if name.startswith("Pod ")
    }
    assert worlds == {
        "Pod pytorch-job-master-0": ["3"],
        "Pod pytorch-job-worker-0": ["3"],
        "Pod pytorch-job-worker-1": ["3"],
        "Pod pytorch-job-worker-2": ["4"],
    }
    assert {name: item for name, item in after.items() if name in before and name.startswith("Pod ")} == {
        name: item for name, item in before.items() if name.startswith("Pod ")
    }
    assert after["ConfigMap pytorch-job-svc"]["data"]["VC_WORKER_NUM"] == "3"


def test_a_new_run_token_runs_the_job_again(tmp_path: Path) -> None:
    """Only Pods are replaced; the same token changes nothing."""
    project = job_project(tmp_path, {"run": "1"})

    project.configure(run="2")

    assert changed(project) == RESTART


def test_on_scale_can_be_changed_together_with_replicas(tmp_path: Path) -> None:
    """The option alone changes nothing; kept Pods are replaced after a change to "restart"."""
    project = job_project(tmp_path)

    project.configure(on_scale="keep")
    assert changed(project) == {}
    project.write("job.yaml", edited(UP))
    assert changed(project) == {**SCALED, "Pod job-worker-2": "create"}
    project.configure(on_scale="restart")
    assert changed(project) == RESTART
