"""A value that is not known yet makes only the values that depend on it unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pulumi_volcano_jobs import ClusterFacts, Rendered, SshPlugin, render
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, container, job, task

MASTER = ("spec", "tasks", 0, "template")
MAIN = (*MASTER, "spec", "containers", 0)


def document() -> Wire:
    """Build a job with a value in each place that may be unknown."""
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}
    env = [{"name": "A", "value": "a"}, {"name": "B", "value": "b"}]
    main = container(command=["run", "x"], args=["y"], env=env, resources=resources)
    master = task("master", containers=[main, container("side")], serviceAccountName="me", priorityClassName="high")
    master["template"]["metadata"] = {"labels": {"app": "x"}, "annotations": {"note": "x"}}
    made = job(
        master,
        task("worker", 2),
        plugins={"pytorch": [], "ssh": []},
        queue="q",
        priorityClassName="low",
    )
    labels = {"team": "x", "volcano.sh/preemptable": "true"}
    made["metadata"] |= {"namespace": "ns", "labels": labels, "annotations": {"note": "x"}}
    return made


def unknown_places(tree: Any, path: str) -> Iterator[str]:
    """Yield the paths of leaves in a manifest."""
    if isinstance(tree, Leaf):
        yield path
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from unknown_places(value, f"{path}.{key}")
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from unknown_places(value, f"{path}[{index}]")


def unknown(made: Rendered) -> list[str]:
    """List the unknown values in the manifests of a job, each by kind or Pod and path."""
    names = {"train-master-0": "master", "train-worker-0": "worker-0", "train-worker-1": "worker-1"}
    heads = [names.get(item["metadata"]["name"], item["kind"]) for item in [*made.objects, *made.pods]]
    trees = zip(heads, [*made.objects, *made.pods], strict=True)
    return [place for head, tree in trees for place in unknown_places(tree, head)]


def with_leaf(path: tuple[Any, ...]) -> Wire:
    """Replace a value in the job by a leaf."""
    made = document()
    holder: Any = made
    for key in path[:-1]:
        holder = holder[key]
    assert holder[path[-1]] is not None
    holder[path[-1]] = Leaf(str(path[-1]))
    return made


PODS = ("master", "worker-0", "worker-1")
NAMESPACE = "volcano.sh/job-namespace"
CASES: dict[str, tuple[tuple[Any, ...], list[str]]] = {
    "the namespace": (
        ("metadata", "namespace"),
        [
            "ConfigMap.metadata.namespace",
            "NetworkPolicy.metadata.namespace",
            f"NetworkPolicy.spec.podSelector.matchLabels.{NAMESPACE}",
            f"NetworkPolicy.spec.ingress[0].from[0].podSelector.matchLabels.{NAMESPACE}",
            "PodGroup.metadata.namespace",
            "Secret.metadata.namespace",
            "Service.metadata.namespace",
            f"Service.spec.selector.{NAMESPACE}",
            *(f"{pod}.metadata.{place}" for pod in PODS for place in ("namespace", f"labels.{NAMESPACE}")),
        ],
    ),
    "the queue": (
        ("spec", "queue"),
        [
            "PodGroup.spec.queue",
            *(f"{pod}.metadata.{kind}.volcano.sh/queue-name" for pod in PODS for kind in ("labels", "annotations")),
        ],
    ),
    "the job's priority class": (
        ("spec", "priorityClassName"),
        [
            "PodGroup.spec.priorityClassName",
            "worker-0.spec.priorityClassName",
            "worker-1.spec.priorityClassName",
        ],
    ),
    "a label of the job": (("metadata", "labels", "team"), ["PodGroup.metadata.labels.team"]),
    "a label of the job that Pods get": (
        ("metadata", "labels", "volcano.sh/preemptable"),
        [
            "PodGroup.metadata.labels.volcano.sh/preemptable",
            *(f"{pod}.metadata.labels.volcano.sh/preemptable" for pod in PODS),
        ],
    ),
    "an annotation of the job": (("metadata", "annotations", "note"), ["PodGroup.metadata.annotations.note"]),
    "a label of a template": ((*MASTER, "metadata", "labels", "app"), ["master.metadata.labels.app"]),
    "an annotation of a template": (
        (*MASTER, "metadata", "annotations", "note"),
        ["master.metadata.annotations.note"],
    ),
    "an image": ((*MAIN, "image"), ["master.spec.containers[0].image"]),
    "a variable": ((*MAIN, "env", 0, "value"), ["master.spec.containers[0].env[0].value"]),
    "an item of the command": ((*MAIN, "command", 1), ["master.spec.containers[0].command[1]"]),
    "the whole command": ((*MAIN, "command"), ["master.spec.containers[0].command"]),
    "an argument": ((*MAIN, "args", 0), ["master.spec.containers[0].args[0]"]),
    "the service account": ((*MASTER, "spec", "serviceAccountName"), ["master.spec.serviceAccountName"]),
    "a request": (
        (*MAIN, "resources", "requests", "cpu"),
        ["PodGroup.spec.minResources", "master.spec.containers[0].resources.requests.cpu"],
    ),
    "a limit": (
        (*MAIN, "resources", "limits", "cpu"),
        ["PodGroup.spec.minResources", "master.spec.containers[0].resources.limits.cpu"],
    ),
    "all requests": (
        (*MAIN, "resources", "requests"),
        ["PodGroup.spec.minResources", "master.spec.containers[0].resources.requests"],
    ),
    "all resources": (
        (*MAIN, "resources"),
        ["PodGroup.spec.minResources", "master.spec.containers[0].resources"],
    ),
    "a template's priority class": (
        (*MASTER, "spec", "priorityClassName"),
        ["master.spec.priorityClassName"],
    ),
}


@pytest.mark.parametrize(("path", "places"), CASES.values(), ids=CASES)
def test_an_unknown_value_makes_only_what_depends_on_it_unknown(path: tuple[Any, ...], places: list[str]) -> None:
    """Above all, an unknown image leaves only that image unknown."""
    assert sorted(unknown(render(with_leaf(path)))) == sorted(places)


def test_an_unknown_priority_class_decides_min_resources_if_classes_are_known() -> None:
    """MinResources starts with the tasks of the highest priority."""
    cluster = ClusterFacts(priority_classes={"high": 1000})

    made = render(with_leaf((*MASTER, "spec", "priorityClassName")), cluster=cluster)

    assert unknown(made) == ["PodGroup.spec.minResources", "master.spec.priorityClassName"]


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "as arguments"])
def test_an_unknown_key_makes_only_its_entries_of_the_secret_unknown(typed: bool) -> None:  # noqa: FBT001
    """Two entries have its public key."""
    keys: Any = {"ssh_private_key": Leaf("private"), "ssh_public_key": Leaf("public")}
    plugin = SshPlugin(**keys)
    made = document()
    made["spec"]["plugins"] = [plugin] if typed else {"ssh": plugin.to_args()}

    assert unknown(render(made)) == [f"Secret.data.{key}" for key in ("id_rsa", "id_rsa.pub", "authorized_keys")]


def test_an_unknown_rank_makes_the_hccl_rank_unknown() -> None:
    """The hcclrank plugin copies a container's RANK."""
    made = document()
    made["spec"]["plugins"] = {"hcclrank": []}
    made["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["env"] = [{"name": "RANK", "value": Leaf("rank")}]

    assert unknown(render(made)) == [
        "master.metadata.annotations.hccl/rankIndex",
        "master.spec.containers[0].env[0].value",
    ]
