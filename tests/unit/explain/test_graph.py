"""A job's topology as a Mermaid flowchart."""

from __future__ import annotations

import re
from typing import Any

from pulumi_volcano_jobs import JobContext, Plugin, SshPlugin, SvcPlugin, render
from pulumi_volcano_jobs.explain.graph import graph
from pulumi_volcano_jobs.kubernetes import manifest
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from tests.conftest import Wire, container, job, task


def drawn(*documents: Wire, **options: Any) -> list[str]:
    """Give the lines of a graph."""
    return [line.strip() for line in graph(render(item, redact=True, **options) for item in documents).splitlines()]


def links(lines: list[str]) -> list[str]:
    """Give the links, with what their ends are called in place of their nodes' names."""
    boxes = (re.match(r"(?:subgraph )?(\w+)[\[(]\"(.*)\"[\])]", line) for line in lines)
    labels = {found[1]: found[2] for found in boxes if found}
    arrows = (re.fullmatch(r"(\w+) (\S+)\|\"(.*)\"\| (\w+)", line) for line in lines)
    return [f"{labels[a[1]]} {a[2]} {labels[a[4]]}: {a[3]}" for a in arrows if a]


def test_tasks_are_linked_to_those_whose_address_they_are_told() -> None:
    """By the variable that tells it; in both directions at once where both are told the same way."""
    pytorch = drawn(job(task("master"), task("worker", 2), plugins={"pytorch": []}))
    tensorflow = drawn(job(task("ps"), task("worker", 2), plugins={"tensorflow": []}))

    worker, master, server = (
        "worker: 2 Pods<br/>train-worker-{0..1}",
        "master: 1 Pod<br/>train-master-0",
        "ps: 1 Pod<br/>train-ps-0",
    )
    assert links(pytorch)[0] == f"{worker} --> {master}: MASTER_ADDR"
    assert links(tensorflow)[0] == f"{server} <--> {worker}: TF_CONFIG"


def test_an_address_that_only_begins_alike_is_another() -> None:
    """`train-a-0.train` is neither in `x-train-a-0.train` nor in `train-a-0.training`."""
    env = [{"name": "PEER", "value": "x-train-a-0.train,train-a-0.training"}]
    told = [{"name": "PEER", "value": "http://train-a-0.train:80/"}]

    def of(entries: list[Wire]) -> list[str]:
        return links(drawn(job(task("a"), task("b", containers=[container(env=entries)]), plugins={"svc": []})))

    assert not any(": PEER" in link for link in of(env))
    assert "b: 1 Pod<br/>train-b-0 --> a: 1 Pod<br/>train-a-0: PEER" in of(told)


def test_pods_are_linked_to_what_they_use() -> None:
    """With how they use it; where not all do, with the tasks that do."""
    template = task(
        "head",
        containers=[
            container(
                "head",
                envFrom=[{"secretRef": {"name": "token"}}],
                volumeMounts=[{"name": "conf", "mountPath": "/conf"}],
            )
        ],
        volumes=[{"name": "conf", "configMap": {"name": "conf"}}],
    )
    volumes = [{"mountPath": "/data", "volumeClaimName": "mine"}]
    document = job(template, task("worker", containers=[container("worker")]), plugins={"ray": []}, volumes=volumes)

    pods = "Pods, with svc, ray"
    assert [link for link in links(drawn(document)) if link.startswith(pods)] == [
        f"{pods} -.- PodGroup<br/>train-116f54c4: gang",
        f"{pods} -.- ConfigMap<br/>conf<br/>not of this job: head: /conf",
        f"{pods} -.- PersistentVolumeClaim<br/>mine<br/>not of this job: /data",
        f"{pods} -.- ConfigMap<br/>train-svc<br/>by svc: /etc/volcano<br/>variables",
        f"{pods} -.- Secret<br/>token<br/>not of this job: head: variables",
        f"{pods} -.- NetworkPolicy<br/>train<br/>by svc: guarded by",
        f"{pods} -.- Service<br/>train<br/>by svc: host names",
        f"{pods} -.- Service<br/>train-head-svc<br/>by ray: head: one address",
    ]


def test_what_one_volume_brings_together_is_linked_one_by_one() -> None:
    """As the keys of ssh, when the user's own Secret has them and the job's has the rest."""
    found = links(drawn(job(task(), plugins=[SshPlugin(key_secret="mine"), SvcPlugin()])))

    secrets = [link.partition(" -.- ")[2] for link in found if "Secret" in link]
    assert secrets == ["Secret<br/>mine<br/>not of this job: /root/.ssh", "Secret<br/>train-ssh<br/>by ssh: /root/.ssh"]


def test_a_task_without_pods_uses_nothing() -> None:
    """It is there, as what it is."""
    lines = drawn(job(task("some"), task("none", 0), plugins={"svc": []}))

    assert 'job0_task1("none: 0 Pods"):::pods' in lines
    assert all(not link.startswith("none") for link in links(lines))


def test_each_job_has_its_box() -> None:
    """With nodes of its own."""
    lines = drawn(job(name="first"), job(name="second"))

    assert [line for line in lines if line.startswith("subgraph") and "Job" in line] == [
        'subgraph job0["Job first in default"]',
        'subgraph job1["Job second in default"]',
    ]
    assert lines.count("flowchart LR") == 1


def test_a_name_cannot_become_part_of_the_drawing() -> None:
    """Marks of Mermaid and HTML, and what steers a terminal, are only text."""
    # The one name that Kubernetes does not look at.
    volumes = [{"name": "a", "secret": {"secretName": 'x"]; click <b>#`\\\x1b[31m'}}]
    mounting = container(volumeMounts=[{"name": "a", "mountPath": "/a"}])

    lines = drawn(job(task(containers=[mounting], volumes=volumes)), strict=False)

    (secret,) = [line for line in lines if "Secret" in line and line.startswith("job0_object")]
    name = "x#34;]; click #60;b#62;#35;#96;#92;#92;x1b[31m"
    assert secret == f'job0_object1["Secret<br/>{name}<br/>not of this job"]:::elsewhere'


def test_two_ways_are_two_links() -> None:
    """One each, where two tasks are told of each other by different variables."""

    def told(name: str, variable: str, other: str) -> Wire:
        return task(name, containers=[container(env=[{"name": variable, "value": f"train-{other}-0.train"}])])

    lines = drawn(job(told("a", "LEFT", "b"), told("b", "RIGHT", "a"), plugins={"svc": []}))

    a, b = "a: 1 Pod<br/>train-a-0", "b: 1 Pod<br/>train-b-0"
    assert links(lines)[:2] == [f"{a} --> {b}: LEFT", f"{b} --> {a}: RIGHT"]


class Guard(Plugin):
    """A plugin whose objects select in their own ways."""

    name = "test-guard"

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:
        """Make a policy for all Pods of the namespace, and a Service without a selector."""
        everyone = {"podSelector": {}, "policyTypes": ["Ingress"]}
        return [
            manifest.build("networking.k8s.io/v1", "NetworkPolicy", "all", ctx.namespace, spec=everyone),
            manifest.service("elsewhere", ctx.namespace, {"type": "ExternalName", "externalName": "example.org"}),
        ]


def test_a_plugin_s_objects_may_select_all_pods_or_none() -> None:
    """An empty selector of a policy is of all Pods; a Service without one is of none."""
    found = links(drawn(job(task(), plugins=[Guard()])))

    assert [link.partition(" -.- ")[2] for link in found] == [
        "PodGroup<br/>train-116f54c4: gang",
        "NetworkPolicy<br/>all<br/>by test-guard: guarded by",
    ]
