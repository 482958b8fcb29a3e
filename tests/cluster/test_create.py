"""What a first update makes of a job."""

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
    """An example that went up on the cluster."""

    made: Objects
    rendered: Rendered


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.name)
def example(
    request: pytest.FixtureRequest,
    cluster: Cluster,
    new_space: Callable[..., Space],
    tmp_path_factory: pytest.TempPathFactory,
) -> Example:
    """Provide an example after `pulumi config set cluster true` and `pulumi up`; nothing schedules its Pods."""
    copy = tmp_path_factory.mktemp("examples") / request.param.name
    shutil.copytree(request.param, copy, ignore=shutil.ignore_patterns("rendered", "__pycache__"))
    space = new_space()
    project = Project(copy, config={"cluster": "true", "volcano-jobs:namespace": space.name})
    use(cluster, project)
    project.up()
    (document,) = load_jobs(DOCUMENTS / f"{OF_ANOTHER_NAME.get(copy.name, copy.name)}.yaml")
    rendered = render(document, namespace=space.name, keys=ssh_keys.generate())
    return Example(space.seen(), rendered)


def test_the_api_server_has_what_render_prints(space: Space, example: Example) -> None:
    """Each object is what kubectl would have made of the rendered one; there is no other."""
    rendered = [*example.rendered.objects, *example.rendered.pods]
    elsewhere = [item | {"metadata": item["metadata"] | {"namespace": space.name}} for item in rendered]

    expected = {named(item["kind"], item): item for item in space.cluster.apply(elsewhere, dry=True)}

    assert {name: comparable(item) for name, item in example.made.items()} == {
        name: comparable(item) for name, item in expected.items()
    }


def comparable(item: Manifest) -> Manifest:
    """Leave out the only differences: the namespace, Pulumi's annotations, the keys, and an address that is given."""
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
    """No scheduler has looked at the Pods, and yet the update has ended."""
    pods = [item for item in example.made.values() if item["kind"] == "Pod"]

    assert len(pods) == len(example.rendered.pods)
    assert {pod["status"]["phase"] for pod in pods} == {"Pending"}


def test_what_pods_need_is_there_before_them(example: Example) -> None:
    """Services, host lists, keys, policies and the PodGroup are older than the first Pod."""
    versions = {name: int(item["metadata"]["resourceVersion"]) for name, item in example.made.items()}
    pods = {name for name in versions if name.startswith("Pod ")}

    # Nothing has written to an object since it was made, so its version is its birth.
    assert max(versions[name] for name in versions.keys() - pods) < min(versions[name] for name in pods)


def test_a_gang_larger_than_the_engine_s_parallelism_comes_whole(stack: Stack) -> None:
    """The engine makes 8 objects at a time and waits for none to run, so a gang of 40 does not wait for itself."""
    stack.jobs(train={"tasks": [task("worker", 40)], "plugins": {"svc": []}})

    stack.up(parallel=8)

    made = stack.space.seen()
    pods = stack.space.pods()
    assert pods.keys() == {f"train-worker-{index}" for index in range(40)}
    assert {pod["status"]["phase"] for pod in pods.values()} == {"Pending"}
    assert made["PodGroup train"]["spec"]["minMember"] == 40
