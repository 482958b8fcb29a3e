"""Faults that need a minute of the provider or of Kubernetes: all start together, and then each is awaited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from cluster import Cluster

from pulumi_volcano_jobs.component.error_hooks import missing_definitions
from tests.cluster.conftest import Background, Objects, Space, Stack, changes, failed, volcano_definitions
from tests.cluster.mending import PODS, is_complete, job, recover, without_scheduling

NODE = "another-node"
Folders = pytest.TempPathFactory


@dataclass
class Failing:
    """An update that is expected to fail."""

    stack: Stack
    run: Background


def bound(space: Space, pod: str, node: str) -> None:
    """Bind a Pod to a node that is then deleted."""
    cluster = space.cluster
    cluster.apply([{"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}}])
    cluster.bind([pod], space.name, node)
    cluster.delete("Node", node)


@pytest.fixture(scope="module")
def without_volcano(engine: None, tmp_path_factory: Folders) -> Iterator[Failing]:
    """Start an update on a cluster without the PodGroup CRD."""
    with Cluster(tmp_path_factory.mktemp("bare")) as bare:
        stack = Stack(tmp_path_factory.mktemp("definitions"), Space(bare, "default"))
        stack.jobs(train=job(2))
        yield Failing(stack, stack.begin())


@pytest.fixture(scope="module")
def without_namespace(without_volcano: Failing, cluster: Cluster, tmp_path_factory: Folders) -> Failing:
    """Start an update in a namespace that does not exist."""
    stack = Stack(tmp_path_factory.mktemp("missing"), Space(cluster, "not-there"))
    stack.jobs(train=job(2))
    return Failing(stack, stack.begin())


@pytest.fixture(scope="module")
def without_node(
    without_namespace: Failing, new_space: Callable[..., Space], tmp_path_factory: Folders
) -> tuple[Stack, Objects]:
    """Create a job with a Pod on a deleted node."""
    stack = Stack(tmp_path_factory.mktemp("node"), new_space())
    before = stack.make(train=job(2))
    bound(stack.space, PODS[0], NODE)
    return stack, before


@pytest.fixture(scope="module", autouse=True)
def all_at_once(without_node: tuple[Stack, Objects]) -> None:
    """Start all faults before the first test; the update without Volcano's CRDs has the cluster alone."""


def test_a_pod_of_a_deleted_node_is_recreated(without_node: tuple[Stack, Objects]) -> None:
    """Kubernetes deletes the Pod; a refresh and an update create it again and keep the other Pod."""
    stack, before = without_node
    stack.space.cluster.wait(lambda: PODS[0] not in stack.space.pods(), "the Pod to be deleted")

    assert without_scheduling(changes(before, recover(stack))) == {f"Pod {PODS[0]}": "replaced"}


def test_a_missing_namespace_fails_the_update(without_namespace: Failing) -> None:
    """The error names it; after it is created, one more update creates the job."""
    stack, output = without_namespace.stack, failed(without_namespace.run.wait)

    assert 'namespaces "not-there" not found' in output
    metadata = {"name": "not-there"}
    stack.space.cluster.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])
    stack.up()
    assert is_complete(stack.space.seen(), 2)
    assert stack.up().steps == {}


def test_a_cluster_without_volcano_fails_the_update(without_volcano: Failing) -> None:
    """No Pod is created, and the error has the fix; with the CRDs one more update creates the job."""
    stack, output = without_volcano.stack, failed(without_volcano.run.wait)
    bare = stack.space.cluster

    assert missing_definitions("train", "PodGroups").text in output
    assert "helm install volcano" in output
    assert "Verify that any required CRDs have been created" in output
    assert 'no matches for kind "PodGroup" in version "scheduling.volcano.sh/v1beta1"' in output
    assert stack.space.pods() == {}
    key = stack.space.key()
    for definition in volcano_definitions():
        bare.install(definition)
    stack.up()
    assert set(stack.space.pods()) == set(PODS[:2])
    assert stack.space.key() == key
