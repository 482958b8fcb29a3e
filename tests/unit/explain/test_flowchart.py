"""Mermaid flowcharts of the topology of a job."""

from __future__ import annotations

import re
from typing import Any

from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobContext, Plugin, SshPlugin, SvcPlugin, render
from pulumi_volcano_jobs.core.resource_types import NETWORK_POLICY
from pulumi_volcano_jobs.explain.flowchart import graph
from pulumi_volcano_jobs.kubernetes import manifest
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from tests.conftest import Wire, container, job, task


def drawn(*documents: Wire, **options: Any) -> list[str]:
    """Return the lines of a graph."""
    return [line.strip() for line in graph(render(item, redact=True, **options) for item in documents).splitlines()]


def links(lines: list[str]) -> list[str]:
    """Return the links, with the names of tasks and objects as their ends."""
    boxes = (re.match(r"(?:subgraph )?(\w+)[\[(]\"(.*)\"[\])]", line) for line in lines)
    labels = {found[1]: found[2] for found in boxes if found}
    arrows = (re.fullmatch(r"(\w+) (\S+)\|\"(.*)\"\| (\w+)", line) for line in lines)
    return [f"{labels[a[1]]} {a[2]} {labels[a[4]]}: {a[3]}" for a in arrows if a]


def objects(of_pods: list[str]) -> list[str]:
    """Return the kind and the name of the object at the end of each link."""
    return [" ".join(re.split(r" -\.- |<br/>|: ", link.partition(" -.- ")[2])[:2]) for link in of_pods]


def test_a_task_has_a_link_to_a_task_whose_address_it_knows(snapshot: SnapshotAssertion) -> None:
    """The label is the variable with the address. Two tasks with the same variable share a link."""
    pytorch = drawn(job(task("master"), task("worker", 2), plugins={"pytorch": []}))
    tensorflow = drawn(job(task("ps"), task("worker", 2), plugins={"tensorflow": []}))

    assert 'job0_task1 -->|"MASTER_ADDR"| job0_task0' in pytorch
    assert 'job0_task0 <-->|"TF_CONFIG"| job0_task1' in tensorflow
    assert [links(pytorch)[0], links(tensorflow)[0]] == snapshot


def test_an_address_with_a_common_prefix_is_another_address() -> None:
    """`train-a-0.train` is neither in `x-train-a-0.train` nor in `train-a-0.training`."""
    env = [{"name": "PEER", "value": "x-train-a-0.train,train-a-0.training"}]
    told = [{"name": "PEER", "value": "http://train-a-0.train:80/"}]

    def of(entries: list[Wire]) -> list[str]:
        return drawn(job(task("a"), task("b", containers=[container(env=entries)]), plugins={"svc": []}))

    assert not any("PEER" in line for line in of(env))
    assert 'job0_task1 -->|"PEER"| job0_task0' in of(told)


def test_pods_have_links_to_the_objects_that_they_use(snapshot: SnapshotAssertion) -> None:
    """The label has the kind of use, and the tasks if only some of them use the object."""
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

    of_pods = [link for link in links(drawn(document)) if " -.- " in link]
    assert objects(of_pods) == [
        "PodGroup train-116f54c4",
        "ConfigMap conf",
        "PersistentVolumeClaim mine",
        "ConfigMap train-svc",
        "Secret token",
        "NetworkPolicy train",
        "Service train",
        "Service train-head-svc",
    ]
    assert of_pods == snapshot


def test_each_object_of_a_projected_volume_has_a_link(snapshot: SnapshotAssertion) -> None:
    """The keys of ssh can be in a Secret of the user. The Secret of the job then has the configuration."""
    found = links(drawn(job(task(), plugins=[SshPlugin(key_secret="mine"), SvcPlugin()])))

    secrets = [link for link in found if "Secret" in link]
    assert objects(secrets) == ["Secret mine", "Secret train-ssh"]
    assert all(link.endswith(": /root/.ssh") for link in secrets)
    assert secrets == snapshot


def test_a_task_without_pods_has_no_links(snapshot: SnapshotAssertion) -> None:
    """The graph has a node for it."""
    lines = drawn(job(task("some"), task("none", 0), plugins={"svc": []}))

    (node,) = (line for line in lines if line.startswith("job0_task1"))
    assert node == snapshot
    assert all(not link.startswith("none") for link in links(lines))


def test_each_job_has_its_own_box(snapshot: SnapshotAssertion) -> None:
    """The nodes of two jobs have different names."""
    lines = drawn(job(name="first"), job(name="second"))

    assert [line for line in lines if re.match(r"subgraph job\d\[", line)] == snapshot
    assert lines.count("flowchart LR") == 1


def test_a_name_is_escaped_in_the_flowchart() -> None:
    """Syntax of Mermaid and HTML, and control characters, are only text."""
    # Kubernetes does not validate this name.
    volumes = [{"name": "a", "secret": {"secretName": 'x"]; click <b>#`\\\x1b[31m'}}]
    mounting = container(volumeMounts=[{"name": "a", "mountPath": "/a"}])

    lines = drawn(job(task(containers=[mounting], volumes=volumes)), strict=False)

    (secret,) = [line for line in lines if "Secret" in line and line.startswith("job0_object")]
    name = "x#34;]; click #60;b#62;#35;#96;#92;#92;x1b[31m"
    start, end = f'job0_object1["Secret<br/>{name}<br/>', '"]:::elsewhere'
    assert re.fullmatch(rf"{re.escape(start)}[\w ]+{re.escape(end)}", secret)


def test_two_variables_are_two_links() -> None:
    """Each of two tasks knows the address of the other by another variable."""

    def told(name: str, variable: str, other: str) -> Wire:
        return task(name, containers=[container(env=[{"name": variable, "value": f"train-{other}-0.train"}])])

    lines = drawn(job(told("a", "LEFT", "b"), told("b", "RIGHT", "a"), plugins={"svc": []}))

    assert [line for line in lines if re.match(r"job0_task\d [<-]", line)] == [
        'job0_task0 -->|"LEFT"| job0_task1',
        'job0_task1 -->|"RIGHT"| job0_task0',
    ]


class Guard(Plugin):
    """A plugin whose objects have unusual selectors."""

    name = "test-guard"

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:
        """Return a policy for all Pods of the namespace, and a Service without a selector."""
        everyone = {"podSelector": {}, "policyTypes": ["Ingress"]}
        return [
            manifest.build(NETWORK_POLICY, "all", ctx.namespace, spec=everyone),
            manifest.service("elsewhere", ctx.namespace, {"type": "ExternalName", "externalName": "example.org"}),
        ]


def test_objects_of_a_plugin_can_select_all_pods_or_none(snapshot: SnapshotAssertion) -> None:
    """A policy with an empty selector selects all Pods. A Service without a selector selects none."""
    found = links(drawn(job(task(), plugins=[Guard()])))

    assert objects(found) == ["PodGroup train-116f54c4", "NetworkPolicy all"]
    assert found == snapshot
