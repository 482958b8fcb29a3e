"""A registry before images that name none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import MpiPlugin, PytorchPlugin, render
from pulumi_volcano_jobs.core.leaf import Leaf, substitute
from pulumi_volcano_jobs.kubernetes import images
from pulumi_volcano_jobs.plugins.pytorch import WAIT_IMAGE
from tests.conftest import container, job, refused, task, typed

REGISTRY = "ghcr.io/team"


@pytest.mark.parametrize(
    ("image", "expected"),
    {
        "train": f"{REGISTRY}/train",
        "train:1": f"{REGISTRY}/train:1",
        "train@sha256:abc": f"{REGISTRY}/train@sha256:abc",
        "team/train:1": f"{REGISTRY}/team/train:1",
        "docker.io/library/train": "docker.io/library/train",
        "localhost/train": "localhost/train",
        "localhost:5000/train": "localhost:5000/train",
        "registry:5000/train": "registry:5000/train",
        "Registry/train": "Registry/train",
        "quay.io/a/b:1": "quay.io/a/b:1",
        "": "",
    }.items(),
)
def test_an_image_without_a_registry_gets_it(image: str, expected: str) -> None:
    """By the rules by which container runtimes read references."""
    assert images.in_registry(image, REGISTRY) == expected
    assert images.in_registry(image, "") == image


def test_what_is_not_known_yet_is_read_when_it_is() -> None:
    """The image, the registry or both."""
    known = {"image": "train", "registry": REGISTRY}
    for image, registry in (("train", Leaf("registry")), (Leaf("image"), REGISTRY), (Leaf("image"), Leaf("registry"))):
        derived = images.in_registry(image, registry)

        assert substitute(derived, lambda leaf: known[leaf.path]) == f"{REGISTRY}/train"
    assert substitute(images.in_registry("train", Leaf("registry")), lambda _: "") == "train"


@pytest.mark.parametrize("registry", ["ghcr.io", "ghcr.io/a/b-c_d", "localhost", "localhost:5000/a", "registry:5000"])
def test_a_registry_is_a_host_and_perhaps_a_path(registry: str) -> None:
    """It is taken."""
    assert list(images.check_registry(registry, "image_registry")) == []


@pytest.mark.parametrize(
    "registry",
    ["https://ghcr.io/team", "ghcr.io/team/", "team", "ghcr.io/Team", "ghcr.io/team:1", "ghcr.io//team"],
)
def test_a_wrong_registry_is_rejected_with_a_right_one(registry: str, snapshot: SnapshotAssertion) -> None:
    """A fix of what is given, or an example."""
    (problem,) = refused(job(), image_registry=registry).problems

    assert typed([problem]) == [("image_registry", "Invalid")]
    assert problem.value == json.dumps(registry)
    assert "ghcr.io/team" in problem.hint
    assert str(problem) == snapshot


def test_a_registry_of_another_type_is_rejected(snapshot: SnapshotAssertion) -> None:
    """No image gets a registry then."""
    error = refused(job(), image_registry=3)

    assert typed(error.problems) == [("image_registry", "TypeInvalid")]
    assert str(error) == snapshot


def test_a_container_without_an_image_is_said_to_have_none() -> None:
    """It gets no registry alone."""
    error = refused(job(task(containers=[{"name": "main"}])), image_registry=REGISTRY)

    assert [problem.path for problem in error.problems] == ["spec.tasks[0].template.spec.containers[0].image"]


def found(**options: Any) -> dict[str, list[str]]:
    """Give the images of each Pod, those of init containers first."""
    made = render(
        job(
            task("master"),
            task(
                "worker",
                containers=[container(image="train:1"), container("other", image="quay.io/other:1")],
                initContainers=[container("before", image="before:1")],
            ),
            plugins=options.pop("plugins", {}),
        ),
        image_registry=REGISTRY,
        **options,
    )
    return {
        pod["metadata"]["name"]: [
            item["image"] for key in ("initContainers", "containers") for item in pod["spec"].get(key, ())
        ]
        for pod in made.pods
    }


def test_containers_and_init_containers_get_it() -> None:
    """Those that name a registry keep theirs."""
    assert found() == {
        "train-master-0": ["example.org/image:1"],
        "train-worker-0": [f"{REGISTRY}/before:1", f"{REGISTRY}/train:1", "quay.io/other:1"],
    }


@pytest.mark.parametrize(
    ("plugin", "image"),
    [
        (PytorchPlugin(wait_master_enabled=True), f"{REGISTRY}/{WAIT_IMAGE}"),
        (PytorchPlugin(wait_master_enabled=True, wait_master_image="wait:1"), f"{REGISTRY}/wait:1"),
        (PytorchPlugin(wait_master_enabled=True, wait_master_image="quay.io/wait:1"), "quay.io/wait:1"),
        (PytorchPlugin(wait_master_enabled=True, wait_master_script="checked"), f"{REGISTRY}/train:1"),
        (
            PytorchPlugin(wait_master_enabled=True, wait_master_script="checked", wait_master_image="wait:1"),
            f"{REGISTRY}/wait:1",
        ),
    ],
    ids=["default", "given", "with a registry", "the worker's own", "checked and given"],
)
def test_the_container_that_waits_for_a_master_gets_it(plugin: PytorchPlugin, image: str) -> None:
    """Its image is as much pulled as the others."""
    assert image in found(plugins=[plugin])["train-worker-0"][:2]


def test_the_container_that_waits_for_workers_gets_it() -> None:
    """With a setting; without one it has the master's image, which has it already."""
    waiting = found(plugins=[MpiPlugin(master="master", wait_for_workers=True, wait_for_workers_image="wait:1")])
    own = found(plugins=[MpiPlugin(master="master", wait_for_workers=True)])

    assert waiting["train-master-0"][0] == f"{REGISTRY}/wait:1"
    assert own["train-master-0"][0] == "example.org/image:1"


@pytest.mark.parametrize("registry", [REGISTRY, Leaf("registry")], ids=["plain", "unknown"])
def test_volcano_gets_the_registry_too(registry: Any) -> None:
    """In the templates, and in the argument by which its own plugin makes the container that waits."""
    document = job(
        task("master"),
        task("worker", containers=[container(image="train:1")]),
        plugins={"pytorch": ["--wait-master-enabled=true"]},
    )

    made = render(document, image_registry=registry, managed_by="volcano").native_job.to_manifest()
    spec = substitute(made, lambda _: REGISTRY)["spec"]

    assert spec["tasks"][1]["template"]["spec"]["containers"][0]["image"] == f"{REGISTRY}/train:1"
    argument = f"{REGISTRY}/{WAIT_IMAGE}"
    expected = [f"--wait-master-image={argument}"] if registry is REGISTRY else ["--wait-master-image", argument]
    assert spec["plugins"]["pytorch"] == ["--wait-master-enabled=true", *expected]


def test_where_nobody_waits_volcanos_arguments_stay() -> None:
    """An argument that does nothing would replace the Job for nothing."""
    document = job(task("master"), plugins={"pytorch": ["--port=1234"]})

    made = render(document, image_registry=REGISTRY, managed_by="volcano").native_job.to_manifest()

    assert made["spec"]["plugins"]["pytorch"] == ["--port=1234"]


DIGEST = f"sha256:{'a' * 64}"
REFERENCES = [
    "train",
    "train:1",
    f"train@{DIGEST}",
    f"ghcr.io/team/train:1.0-rc_1@{DIGEST}",
    "localhost:5000/train",
    "[::1]:5000/train",
    "Registry/train",
    "team/a_b__c--d.e:V1",
    f"train:{'t' * 128}",
    f"example.org/{'a' * 255}",
]
NO_REFERENCES = {
    "whitespace": "b c",
    "a line break": "train\n1",
    "upper case": "team/Train:1",
    "upper case without a team": "Train",
    "a scheme": "https://ghcr.io/team/train",
    "a variable": "ghcr.io/team/train:$TAG",
    "a placeholder": "<image>",
    "a Helm template": "{{.Values.image}}",
    "two tags": "train:1:2",
    "an empty part": "team//train",
    "an empty tag": "train:",
    "a long tag": f"train:{'t' * 129}",
    "a long path": f"example.org/{'a' * 256}",
    "a hyphen at the start": "-train",
    "three underscores": "a___b",
    "a digest that is too short": f"train@sha256:{'a' * 63}",
    "a digest in upper case": f"train@sha256:{'A' * 64}",
    "an unknown digest": f"train@md5:{'a' * 32}",
    "the id of an image": "a" * 64,
}


@pytest.mark.parametrize("image", REFERENCES)
def test_the_kubelet_can_pull_these_images(image: str) -> None:
    """`ParseNormalizedNamed` of github.com/distribution/reference accepts them."""
    assert list(images.check_reference(image, "image")) == []


@pytest.mark.parametrize("image", NO_REFERENCES.values(), ids=NO_REFERENCES)
def test_an_image_that_the_kubelet_cannot_pull_is_an_error(image: str, snapshot: SnapshotAssertion) -> None:
    """In containers of all kinds, in volumes and in images of plugins, also if their registry is not known yet."""
    volume = {"name": "model", "image": {"reference": image}}
    document = job(
        task(
            "master",
            containers=[container(image=image)],
            initContainers=[container("init", image=image)],
            volumes=[volume],
        ),
        plugins=[PytorchPlugin(wait_master_enabled=True, wait_master_image=image)],
    )
    found = refused(document).problems
    spec = "spec.tasks[0].template.spec"
    assert sorted(typed(found)) == [
        ("spec.plugins.pytorch.wait_master_image", "Invalid"),
        (f"{spec}.containers[0].image", "Invalid"),
        (f"{spec}.initContainers[0].image", "Invalid"),
        (f"{spec}.volumes[0].image.reference", "Invalid"),
    ]
    assert str(found[0]) == snapshot
    assert sorted(typed(refused(document, image_registry=Leaf("image_registry")).problems)) == sorted(typed(found))


def test_volcano_accepts_an_image_that_the_kubelet_cannot_pull() -> None:
    """Lenient mode behaves like Volcano."""
    assert render(job(task(containers=[container(image="b c")])), strict=False).pods
