"""Data of a program has the bounds of YAML: data that is too deep or contains itself is an error with its path."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from pulumi_kubernetes.core.v1 import PodTemplateSpecArgs
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    ClusterFacts,
    Job,
    JobError,
    SvcPlugin,
    Task,
    VolcanoJob,
    VolcanoQueue,
    Volume,
    presets,
    render,
)
from pulumi_volcano_jobs.core import bounds
from tests.conftest import job, task


def deep(levels: int, kind: str = "mapping") -> Any:
    """Return nested mappings or lists."""
    tree: Any = "end"
    for _ in range(levels):
        tree = {"x": tree} if kind == "mapping" else [tree]
    return tree


def itself(kind: str = "mapping") -> Any:
    """Return a mapping or a list that contains itself."""
    if kind == "list":
        listed: list[Any] = []
        listed.append(listed)
        return listed
    mapping: dict[str, Any] = {}
    mapping["x"] = mapping
    return mapping


def multiplied() -> Any:
    """Return lists that share their items: written out, they have very many values."""
    tree: Any = "end"
    for _ in range(12):
        tree = [tree] * 10
    return tree


TREES: dict[str, Any] = {
    "330 mappings": deep(330),
    "330 lists": deep(330, "list"),
    "100000 mappings": deep(100_000),
    "a mapping in itself": itself(),
    "a list in itself": itself("list"),
    "multiplied lists": multiplied(),
}


def templated(tree: Any) -> dict[str, Any]:
    """Return a template with data in an annotation."""
    return {"metadata": {"annotations": {"a": tree}}, "spec": {"containers": [{"name": "main", "image": "x"}]}}


def _class_of_priority(tree: Any) -> dict[str, Any]:
    return {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": tree}


ENTRANCES: dict[str, tuple[Callable[[Any], object], str]] = {
    "render": (lambda tree: render(job(task(affinity=tree))), "spec.tasks[0].template.spec.affinity"),
    "render, lenient": (lambda tree: render(job(nonsense=tree), strict=False), "spec.nonsense"),
    "render of the document": (lambda tree: render(job() | {"status": tree}), "status"),
    "render of arguments": (lambda tree: render(job(plugins={"svc": tree})), "spec.plugins.svc"),
    "render of a model": (lambda tree: render(_with_template(tree)), "tasks[0].template.spec.affinity"),
    "render of a plugin": (lambda tree: render(_with_plugin(tree)), "plugins.svc.allow[0].pods"),
    "plugin_options": (
        lambda tree: render(job(plugins={"svc": []}), plugin_options={"svc": {"allow": tree}}),
        "plugin_options.svc.allow",
    ),
    "Job.model_validate": (lambda tree: Job.model_validate(job(task(affinity=tree))), "spec.tasks[0].template"),
    "Job": (lambda tree: Job(name="train", tasks=[{"template": templated(tree)}]), "tasks[0].template.metadata"),
    "Task": (lambda tree: Task(name="worker", template=templated(tree)), "Task[worker].template.metadata"),
    "Volume": (lambda tree: Volume(mount_path="/x", volume_claim={"selector": tree}), "Volume.volume_claim.selector"),
    "presets.apply": (lambda tree: presets.apply(templated(tree)), "template.metadata.annotations.a"),
    "a preset": (lambda tree: presets.shm("1Gi")(templated(tree)), "template.metadata.annotations.a"),
    "VolcanoQueue": (lambda tree: VolcanoQueue("research", {"capability": {"cpu": tree}}), "capability.cpu"),
    "VolcanoJob": (lambda tree: VolcanoJob("train", {"tasks": [task(affinity=tree)]}), "tasks[0].template.spec"),
    "defaults of a VolcanoJob": (
        lambda tree: VolcanoJob("train", {"tasks": [task()], "job_defaults": {"labels": {"a": tree}}}),
        "job_defaults.labels.a",
    ),
    "options of a VolcanoJob": (
        lambda tree: VolcanoJob("train", {"tasks": [task()], "plugin_options": {"svc": {"allow": tree}}}),
        "plugin_options.svc.allow",
    ),
    "an argument of pulumi_kubernetes": (
        lambda tree: VolcanoJob("train", {"tasks": [Task(template=PodTemplateSpecArgs(spec=tree))]}),
        "Task",
    ),
    "cluster facts": (lambda tree: ClusterFacts.from_objects([_class_of_priority(tree)]), "items[0].value"),
}


def _with_template(tree: Any) -> Job:
    made = Job.model_validate(job())
    (only,) = made.tasks or ()
    return made.with_(tasks=(only.with_(template={"spec": {"affinity": tree}}),))


def _with_plugin(tree: Any) -> Job:
    return Job.model_validate(job()).with_(plugins={"svc": SvcPlugin(allow=[{"pods": tree}])})


@pytest.mark.parametrize(("tree", "entrance"), list(product(TREES, ENTRANCES)))
def test_data_beyond_the_bounds_is_a_problem(tree: str, entrance: str) -> None:
    """Each entry point reports the path, without a traceback."""
    enter, path = ENTRANCES[entrance]

    with pytest.raises(JobError) as caught:
        enter(TREES[tree])

    (problem,) = caught.value.problems
    assert problem.type in {"Invalid", "TooMany"}
    assert str(bounds.MOST_LEVELS if problem.type == "Invalid" else bounds.MOST_VALUES) in problem.reason
    assert problem.path.startswith(path) or problem.type == "TooMany"
    assert len(problem.path) < 1000


def test_the_errors_of_the_bounds_have_a_fix(snapshot: SnapshotAssertion) -> None:
    """The fix is to write fewer levels or values."""
    found = [*bounds.check_bounds(deep(101)), *bounds.check_bounds(multiplied())]

    assert [problem.type for problem in found] == ["Invalid", "TooMany"]
    assert [(problem.reason, problem.hint) for problem in found] == snapshot


@pytest.mark.parametrize("kind", ["mapping", "list"])
def test_one_hundred_levels_are_allowed(kind: str) -> None:
    """As in YAML."""
    assert bounds.check_bounds(deep(100, kind)) == []
    assert len(bounds.check_bounds(deep(101, kind))) == 1


def test_values_that_are_not_data_are_not_entered() -> None:
    """Outputs and other objects have no levels."""
    assert bounds.check_bounds({"a": object(), "b": Task, "c": 1}) == []
