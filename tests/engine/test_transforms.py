"""The effect of a user's transforms on jobs, as docs/stack.md describes it, on the real engine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pulumi import automation

from tests.engine.conftest import ROOT, Project

PAGE = (ROOT / "docs/stack.md").read_text("utf-8")
# The transform of the page, and jobs that render to files.
(PROGRAM,) = (
    text.partition("\npod: ")[0]
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
    tasks=[{"name": "worker", "replicas": 1, "template": template}],
    run=config.get("run") or "1",
    managed_by=config.get("mode") or "pulumi",
    opts=pulumi.ResourceOptions(
        provider=provider, transforms=[add_sidecar, *([add_cost_centre] if config.get("label") else [])]
    ),
)
"""
POD, WHOLE = "Pod train-worker-0", "Job train"


def images(project: Project) -> list[str]:
    """Return the images of the Pod."""
    return [item["image"] for item in project.manifests()[POD]["spec"]["containers"]]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Provide a job with transforms that change nothing yet."""
    made = Project(tmp_path / "project", PROGRAM + JOB)
    made.up()
    return made


def test_a_transform_of_a_job_is_called_for_each_child(project: Project) -> None:
    """It is called once for the job and for each resource below it."""
    called = json.loads((project.folder / "called.json").read_text("utf-8"))

    names = [f"{item['type'].rpartition(':')[2]} {item['urn'].rpartition('::')[2]}" for item in project.resources()]
    assert sorted(called) == sorted(name for name in names if name.partition(" ")[2].startswith("train"))
    assert "VolcanoJob train" in called


def test_a_label_is_changed_in_place(project: Project) -> None:
    """The transform is that of the page; the Pod is not replaced."""
    project.configure(label="yes")

    assert project.preview().steps == {POD: "update"}
    assert project.up().steps == {POD: "update"}
    assert project.manifests()[POD]["metadata"]["labels"]["cost-centre"] == "4711"


def test_an_edit_of_a_pod_spec_applies_to_the_next_run(project: Project) -> None:
    """Existing Pods are kept; a new run token creates Pods with the edit."""
    project.configure(sidecar="example.org/side:1")
    assert project.up().steps == {}
    assert images(project) == ["example.org/image:1"]

    project.configure(run="2")
    assert project.up().steps == {POD: "replace"}
    assert images(project) == ["example.org/image:1", "example.org/side:1"]

    project.configure(sidecar="example.org/side:2")
    assert project.up().steps == {}
    assert images(project) == ["example.org/image:1", "example.org/side:1"]


def test_an_edit_of_a_native_job_is_an_update(tmp_path: Path) -> None:
    """Volcano's webhook rejects updates of this field; with a new run token the Job is replaced."""
    project = Project(tmp_path / "project", PROGRAM + JOB, config={"tests:mode": "volcano"})
    project.up()

    project.configure(sidecar="four")
    assert project.preview().steps == {WHOLE: "update"}
    project.configure(run="2")

    assert project.up().steps == {WHOLE: "replace"}
    assert project.manifests()[WHOLE]["spec"]["maxRetry"] == len("four")


def test_options_without_the_trigger_never_replace_pods(project: Project) -> None:
    """The page warns of this, because later edits are silently ignored."""
    project.configure(sidecar="example.org/side:1", options="without trigger")
    project.up()

    project.configure(run="2")

    assert project.up().steps == {}
    assert images(project) == ["example.org/image:1"]


@pytest.mark.xfail(reason="Python's SDK cannot send a trigger back", raises=automation.CommandError, strict=True)
def test_a_transform_can_return_options(project: Project) -> None:
    """If this passes, remove the warning from docs/stack.md."""
    project.configure(sidecar="example.org/side:1", options="as they are")

    with pytest.raises(automation.CommandError, match=r"(must be|initialized with a) dict") as caught:
        project.preview()

    raise caught.value
