"""The minResources of a PodGroup: Pods as in Kubernetes' resource quota, tasks as in Volcano."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs import ClusterFacts, render
from pulumi_volcano_jobs.rendering.min_resources import TaskPods, min_resources
from tests.conftest import Wire, container, job, task


def container_with(requests: Wire | None = None, limits: Wire | None = None, **fields: Any) -> Wire:
    """Build a container with resources."""
    resources = {key: value for key, value in (("requests", requests), ("limits", limits)) if value is not None}
    return container(resources=resources, **fields)


def one_pod(**spec: Any) -> dict[str, str]:
    """Return the resources of one Pod."""
    return min_resources([TaskPods(0, 1, 1, spec)], 1)


COUNTED = {"pods": "1", "count/pods": "1"}
SIDECAR: Wire = {"restartPolicy": "Always"}
PODS: dict[str, tuple[Wire, dict[str, str]]] = {
    "a Pod without resources is one Pod": ({"containers": [container()]}, {}),
    "requests count under two names": (
        {"containers": [container_with({"cpu": "500m", "memory": "1Gi", "ephemeral-storage": "2Gi"})]},
        {
            "cpu": "500m",
            "requests.cpu": "500m",
            "memory": "1Gi",
            "requests.memory": "1Gi",
            "ephemeral-storage": "2Gi",
            "requests.ephemeral-storage": "2Gi",
        },
    ),
    "limits without requests are not requests": (
        {"containers": [container_with(limits={"cpu": 2, "memory": "1Gi", "ephemeral-storage": "1Gi"})]},
        {"limits.cpu": "2", "limits.memory": "1Gi", "limits.ephemeral-storage": "1Gi"},
    ),
    "a device counts under its name and as a request": (
        {"containers": [container_with({"example.org/device": 2}, {"example.org/device": 2})]},
        {"example.org/device": "2", "requests.example.org/device": "2"},
    ),
    "a device's limit alone is not a request": ({"containers": [container_with(limits={"example.org/device": 2})]}, {}),
    "huge pages count": (
        {"containers": [container_with({"hugepages-2Mi": "4Mi"}, {"hugepages-2Mi": "4Mi"})]},
        {"hugepages-2Mi": "4Mi", "requests.hugepages-2Mi": "4Mi"},
    ),
    "names of Kubernetes itself are not devices": ({"containers": [container_with({"kubernetes.io/thing": 1})]}, {}),
    "domains that end with kubernetes.io are native": (
        {"containers": [container_with({"a.kubernetes.io/thing": 1, "mykubernetes.io/thing": 1})]},
        {},
    ),
    "a domain that begins with kubernetes.io is not native": (
        {"containers": [container_with({"kubernetes.io.example.org/thing": 1})]},
        {"kubernetes.io.example.org/thing": "1", "requests.kubernetes.io.example.org/thing": "1"},
    ),
    "a device class is a request only": (
        {"containers": [container_with({"deviceclass.resource.kubernetes.io/gpu": 2})]},
        {"requests.deviceclass.resource.kubernetes.io/gpu": "2"},
    ),
    "a name that begins with requests. is not a device": (
        {"containers": [container_with({"requests.example.org/device": 2})]},
        {},
    ),
    "a name that is too long for a quota is not a device": (
        {"containers": [container_with({f"{'a.' * 122}b/c": 1})]},
        {},
    ),
    "containers add up": (
        {"containers": [container_with({"cpu": "500m"}), container_with({"cpu": "700m"}, {"cpu": 1})]},
        {"cpu": "1200m", "requests.cpu": "1200m", "limits.cpu": "1"},
    ),
    "an init container runs before: the larger of both counts": (
        {
            "containers": [container_with({"cpu": 1, "memory": "1Gi"})],
            "initContainers": [container_with({"cpu": 2, "memory": "1Mi"})],
        },
        {"cpu": "2", "requests.cpu": "2", "memory": "1Gi", "requests.memory": "1Gi"},
    ),
    "init containers run one after another: the largest counts": (
        {
            "containers": [container()],
            "initContainers": [container_with({"cpu": 2}), container_with({"cpu": 3}), container_with({"cpu": 1})],
        },
        {"cpu": "3", "requests.cpu": "3"},
    ),
    "a sidecar runs together with the containers": (
        {"containers": [container_with({"cpu": 1})], "initContainers": [container_with({"cpu": 2}, **SIDECAR)]},
        {"cpu": "3", "requests.cpu": "3"},
    ),
    "a sidecar runs together with later init containers": (
        {
            "containers": [container_with({"cpu": 1})],
            "initContainers": [container_with({"cpu": 2}, **SIDECAR), container_with({"cpu": 5})],
        },
        {"cpu": "7", "requests.cpu": "7"},
    ),
    "a sidecar does not run together with earlier init containers": (
        {
            "containers": [container_with({"cpu": 1})],
            "initContainers": [container_with({"cpu": 5}), container_with({"cpu": 2}, **SIDECAR)],
        },
        {"cpu": "5", "requests.cpu": "5"},
    ),
    "sidecars add up": (
        {
            "containers": [container()],
            "initContainers": [container_with({"cpu": 1}, **SIDECAR), container_with({"cpu": 2}, **SIDECAR)],
        },
        {"cpu": "3", "requests.cpu": "3"},
    ),
    "overhead adds to requests, and to limits that are there": (
        {"containers": [container_with({"cpu": 1}, {"memory": "1Gi"})], "overhead": {"cpu": "250m", "memory": "1Gi"}},
        {
            "cpu": "1250m",
            "requests.cpu": "1250m",
            "memory": "1Gi",
            "requests.memory": "1Gi",
            "limits.memory": "2Gi",
        },
    ),
    "resources of the whole Pod take the place of its containers'": (
        {"containers": [container_with({"cpu": 1})], "resources": {"requests": {"cpu": 4}, "limits": {"cpu": 8}}},
        {"cpu": "4", "requests.cpu": "4", "limits.cpu": "8"},
    ),
    "huge pages of the whole Pod replace the huge pages of its containers": (
        {
            "containers": [container_with({"hugepages-2Mi": "2Mi", "hugepages-1Gi": "1Gi"})],
            "resources": {"requests": {"hugepages-2Mi": "1Gi"}, "limits": {"hugepages-2Mi": "1Gi"}},
        },
        {
            "hugepages-2Mi": "1Gi",
            "requests.hugepages-2Mi": "1Gi",
            "hugepages-1Gi": "1Gi",
            "requests.hugepages-1Gi": "1Gi",
        },
    ),
    "limits of the whole Pod are not requests": (
        {
            "containers": [container_with({"cpu": 1})],
            "resources": {"limits": {"memory": "2Gi", "hugepages-2Mi": "4Mi"}},
        },
        {"cpu": "1", "requests.cpu": "1", "limits.memory": "2Gi"},
    ),
    "other resources of the whole Pod do not count": (
        {
            "containers": [container_with({"ephemeral-storage": "1Gi"})],
            "resources": {"requests": {"ephemeral-storage": "9Gi", "example.org/device": 1}},
        },
        {"ephemeral-storage": "1Gi", "requests.ephemeral-storage": "1Gi"},
    ),
    "overhead adds to the resources of the whole Pod": (
        {
            "containers": [container()],
            "resources": {"requests": {"cpu": 4, "hugepages-2Mi": "2Mi"}, "limits": {"cpu": 8}},
            "overhead": {"cpu": "250m", "hugepages-2Mi": "2Mi"},
        },
        {
            "cpu": "4250m",
            "requests.cpu": "4250m",
            "limits.cpu": "8250m",
            "hugepages-2Mi": "4Mi",
            "requests.hugepages-2Mi": "4Mi",
        },
    ),
    "overhead does not add to a limit of 0": (
        {"containers": [container_with(limits={"cpu": 0, "memory": "1Gi"})], "overhead": {"cpu": 1, "memory": "1Gi"}},
        {
            "cpu": "1",
            "requests.cpu": "1",
            "memory": "1Gi",
            "requests.memory": "1Gi",
            "limits.cpu": "0",
            "limits.memory": "2Gi",
        },
    ),
}


@pytest.mark.parametrize(("spec", "usage"), PODS.values(), ids=PODS)
def test_a_pod_has_the_resources_of_resource_quota(spec: Wire, usage: dict[str, str]) -> None:
    """Effective requests and limits over init containers, sidecars, containers and overhead."""
    assert one_pod(**spec) == COUNTED | usage


def tasks(*sizes: tuple[int, int], priorities: tuple[int, ...] = ()) -> list[TaskPods]:
    """Build tasks (replicas, minAvailable). Their Pods request 1, 100, 10000 … CPUs, so that a sum shows each task."""
    return [
        TaskPods(priority, replicas, least, {"containers": [container_with({"cpu": 100**index})]})
        for index, ((replicas, least), priority) in enumerate(
            zip(sizes, priorities or (0,) * len(sizes), strict=True),
        )
    ]


SHARES: dict[str, tuple[list[TaskPods], int, str]] = {
    "the tasks' own minimums": (tasks((3, 3), (2, 2)), 5, "203"),
    "a minimum below the replicas": (tasks((3, 2), (2, 1)), 3, "102"),
    "further Pods come from replicas in the same order": (tasks((3, 1), (5, 1)), 4, "103"),
    "and then from the next task": (tasks((3, 1), (5, 1)), 6, "303"),
    "less than the minimums counts replicas in order": (tasks((3, 3), (2, 2)), 4, "103"),
    "less than the first task's replicas": (tasks((3, 3), (2, 2)), 2, "2"),
    "less than the minimums passes over the minimums themselves": (tasks((3, 1), (2, 2)), 2, "2"),
    "a higher priority first": (tasks((3, 3), (2, 2), priorities=(0, 10)), 4, "202"),
    "a negative priority last": (tasks((3, 3), (2, 2), priorities=(-1, 0)), 3, "201"),
    "equal priorities keep their order": (tasks((1, 1), (1, 1), (1, 1), priorities=(5, 9, 5)), 2, "101"),
    "tasks of no replicas": (tasks((0, 0), (2, 2)), 2, "200"),
}


@pytest.mark.parametrize(("found", "least", "cpu"), SHARES.values(), ids=SHARES)
def test_min_available_is_divided_among_tasks(found: list[TaskPods], least: int, cpu: str) -> None:
    """By priority: first the minimum of each task, then its other replicas."""
    total = min_resources(found, least)

    assert total == {"cpu": cpu, "requests.cpu": cpu, "pods": str(least), "count/pods": str(least)}


def test_a_gang_without_pods_needs_nothing() -> None:
    """Its minAvailable is 0."""
    assert min_resources(tasks((0, 0)), 0) == {}


def test_only_priority_classes_of_the_cluster_decide_the_order() -> None:
    """Unknown classes are equal; the class of the job does not matter."""
    first = task("first", 1, containers=[container_with({"cpu": 1})])
    second = task("second", 1, containers=[container_with({"cpu": 100})], priorityClassName="high")
    document = job(first, second, minAvailable=1, priorityClassName="high")
    known = ClusterFacts(priority_classes={"high": 1000})

    unaware, aware = render(document), render(document, cluster=known)

    cpu = [made.objects[0]["spec"]["minResources"]["cpu"] for made in (unaware, aware)]
    assert cpu == ["1", "100"]


def test_min_resources_include_resources_of_the_whole_pod() -> None:
    """podlevel-hugepages.yaml sets huge pages for the Pod, not for its container."""
    amounts = {"cpu": 4, "memory": "8Gi", "hugepages-2Mi": "1Gi"}
    document = job(task("a", 2, containers=[container()], resources={"requests": amounts, "limits": amounts}))

    (group,) = render(document).objects

    assert group["spec"]["minResources"] == {
        "count/pods": "2",
        "cpu": "8",
        "hugepages-2Mi": "2Gi",
        "limits.cpu": "8",
        "limits.memory": "16Gi",
        "memory": "16Gi",
        "pods": "2",
        "requests.cpu": "8",
        "requests.hugepages-2Mi": "2Gi",
        "requests.memory": "16Gi",
    }


def test_min_resources_include_sidecars_and_overhead() -> None:
    """They are fields of the template."""
    sidecar = container_with({"cpu": 2}, name="early", **SIDECAR)
    document = job(
        task(
            "worker",
            2,
            containers=[container_with({"cpu": 1})],
            initContainers=[sidecar],
            overhead={"cpu": 4},
            runtimeClassName="a",
        )
    )

    (group,) = render(document).objects

    assert group["spec"]["minResources"]["cpu"] == "14"
