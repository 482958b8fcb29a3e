"""Faults over which the provider and Kubernetes take a minute each: all are there at once, and then waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from cluster import Cluster

from pulumi_volcano_jobs.component.error_hooks import missing_definitions
from tests.cluster.conftest import VOLCANO, Apart, Objects, Space, Stack, changes
from tests.cluster.mending import PODS, is_whole, job, lasting, mend

NODE = "another-node"
Folders = pytest.TempPathFactory


@dataclass
class Failing:
    """An update that will fail."""

    stack: Stack
    run: Apart


def bound(space: Space, pod: str, node: str) -> None:
    """Bind a Pod to a node that comes for it and then goes."""
    cluster = space.cluster
    cluster.apply([{"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}}])
    cluster.bind([pod], space.name, node)
    cluster.delete("Node", node)


@pytest.fixture(scope="module")
def without_volcano(engine: None, tmp_path_factory: Folders) -> Iterator[Failing]:
    """Begin an update on a cluster that does not know PodGroups."""
    with Cluster(tmp_path_factory.mktemp("bare")) as bare:
        stack = Stack(tmp_path_factory.mktemp("definitions"), Space(bare, "default"))
        stack.jobs(train=job(2))
        yield Failing(stack, stack.apart("up"))


@pytest.fixture(scope="module")
def without_namespace(without_volcano: Failing, cluster: Cluster, tmp_path_factory: Folders) -> Failing:
    """Begin an update in a namespace that is not there."""
    stack = Stack(tmp_path_factory.mktemp("missing"), Space(cluster, "not-there"))
    stack.jobs(train=job(2))
    return Failing(stack, stack.apart("up"))


@pytest.fixture(scope="module")
def without_node(
    without_namespace: Failing, new_space: Callable[..., Space], tmp_path_factory: Folders
) -> tuple[Stack, Objects]:
    """Make a job with a Pod on a node that is gone."""
    stack = Stack(tmp_path_factory.mktemp("node"), new_space())
    before = stack.make(train=job(2))
    bound(stack.space, PODS[0], NODE)
    return stack, before


@pytest.fixture(scope="module", autouse=True)
def all_at_once(request: pytest.FixtureRequest) -> None:
    """Begin with all of them, whichever test comes first; without Volcano's definitions there is only one."""
    if VOLCANO.is_dir():
        request.getfixturevalue("without_node")


def test_a_node_that_is_gone(without_node: tuple[Stack, Objects]) -> None:
    """Kubernetes deletes the Pod; a refresh and an update make it again, and leave the other alone."""
    stack, before = without_node
    stack.space.cluster.wait(lambda: PODS[0] not in stack.space.pods(), "the Pod to be deleted", 120)

    assert lasting(changes(before, mend(stack))) == {f"Pod {PODS[0]}": "replaced"}


def test_a_missing_namespace(without_namespace: Failing) -> None:
    """The update fails and names it; once it is there, one more update makes the job."""
    stack, (code, output) = without_namespace.stack, without_namespace.run.wait()

    assert code != 0
    assert 'namespaces "not-there" not found' in output
    metadata = {"name": "not-there"}
    stack.space.cluster.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])
    stack.up()
    assert is_whole(stack.space.seen(), 2)
    assert stack.up().steps == {}


def test_a_cluster_without_volcano(without_volcano: Failing) -> None:
    """The update fails before the first Pod and says what to install; with the definitions, one more makes the job."""
    stack, (code, output) = without_volcano.stack, without_volcano.run.wait()
    bare = stack.space.cluster

    assert code != 0
    assert missing_definitions("train", "PodGroups").text in output
    assert "helm install volcano" in output
    assert "Verify that any required CRDs have been created" in output
    assert 'no matches for kind "PodGroup" in version "scheduling.volcano.sh/v1beta1"' in output
    assert stack.space.pods() == {}
    if VOLCANO.is_dir():
        key = stack.space.key()
        for path in sorted(VOLCANO.glob("*.yaml")):
            bare.install(path)
        stack.up()
        assert set(stack.space.pods()) == set(PODS[:2])
        assert stack.space.key() == key
