"""docs/schedulers.md: the programs run on the real engine and API server. No scheduler runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cluster import Cluster

from pulumi_volcano_jobs.testing import run
from tests.cluster.conftest import Manifest, Space, Stack
from tests.pages.blocks import blocks

DEFAULT, COSCHEDULING, KUEUE, YUNIKORN = (
    block.text for block in blocks() if block.key == ("docs/schedulers.md", "python")
)
SCHEDULERS = {
    "default": (DEFAULT, "default-scheduler"),
    "coscheduling": (COSCHEDULING, "scheduler-plugins-scheduler"),
    "Kueue": (KUEUE, "volcano"),
    "YuniKorn": (YUNIKORN, "yunikorn"),
}
GATE = "kueue.x-k8s.io/admission"
SPEC = {
    "minMember": {"type": "integer", "minimum": 1},
    "scheduleTimeoutSeconds": {"type": "integer"},
}
"""Fields of the PodGroup of scheduler-plugins."""


@pytest.fixture(scope="module", autouse=True)
def definition(cluster: Cluster) -> None:
    """Install the definition of the PodGroups of scheduler-plugins."""
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": SPEC}},
    }
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    group, plural = "scheduling.x-k8s.io", "podgroups"
    # Its real name has this annotation, because Kubernetes protects the group.
    approved = {"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/scheduler-plugins/pull/50"}
    cluster.install(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}", "annotations": approved},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": "PodGroup", "plural": plural, "singular": "podgroup", "listKind": "PodGroupList"},
                "versions": [version],
            },
        }
    )


@pytest.fixture
def kueue(cluster: Cluster) -> None:
    """Add a label and a gate to Pods, as the webhook of Kueue does."""
    labels = '{"kueue.x-k8s.io/managed": "true"}'
    gates = f'[Object.spec.schedulingGates{{name: "{GATE}"}}]'
    fields = f"metadata: Object.metadata{{labels: {labels}}}, spec: Object.spec{{schedulingGates: {gates}}}"
    version = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "kueue"}}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    spec = {
        "matchConstraints": {
            "resourceRules": [rule],
            "objectSelector": {"matchLabels": {"kueue.x-k8s.io/queue-name": "research"}},
        },
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": f"Object{{{fields}}}"}}],
    }
    cluster.apply(
        [
            version | {"kind": "MutatingAdmissionPolicy", "spec": spec},
            version | {"kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": "kueue"}},
        ]
    )


@pytest.fixture
def stack_of(space: Space, tmp_path: Path) -> Callable[[str], Stack]:
    """Provide a function that creates the stack of a program in the namespace of the test."""
    return lambda program: Stack(tmp_path / "project", space, program.replace('"default"', f'"{space.name}"'))


def is_gated(pod: Manifest) -> bool:
    """Return whether a Pod has the gate of Kueue."""
    return pod["spec"].get("schedulingGates") == [{"name": GATE}]


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_program_has_no_warnings(name: str) -> None:
    """The default scheduler needs `ignore_warnings`."""
    program, _ = SCHEDULERS[name]

    assert run(lambda: exec(program, {})).warnings == []  # noqa: S102  # our own page


@pytest.mark.parametrize("name", SCHEDULERS)
def test_the_pods_have_the_scheduler_of_the_page(stack_of: Callable[[str], Stack], name: str) -> None:
    """A second update changes nothing, and the PodGroup of Volcano exists in each case."""
    program, scheduler = SCHEDULERS[name]
    stack = stack_of(program)

    stack.up()

    pods = stack.space.pods()
    assert len(pods) == 4
    assert {pod["spec"]["schedulerName"] for pod in pods.values()} == {scheduler}
    assert "PodGroup train" in stack.space.seen()
    assert stack.up().steps == {}


def test_the_gates_of_kueue_are_no_changes(kueue: None, cluster: Cluster, stack_of: Callable[[str], Stack]) -> None:
    """Neither a gated Pod nor an admitted one is updated."""
    stack = stack_of(KUEUE)
    space = stack.space
    probe = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "namespace": space.name}}
    probe["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "research"}
    probe["spec"] = {"containers": [{"name": "main", "image": "example.org/image:1"}]}
    cluster.wait(lambda: is_gated(cluster.apply([probe], dry=True)[0]), "the admission policy")
    stack.up()
    assert all(is_gated(pod) for pod in space.pods().values())
    assert stack.up().steps == {}

    for name in space.pods():
        path = f"/api/v1/namespaces/{space.name}/pods/{name}"
        cluster.request("PATCH", path, {"spec": {"schedulingGates": None}}, "application/merge-patch+json")
    space.run()

    assert stack.up().steps == {}
