"""Objects that the first update of a job creates."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from cluster import Cluster

from pulumi_volcano_jobs import Rendered, load_jobs, render
from pulumi_volcano_jobs.plugins import ssh_keys
from tests.cluster.conftest import Manifest, Objects, Space, Stack, content, named, task, use
from tests.engine.conftest import ROOT, Project
from tests.programs import EXAMPLES

DOCUMENTS = ROOT / "tests" / "documents" / "jobs"
OF_ANOTHER_NAME = {"pytorch": "pytorch-guide"}


@dataclass(frozen=True)
class Example:
    """An example after `up` on the cluster."""

    made: Objects
    rendered: Rendered


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.name)
def example(
    request: pytest.FixtureRequest,
    cluster: Cluster,
    new_space: Callable[..., Space],
    tmp_path_factory: pytest.TempPathFactory,
) -> Example:
    """Provide an example after `pulumi config set cluster true` and `pulumi up`; no scheduler runs."""
    copy = tmp_path_factory.mktemp("examples") / request.param.name
    shutil.copytree(request.param, copy, ignore=shutil.ignore_patterns("rendered", "__pycache__"))
    space = new_space()
    project = Project(copy, config={"cluster": "true", "volcano-jobs:namespace": space.name})
    use(cluster, project)
    project.up()
    (document,) = load_jobs(DOCUMENTS / f"{OF_ANOTHER_NAME.get(copy.name, copy.name)}.yaml")
    rendered = render(document, namespace=space.name, keys=ssh_keys.generate())
    return Example(space.seen(), rendered)


def test_the_api_server_stores_the_rendered_manifests(space: Space, example: Example) -> None:
    """Defaults of the API server are added to both, and no other object exists."""
    rendered = [*example.rendered.objects, *example.rendered.pods]
    elsewhere = [item | {"metadata": item["metadata"] | {"namespace": space.name}} for item in rendered]

    expected = {named(item["kind"], item): item for item in space.cluster.apply(elsewhere, dry=True)}

    assert {name: comparable(item) for name, item in example.made.items()} == {
        name: comparable(item) for name, item in expected.items()
    }


def comparable(item: Manifest) -> Manifest:
    """Return a manifest without the allowed differences: namespace, Pulumi's annotations, keys, and assigned IPs."""
    plain = content(item)
    metadata = plain["metadata"]
    del metadata["namespace"]
    annotations = {key: value for key, value in metadata.pop("annotations", {}).items() if "pulumi.com/" not in key}
    plain["metadata"] = metadata | {"annotations": annotations}
    if plain["kind"] == "Secret":
        plain["data"] = {key: value if key == "config" else bool(value) for key, value in plain["data"].items()}
    if plain["kind"] == "Service" and plain["spec"]["clusterIP"] != "None":
        del plain["spec"]["clusterIP"], plain["spec"]["clusterIPs"]
    return plain


def test_up_returns_while_the_gang_waits(example: Example) -> None:
    """No Pod is scheduled when the update ends."""
    pods = [item for item in example.made.values() if item["kind"] == "Pod"]

    assert len(pods) == len(example.rendered.pods)
    assert {pod["status"]["phase"] for pod in pods} == {"Pending"}


def test_objects_that_pods_need_are_created_first(example: Example) -> None:
    """Services, host lists, keys, policies and the PodGroup are older than the first Pod."""
    versions = {name: int(item["metadata"]["resourceVersion"]) for name, item in example.made.items()}
    pods = {name for name in versions if name.startswith("Pod ")}

    # No object was updated after its creation, so its resource version orders the creations.
    assert max(versions[name] for name in versions.keys() - pods) < min(versions[name] for name in pods)


def test_a_gang_can_be_larger_than_the_parallelism_of_the_engine(stack: Stack) -> None:
    """The engine creates 8 objects at a time and does not wait for running Pods, so 20 Pods do not deadlock."""
    stack.jobs(train={"tasks": [task("worker", 20)], "plugins": {"svc": []}})

    stack.up(parallel=8)

    made = stack.space.seen()
    pods = stack.space.pods()
    assert pods.keys() == {f"train-worker-{index}" for index in range(20)}
    assert {pod["status"]["phase"] for pod in pods.values()} == {"Pending"}
    assert made["PodGroup train"]["spec"]["minMember"] == 20
