"""Kubernetes' own rules for a Pod template, each with its place, before any plugin touched it."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.errors import Stage
from pulumi_volcano_jobs.leaf import Leaf
from tests.conftest import Wire, container, job, problems, task

SPEC = "spec.tasks[0].template.spec"
MAIN = f"{SPEC}.containers[0]"


def pod(**spec: Any) -> Wire:
    """Give a job by its Pods' spec."""
    return job(task(**spec))


def main(**fields: Any) -> Wire:
    """Give a job by its container's fields."""
    return pod(containers=[container(**fields)])


def ports(*found: Wire) -> Wire:
    """Give a job by its container's ports."""
    return main(ports=list(found))


def mounting(*mounts: Wire, volumes: tuple[str, ...] = ("data",)) -> Wire:
    """Give a job by its container's mounts, and its volumes."""
    return pod(
        containers=[container(volumeMounts=list(mounts))],
        volumes=[{"name": name, "emptyDir": {}} for name in volumes],
    )


def labelled(**labels: Any) -> Wire:
    """Give a job by its Pods' labels."""
    made = job()
    made["spec"]["tasks"][0]["template"]["metadata"] = {"labels": labels}
    return made


def resources(requests: Wire | None = None, limits: Wire | None = None) -> Wire:
    """Give a job by its container's resources."""
    found = {"requests": requests, "limits": limits}
    return main(resources={key: value for key, value in found.items() if value is not None})


REFUSED: dict[str, tuple[Wire, list[str]]] = {
    "no container": (pod(containers=[]), [f"{SPEC}.containers"]),
    "no image": (pod(containers=[{"name": "main"}]), [f"{MAIN}.image"]),
    "an empty image": (main(image=""), [f"{MAIN}.image"]),
    "an init container without an image": (
        pod(initContainers=[{"name": "early"}]),
        [f"{SPEC}.initContainers[0].image"],
    ),
    "a container's name in capitals": (pod(containers=[container("Main")]), [f"{MAIN}.name"]),
    "a container's name of 64 characters": (pod(containers=[container("x" * 64)]), [f"{MAIN}.name"]),
    "an empty name of a container": (pod(containers=[container("")]), [f"{MAIN}.name"]),
    "two containers of one name": (pod(containers=[container(), container()]), [f"{SPEC}.containers[1].name"]),
    "an init container named like a container": (pod(initContainers=[container()]), [f"{MAIN}.name"]),
    "a restart policy that is none": (pod(restartPolicy="Sometimes"), [f"{SPEC}.restartPolicy"]),
    "a DNS policy that is none": (pod(dnsPolicy="Mine"), [f"{SPEC}.dnsPolicy"]),
    "a pull policy that is none": (main(imagePullPolicy="Maybe"), [f"{MAIN}.imagePullPolicy"]),
    "a hostname that is no label": (pod(hostname="a.b"), [f"{SPEC}.hostname"]),
    "a subdomain that is no label": (pod(subdomain="-a"), [f"{SPEC}.subdomain"]),
    "a volume's name that is no label": (
        mounting(volumes=("data", "My_Data")),
        [f"{SPEC}.volumes[1].name"],
    ),
    "two volumes of one name": (mounting(volumes=("data", "data")), [f"{SPEC}.volumes[1].name"]),
    "a port of 0": (ports({"containerPort": 0}), [f"{MAIN}.ports[0].containerPort"]),
    "a negative port": (ports({"containerPort": -1}), [f"{MAIN}.ports[0].containerPort"]),
    "a port beyond 16 bits": (ports({"containerPort": 65536}), [f"{MAIN}.ports[0].containerPort"]),
    "a host's port beyond 16 bits": (
        ports({"containerPort": 1}, {"containerPort": 2, "hostPort": 70000}),
        [f"{MAIN}.ports[1].hostPort"],
    ),
    "a protocol that is none": (ports({"containerPort": 1, "protocol": "tcp"}), [f"{MAIN}.ports[0].protocol"]),
    "a port's name of 16 characters": (ports({"containerPort": 1, "name": "x" * 16}), [f"{MAIN}.ports[0].name"]),
    "a port's name without a letter": (ports({"containerPort": 1, "name": "8080"}), [f"{MAIN}.ports[0].name"]),
    "a port's name in capitals": (ports({"containerPort": 1, "name": "Web"}), [f"{MAIN}.ports[0].name"]),
    "a port's name with two dashes together": (
        ports({"containerPort": 1, "name": "a--b"}),
        [f"{MAIN}.ports[0].name"],
    ),
    "two ports of one name": (
        ports({"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}),
        [f"{MAIN}.ports[1].name"],
    ),
    "a variable without a name": (main(env=[{"name": ""}]), [f"{MAIN}.env[0].name"]),
    "a variable's name with an equals sign": (main(env=[{"name": "A"}, {"name": "A=B"}]), [f"{MAIN}.env[1].name"]),
    "a variable with a value and a source": (
        main(env=[{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        [f"{MAIN}.env[0]"],
    ),
    "a mount of a volume that is not there": (
        mounting({"name": "nope", "mountPath": "/a"}),
        [f"{MAIN}.volumeMounts[0].name"],
    ),
    "a path mounted twice": (
        mounting({"name": "data", "mountPath": "/a"}, {"name": "data", "mountPath": "/a"}),
        [f"{MAIN}.volumeMounts[1].mountPath"],
    ),
    "a mount without a path": (mounting({"name": "data", "mountPath": ""}), [f"{MAIN}.volumeMounts[0].mountPath"]),
    "a label's value with a blank": (labelled(app="a b"), ["spec.tasks[0].template.metadata.labels.app"]),
    "a label's value of 64 characters": (labelled(app="x" * 64), ["spec.tasks[0].template.metadata.labels.app"]),
    "a label's value that ends with a dash": (labelled(app="a-"), ["spec.tasks[0].template.metadata.labels.app"]),
    "an amount that is none": (resources({"cpu": "two"}), [f"{MAIN}.resources.requests.cpu"]),
    "a negative amount": (resources(None, {"memory": "-1Gi"}), [f"{MAIN}.resources.limits.memory"]),
    "a request above the limit": (resources({"cpu": 2}, {"cpu": "1500m"}), [f"{MAIN}.resources.requests.cpu"]),
    "a device's request without a limit": (
        resources({"example.org/device": 1}),
        [f"{MAIN}.resources.requests.example.org/device"],
    ),
    "a device's request below the limit": (
        resources({"example.org/device": 1}, {"example.org/device": 2}),
        [f"{MAIN}.resources.requests.example.org/device"],
    ),
}
TAKEN: dict[str, Wire] = {
    "names of 63 characters": pod(containers=[container("x" * 63)], hostname="y" * 63),
    "one number with two protocols": ports({"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}),
    "ports without names": ports({"containerPort": 1}, {"containerPort": 2}),
    "a port's name of 15 characters": ports({"containerPort": 65535, "name": "a" * 15}),
    "a host's port of 0": ports({"containerPort": 1, "hostPort": 0}),
    "a variable without a value": main(env=[{"name": "A"}]),
    "an empty value beside a source": main(
        env=[{"name": "A", "value": "", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
    ),
    "a variable's name that no shell could set": main(env=[{"name": "a.b-c d", "value": "x"}]),
    "one volume at two paths": mounting({"name": "data", "mountPath": "/a"}, {"name": "data", "mountPath": "/b"}),
    "an empty label": labelled(app=""),
    "a label of one character": labelled(app="a"),
    "a request equal to the limit": resources({"cpu": "1000m"}, {"cpu": 1}),
    "a device's limit alone": resources(None, {"example.org/device": 1}),
    "a device's request equal to its limit": resources({"example.org/device": 1}, {"example.org/device": "1"}),
    "no amount at all": resources({}, {}),
}


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
@pytest.mark.parametrize(("document", "places"), REFUSED.values(), ids=REFUSED)
def test_what_kubernetes_refuses_is_told_with_its_place(document: Wire, places: list[str], strict: bool) -> None:  # noqa: FBT001
    """Volcano's webhook runs Kubernetes' validation, so it would refuse it too."""
    found = problems(document, strict=strict)

    assert [problem.path for problem in found] == places
    assert {problem.stage for problem in found} == {Stage.WEBHOOK}


@pytest.mark.parametrize("document", TAKEN.values(), ids=TAKEN)
def test_what_kubernetes_takes_renders_strictly(document: Wire) -> None:
    """The near misses of the rules."""
    assert len(render(document).pods) == 1


@pytest.mark.parametrize(
    "document",
    [
        main(image=Leaf("x")),
        main(imagePullPolicy=Leaf("x")),
        pod(restartPolicy=Leaf("x")),
        labelled(app=Leaf("x")),
        ports({"containerPort": 1, "hostPort": Leaf("x")}),
        mounting({"name": Leaf("x"), "mountPath": "/a"}),
        resources({"cpu": Leaf("x")}, {"cpu": 1}),
        resources({"cpu": 1}, {"cpu": Leaf("x")}),
        resources({"example.org/device": 1}, {"example.org/device": Leaf("x")}),
        main(resources=Leaf("x")),
        main(resources={"requests": Leaf("x"), "limits": {"cpu": 1}}),
        main(resources={"requests": {"example.org/device": 1}, "limits": Leaf("x")}),
    ],
    ids=[
        *("an image", "a pull policy", "a restart policy", "a label", "a host's port", "a mount's volume"),
        *("a request", "a limit", "a device's limit", "all resources", "all requests", "all limits"),
    ],
)
def test_a_value_that_is_not_known_yet_passes(document: Wire) -> None:
    """It is the cluster's to refuse."""
    assert len(render(document).pods) == 1


def test_faults_of_several_templates_are_told_at_once() -> None:
    """With all faults of each."""
    document = job(task("a", hostname="A", containers=[container(image="")]), task("b", containers=[container("B")]))

    assert [problem.path for problem in problems(document)] == [
        "spec.tasks[0].template.spec.containers[0].image",
        "spec.tasks[0].template.spec.hostname",
        "spec.tasks[1].template.spec.containers[0].name",
    ]


def test_values_of_variables_are_never_shown() -> None:
    """They may be secrets."""
    document = main(env=[{"name": "A", "value": "s3cret", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}])

    assert "s3cret" not in str(problems(document))
