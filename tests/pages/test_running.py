"""The programs of the pages about running jobs: docs/data.md, gpus.md, registries.md and secrets.md."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs import VolcanoJob, render
from pulumi_volcano_jobs.testing import Result, is_secret, run
from tests.pages.running import PAGES, blocks, programs, text

CONFIG = {"roleArn": "arn:aws:iam::111122223333:role/train", "registryUser": "robot"}
SECRETS = {
    "awsAccessKeyId": "id-of-a-key",
    "awsSecretAccessKey": "hunter2-hunter2",
    "registryToken": "hunter2-hunter2",
    "wandbKey": "hunter2-hunter2",
}


def result(page: str, number: int) -> Result:
    """Run a program of a page."""
    code = programs(page)[number]
    return run(lambda: exec(code, {}), config=CONFIG, secrets=SECRETS)  # noqa: S102  # our own page


ALL = [(page, number) for page in PAGES for number in range(len(programs(page)))]


@pytest.mark.parametrize(("page", "number"), ALL)
def test_a_program_runs_without_a_warning(page: str, number: int) -> None:
    """Users copy these programs."""
    done = result(page, number)

    assert done.names("Pod") or done.names("VolcanoJob")
    assert done.warnings == []


def containers(done: Result, pod: str) -> list[dict[str, Any]]:
    """Return the containers of a Pod."""
    found: list[dict[str, Any]] = done.manifests()[f"Pod {pod}"]["spec"]["containers"]
    return found


def mounts(done: Result, pod: str) -> dict[str, str]:
    """Return the claims of the first container of a Pod by mount path."""
    spec = done.manifests()[f"Pod {pod}"]["spec"]
    claims = {
        volume["name"]: volume["persistentVolumeClaim"]["claimName"]
        for volume in spec["volumes"]
        if "persistentVolumeClaim" in volume
    }
    found = spec["containers"][0]["volumeMounts"]
    return {mount["mountPath"]: claims[mount["name"]] for mount in found if mount["name"] in claims}


class TestData:
    """docs/data.md."""

    def test_a_new_claim_has_the_documented_name_and_is_kept(self) -> None:
        """All Pods mount it, and the claim of the next job."""
        done = result("data", 0)

        assert done.names("PersistentVolumeClaim") == ["train-pvc-checkpoints"]
        for pod in done.names("Pod"):
            assert mounts(done, pod) == {"/checkpoints": "train-pvc-checkpoints", "/imagenet": "imagenet"}
        assert mounts(result("data", 1), "evaluate-worker-0") == {"/checkpoints": "train-pvc-checkpoints"}

    def test_init_containers_do_not_mount_the_claims_of_the_job(self) -> None:
        """The page describes a volume of the template for them."""
        spec = result("data", 0).manifests()["Pod train-worker-0"]["spec"]

        (init,) = spec["initContainers"]
        # "checked" waits with the mounts of the other containers.
        assert {mount["mountPath"] for mount in init["volumeMounts"]}.isdisjoint({"/checkpoints", "/imagenet"})

    @pytest.mark.parametrize(("number", "name"), [(2, "imagenet"), (3, "download")])
    def test_pods_are_created_after_the_resource_of_the_program(self, number: int, name: str) -> None:
        """The claim exists, or the download has completed."""
        done = result("data", number)

        assert mounts(done, "train-worker-3") == {"/imagenet": "imagenet"}
        assert name in done.names("PersistentVolumeClaim") + done.names("Job")

    def test_credentials_are_secret(self) -> None:
        """The Pods refer to the Secret."""
        done = result("data", 5)

        assert is_secret(done.manifests()["Secret s3"]["stringData"])
        assert containers(done, "train-worker-0")[0]["envFrom"] == [{"secretRef": {"name": "s3"}}]


class TestRegistries:
    """docs/registries.md."""

    def test_all_pods_name_the_secret_of_the_program(self) -> None:
        """Its content is secret."""
        done = result("registries", 0)

        assert is_secret(done.manifests()["Secret registry"]["stringData"])
        for pod in done.names("Pod"):
            assert done.manifests()[f"Pod {pod}"]["spec"]["imagePullSecrets"] == [{"name": "registry"}]

    def test_the_configuration_and_the_job_file_name_the_secret(self) -> None:
        """The names of both add up."""
        configuration, file = map(yaml.safe_load, blocks("registries", "yaml"))
        values = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in configuration["config"].items()
        }
        done = run(lambda: VolcanoJob("evaluate", file["spec"]) and None, config=values)

        assert [pod["spec"]["imagePullSecrets"] for pod in render(file).pods] == [[{"name": "registry"}]] * 2
        assert done.manifests()["Pod evaluate-worker-0"]["spec"]["imagePullSecrets"] == [{"name": "registry"}]

    def test_pods_of_the_service_account_name_no_secret(self) -> None:
        """The API server adds it only to such Pods."""
        done = result("registries", 1)

        assert done.manifests()["ServiceAccount train"]["imagePullSecrets"] == [{"name": "registry"}]
        assert "imagePullSecrets" not in done.manifests()["Pod train-worker-0"]["spec"]


class TestSecrets:
    """docs/secrets.md."""

    @pytest.mark.parametrize("number", [0, 1])
    def test_containers_refer_to_the_secret(self, number: int) -> None:
        """No Pod contains the value."""
        done = result("secrets", number)

        reference = {"name": "WANDB_API_KEY", "valueFrom": {"secretKeyRef": {"name": "wandb", "key": "key"}}}
        for pod in done.names("Pod"):
            assert reference in containers(done, pod)[0]["env"]

    def test_the_operator_creates_the_secret_that_the_pods_name(self) -> None:
        """The program contains names only."""
        done = result("secrets", 1)

        spec = done.manifests()["ExternalSecret wandb"]["spec"]
        assert (spec["target"]["name"], spec["data"][0]["secretKey"]) == ("wandb", "key")

    def test_the_operator_creates_the_keys_that_the_pods_mount(self) -> None:
        """Only the configuration of ssh is in the Secret of the job."""
        done = result("secrets", 2)

        spec = done.manifests()["ExternalSecret team-ssh"]["spec"]
        (volume,) = (v for v in done.manifests()["Pod solve-worker-0"]["spec"]["volumes"] if v["name"] == "solve-ssh")
        source = volume["projected"]["sources"][0]["secret"]
        assert source["name"] == spec["target"]["name"]
        assert {item["key"] for item in source["items"]} == {entry["secretKey"] for entry in spec["data"]}
        assert not [name for name in done.names("Stash") if "key" in name]
        assert list(done.job("solve").secrets["solve-ssh"].data) == ["config"]

    def test_the_environment_has_the_key_that_the_program_reads(self) -> None:
        """The stack names the environment that the command adds."""
        environment, stack = map(yaml.safe_load, blocks("secrets", "yaml"))

        (name,) = environment["values"]["pulumiConfig"]
        assert f'require_secret("{name}")' in programs("secrets")[0]
        assert f"pulumi config env add {stack['environment'][0]}\n" in text("secrets")
