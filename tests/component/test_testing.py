"""`pulumi_volcano_jobs.testing`: lookups, messages, hidden secrets and isolated runs."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pulumi
import pulumi_kubernetes as kubernetes
import pytest
from pulumi.runtime import mocks, settings
from pulumi.runtime.proto import resource_pb2
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobError, MpiPlugin, PytorchPlugin, SshPlugin, SvcPlugin, VolcanoJob, VolcanoQueue
from pulumi_volcano_jobs.spec.naming import pod_group
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
from pulumi_volcano_jobs.testing.mock_engine import EngineOptions, Monitor, Recording
from pulumi_volcano_jobs.testing.values import inner
from tests.component.programs import LOSES_MARKS, needs_transforms, new_job
from tests.conftest import BYTES, CLAIM, PAIR, Wire, container, ssh_plugin, task, typed


def job(**fields: Any) -> Wire:
    """Return a PyTorch job with one master and two workers."""
    return {"plugins": [PytorchPlugin()], "tasks": [task("master"), task("worker", 2)], **fields}


def one(arguments: Wire | None = None, **surroundings: Any) -> Result:
    """Run a program with one job."""

    def program() -> None:
        new_job("train", arguments or job())

    return run(program, **surroundings)


def in_container(**fields: Any) -> Wire:
    """Return the job with additional fields in the container of the workers."""
    return job(tasks=[task("master"), task("worker", 2, containers=[container(**fields)])])


class TestLookUps:
    """Lookups of registered objects, and errors for missing names."""

    def test_pods_are_found_by_task_and_index(self) -> None:
        """The name of the job in the cluster does not matter."""
        found = one(job(name="nightly")).job("train")

        assert found.tasks == ["master", "worker"]
        assert [pod.object_name for pod in found.pods] == ["nightly-master-0", "nightly-worker-0", "nightly-worker-1"]
        assert found.pod("worker", 1) is found.pods[2]
        assert found.pod("worker", 1).env["RANK"] == "2"

    def test_pods_are_in_numeric_order(self) -> None:
        """Index 2 precedes index 10."""
        found = one(job(tasks=[task("master"), task("worker", 12)])).job("train")

        assert [found.pod("worker", index).object_name for index in range(12)] == [
            f"train-worker-{index}" for index in range(12)
        ]

    def test_all_parts_of_a_container_are_accessible(self) -> None:
        """Environment variables, mounts and ports are looked up by name."""
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
        assert pod.annotations["scheduling.k8s.io/group-name"] == pod_group("train")

    def test_the_objects_of_a_job_exclude_those_of_other_jobs(self) -> None:
        """They are found by name; objects of the program itself are in the resources."""

        def program() -> None:
            new_job("a", job(name="first", namespace="ml"))
            new_job("b", job(plugins=[MpiPlugin()], volumes=[{"mountPath": "/d", "volumeClaim": CLAIM}]))
            kubernetes.core.v1.ConfigMap("own", data={"a": "1"})

        result = run(program)

        assert sorted(result.jobs) == ["a", "b"]
        first = result.job("a")
        assert (list(first.services), list(first.config_maps), list(first.secrets)) == (["first"], ["first-svc"], [])
        assert (list(first.network_policies), first.pod_group.object_name) == (["first"], pod_group("first"))
        assert first.pod_group.namespace == "ml"
        assert list(result.job("b").claims) == ["b-pvc-d"]
        assert sorted(result.job("b").plugins) == ["mpi", "ssh", "svc"]
        assert result.job("b").plugins["mpi"].outputs == {"hosts": ["b-worker-0.b", "b-worker-1.b"]}
        own = result.resources["ConfigMap own"]
        assert (own.inputs["data"], own.parent) == ({"a": "1"}, None)

    def test_the_data_of_a_secret_are_decoded(self) -> None:
        """The values stay marked as secrets."""
        data = one(job(plugins=[ssh_plugin(), SvcPlugin()])).job("train").secrets["train-ssh"].data

        assert data["id_rsa"] == SecretValue(PAIR.private)
        assert reveal(data["config"]).startswith("StrictHostKeyChecking no\n")

    def test_the_native_job_and_its_templates_are_accessible(self) -> None:
        """Each task has its template."""
        found = one(job(managed_by="volcano")).job("train")

        assert found.manifest["kind"] == "Job"
        assert found.template("worker").image == "example.org/image:1"
        assert found.template("worker").spec["restartPolicy"] == "Never"
        assert found.pods == []

    def test_resources_with_the_same_kind_and_name_are_kept(self) -> None:
        """The second one is keyed by its URN."""

        def nested(kind: str) -> None:
            parent = pulumi.ComponentResource(f"platform:index:{kind}", kind)
            new_job("train", job(namespace=kind.lower()), pulumi.ResourceOptions(parent=parent))

        def program() -> None:
            nested("A")
            nested("B")

        result = run(program)

        (second,) = result.jobs.keys() - {"train"}
        parents = {str(result.job(name).parent): result.job(name) for name in ("train", second)}
        assert {name: found.pod("worker", 0).namespace for name, found in parents.items()} == {"A A": "a", "B B": "b"}
        kind = str(result.job(second).parent).split()[0]
        assert second == f"urn:pulumi:stack::project::platform:index:{kind}$volcano-jobs:index:VolcanoJob::train"

    def test_resources_with_the_same_urn_are_rejected(self) -> None:
        """The message is that of the engine; a URN does not contain parent names."""

        def program() -> None:
            for name in ("a", "b"):
                parent = pulumi.ComponentResource("platform:index:Team", name)
                kubernetes.core.v1.ConfigMap("settings", opts=pulumi.ResourceOptions(parent=parent))

        error, _ = failed(program)

        urn = "urn:pulumi:stack::project::platform:index:Team$kubernetes:core/v1:ConfigMap::settings"
        assert str(error) == f"Duplicate resource URN '{urn}'; try giving it a unique name"

    MISSING: ClassVar[dict[str, Callable[[Result], object]]] = {
        "a task": lambda result: result.job("train").pod("wroker", 1),
        "a Pod": lambda result: result.job("train").pod("worker", 2),
        "a Pod from the end": lambda result: result.job("train").pod("master", -1),
        "a job": lambda result: result.job("rtain"),
        "a variable": lambda result: result.job("nightly").template("main").env["RANK"],
        "a container": lambda result: result.job("train").pod("worker", 0).containers["man"],
        "a Service": lambda result: result.job("train").services["svc"],
        "a plugin": lambda result: result.job("train").plugins["ssh"],
        "an output": lambda result: result.outputs["url"],
        "a manifest": lambda result: result.job("train").manifest,
        "a template": lambda result: result.job("train").template("worker"),
        "a Pod of Volcano": lambda result: result.job("nightly").pod("main", 0),
        "a PodGroup of Volcano": lambda result: result.job("nightly").pod_group,
    }

    @pytest.mark.parametrize("name", MISSING)
    def test_a_missing_name_is_an_error_with_the_names_that_exist(self, name: str, snapshot: SnapshotAssertion) -> None:
        """The error is a KeyError whose message has no quotes around it."""

        def program() -> Wire:
            new_job("nightly", {"managed_by": "volcano", "tasks": [task("main")]})
            return {"name": new_job("train", job()).name}

        result = run(program)

        with pytest.raises(NotFound) as caught:
            self.MISSING[name](result)

        assert str(caught.value) == snapshot
        assert isinstance(caught.value, KeyError)


class TestSecrets:
    """A secret is marked, equals only the same secret, and is never shown."""

    def test_a_secret_of_the_configuration_is_marked_in_the_pods(self) -> None:
        """No other value is marked."""

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

    def test_repr_shows_no_key(self) -> None:
        """A failed assertion prints the repr of compared values."""

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
        """The value is compared; two different secrets have no fields that pytest would print."""
        assert SecretValue({"a": 1}) == SecretValue({"a": 1})
        assert SecretValue("a") != SecretValue("b")
        assert hash(SecretValue("a")) == hash(SecretValue("a"))
        assert not hasattr(SecretValue("a"), "__dict__")
        assert str(SecretValue("a")) == repr(SecretValue("a")) == "[secret]"

    def test_each_item_of_a_secret_list_is_a_secret(self) -> None:
        """Items stay marked when they are accessed."""

        def program() -> None:
            new_job("train", in_container(args=pulumi.Output.secret(["--token", "hunter2"])))

        args = run(program).job("train").pod("worker", 0).args

        assert args == [SecretValue("--token"), SecretValue("hunter2")]


class TestPreview:
    """Unknown values are UNKNOWN, and all other values are known."""

    def test_a_computed_value_is_known_only_after_up(self) -> None:
        """A preview does not know outputs of resources."""

        def program() -> None:
            new_job("train", in_container(image=computed("image:2")))

        assert run(program).job("train").pod("worker", 0).image == "image:2"
        preview = run(program, preview=True)
        assert preview.preview
        assert preview.job("train").pod("worker", 0).image is UNKNOWN
        assert preview.job("train").pod("master", 0).image == "example.org/image:1"
        assert is_unknown(preview.job("train").pod("worker", 0).spec)
        assert repr(UNKNOWN) == "<unknown>"

    def test_a_secret_can_be_unknown(self) -> None:
        """It has both marks."""

        def program() -> Wire:
            return {"token": pulumi.Output.secret(computed("hunter2"))}

        token = run(program, preview=True).outputs["token"]

        assert is_unknown(token)
        assert is_secret(token) is not LOSES_MARKS

    def test_an_unknown_value_cannot_be_read(self, snapshot: SnapshotAssertion) -> None:
        """The message names it."""

        def program() -> None:
            new_job("train", job(tasks=[task("master"), task("worker", tolerations=computed([]))]))

        pod = run(program, preview=True).job("train").pod("worker", 0)

        with pytest.raises(LookupError) as caught:
            _ = pod.tolerations
        assert str(caught.value) == snapshot
        with pytest.raises(LookupError):
            inner(SecretValue(UNKNOWN), [], "it")

    def test_the_stash_of_a_key_pair_returns_its_input(self) -> None:
        """The engine does the same, and the outputs of the pair are read from it."""

        def program() -> Wire:
            made = new_job("train", job(plugins=[SshPlugin(), SvcPlugin()]))
            return {"private": made.ssh.private_key, "public": made.ssh.public_key}

        result = run(program)

        pair = {"private": reveal(result.outputs["private"]), "public": result.outputs["public"]}
        assert result.resources["Stash train-ssh-key"].inputs["input"] == SecretValue(pair)


class TestSurroundings:
    """Configuration, the cluster, other stacks and other providers."""

    def test_stack_names_and_configuration_can_be_set(self) -> None:
        """Keys without a colon belong to the project; values that are not text are passed as JSON."""

        def program() -> Wire:
            config = pulumi.Config()
            return {
                "names": [pulumi.get_organization(), pulumi.get_project(), pulumi.get_stack()],
                "workers": config.require_int("workers"),
                "spot": config.require_bool("spot"),
                "sizes": config.require_object("sizes"),
                "namespace": pulumi.Config("volcano-jobs").require("namespace"),
                "token": config.require_secret("token"),
            }

        result = run(
            program,
            organization="acme",
            project="ml",
            stack="dev",
            config={"workers": 3, "spot": True, "sizes": {"a": 1}, "volcano-jobs:namespace": "research"},
            secrets={"token": "hunter2"},
        )

        assert result.outputs == {
            "names": ["acme", "ml", "dev"],
            "workers": 3,
            "spot": True,
            "sizes": {"a": 1},
            "namespace": "research",
            "token": SecretValue("hunter2"),
        }

    def test_exports_and_return_values_are_stack_outputs(self) -> None:
        """Both forms are supported."""

        def program() -> Wire:
            pulumi.export("a", 1)
            return {"b": {"c": pulumi.Output.secret("d")}}

        assert run(program).outputs == {"a": 1, "b": {"c": SecretValue("d")}}

    def test_a_program_can_be_an_async_function(self) -> None:
        """Its return value is exported."""

        async def program() -> Wire:
            await asyncio.sleep(0)
            new_job("train", job())
            return {"a": 1}

        result = run(program)

        assert (list(result.jobs), result.outputs) == (["train"], {"a": 1})

    def test_an_unknown_argument_is_an_error(self, snapshot: SnapshotAssertion) -> None:
        """A misspelled argument is not ignored."""
        misspelt: Any = {"configs": {}}
        with pytest.raises(TypeError) as caught:
            run(lambda: None, **misspelt)

        assert str(caught.value) == snapshot

    def test_the_cluster_can_set_outputs_of_objects(self) -> None:
        """Outputs are set after the object is created."""

        def program() -> Wire:
            service = kubernetes.core.v1.Service("web", spec={"type": "LoadBalancer"})
            return {"ip": service.status["load_balancer"]["ingress"][0]["ip"]}

        cluster = {"Service web": {"status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}}}

        assert run(program, cluster=cluster).outputs == {"ip": "10.0.0.1"}
        assert run(program, cluster=cluster, preview=True).outputs == {"ip": UNKNOWN}

    def test_stack_references_return_the_given_outputs(self, snapshot: SnapshotAssertion) -> None:
        """A stack without outputs is an error."""

        def program() -> Wire:
            return {"vpc": pulumi.StackReference("acme/net/prod").get_output("vpc")}

        assert run(program, stacks={"acme/net/prod": {"vpc": "vpc-1"}}).outputs == {"vpc": "vpc-1"}
        error, _ = failed(program, stacks={"acme/net/dev": {}})
        assert str(error) == snapshot

    def test_mocks_handle_other_providers(self) -> None:
        """They handle functions and created resources."""

        def program() -> Wire:
            bucket = Bucket("data")
            zones = pulumi.runtime.invoke("aws:index/getZones:getZones", {"all": True}).value
            new_job("train", in_container(args=[bucket.arn]))
            return {"zones": zones["names"]}

        result = run(program, mocks=Answers())

        assert result.outputs == {"zones": ["a", "b"]}
        assert result.job("train").pod("worker", 0).args == ["arn:data"]
        assert run(program, mocks=Answers(), preview=True).job("train").pod("worker", 0).args == [UNKNOWN]

    def test_mocks_handle_resources_that_are_read(self) -> None:
        """Without mocks only the id of the resource is known."""

        def program() -> Wire:
            found = kubernetes.core.v1.ConfigMap.get("settings", "team/settings")
            return {"id": found.id, "data": found.data}

        assert run(program).outputs == {"id": "team/settings"}
        assert run(program, mocks=Answers()).outputs == {"id": "team/settings", "data": {"key": "value"}}

    def test_a_function_without_mocks_is_an_error(self, snapshot: SnapshotAssertion) -> None:
        """The message has its name and the fix."""
        error, _ = failed(lambda: pulumi.runtime.invoke("aws:index/getZones:getZones", {}))

        assert str(error) == snapshot

    def test_warnings_are_recorded_for_the_program_and_each_job(self) -> None:
        """Log entries of lower levels are not included."""

        def program() -> None:
            pulumi.log.warn("own")
            pulumi.log.info("a note")
            new_job("train", {"plugins": [ssh_plugin()], "tasks": [task()]})
            new_job("other", {"tasks": [task()]})

        result = run(program)

        (warning,) = result.job("train").warnings
        assert warning.endswith("[VJ110]")
        assert sorted(result.warnings) == sorted(["own", warning])
        assert result.job("other").warnings == []

    def test_options_of_resources_are_accessible(self) -> None:
        """Options of a job reach its children."""

        def program() -> None:
            provider = kubernetes.Provider("mine", kubeconfig="")
            first = kubernetes.core.v1.Namespace("first")
            opts = pulumi.ResourceOptions(provider=provider, protect=True, depends_on=[first])
            new_job("train", job(volumes=[{"mountPath": "/d", "volumeClaim": CLAIM}], claims="keep"), opts)

        result = run(program)
        found = result.job("train")

        pod = found.pod("worker", 0)
        assert result.resources["Namespace first"] in found.depends_on
        assert (pod.protect, pod.delete_before_replace, pod.ignore_changes) == (True, True, ["spec"])
        assert pod.replace_on_changes == ['metadata.annotations["pulumi.com/volcano-replicas"]']
        assert len(pod.replacement_trigger) == 32
        assert (str(pod.provider), str(pod.parent)) == ("kubernetes mine", "Task train-worker")
        assert found.claims["train-pvc-d"].retain_on_delete
        assert result.resources["Stash train-managed-by"] in pod.inputs_from["metadata"]

    @needs_transforms
    def test_transforms_cause_a_warning_because_they_are_not_called(self) -> None:
        """Both transforms of a resource and of the stack are covered."""
        asked = []

        def of_stack() -> None:
            pulumi.runtime.register_resource_transform(asked.append)
            new_job("train", job())

        def of_job() -> None:
            new_job("train", job(), pulumi.ResourceOptions(transforms=[asked.append]))

        for program in (of_stack, of_job):
            with pytest.warns(UserWarning, match="transforms were not called") as caught:
                assert run(program).job("train").pods
            assert caught[0].filename == __file__
        assert asked == []


class Bucket(pulumi.CustomResource):
    """A resource of another provider, which computes its output."""

    arn: pulumi.Output[str]

    def __init__(self, name: str) -> None:
        """Create the bucket."""
        super().__init__("aws:s3/bucket:Bucket", name, {"arn": None, "size": 1})


def test_exports_do_not_go_to_the_stack_of_set_mocks() -> None:
    """That stack exports nothing and may register last."""

    async def registered(*given: Wire) -> Wire:
        recording = Recording()
        monitor = Monitor(recording, EngineOptions())
        for outputs in given:
            request = resource_pb2.RegisterResourceOutputsRequest(urn="urn:pulumi:stack::project::the::stack")
            request.outputs.update(outputs)
            monitor.RegisterResourceOutputs(request)
        return recording.outputs

    assert asyncio.run(registered({"zones": "a"}, {})) == {"zones": "a"}


class Answers(mocks.Mocks):
    """The mocks of a test that has other providers."""

    def call(self, args: mocks.MockCallArgs) -> Any:
        """Answer a function."""
        assert (args.token, args.args) == ("aws:index/getZones:getZones", {"all": True})
        return {"names": ["a", "b"]}, []

    def new_resource(self, args: mocks.MockResourceArgs) -> Any:
        """Return the state of a read resource or of a bucket; the mocks get no other call."""
        if args.resource_id == "team/settings":
            return args.resource_id, {"data": {"key": "value"}}
        assert (args.typ, args.inputs) == ("aws:s3/bucket:Bucket", {"size": 1})
        return args.name, {**args.inputs, "arn": f"arn:{args.name}"}


def divide(value: int) -> float:
    """Fail for 0."""
    return 1 / value


async def divide_later() -> None:
    """Fail in a task."""
    await asyncio.sleep(0)
    divide(0)


def visible_frames(caught: pytest.ExceptionInfo[BaseException]) -> list[str]:
    """Return the names of the functions that pytest shows."""
    return [entry.name for entry in caught.traceback.filter(caught)]


class TestFailures:
    """Errors raised by a program."""

    def test_a_rejected_job_raises_its_problems(self) -> None:
        """The error has all problems with their paths, and Pulumi shows no traceback."""

        def program() -> None:
            new_job("train", job(queue=3, name="my_job"))

        with pytest.raises(JobError) as caught:
            run(program)

        assert sorted(typed(caught.value.problems)) == [("metadata.name", "Invalid"), ("spec.queue", "TypeInvalid")]
        assert isinstance(caught.value, pulumi.RunError)
        first, *lines = str(caught.value).splitlines()
        assert "VolcanoJob train" in first
        assert lines == [f"  {problem}" for problem in caught.value.problems]
        failure = failed(program)
        assert failure.problems == caught.value.problems
        assert dict(failure.result.resources) == {}

    def test_other_exceptions_are_raised(self) -> None:
        """They have no list of problems."""

        def program() -> None:
            new_job("train", job())
            raise ZeroDivisionError("of the program")

        failure = failed(program)

        assert isinstance(failure.error, ZeroDivisionError)
        assert failure.problems == ()
        assert list(failure.result.jobs) == ["train"]
        with pytest.raises(ZeroDivisionError, match="of the program"):
            run(program)

    def test_no_frame_of_a_failure_shows_a_secret(self) -> None:
        """Test runners can print the local variables of each frame."""

        def program() -> None:
            raise ZeroDivisionError(pulumi.Config().require("token")[:0])

        error = failed(program, secrets={"token": "hunter2"}).error

        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename != __file__]
        ours = [frame for frame in frames if "pulumi_volcano_jobs" in frame.f_code.co_filename]
        assert {frame.f_code.co_name for frame in ours} == {"failed", "_run"}
        assert "hunter2" not in repr([frame.f_locals for frame in ours])

    DUPLICATES: ClassVar[dict[str, Callable[[], object]]] = {
        "jobs": lambda: [new_job("train", job(namespace=namespace)) for namespace in "ab"],
        "native jobs": lambda: [new_job("train", job(managed_by="volcano")) for _ in range(2)],
        "queues": lambda: [VolcanoQueue("research") for _ in range(2)],
        "resources": lambda: [Bucket("logs") for _ in range(2)],
    }

    @pytest.mark.parametrize("program", DUPLICATES.values(), ids=DUPLICATES)
    def test_a_duplicate_resource_is_one_error_without_frames_of_pulumi(self, program: Callable[[], object]) -> None:
        """The tasks of the other resources fail with the same error."""
        with pytest.raises(
            RuntimeError, match=r"^Duplicate resource URN '\S+'; try giving it a unique name$"
        ) as caught:
            run(program)

        assert visible_frames(caught) == ["test_a_duplicate_resource_is_one_error_without_frames_of_pulumi"]
        assert "".join(traceback.format_exception(caught.value)).count("Duplicate resource") == 1

    FAILING: ClassVar[dict[str, tuple[Callable[[], object], list[str]]]] = {
        "a function": (lambda: divide(0), ["<lambda>", "divide"]),
        "apply": (lambda: Bucket("logs").id.apply(lambda _: divide(0)), ["<lambda>", "divide"]),
        "an async function": (divide_later, ["divide_later", "divide"]),
        "a rejected job": (lambda: new_job("my_job", job()), ["<lambda>", "new_job"]),
        "a missing mock": (lambda: pulumi.runtime.invoke("aws:index/getZones:getZones", {}), []),
        "a missing stack": (lambda: pulumi.StackReference("org/net/prod").get_output("vpc"), []),
    }

    @pytest.mark.parametrize(("program", "frames"), FAILING.values(), ids=FAILING)
    def test_a_traceback_shows_the_test_and_the_program(self, program: Callable[[], object], frames: list[str]) -> None:
        """It does not show the tasks of Pulumi."""
        with pytest.raises(Exception, match=r"\S") as caught:
            run(program)

        assert visible_frames(caught) == ["test_a_traceback_shows_the_test_and_the_program", *frames]
        assert len(re.findall("^Traceback", "".join(traceback.format_exception(caught.value)), re.MULTILINE)) == 1

    def test_a_failing_apply_fails_the_program(self) -> None:
        """The engine does the same."""

        def program() -> Wire:
            return {"a": pulumi.Output.from_input(1).apply(lambda value: value / 0)}

        assert isinstance(failed(program).error, ZeroDivisionError)

    def test_a_program_that_does_not_fail_is_an_error(self, snapshot: SnapshotAssertion) -> None:
        """The message lists the registered resources."""
        with pytest.raises(AssertionError) as caught:
            failed(lambda: new_job("train", job()))

        assert str(caught.value) == snapshot


class TestObjects:
    """Objects that the program creates itself."""

    def test_text_in_the_data_of_a_secret_is_decoded(self) -> None:
        """`stringData` is merged into the data, as in a cluster."""

        def program() -> None:
            kubernetes.core.v1.Secret("s", data={"text": "aGk=", "bytes": "/wA="}, string_data={"plain": "ho"})

        data = run(program).resources["Secret s"].data  # type: ignore[attr-defined]  # it is an object of the cluster

        assert data == {"text": SecretValue("hi"), "bytes": SecretValue("/wA="), "plain": SecretValue("ho")}

    def test_a_pod_without_containers_has_no_variables(self, snapshot: SnapshotAssertion) -> None:
        """Reading them is an error."""

        def program() -> None:
            kubernetes.core.v1.Pod("empty", spec={"containers": []})

        with pytest.raises(NotFound) as caught:
            _ = run(program).resources["Pod empty"].env  # type: ignore[attr-defined]  # it is a Pod

        assert str(caught.value) == snapshot


class TestChanges:
    """Changes that the engine would make."""

    def changes(self, before: Wire, after: Wire) -> dict[str, list[str]]:
        """Return the changes of an edit that are not empty."""
        first = one(before)
        return {name: names for name, names in vars(one(after, state=first).changes).items() if names}

    def test_nothing_changes_without_an_edit(self) -> None:
        """The key pair is kept, although each run generates one."""
        with_keys = job(plugins=[MpiPlugin()])

        assert self.changes(with_keys, with_keys) == {}

    def test_keys_of_the_first_run_are_kept(self) -> None:
        """The state keeps them; a new rotation token generates a new pair."""

        def program(**options: Any) -> Callable[[], Wire]:
            return lambda: {"key": new_job("train", job(plugins=[MpiPlugin()], **options)).ssh.private_key}

        first = run(program())
        second = run(program(run="2"), state=first)
        third = run(program(key_rotation="2"), state=second)

        assert second.outputs["key"] == first.outputs["key"]
        assert third.outputs["key"] != second.outputs["key"]
        assert third.changes.made == ["Stash train-ssh-key-2"]
        assert third.changes.deleted == ["Stash train-ssh-key"]
        assert third.changes.changed == ["Secret train-ssh"]

    PODS = ("Pod train-master-0", "Pod train-worker-0", "Pod train-worker-1")
    # Each Pod has the world size in a variable.
    SCALED = ("ConfigMap train-svc", "PodGroup train", "Task train-master", "Task train-worker")
    EDITS: ClassVar[dict[str, tuple[Wire, dict[str, list[str]]]]] = {
        "an image": (in_container(image="image:2"), {"replaced": [*PODS], "changed": ["Task train-worker"]}),
        "an image, of a task alone": (
            {**in_container(image="image:2"), "restart": "pod"},
            {"replaced": ["Pod train-worker-0", "Pod train-worker-1"], "changed": ["Task train-worker"]},
        ),
        "the queue": (job(queue="research"), {"changed": [*PODS], "replaced": ["PodGroup train"]}),
        "more workers": (
            job(tasks=[task("master"), task("worker", 3)]),
            {
                "made": ["Pod train-worker-2"],
                "replaced": [*PODS],
                "changed": [*SCALED],
            },
        ),
        "more workers, and the others stay": (
            job(tasks=[task("master"), task("worker", 3)], on_scale="keep"),
            {"made": ["Pod train-worker-2"], "changed": [*SCALED]},
        ),
        "fewer workers": (
            job(tasks=[task("master"), task("worker", 1)], on_scale="keep"),
            {"deleted": ["Pod train-worker-1"], "changed": [*SCALED]},
        ),
    }

    @pytest.mark.parametrize(("after", "expected"), EDITS.values(), ids=EDITS)
    def test_an_edit_makes_the_changes_of_docs_updates(self, after: Wire, expected: dict[str, list[str]]) -> None:
        """The table lists all changes."""
        before = {**job(), **{key: after[key] for key in ("restart", "on_scale") if key in after}}

        assert self.changes(before, after) == expected

    def test_a_native_job_is_replaced_or_updated_in_place(self) -> None:
        """The trigger of the Job decides."""
        before = job(managed_by="volcano")

        assert self.changes(before, {**before, "queue": "research"}) == {"replaced": ["Job train"]}
        assert self.changes(before, {**before, "min_available": 2}) == {"changed": ["Job train"]}

    @pytest.mark.parametrize("path", ["spec.containers[*].image", "spec.containers[1].image", "*"])
    def test_options_can_use_wildcards(self, path: str) -> None:
        """A star matches each item or key, as in the engine."""

        def program(image: str, **options: Any) -> Callable[[], None]:
            spec = {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": image}]}
            opts = pulumi.ResourceOptions(**options)
            return lambda: kubernetes.core.v1.Pod("own", spec=spec, opts=opts) and None

        def changes(**options: Any) -> Wire:
            found = run(program("b:2", **options), state=run(program("b:1", **options))).changes
            return {name: names for name, names in vars(found).items() if names}

        assert changes() == {"changed": ["Pod own"]}
        assert changes(ignore_changes=[path]) == {}
        assert changes(replace_on_changes=[path]) == {"replaced": ["Pod own"]}
        assert changes(replace_on_changes=["spec.containers[0].image", "metadata.*"]) == {"changed": ["Pod own"]}

    def test_changes_need_an_earlier_state(self, snapshot: SnapshotAssertion) -> None:
        """The state of a preview is rejected, because changes of the provider are unknown there."""
        messages = []
        with pytest.raises(ValueError, match="state") as caught:
            _ = one().changes
        messages.append(str(caught.value))
        for first, second in ((False, True), (True, False)):
            before = one(preview=first)
            with pytest.raises(ValueError, match="state") as caught:
                one(state=before, preview=second)
            messages.append(str(caught.value))

        assert messages[1] == messages[2]
        assert messages[:2] == snapshot


class TestFiles:
    """Programs in files."""

    PROGRAM = """
import pulumi
from pathlib import Path
from parts import job
job("train", Path("image.txt").read_text())
pulumi.export("main", __name__)
"""
    PARTS = """
from pulumi_volcano_jobs import VolcanoJob
def job(name, image):
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": image}]}}
    VolcanoJob(name, {"tasks": [{"name": "worker", "replicas": 1, "template": pod}]})
"""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """Return a folder with a program, a module and a data file."""
        for name, text in {"__main__.py": self.PROGRAM, "parts.py": self.PARTS, "image.txt": "image:1"}.items():
            (tmp_path / name).write_text(text, "utf-8")
        return tmp_path

    def test_a_file_runs_in_its_own_folder(self, folder: Path) -> None:
        """A folder, a path or a text is accepted; imports and the working directory are restored."""
        here, path, modules = Path.cwd(), list(sys.path), set(sys.modules)

        for program in (folder, folder / "__main__.py", str(folder)):
            result = run(program)
            assert result.job("train").pod("worker", 0).image == "image:1"
            assert result.outputs == {"main": "__main__"}

        assert (Path.cwd(), sys.path) == (here, path)
        assert "parts" not in sys.modules
        assert not {name for name in sys.modules.keys() - modules if "parts" in name and "volcano" not in name}

    def test_installed_modules_stay_imported(self, folder: Path) -> None:
        """Modules in `.venv` within the folder and the standard library are included."""
        installed = folder / ".venv" / "site-packages"
        installed.mkdir(parents=True)
        (installed / "vj_installed.py").write_text("")
        main = f"import sys\nsys.path.append({str(installed)!r})\nimport vj_installed, colorsys\n"
        (folder / "__main__.py").write_text(main)
        for name in ("vj_installed", "colorsys"):
            sys.modules.pop(name, None)

        run(folder)

        assert {"vj_installed", "colorsys"} <= sys.modules.keys()

    def test_modules_of_the_program_are_reloaded(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An edit between two runs takes effect, even in the same second and without a new size."""
        monkeypatch.setattr(sys, "dont_write_bytecode", False)
        run(folder)
        parts = folder / "parts.py"
        before = parts.stat()
        parts.write_text(self.PARTS.replace('"worker"', '"solver"'), "utf-8")
        os.utime(parts, ns=(before.st_atime_ns, before.st_mtime_ns))

        assert run(folder).job("train").tasks == ["solver"]

    def test_a_missing_file_is_an_error(self, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
        """The message has the absolute path."""
        with pytest.raises(FileNotFoundError) as caught:
            run(tmp_path)

        assert str(caught.value).replace(str(tmp_path.resolve()), "FOLDER") == snapshot


class TestIsolation:
    """Runs do not affect each other."""

    def test_a_run_does_not_see_an_earlier_run(self) -> None:
        """Names and configuration are separate."""
        for text in ("first", "second"):
            result = run(lambda: {"of": pulumi.Config().get("of"), **_made()}, config={"of": text})
            assert result.outputs == {"of": text, "name": "train"}
        assert run(lambda: {"of": pulumi.Config().get("of") or "nothing"}).outputs == {"of": "nothing"}

    def test_mocks_set_outside_a_run_are_kept(self) -> None:
        """A test can use its own mocks in addition."""

        async def outside() -> None:
            mocks.set_mocks(Answers(), project="outside", stack="outside")
            monitor, root = settings.get_monitor(), settings.get_root_resource()
            pulumi.runtime.set_config("outside:a", "1")

            assert one().job("train").urn.startswith("urn:pulumi:stack::project::")

            assert (settings.get_monitor(), settings.get_root_resource()) == (monitor, root)
            assert (pulumi.get_project(), pulumi.Config().get("a")) == ("outside", "1")

        asyncio.run(outside())

    def test_it_runs_inside_an_event_loop(self) -> None:
        """pytest-asyncio runs tests this way."""

        async def test() -> list[str]:
            await asyncio.sleep(0)
            return list(one().jobs)

        assert asyncio.run(test()) == ["train"]

    def test_programs_run_in_parallel_threads(self) -> None:
        """Each thread has its own stack."""

        async def both() -> list[Result]:
            return await asyncio.gather(
                *(asyncio.to_thread(one, stack=name, config={"volcano-jobs:namespace": name}) for name in "abcd")
            )

        for name, result in zip("abcd", asyncio.run(both()), strict=True):
            assert result.job("train").urn.startswith(f"urn:pulumi:{name}::")
            assert {item.namespace for item in result.job("train").objects} == {name}

    def test_an_async_program_runs(self) -> None:
        """Newer Pulumi SDKs accept an async function in `pulumi.run`."""
        if not hasattr(pulumi, "run"):
            pytest.skip("this Pulumi has no async programs")

        async def main() -> Wire:
            await asyncio.sleep(0)
            return {"name": new_job("train", job()).name}

        assert run(lambda: pulumi.run(main)).outputs == {"name": "train"}

    def test_nothing_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        """Warnings are in the result and not in the log of the test."""
        with caplog.at_level(logging.DEBUG):
            run(lambda: {"name": VolcanoJob("train", {"plugins": [ssh_plugin()], "tasks": [task()]}).name})

        assert [record for record in caplog.records if record.name != "asyncio"] == []


def _made() -> Wire:
    return {"name": new_job("train", job()).name}


def test_a_run_within_a_run_is_an_error(snapshot: SnapshotAssertion) -> None:
    """The inner run would wait forever."""
    error, _ = failed(lambda: run(lambda: None))

    assert str(error) == snapshot
