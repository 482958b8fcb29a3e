"""The objects and values of a job as tables."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobContext, Plugin, Pod, PytorchPlugin, Stage, SvcPlugin, render
from pulumi_volcano_jobs.explain.provenance import ANNOTATION, INIT_CONTAINER, MOUNT, PORT, VARIABLE
from pulumi_volcano_jobs.explain.tables import explain, explain_pod, pods
from pulumi_volcano_jobs.rendering.renderer import JOB, TEMPLATE
from tests.conftest import Wire, container, job, task

PYTORCH = job(task("master"), task("worker", 3), plugins={"pytorch": ["--port=29500"]})


TABLES = ("tasks", "plugins", "objects", "gang", "pods", "replicas")
TITLES = dict(zip(TABLES, (section.title for section in explain(render(PYTORCH, redact=True)).sections), strict=True))
"""The titles of all tables, in their order."""


def table(document: Wire, name: str, *, native: bool = False, **options: Any) -> list[tuple[str, ...]]:
    """Return the rows of one of `TABLES`. The list is empty if the explanation does not have the table."""
    explanation = explain(render(document, redact=True, **options), native=native)
    return [row for section in explanation.sections if section.title == TITLES[name] for row in section.rows]


def test_an_explanation_has_a_table_for_each_part_of_the_job(snapshot: SnapshotAssertion) -> None:
    """The order of the tables is the same for each job."""
    explanation = explain(render(PYTORCH, redact=True))

    assert [explanation.title, *((section.title, section.columns) for section in explanation.sections)] == snapshot


def test_a_plugin_has_the_job_or_another_plugin_as_source(snapshot: SnapshotAssertion) -> None:
    """A plugin that both require belongs to the job."""
    rows = table(PYTORCH, "plugins")
    assert [row[:2] for row in rows] == [("svc", "pytorch"), ("pytorch", JOB)]
    assert rows == snapshot
    both = job(task("master"), task("worker"), plugins={"pytorch": [], "svc": []})
    assert [row[:2] for row in table(both, "plugins")] == [("svc", JOB), ("pytorch", JOB)]


def test_hosts_are_listed_if_pods_have_host_names() -> None:
    """Other Pods cannot resolve the name of a Pod without a subdomain."""
    assert table(PYTORCH, "tasks") == [
        ("master", "1", "train-master-0", "train-master-0.train"),
        ("worker", "3", "train-worker-{0..2}", "train-worker-{0..2}.train"),
    ]
    assert table(job(), "tasks") == [("worker", "1", "train-worker-0", "")]


def test_a_task_without_pods_is_listed() -> None:
    """The tables have no Pods of it."""
    document = job(task("first"), task("none", 0), plugins={"env": []})

    assert table(document, "tasks")[1] == ("none", "0", "", "")
    assert not any("none" in row[2] for row in table(document, "pods"))
    (with_one_task,) = {row[2] for row in table(job(task("first"), plugins={"env": []}), "pods")}
    assert {row[2] for row in table(document, "pods")} == {with_one_task}


def test_values_that_differ_between_tasks_are_in_adjacent_rows(snapshot: SnapshotAssertion) -> None:
    """Each row has the tasks."""
    rows = table(PYTORCH, "pods")

    (first, second) = (index for index, row in enumerate(rows) if row[1] == f"{VARIABLE} RANK")
    assert second == first + 1
    assert rows[first : second + 1] == [
        ("pytorch", f"{VARIABLE} RANK", "master", "0"),
        ("pytorch", f"{VARIABLE} RANK", "worker", "1..3"),
    ]
    assert [row for row in rows if row[:2] == ("svc", "hostname")] == snapshot


def test_values_of_some_containers_have_their_names() -> None:
    """Only one container starts Ray."""
    head = task("head", containers=[container("head"), container("log")])
    worker = task("worker", containers=[container("worker")])

    commands = [row for row in table(job(head, worker, plugins={"ray": []}), "pods") if row[1] == "command"]

    assert [row[2] for row in commands] == ["head: head", "worker"]


def test_a_value_that_only_some_pods_of_a_task_have_is_marked(snapshot: SnapshotAssertion) -> None:
    """A plugin can handle the first Pod differently."""

    class Ends(Plugin):
        name = "ends"

        def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
            """Mark the first Pod."""
            pod.containers[0].set_env("FIRST" if pod.index == 0 else "OTHER", "yes")

    rows = [row for row in table(job(task(replicas=3), plugins=[Ends()]), "pods") if row[0] == "ends"]

    assert [row[1] for row in rows] == [f"{VARIABLE} OTHER", f"{VARIABLE} FIRST"]
    assert rows == snapshot


def test_values_in_an_added_container_are_left_out() -> None:
    """The container is listed; `explain_pod` shows its values."""

    class Late(Plugin):
        name = "late"
        stage = Stage.OBSERVE

        def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
            """Mark the container that pytorch adds."""
            for item in pod.init_containers:
                item.set_env("LATE", "yes")

    document = job(
        task("master"), task("worker"), plugins=[PytorchPlugin(wait_master_enabled=True), SvcPlugin(), Late()]
    )

    rows = table(document, "pods")
    assert ("pytorch", f"{INIT_CONTAINER} wait-for-master", "worker", "busybox:1.36.1") in rows
    assert [row for row in rows if row[0] == "late"] == []


def test_labels_that_each_pod_has_are_omitted(snapshot: SnapshotAssertion) -> None:
    """Annotations that the job copies to its Pods are listed."""
    document = job()
    document["metadata"]["annotations"] = {"volcano.sh/preemptable": "true"}

    rows = table(document, "pods")

    assert [(maker, what, value) for maker, what, _, value in rows] == [
        (JOB, "schedulerName", "volcano"),
        (JOB, f"{ANNOTATION} volcano.sh/preemptable", "true"),
    ]
    assert rows == snapshot


@pytest.mark.parametrize(
    ("plugins", "native", "names"),
    [
        ({"pytorch": []}, False, ["Pods", "ConfigMap train-svc"]),
        ({"env": []}, False, ["Pods"]),
        ({"pytorch": []}, True, ["Pods"]),
        ({"svc": []}, True, ["Pods"]),
    ],
    ids=["static", "not static", "static, by Volcano", "not static, by Volcano"],
)
def test_the_effect_of_scaling_depends_on_the_plugins(
    plugins: Wire, *, native: bool, names: list[str], snapshot: SnapshotAssertion
) -> None:
    """The table has the default effect and its reason."""
    document = job(task("master"), task("worker", 2), plugins=plugins)

    rows = table(document, "replicas", native=native)

    assert [row[0] for row in rows] == names
    assert rows == snapshot


def test_scaling_an_elastic_job_keeps_its_pods(snapshot: SnapshotAssertion) -> None:
    """A variable has the number of Pods, but the others accept new ones."""
    document = job(task("master"), task("worker", 2), plugins=[PytorchPlugin(max_nodes=4)])

    (pods_row, *_) = table(document, "replicas")

    assert '"keep"' in pods_row[1]
    assert pods_row == snapshot


def test_an_explanation_has_no_empty_table() -> None:
    """This job has no plugins, and no fields that only a controller implements."""
    sections = explain(render(job())).sections

    assert [section.title for section in sections] == [TITLES[name] for name in TABLES if name != "plugins"]
    assert all(section.rows for section in sections)


def test_a_pod_is_found_by_its_name() -> None:
    """Each replica of each task has a name."""
    found = {name: (task.name, index) for name, (task, index) in pods(render(PYTORCH)).items()}

    assert found == {
        "train-master-0": ("master", 0),
        "train-worker-0": ("worker", 0),
        "train-worker-1": ("worker", 1),
        "train-worker-2": ("worker", 2),
    }


def test_the_explanation_of_a_pod_covers_its_manifest(snapshot: SnapshotAssertion) -> None:
    """It has every variable, mount and port of each container, every label, annotation and volume."""
    rendered = render(PYTORCH)
    (pod,) = [item for item in rendered.pods if item["metadata"]["name"] == "train-worker-2"]
    (main,) = pod["spec"]["containers"]

    explanation = explain_pod(rendered, *pods(rendered)["train-worker-2"])

    _, of_main, volumes, labels, annotations = ({row[1] for row in section.rows} for section in explanation.sections)
    assert labels == pod["metadata"]["labels"].keys()
    assert annotations == pod["metadata"]["annotations"].keys()
    assert volumes == {volume["name"] for volume in pod["spec"]["volumes"]}
    assert of_main == {
        "image",
        *(f"{VARIABLE} {entry['name']}" for entry in main["env"]),
        *(f"{MOUNT} {mount['mountPath']}" for mount in main["volumeMounts"]),
        *(f"{PORT} {port['containerPort']}" for port in main["ports"]),
    }
    assert [explanation.title, *(section.title for section in explanation.sections)] == snapshot


def test_the_explanation_of_a_pod_has_overridden_values(snapshot: SnapshotAssertion) -> None:
    """Lenient mode overrides them without a warning."""
    template = task(containers=[container(env=[{"name": "VC_TASK_INDEX", "value": "mine"}])])
    rendered = render(job(template, plugins={"env": []}), strict=False)

    explanation = explain_pod(rendered, *pods(rendered)["train-worker-0"])

    rows = [row for section in explanation.sections for row in section.rows]
    (row,) = (row for row in rows if row[1] == f"{VARIABLE} VC_TASK_INDEX")
    assert row[0].startswith("env")
    assert TEMPLATE in row[0]
    assert row[2] == "0"
    assert row == snapshot
