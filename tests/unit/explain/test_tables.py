"""What a job becomes, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs import JobContext, Plugin, Pod, PytorchPlugin, Stage, SvcPlugin, render
from pulumi_volcano_jobs.explain.tables import explain, explain_pod, pods
from tests.conftest import Wire, container, job, task

PYTORCH = job(task("master"), task("worker", 3), plugins={"pytorch": ["--port=29500"]})


def table(document: Wire, title: str, *, native: bool = False, **options: Any) -> list[tuple[str, ...]]:
    """Give the rows of one table; none if it is not there."""
    explanation = explain(render(document, redact=True, **options), native=native)
    return [row for section in explanation.sections if section.title.startswith(title) for row in section.rows]


def test_a_plugin_is_named_by_the_job_or_by_another() -> None:
    """One that is both is the job's."""
    assert table(PYTORCH, "Plugins") == [
        ("svc", "pytorch", "Volcano's defaults"),
        ("pytorch", "the job", "--port=29500"),
    ]
    both = job(task("master"), task("worker"), plugins={"pytorch": [], "svc": []})
    assert [row[:2] for row in table(both, "Plugins")] == [("svc", "the job"), ("pytorch", "the job")]


def test_hosts_are_named_where_pods_have_them() -> None:
    """Without a subdomain a Pod has no name that others find."""
    assert table(PYTORCH, "Tasks") == [
        ("master", "1", "train-master-0", "train-master-0.train"),
        ("worker", "3", "train-worker-{0..2}", "train-worker-{0..2}.train"),
    ]
    assert table(job(), "Tasks") == [("worker", "1", "train-worker-0", "")]


def test_a_task_without_pods_is_listed_as_such() -> None:
    """Its Pods are not told of."""
    document = job(task("first"), task("none", 0), plugins={"env": []})

    assert table(document, "Tasks")[1] == ("none", "0", "", "")
    assert {row[2] for row in table(document, "Pods")} == {"all"}


def test_what_differs_between_tasks_stands_side_by_side() -> None:
    """A name's rows come together, each with its tasks."""
    ranks = [row for row in table(PYTORCH, "Pods") if row[1] == "variable RANK"]

    assert ranks == [
        ("pytorch", "variable RANK", "master", "0"),
        ("pytorch", "variable RANK", "worker", "1..3"),
    ]
    assert ("svc", "hostname", "all", "the Pod's name") in table(PYTORCH, "Pods")


def test_what_is_in_some_containers_names_them() -> None:
    """Ray starts in one."""
    head = task("head", containers=[container("head"), container("log")])
    worker = task("worker", containers=[container("worker")])

    commands = [row for row in table(job(head, worker, plugins={"ray": []}), "Pods") if row[1] == "command"]

    assert [row[2] for row in commands] == ["head: head", "worker"]


def test_what_only_one_end_of_a_task_has_is_told_as_such() -> None:
    """A plugin may treat the first Pod in its own way."""

    class Ends(Plugin):
        name = "ends"

        def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
            """Mark the first Pod and the others apart."""
            pod.containers[0].set_env("FIRST" if pod.index == 0 else "OTHER", "yes")

    rows = table(job(task(replicas=3), plugins=[Ends()]), "Pods")

    assert [row for row in rows if row[0] == "ends"] == [
        ("ends", "variable OTHER", "all", "yes (not the first Pod)"),
        ("ends", "variable FIRST", "all", "yes (the first Pod)"),
    ]


def test_what_is_in_an_added_container_alone_is_left_out() -> None:
    """The container is told of; what another plugin puts into it is seen with `explain_pod`."""

    class Late(Plugin):
        name = "late"
        stage = Stage.OBSERVE

        def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
            """Mark what pytorch adds."""
            for item in pod.init_containers:
                item.set_env("LATE", "yes")

    document = job(
        task("master"), task("worker"), plugins=[PytorchPlugin(wait_master_enabled=True), SvcPlugin(), Late()]
    )

    rows = table(document, "Pods")
    assert ("pytorch", "init container wait-for-master", "worker", "busybox:1.36.1") in rows
    assert [row for row in rows if row[0] == "late"] == []


def test_labels_that_each_pod_has_are_left_out() -> None:
    """Those that this job hands down are not."""
    document = job()
    document["metadata"]["annotations"] = {"volcano.sh/preemptable": "true"}

    assert table(document, "Pods") == [
        ("the job", "schedulerName", "all", "volcano"),
        ("the job", "annotation volcano.sh/preemptable", "all", "true"),
    ]


RESTART = 'all are replaced, since WORLD_SIZE (pytorch) tells them how many they are: on_scale is "restart" by default'
KEEP = (
    'are added or removed; the others stay, since no plugin tells them how many they are: on_scale is "keep" by default'
)


@pytest.mark.parametrize(
    ("plugins", "native", "rows"),
    [
        ({"pytorch": []}, False, [("Pods", RESTART), ("ConfigMap train-svc", "follows (svc)")]),
        ({"env": []}, False, [("Pods", KEEP)]),
        ({"pytorch": []}, True, [("Pods", "Volcano adds or removes some; the others keep their WORLD_SIZE (pytorch)")]),
        ({"svc": []}, True, [("Pods", "Volcano adds or removes some; the others stay as they are")]),
    ],
    ids=["static", "not static", "static, by Volcano", "not static, by Volcano"],
)
def test_scaling_follows_from_the_plugins(plugins: Wire, *, native: bool, rows: list[tuple[str, str]]) -> None:
    """What happens by default, and why."""
    document = job(task("master"), task("worker", 2), plugins=plugins)

    assert table(document, "Another number of replicas", native=native) == rows


def test_pods_of_an_elastic_job_stay() -> None:
    """Although their variables tell how many they were."""
    document = job(task("master"), task("worker", 2), plugins=[PytorchPlugin(max_nodes=4)])

    assert table(document, "Another number of replicas")[0] == (
        "Pods",
        'are added or removed; the others stay, since they take others in (pytorch): on_scale is "keep" by default',
    )


def test_nothing_is_said_of_what_is_not_enacted_where_nothing_is_asked() -> None:
    """No table is empty."""
    sections = explain(render(job())).sections

    assert [section.title for section in sections] == [
        "Tasks",
        "Objects beside the Pods",
        "Gang: what the scheduler is told",
        "Pods: what is in them beside their templates",
        "Another number of replicas",
    ]


def test_a_pod_is_found_by_its_name() -> None:
    """Each replica of each task, and no other."""
    found = {name: (task.name, index) for name, (task, index) in pods(render(PYTORCH)).items()}

    assert found == {
        "train-master-0": ("master", 0),
        "train-worker-0": ("worker", 0),
        "train-worker-1": ("worker", 1),
        "train-worker-2": ("worker", 2),
    }


def test_a_pod_tells_all_that_its_manifest_has() -> None:
    """Every variable, mount, port, label, annotation and volume of each container."""
    rendered = render(PYTORCH)
    (pod,) = [item for item in rendered.pods if item["metadata"]["name"] == "train-worker-2"]
    (main,) = pod["spec"]["containers"]

    explanation = explain_pod(rendered, *pods(rendered)["train-worker-2"])

    told = {section.title: {row[1] for row in section.rows} for section in explanation.sections}
    assert told["Labels"] == pod["metadata"]["labels"].keys()
    assert told["Annotations"] == pod["metadata"]["annotations"].keys()
    assert told["Volumes"] == {volume["name"] for volume in pod["spec"]["volumes"]}
    assert told["Container main"] == {
        "image",
        *(f"variable {entry['name']}" for entry in main["env"]),
        *(f"mount {mount['mountPath']}" for mount in main["volumeMounts"]),
        *(f"port {port['containerPort']}" for port in main["ports"]),
    }
    assert explanation.title == "Pod train-worker-2 in the namespace default: task worker, host train-worker-2.train"


def test_a_pod_names_who_was_written_over() -> None:
    """The lenient mode's silent loss becomes visible."""
    template = task(containers=[container(env=[{"name": "VC_TASK_INDEX", "value": "mine"}])])
    rendered = render(job(template, plugins={"env": []}), strict=False)

    explanation = explain_pod(rendered, *pods(rendered)["train-worker-0"])

    rows = [row for section in explanation.sections for row in section.rows]
    assert ("env, over the template", "variable VC_TASK_INDEX", "0") in rows
