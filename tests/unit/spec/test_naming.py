"""The API server accepts the name of each object and volume of a job."""

from __future__ import annotations

import copy
import re
from itertools import product

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import ClusterFacts, JobContext, Plugin, Pod, SshPlugin, render
from pulumi_volcano_jobs.kubernetes.dns import DNS_LABEL, DNS_SUBDOMAIN, MAX_LABEL, MAX_SUBDOMAIN
from pulumi_volcano_jobs.kubernetes.manifest import Container
from pulumi_volcano_jobs.spec import naming
from tests.conftest import CLAIM, Wire, container, job, places, problems, task, typed

JOBS = ("train", "llama3.1", "a" * 59, "a--b", "3d")
PATHS = (
    "/data",
    "/",
    "//",
    "/mnt/data",
    "/mnt-data",
    "/mnt_data",
    "/Ä",
    "/.",
    "/-a",
    "/a--b",
    f"/{'x' * 300}",
    "/x" * 150,
)
# The names of releases that did not check names.
KNOWN = {
    ("train", "/data"): "train-pvc-data",
    ("train", "/mnt/data"): "train-pvc-mnt-data-6faba07f",
    ("a--b", "/data"): "a--b-pvc-data",
}
WAITING: dict[str, tuple[Wire, str]] = {
    "wait-for-master": (
        job(task("master"), task("worker"), plugins={"pytorch": ["--wait-master-enabled=true"]}),
        "pytorch",
    ),
    "wait-for-workers": (job(task("worker"), task("master"), plugins={"mpi": []}), "mpi"),
}


@pytest.mark.parametrize(("name", "path"), list(product(JOBS, PATHS)))
def test_claims_and_volumes_have_valid_names(name: str, path: str) -> None:
    """A claim's name is a DNS name, and a volume's name a label."""
    claim, volume = naming.claim(name, path), naming.volume(name, path)

    assert len(claim) <= MAX_SUBDOMAIN
    assert re.fullmatch(DNS_SUBDOMAIN, claim)
    assert len(volume) <= MAX_LABEL
    assert re.fullmatch(DNS_LABEL, volume)
    assert claim.startswith((name, name.replace("--", "-")))
    assert volume == claim or len(claim) > MAX_LABEL or "." in claim


@pytest.mark.parametrize("name", JOBS)
def test_each_path_has_its_own_claim_and_volume(name: str) -> None:
    """Two slashes and one are the same path, which no job mounts twice."""
    paths = [path for path in PATHS if path != "//"]

    for of_path in (naming.claim, naming.volume):
        assert len({of_path(name, path) for path in paths}) == len(paths)


def test_names_that_were_valid_stay_the_same() -> None:
    """Another name would replace a claim and its data."""
    assert {key: naming.claim(*key) for key in KNOWN} == KNOWN
    assert {key: naming.volume(*key) for key in KNOWN} == KNOWN


def test_each_job_has_a_pod_group_that_no_job_of_its_name_changes() -> None:
    """Volcano's controller edits a PodGroup that has the name of a Job."""
    groups = [naming.pod_group(name) for name in JOBS]

    assert naming.pod_group("train") == "train-116f54c4"
    assert len({*groups, *JOBS}) == 2 * len(JOBS)
    assert all(len(group) <= MAX_SUBDOMAIN and re.fullmatch(DNS_SUBDOMAIN, group) for group in groups)
    assert [naming.job_of(group) for group in groups] == list(JOBS)


def test_a_claim_of_the_root_has_a_valid_name() -> None:
    """It has the digest of its path."""
    rendered = render(job(task(), volumes=[{"mountPath": "/", "volumeClaim": CLAIM}]))

    (claim,) = [item for item in rendered.objects if item["kind"] == "PersistentVolumeClaim"]
    assert claim["metadata"]["name"] == naming.claim("train", "/")
    assert rendered.pods[0]["spec"]["volumes"][0]["name"] == naming.volume("train", "/")


@pytest.mark.parametrize("plugin", ["svc", "ssh"])
def test_a_dot_in_the_name_of_a_job_with_volumes_of_plugins_is_an_error(plugin: str) -> None:
    """The ConfigMap's or the Secret's volume is named after the job."""
    assert places(job(task(), name="llama3.1", plugins={plugin: []})) == ["metadata.name"]


@pytest.mark.parametrize("managed_by", ["pulumi", "volcano"])
def test_a_queue_of_63_characters_is_accepted(managed_by: str) -> None:
    """It is the longest value of a label."""
    assert render(job(task(), queue="q" * MAX_LABEL), managed_by=managed_by).pods


@pytest.mark.parametrize("plugin", ["svc", "mpi"])
def test_a_service_that_begins_with_a_digit_needs_kubernetes_1_36(plugin: str) -> None:
    """Older API servers reject the name."""
    document = job(task("master"), task("worker"), name="3d", plugins={plugin: []})

    found = problems(document, cluster=ClusterFacts(kubernetes_version="1.35"), defaults="recommended")
    assert typed(found) == [("metadata.name", "Invalid")]
    for version in ("1.36", ""):
        assert render(document, cluster=ClusterFacts(kubernetes_version=version), defaults="recommended").pods


def test_the_error_of_a_service_that_begins_with_a_digit_has_the_release(snapshot: SnapshotAssertion) -> None:
    """The release is that of the cluster."""
    (problem,) = problems(job(name="3d", plugins={"svc": []}), cluster=ClusterFacts(kubernetes_version="1.35"))

    assert str(problem) == snapshot


def test_a_job_without_a_service_may_begin_with_a_digit() -> None:
    """A Pod's name may begin with a digit."""
    assert render(job(task(), name="3d"), cluster=ClusterFacts(kubernetes_version="1.30")).pods


@pytest.mark.parametrize("name", WAITING)
def test_a_container_named_like_a_plugin_s_init_container_is_an_error(name: str, snapshot: SnapshotAssertion) -> None:
    """All containers of a Pod share one set of names."""
    document, plugin = copy.deepcopy(WAITING[name])
    containers = document["spec"]["tasks"][1]["template"]["spec"]["containers"]
    document["spec"]["tasks"][1]["template"]["spec"]["containers"] = [*containers, container(name)]

    found, native = (
        [item for item in problems(document, defaults="recommended", managed_by=mode) if not item.warning]
        for mode in ("pulumi", "volcano")
    )

    assert typed(found) == [("spec.tasks[1].template.spec.containers[1].name", "Duplicate")]
    assert f"spec.plugins.{plugin}" in found[0].reason
    assert native == found
    assert str(found[0]) == snapshot


@pytest.mark.parametrize("name", WAITING)
def test_an_init_container_of_the_user_takes_precedence(name: str) -> None:
    """Plugins do not add a second one."""
    document, _ = copy.deepcopy(WAITING[name])
    document["spec"]["tasks"][1]["template"]["spec"]["initContainers"] = [container(name, image="own:1")]

    made = render(document, defaults="recommended").pods[-1]["spec"]["initContainers"]

    assert [(item["name"], item["image"]) for item in made] == [(name, "own:1")]


class _Sidecar(Plugin):
    name = "sidecar"

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        pod.init_containers += [Container({"name": "proxy", "image": "proxy:1"})] * 2


def test_a_plugin_that_adds_two_containers_of_one_name_is_an_error(snapshot: SnapshotAssertion) -> None:
    """The error is at the plugin."""
    (problem,) = problems(job(task(), plugins={"sidecar": _Sidecar()}))
    assert typed([problem]) == [("spec.plugins.sidecar", "Duplicate")]
    assert str(problem) == snapshot


@pytest.mark.parametrize("image", ["", " ", "x ", "x y"])
def test_an_image_of_a_plugin_that_is_empty_or_has_blanks_is_an_error(image: str) -> None:
    """The rules for images of the template apply."""
    arguments = ["--wait-master-enabled=true", f"--wait-master-image={image}"]
    document = job(task("master"), task("worker"), plugins={"pytorch": arguments})

    (problem,) = problems(document)
    assert typed([problem]) == [("spec.plugins.pytorch[1]", "Invalid" if image else "Required")]
    assert problem.reason.startswith("--wait-master-image: ")


def test_an_image_of_mpi_with_blanks_is_an_error_and_without_a_setting_is_the_master_s() -> None:
    """An empty option means the image of the master's container."""
    document = job(task("master"), task("worker"), plugins={"mpi": []})
    options = {"wait_for_workers": True, "wait_for_workers_image": " x"}

    assert places(document, plugin_options={"mpi": options}) == ["plugin_options.mpi.wait_for_workers_image"]
    made = render(document, plugin_options={"mpi": options | {"wait_for_workers_image": ""}}).first_pods["master"]
    assert made["spec"]["initContainers"][0]["image"] == "example.org/image:1"


def test_an_image_that_no_container_has_is_not_checked() -> None:
    """Without the wait the Pod has no init container."""
    assert render(job(task("master"), plugins={"pytorch": ["--wait-master-image="]})).pods


def test_volumes_of_ssh_have_valid_names_in_the_longest_job() -> None:
    """A Pod's name is longer than the job's."""
    longest = "a" * 59
    pods = render(job(task("t"), name=longest, plugins=[SshPlugin()])).pods

    assert [len(item["name"]) <= MAX_LABEL for item in pods[0]["spec"]["volumes"]] == [True]


def test_native_jobs_with_volumes_need_a_name_that_volumes_can_have() -> None:
    """Volcano adds 13 characters to the name of the job."""
    volumes = [{"mountPath": "/data", "volumeClaimName": "data"}]
    accepted, rejected = (job(task("t"), name="a" * length, volumes=volumes) for length in (50, 51))

    assert render(accepted, managed_by="volcano").pods
    assert places(rejected, managed_by="volcano") == ["metadata.name"]
    assert render(rejected).pods
