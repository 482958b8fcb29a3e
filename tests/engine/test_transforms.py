"""What transforms of a user's do to jobs on the real engine: docs/stack.md says so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pulumi import automation

from tests.engine.conftest import ROOT, Project

PAGE = (ROOT / "docs/stack.md").read_text("utf-8")
# The transform of the page, and jobs of our own, which render.
(PROGRAM,) = (
    text.partition("\npod = ")[0]
    for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    if "ResourceTransformArgs" in text
)
JOB = """
import json
from pathlib import Path

called = []


def add_sidecar(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    called.append(f"{args.type_.rpartition(':')[2]} {args.name}")
    (Path(__file__).parent / "called.json").write_text(json.dumps(called), "utf-8")
    image, options = config.get("sidecar"), config.get("options")
    spec = args.props.get("spec") or {}
    if args.type_ == "kubernetes:core/v1:Pod" and image:
        props = {**args.props, "spec": {**spec, "containers": [*spec["containers"], {"name": "side", "image": image}]}}
    elif args.type_ == "kubernetes:batch.volcano.sh/v1alpha1:Job" and image:
        props = {**args.props, "spec": {**spec, "maxRetry": len(image)}}
    else:
        return None
    given = args.opts if options else None
    if options == "without trigger":
        given.replacement_trigger = None
    return pulumi.ResourceTransformResult(props, given)


containers = [{"name": "main", "image": "example.org/image:1"}]
template = {"spec": {"restartPolicy": "Never", "containers": containers}}
VolcanoJob(
    "train",
    {
        "tasks": [Task(name="worker", replicas=1, template=template)],
        "run": config.get("run") or "1",
        "managed_by": config.get("mode") or "pulumi",
    },
    pulumi.ResourceOptions(
        provider=provider, transforms=[add_sidecar, *([add_cost_centre] if config.get("label") else [])]
    ),
)
"""
POD, WHOLE = "Pod train-worker-0", "Job train"


def images(project: Project) -> list[str]:
    """Give the images of the Pod."""
    return [item["image"] for item in project.manifests()[POD]["spec"]["containers"]]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Provide a job with transforms that do nothing yet."""
    made = Project(tmp_path / "project", PROGRAM + JOB)
    made.up()
    return made


def test_a_transform_of_a_job_is_called_for_each_child(project: Project) -> None:
    """Once for each resource below the job, and for the job itself."""
    called = json.loads((project.folder / "called.json").read_text("utf-8"))

    names = [f"{item['type'].rpartition(':')[2]} {item['urn'].rpartition('::')[2]}" for item in project.resources()]
    assert sorted(called) == sorted(name for name in names if name.partition(" ")[2].startswith("train"))
    assert "VolcanoJob train" in called


def test_a_label_is_changed_in_place(project: Project) -> None:
    """The page's own transform; the Pod is not replaced."""
    project.configure(label="yes")

    assert project.preview().steps == {POD: "update"}
    assert project.up().steps == {POD: "update"}
    assert project.manifests()[POD]["metadata"]["labels"]["cost-centre"] == "4711"


def test_an_edit_of_a_pods_spec_waits_for_the_next_run(project: Project) -> None:
    """Pods that are there stay as they are; another token makes them with it."""
    project.configure(sidecar="example.org/side:1")
    assert project.up().steps == {}
    assert images(project) == ["example.org/image:1"]

    project.configure(run="2")
    assert project.up().steps == {POD: "replace"}
    assert images(project) == ["example.org/image:1", "example.org/side:1"]

    project.configure(sidecar="example.org/side:2")
    assert project.up().steps == {}
    assert images(project) == ["example.org/image:1", "example.org/side:1"]


def test_an_edit_of_volcanos_job_is_an_update(tmp_path: Path) -> None:
    """Of a field that Volcano's webhook lets no update change; together with another token the Job is replaced."""
    project = Project(tmp_path / "project", PROGRAM + JOB, config={"tests:mode": "volcano"})
    project.up()

    project.configure(sidecar="four")
    assert project.preview().steps == {WHOLE: "update"}
    project.configure(run="2")

    assert project.up().steps == {WHOLE: "replace"}
    assert project.manifests()[WHOLE]["spec"]["maxRetry"] == len("four")


def test_options_without_our_trigger_keep_pods_for_ever(project: Project) -> None:
    """The page warns of it: no edit reaches them any more, and nothing is said."""
    project.configure(sidecar="example.org/side:1", options="without trigger")
    project.up()

    project.configure(run="2")

    assert project.up().steps == {}
    assert images(project) == ["example.org/image:1"]


@pytest.mark.xfail(reason="Python's SDK cannot send a trigger back", raises=automation.CommandError, strict=True)
def test_options_may_be_given_back(project: Project) -> None:
    """When this passes, docs/stack.md need not warn of it."""
    project.configure(sidecar="example.org/side:1", options="as they are")

    with pytest.raises(automation.CommandError, match=r"(must be|initialized with a) dict") as caught:
        project.preview()

    raise caught.value
