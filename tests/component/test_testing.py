"""`pulumi_volcano_jobs.testing` itself: what it finds, what it says, what it hides, and that runs are apart."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest
from pulumi.runtime import mocks, settings

from pulumi_volcano_jobs import JobError, MpiPlugin, PytorchPlugin, SshPlugin, SvcPlugin, VolcanoJob
from pulumi_volcano_jobs.testing import (
    UNKNOWN,
    NotFound,
    Result,
    SecretValue,
    computed,
    failed,
    is_secret,
    is_unknown,
    reveal,
    run,
)
from pulumi_volcano_jobs.testing.marks import inner
from tests.component.programs import LOSES_MARKS, new_job
from tests.conftest import BYTES, PAIR, Wire, container, ssh_plugin, task

HAS_TRANSFORMS = hasattr(mocks.MockMonitor, "RegisterStackTransform")
"""Whether this release of Pulumi lets mocks have transforms at all."""


def job(**fields: Any) -> Wire:
    """Give a PyTorch job of a master and two workers."""
    return {"plugins": [PytorchPlugin()], "tasks": [task("master"), task("worker", 2)], **fields}


def one(arguments: Wire | None = None, **surroundings: Any) -> Result:
    """Run a program with one job."""

    def program() -> None:
        new_job("train", arguments or job())

    return run(program, **surroundings)


def in_container(**fields: Any) -> Wire:
    """Give the job with fields in the workers' container."""
    return job(tasks=[task("master"), task("worker", 2, containers=[container(**fields)])])


class TestLookUps:
    """What is there is found, and what is not is told with what is."""

    def test_pods_are_found_by_task_and_index(self) -> None:
        """Whatever the job is called in the cluster."""
        found = one(job(name="nightly")).job("train")

        assert found.tasks == ["master", "worker"]
        assert [pod.object_name for pod in found.pods] == ["nightly-master-0", "nightly-worker-0", "nightly-worker-1"]
        assert found.pod("worker", 1) is found.pods[2]
        assert found.pod("worker", 1).env["RANK"] == "2"

    def test_ten_pods_are_in_the_order_of_their_indexes(self) -> None:
        """2 comes before 10."""
        found = one(job(tasks=[task("master"), task("worker", 12)])).job("train")

        assert [found.pod("worker", index).object_name for index in range(12)] == [
            f"train-worker-{index}" for index in range(12)
        ]

    def test_all_parts_of_a_container_are_found(self) -> None:
        """Each under its name."""
        spec = {
            "containers": [
                container(
                    command=["run"],
                    args=["--fast"],
                    env=[
                        {"name": "EMPTY"},
                        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                    ],
                    volumeMounts=[{"name": "memory", "mountPath": "/dev/shm"}],
                    resources={"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
                ),
                container("second"),
            ],
            "initContainers": [container("before")],
            "volumes": [{"name": "memory", "emptyDir": {}}],
            "nodeSelector": {"zone": "a"},
            "tolerations": [{"operator": "Exists"}],
        }
        pod = one({"tasks": [task(**spec)]}).job("train").pod("worker", 0)

        assert (pod.command, pod.args, pod.image) == (["run"], ["--fast"], "example.org/image:1")
        assert pod.env == {"EMPTY": "", "IP": {"fieldRef": {"fieldPath": "status.podIP"}}}
        assert pod.mounts["/dev/shm"]["name"] == "memory"
        assert (pod.containers["main"].limits["cpu"], pod.containers["main"].requests["cpu"]) == ("2", "1")
        assert pod.containers["second"].env == {}
        assert list(pod.init_containers) == ["before"]
        assert pod.volumes["memory"] == {"name": "memory", "emptyDir": {}}
        assert pod.node_selector == {"zone": "a"}
        assert pod.tolerations == [{"operator": "Exists"}]
        assert pod.annotations["scheduling.k8s.io/group-name"] == "train"

    def test_the_objects_of_a_job_are_those_of_no_other(self) -> None:
        """By their names in the cluster; objects of the program's own are among the resources."""

        def program() -> None:
            new_job("a", job(name="first", namespace="ml"))
            new_job("b", job(plugins=[MpiPlugin()], volumes=[{"mountPath": "/d", "volumeClaim": {}}]))
            kubernetes.core.v1.ConfigMap("own", data={"a": "1"})

        result = run(program)

        assert list(result.jobs) == ["a", "b"]
        first = result.job("a")
        assert (list(first.services), list(first.config_maps), list(first.secrets)) == (["first"], ["first-svc"], [])
        assert (list(first.network_policies), first.pod_group.object_name) == (["first"], "first")
        assert first.pod_group.namespace == "ml"
        assert list(result.job("b").claims) == ["b-pvc-d"]
        assert list(result.job("b").plugins) == ["ssh", "svc", "mpi"]
        assert result.job("b").plugins["mpi"].outputs == {"hosts": ["b-worker-0.b", "b-worker-1.b"]}
        own = result.resources["ConfigMap own"]
        assert (own.inputs["data"], own.parent) == ({"a": "1"}, None)

    def test_the_data_of_a_secret_are_decoded(self) -> None:
        """And stay marked."""
        data = one(job(plugins=[ssh_plugin(), SvcPlugin()])).job("train").secrets["train-ssh"].data

        assert data["id_rsa"] == SecretValue(PAIR.private)
        assert reveal(data["config"]).startswith("StrictHostKeyChecking no\n")

    def test_what_volcano_gets_is_found(self) -> None:
        """The Job, and the template of each task."""
        found = one(job(managed_by="volcano")).job("train")

        assert found.manifest["kind"] == "Job"
        assert found.template("worker").image == "example.org/image:1"
        assert found.template("worker").spec["restartPolicy"] == "Never"
        assert found.pods == []

    def test_resources_of_one_kind_and_name_are_all_there(self) -> None:
        """The second by its URN, as the engine tells them apart."""

        def program() -> None:
            for name in ("a", "b"):
                parent = pulumi.ComponentResource("platform:index:Team", name)
                kubernetes.core.v1.ConfigMap("settings", opts=pulumi.ResourceOptions(parent=parent))
            pulumi.ComponentResource("platform:index:Other", "c")

        def nested(kind: str) -> None:
            parent = pulumi.ComponentResource(f"platform:index:{kind}", kind)
            new_job("train", job(namespace=kind.lower()), pulumi.ResourceOptions(parent=parent))

        assert "Duplicate resource URN" in str(failed(program).error)

        result = run(lambda: (nested("A"), nested("B")) and None)

        assert [found.parent and found.parent.name for found in result.jobs.values()] == ["A", "B"]
        assert result.job("train").pod_group.namespace == "a"
        (second,) = (name for name in result.jobs if name != "train")
        assert second == "urn:pulumi:stack::project::platform:index:B$volcano-jobs:index:VolcanoJob::train"
        assert result.jobs[second].pod("worker", 0).namespace == "b"

    MISSING: dict[str, tuple[Callable[[Result], object], str]] = {
        "a task": (lambda result: result.job("train").pod("wroker", 1), "no task wroker; there are master, worker"),
        "a Pod": (lambda result: result.job("train").pod("worker", 2), "no Pod 2 in the task worker; there are 0, 1"),
        "a Pod from the end": (
            lambda result: result.job("train").pod("master", -1),
            "no Pod -1 in the task master; there is 0",
        ),
        "a job": (lambda result: result.job("rtain"), "no VolcanoJob rtain; there are train, nightly"),
        "a variable": (
            lambda result: result.job("nightly").template("main").env["RANK"],
            "no variable RANK in container main of the template of Task nightly-main; there are none",
        ),
        "a container": (
            lambda result: result.job("train").pod("worker", 0).containers["man"],
            "no container man in Pod train-worker-0; there is main",
        ),
        "a Service": (
            lambda result: result.job("train").services["svc"],
            "no Service svc in the job train; there is train",
        ),
        "a plugin": (
            lambda result: result.job("train").plugins["ssh"],
            "no plugin ssh in the job train; there are svc, pytorch",
        ),
        "an output": (lambda result: result.outputs["url"], "no output url in the stack; there is name"),
        "a manifest": (
            lambda result: result.job("train").manifest,
            'the job train has no manifest: it is made of Pods; with managed_by="volcano" it is one Job',
        ),
        "a template": (
            lambda result: result.job("train").template("worker"),
            "the Pods of the job train are made by Pulumi: pod('worker', 0) is the first of them",
        ),
        "a Pod of Volcano": (
            lambda result: result.job("nightly").pod("main", 0),
            "the job nightly has no Pods here: Volcano makes them; template('main') is what it makes them of, and "
            "manifest the whole Job",
        ),
        "a PodGroup of Volcano": (
            lambda result: result.job("nightly").pod_group,
            "the job nightly has no PodGroup here: Volcano makes it",
        ),
    }

    @pytest.mark.parametrize(("look_up", "message"), MISSING.values(), ids=MISSING)
    def test_what_is_missing_is_told_with_what_there_is(
        self, look_up: Callable[[Result], object], message: str
    ) -> None:
        """As a KeyError whose message is not quoted."""

        def program() -> Wire:
            new_job("nightly", {"managed_by": "volcano", "tasks": [task("main")]})
            return {"name": new_job("train", job()).name}

        result = run(program)
        jobs = dict(sorted(result.jobs.items(), reverse=True))
        result.jobs.clear()  # type: ignore[attr-defined]  # a fixed order for the message
        result.jobs.update(jobs)  # type: ignore[attr-defined]  # as above

        with pytest.raises(NotFound) as caught:
            look_up(result)

        assert str(caught.value) == message
        assert isinstance(caught.value, KeyError)


class TestSecrets:
    """A secret is marked, equals the same secret only, and is never shown."""

    def test_a_secret_of_the_configuration_is_marked_where_it_arrives(self) -> None:
        """And nowhere else."""

        def program() -> None:
            config = pulumi.Config()
            new_job("train", in_container(env=[{"name": "TOKEN", "value": config.require_secret("token")}]))

        result = run(program, secrets={"token": "hunter2"})

        pod = result.job("train").pod("worker", 0)
        assert pod.env["TOKEN"] == SecretValue("hunter2")
        assert pod.env["TOKEN"] != "hunter2"
        assert (is_secret(pod.env["TOKEN"]), is_secret(pod.env["RANK"]), is_secret(pod.spec)) == (True, False, True)
        assert reveal(pod.spec)["containers"][0]["env"][0] == {"name": "TOKEN", "value": "hunter2"}
        assert "hunter2" not in repr((result, pod, pod.env, pod.spec, pod.containers["main"], result.leaves()))

    def test_no_key_is_shown(self) -> None:
        """In no repr of anything that a test may compare."""

        def program() -> Wire:
            made = new_job("train", job(plugins=[ssh_plugin(), SvcPlugin()]))
            return {"key": made.ssh.private_key}

        result = run(program)
        found = result.job("train")

        assert BYTES in reveal(result.outputs["key"])
        shown = [result, result.outputs, result.leaves(), found.secrets["train-ssh"].data, found.plugins["ssh"].outputs]
        assert BYTES not in repr(shown)
        assert BYTES not in str(shown)
        assert BYTES not in repr([item.inputs for item in result.resources.values()])

    def test_a_secret_equals_the_same_secret(self) -> None:
        """By value; two that differ have no fields that pytest would show."""
        assert SecretValue({"a": 1}) == SecretValue({"a": 1})
        assert SecretValue("a") != SecretValue("b")
        assert hash(SecretValue("a")) == hash(SecretValue("a"))
        assert not hasattr(SecretValue("a"), "__dict__")
        assert str(SecretValue("a")) == repr(SecretValue("a")) == "[secret]"

    def test_of_a_secret_list_each_value_is_a_secret(self) -> None:
        """What is looked into stays marked."""

        def program() -> None:
            new_job("train", in_container(args=pulumi.Output.secret(["--token", "hunter2"])))

        args = run(program).job("train").pod("worker", 0).args

        assert args == [SecretValue("--token"), SecretValue("hunter2")]


class TestPreview:
    """What is not known is UNKNOWN, and nothing else is."""

    def test_a_computed_value_is_known_after_up_only(self) -> None:
        """As that of another resource."""

        def program() -> None:
            new_job("train", in_container(image=computed("image:2")))

        assert run(program).job("train").pod("worker", 0).image == "image:2"
        preview = run(program, preview=True)
        assert preview.preview
        assert preview.job("train").pod("worker", 0).image is UNKNOWN
        assert preview.job("train").pod("master", 0).image == "example.org/image:1"
        assert is_unknown(preview.job("train").pod("worker", 0).spec)
        assert repr(UNKNOWN) == "<unknown>"

    def test_a_secret_may_be_unknown(self) -> None:
        """Then it is both."""

        def program() -> Wire:
            return {"token": pulumi.Output.secret(computed("hunter2"))}

        token = run(program, preview=True).outputs["token"]

        assert is_unknown(token)
        assert is_secret(token) is not LOSES_MARKS

    def test_what_is_not_known_is_not_looked_into(self) -> None:
        """The message says what it is."""

        def program() -> None:
            new_job("train", job(tasks=[task("master"), task("worker", tolerations=computed([]))]))

        pod = run(program, preview=True).job("train").pod("worker", 0)

        with pytest.raises(LookupError) as caught:
            _ = pod.tolerations
        assert str(caught.value) == "tolerations of Pod train-worker-0 is not known in this preview"
        with pytest.raises(LookupError):
            inner(SecretValue(UNKNOWN), [], "it")

    def test_the_stash_of_a_key_pair_gives_back_what_it_was_given(self) -> None:
        """As an engine's, which is what the pair's outputs are read from."""

        def program() -> Wire:
            made = new_job("train", job(plugins=[SshPlugin(), SvcPlugin()]))
            return {"private": made.ssh.private_key, "public": made.ssh.public_key}

        for preview in (False, True):
            result = run(program, preview=preview)
            pair = {"private": reveal(result.outputs["private"]), "public": result.outputs["public"]}
            assert result.resources["Stash train-ssh-key"].inputs["input"] == SecretValue(pair)
