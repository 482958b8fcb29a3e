"""Pulumi YAML programs in both modes, with the options of a job and the specs of Volcano's documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pulumi_volcano_jobs import Rendered, render
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from tests.conftest import task
from tests.engine.conftest import Wire
from tests.engine.yamlproject import YamlProject

pytestmark = pytest.mark.engine
DOCUMENTS = sorted((Path(__file__).parents[1] / "documents" / "jobs").glob("*.yaml"))
POLICIES = [{"event": "PodEvicted", "action": "RestartJob"}]


def native(replicas: int) -> Wire:
    """Return a job for Volcano's controllers."""
    worker = {**task(replicas=replicas), "policies": [{"exitCode": 3, "action": "AbortJob"}]}
    fields: Wire = {"queue": "research", "plugins": {"svc": [], "env": []}, "policies": POLICIES, "maxRetry": 5}
    return {**fields, "minAvailable": 1, "ttlSecondsAfterFinished": 60, "tasks": [worker]}


@dataclass(frozen=True)
class Native:
    """Results of creating and scaling a native job."""

    made: dict[tuple[str, str], Wire]
    outputs: Wire
    again: dict[str, str]
    scaling: dict[str, str]


@pytest.fixture(scope="module")
def for_volcano(tmp_path_factory: pytest.TempPathFactory) -> Native:
    """Create the native job, update it without an edit, and preview scaling."""
    project = YamlProject(tmp_path_factory.mktemp("native"))
    project.write({**native(2), "managedBy": "volcano"})
    project.done("stack", "init", "dev")
    project.up()
    made, outputs, again = project.manifests(), project.outputs(), project.steps()
    project.write({**native(3), "managedBy": "volcano"})
    return Native(made, outputs, again, project.steps())


def test_native_mode_creates_the_job_only(for_volcano: Native) -> None:
    """The Job has all defaults."""
    rendered = render({"name": "train", **native(2)}, managed_by="volcano")

    assert for_volcano.made.keys() == {("Job", "train")}
    assert for_volcano.made["Job", "train"]["spec"] == rendered.native_job.to_manifest()["spec"]


def test_a_native_job_has_the_same_outputs(for_volcano: Native) -> None:
    """Names and addresses do not depend on the mode; the PodGroup name has the uid of the Job, known on a cluster."""
    assert for_volcano.outputs["pods"] == ["train-worker-0", "train-worker-1"]
    assert for_volcano.outputs["hosts"] == {"worker": ["train-worker-0.train", "train-worker-1.train"]}


def test_a_native_job_scales_in_place(for_volcano: Native) -> None:
    """An update without an edit changes nothing."""
    assert for_volcano.again == {}
    assert for_volcano.scaling["Job train"] == "update"
    assert not [name for name in for_volcano.scaling if name.startswith("Pod ")]


def with_options() -> Wire:
    """Return a job that needs each of its options: without `onConflict` it is rejected."""
    master, worker = task("master", 1), task(replicas=2)
    worker["template"]["spec"]["containers"][0]["env"] = [{"name": "MASTER_PORT", "value": "1"}]
    return {"plugins": {"pytorch": []}, "tasks": [master, worker], "minAvailable": 1, "policies": POLICIES}


def test_options_have_the_same_effect_as_in_python(tmp_path: Path) -> None:
    """Conflicts, recommended options, plugin options, the cluster version and disabled warnings are covered."""
    project = YamlProject(tmp_path)
    options: dict[str, Any] = {
        "onConflict": "plugin",
        "defaults": "recommended",
        "pluginOptions": {"pytorch": {"torchrun": True, "port": 29501}},
        "kubernetesVersion": "1.31",
        "unsupported": "ignore",
        "ignoreWarnings": ["VJ103"],
    }
    project.write({**with_options(), **options})
    project.done("stack", "init", "dev")

    planned = project.planned()

    rendered = render(
        {"name": "train", **with_options()},
        on_conflict="plugin",
        defaults="recommended",
        plugin_options=options["pluginOptions"],
        cluster=ClusterFacts(kubernetes_version="1.31"),
    )
    assert {problem.code for problem in rendered.warnings} == {"VJ103"}
    assert "VJ103" not in project.said
    assert "no controller manages these Pods" not in project.said
    assert specs_of(rendered) == {name: spec for name, spec in planned_specs(planned) if name in specs_of(rendered)}


def specs_of(rendered: Rendered) -> dict[str, Wire]:
    """Return the Pod specs by resource name."""
    return {f"Pod {pod['metadata']['name']}": with_quantities(pod["spec"]) for pod in rendered.pods}


def with_quantities(tree: Any) -> Any:
    """Return a spec with each quantity as text, as the provider writes it."""
    if isinstance(tree, dict):
        return {
            key: {name: str(amount) for name, amount in value.items()}
            if key in {"limits", "requests"}
            else with_quantities(value)
            for key, value in tree.items()
        }
    return [with_quantities(value) for value in tree] if isinstance(tree, list) else tree


def planned_specs(planned: dict[str, Wire]) -> Iterator[tuple[str, Wire]]:
    """Return the specs of a preview by resource name."""
    return ((name, inputs["spec"]) for name, inputs in planned.items() if "spec" in inputs)


def literal(tree: Any) -> Any:
    """Escape `${…}` in texts for Pulumi YAML, which needs no other escape."""
    if isinstance(tree, dict):
        return {key: literal(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [literal(value) for value in tree]
    return tree.replace("${", "$${") if isinstance(tree, str) else tree


def test_the_specs_of_the_documents_work_unchanged(tmp_path: Path) -> None:
    """One program has all of Volcano's documents, and creates the Pods that they render to."""
    project = YamlProject(tmp_path)
    jobs = {path.stem: job_file.read(path.read_text("utf-8"))[0].data for path in DOCUMENTS}
    resources = {
        name: {
            "type": "volcano-jobs:index:VolcanoJob",
            "properties": literal({**job["spec"], "name": job["metadata"]["name"], "namespace": name}),
            "options": {"providers": ["${files}"]},
        }
        for name, job in jobs.items()
    }
    project.write({"tasks": [task()]}, resources=resources)
    project.done("stack", "init", "dev")

    planned = dict(planned_specs(project.planned()))

    for name, job in jobs.items():
        prefix = job["metadata"]["name"]
        rendered = render({**job, "metadata": {**job["metadata"], "namespace": name}})
        expected = {key.replace(f"Pod {prefix}", f"Pod {name}", 1): spec for key, spec in specs_of(rendered).items()}
        assert expected
        assert expected == {key: planned.get(key) for key in expected}, name
