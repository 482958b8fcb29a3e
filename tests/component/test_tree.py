"""What a job registers: its children, their names, parents and options."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    Job,
    JobContext,
    MpiPlugin,
    ObjectRef,
    Plugin,
    Pod,
    PytorchPlugin,
    RayPlugin,
    SshPlugin,
    SvcPlugin,
    TensorflowPlugin,
    VolcanoJob,
)
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.spec.naming import pod_group
from pulumi_volcano_jobs.testing import Failure, Result, computed, failed, run
from tests.component.programs import digests, new_job
from tests.conftest import CLAIM, Wire, container, ssh_plugin, task, typed

WAIT_FOR = "pulumi.com/waitFor"
MANAGED_BY, CREATED = "Stash train-managed-by", "Stash train-created"
CLAIM_NAME = "PersistentVolumeClaim train-pvc-data"
KEYS = ssh_plugin()


def one(arguments: Any, name: str = "train", **options: Any) -> Result:
    """Run a program with one job."""

    def program() -> None:
        VolcanoJob(name, arguments)

    return run(program, **options)


def everything() -> Wire:
    """Give a job that has objects of every kind."""
    return {
        "plugins": [
            PytorchPlugin(),
            SshPlugin(),
            RayPlugin(head="master", head_container="main", worker_container="main"),
        ],
        "tasks": [task("master"), task("worker", 2)],
        "volumes": [{"mountPath": "/data", "volumeClaim": CLAIM}],
    }


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
def test_each_child_has_the_parent_that_made_it(*, preview: bool) -> None:
    """Plugins parent their objects, tasks their Pods, and the job all else."""
    assert one(everything(), preview=preview).tree() == {
        "VolcanoJob train": "",
        "Stash train-managed-by": "VolcanoJob train",
        "Stash train-created": "VolcanoJob train",
        "PodGroup train": "VolcanoJob train",
        "PersistentVolumeClaim train-pvc-data": "VolcanoJob train",
        "Stash train-ssh-key": "VolcanoJob train",
        "SshPlugin train-ssh": "VolcanoJob train",
        "Secret train-ssh": "SshPlugin train-ssh",
        "SvcPlugin train-svc": "VolcanoJob train",
        "ConfigMap train-svc": "SvcPlugin train-svc",
        "NetworkPolicy train-svc": "SvcPlugin train-svc",
        "Service train-svc": "SvcPlugin train-svc",
        "PytorchPlugin train-pytorch": "VolcanoJob train",
        "RayPlugin train-ray": "VolcanoJob train",
        "Service train-ray-head-svc": "RayPlugin train-ray",
        "Task train-master": "VolcanoJob train",
        "Pod train-master-0": "Task train-master",
        "Task train-worker": "VolcanoJob train",
        "Pod train-worker-0": "Task train-worker",
        "Pod train-worker-1": "Task train-worker",
    }


def test_components_have_types_of_the_package() -> None:
    """The token is `volcano-jobs:index:<class>`, which a program of any language sees."""
    components = {item.type for item in one(everything()).resources.values() if item.is_component}

    assert components == {
        f"volcano-jobs:index:{kind}"
        for kind in ("VolcanoJob", "Task", "SshPlugin", "SvcPlugin", "PytorchPlugin", "RayPlugin")
    }


def test_pods_come_after_all_objects() -> None:
    """Services, claims, keys and the PodGroup are there before the first Pod, which need only wait for the last."""
    done = one(everything())
    objects = {name for name in done.manifests() if not name.startswith("Pod ")}
    before = {name: set(map(str, done.resources[name].depends_on)) for name in done.resources}

    for name in done.names("Pod"):
        assert "PodGroup train" in before[f"Pod {name}"]
        assert len(before[f"Pod {name}"] & objects) == 1
    assert before["PodGroup train"] >= objects - {"PodGroup train"}


def test_only_a_digest_replaces_a_pod() -> None:
    """An update ignores what webhooks add to the spec of a live Pod."""
    done = one(everything())
    ignored = {"Pod": ["spec"], "Stash": ["input"], "PodGroup": ["spec.queue"]}
    resources = {name: item for name, item in done.resources.items() if name not in {MANAGED_BY, CREATED}}

    for name, item in resources.items():
        kind = name.partition(" ")[0]
        assert list(item.ignore_changes) == ignored.get(kind, [])
        assert (item.replacement_trigger is not None) is (kind in {"Pod", "PodGroup"})


def test_every_object_is_deleted_before_it_is_replaced() -> None:
    """Names are fixed: an object that is created first would collide with the old one."""
    done = one(everything())

    assert {name for name in done.manifests() if not done.resources[name].delete_before_replace} == set()


def test_the_name_of_every_child_starts_with_that_of_its_parent() -> None:
    """Only then an alias of a component covers its children; each name is still the only one of its type."""
    done = one(everything())

    for name, parent in done.tree().items():
        assert not parent or name.partition(" ")[2].startswith(parent.partition(" ")[2])


@pytest.mark.parametrize("queue", [None, "default", "research"])
def test_a_queue_that_nobody_set_is_not_sent(queue: str | None) -> None:
    """Volcano's webhook sets the default queue of the namespace then, and an update leaves it."""
    group = one({"tasks": [task()], "queue": queue}).resources["PodGroup train"]
    is_set = queue == "research"

    assert group.inputs["spec"].get("queue") == (queue if is_set else None)
    assert list(group.ignore_changes) == ([] if is_set else ["spec.queue"])
    assert group.replacement_trigger == ("queue" if is_set else "no queue")


@pytest.mark.parametrize("claims", ["delete", "keep"])
def test_a_new_key_or_claim_replaces_all_pods(claims: str) -> None:
    """A forced replacement of the Stash generates another key; a claim that Pods mount is deleted only after them.

    A claim that is kept is not deleted, and Pods keep running when the provider then fails to make it again.
    """
    done = one(everything() | {"claims": claims})
    stash = done.resources["Stash train-ssh-key"]
    (claim,) = done.names("PersistentVolumeClaim")
    expected = [stash.urn] if claims == "keep" else [stash.urn, done.resources[f"PersistentVolumeClaim {claim}"].urn]

    for name in done.names("Pod"):
        assert list(done.resources[f"Pod {name}"].request.replace_with) == expected


def test_one_warning_names_the_options_that_pulumi_ignores_on_a_component(snapshot: SnapshotAssertion) -> None:
    """They have no effect."""
    options: Wire = {"ignore_changes": ["spec"], "replace_on_changes": ["spec"]}

    def program(opts: pulumi.ResourceOptions | None) -> None:
        new_job("train", {"tasks": [task()]}, opts)

    (warning,) = run(lambda: program(pulumi.ResourceOptions(**options))).warnings

    assert warning == snapshot
    assert run(lambda: program(pulumi.ResourceOptions(protect=True, retain_on_delete=True))).warnings == []
    assert run(lambda: program(None)).warnings == []


def test_another_mode_replaces_what_every_object_depends_on() -> None:
    """The engine deletes the objects of one mode, Pods first, before it creates those of the other; claims stay."""
    done = one(everything())
    stash = done.resources[MANAGED_BY]

    assert stash.inputs == {"input": "default"}
    assert (stash.replacement_trigger, stash.delete_before_replace) == ("pulumi", True)
    for name in done.manifests():
        assert (stash in done.resources[name].inputs_from["metadata"]) is (name != CLAIM_NAME)


def test_up_waits_only_for_the_object_that_it_writes() -> None:
    """Not for a Pod to run, a claim to be bound or a Service to have endpoints."""
    waiting = {
        name: manifest["metadata"]["annotations"]
        for name, manifest in one(everything()).manifests().items()
        if WAIT_FOR in manifest["metadata"].get("annotations", {})
    }

    assert set(waiting) == {
        "PersistentVolumeClaim train-pvc-data",
        "Pod train-master-0",
        "Pod train-worker-0",
        "Pod train-worker-1",
        "Service train-ray-head-svc",
        "Service train-svc",
    }
    for found in waiting.values():
        written = found["pulumi.com/volcano-digest"]
        assert found[WAIT_FOR] == f"jsonpath={{.metadata.annotations['pulumi.com/volcano-digest']}}={written}"


def test_every_object_has_its_namespace() -> None:
    """No object is left to the provider's own default."""
    namespaces = {
        item["metadata"]["namespace"] for item in one({**everything(), "namespace": "ml"}).manifests().values()
    }

    assert namespaces == {"ml"}


@pytest.mark.parametrize(
    ("own", "config", "expected"),
    [
        ({}, {}, "default"),
        ({}, {"volcano-jobs:namespace": "of-the-stack"}, "of-the-stack"),
        ({"namespace": "own"}, {"volcano-jobs:namespace": "of-the-stack"}, "own"),
        ({"namespace": ""}, {"volcano-jobs:namespace": "of-the-stack"}, "of-the-stack"),
    ],
    ids=["neither", "the stack's", "both", "an empty one"],
)
def test_the_namespace_is_the_job_s_or_else_the_stack_s(own: Wire, config: Mapping[str, str], expected: str) -> None:
    """The job's namespace comes first, then the stack configuration `volcano-jobs:namespace`, then `default`."""
    done = one({**everything(), **own}, config=config)

    assert {item["metadata"]["namespace"] for item in done.manifests().values()} == {expected}
    assert done.resources["VolcanoJob train"].outputs["namespace"] == expected


def test_the_provider_of_a_job_is_that_of_every_object() -> None:
    """No child is left to the default provider."""

    def program() -> None:
        provider = kubernetes.Provider("mine", render_yaml_to_directory="rendered", kubeconfig="")
        new_job("train", everything(), pulumi.ResourceOptions(provider=provider))

    done = run(program)

    for name in done.manifests():
        assert str(done.resources[name].provider) == "kubernetes mine"


def test_what_a_job_depends_on_is_kept_with_its_component() -> None:
    """Children wait for their component, so they come after it and go before it."""

    def program() -> None:
        new_job("train", everything(), pulumi.ResourceOptions(depends_on=[kubernetes.core.v1.Namespace("first")]))

    (dependency,) = run(program).job("train").depends_on

    assert str(dependency) == "Namespace first"


def test_a_resource_may_have_another_name_than_its_job() -> None:
    """Children are called after the resource in the stack, and after the job in the cluster."""
    done = one({**everything(), "name": "nightly"}, "train")

    assert done.tree() == one(everything(), "train").tree()
    assert {item["metadata"]["name"].partition("-")[0] for item in done.manifests().values()} == {"nightly"}


DOCUMENT = {
    "apiVersion": "batch.volcano.sh/v1alpha1",
    "kind": "Job",
    "metadata": {"name": "train", "namespace": "ml", "labels": {"team": "a"}},
    "spec": {
        "minAvailable": 2,
        "queue": "research",
        "plugins": {"pytorch": ["--port=29500"], "ssh": KEYS.to_args()},
        "policies": [{"event": "PodEvicted", "action": "RestartJob"}],
        "volumes": [{"mountPath": "/data", "volumeClaim": CLAIM}],
        "tasks": [task("master"), {**task("worker", 2), "minAvailable": 1}],
    },
}
FLAT = {
    "namespace": "ml",
    "labels": {"team": "a"},
    "min_available": 2,
    "queue": "research",
    "plugins": [PytorchPlugin(port=29500), KEYS],
    "policies": [{"event": "PodEvicted", "action": "RestartJob"}],
    "volumes": [
        {
            "mount_path": "/data",
            "volume_claim": {"access_modes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
    ],
    "tasks": [task("master"), {**task("worker", 2), "min_available": 1}],
}
FORMS: dict[str, Callable[[], Any]] = {
    "a flat dictionary": lambda: FLAT,
    "a Job": lambda: Job.model_validate({**FLAT, "name": "train"}),
    "a Job of a document": lambda: Job.model_validate(DOCUMENT),
    "a document as it was read": lambda: job_file.read(yaml.safe_dump(DOCUMENT))[0],
    "a document with Pulumi's own options": lambda: {**DOCUMENT, "restart": "gang", "on_scale": "restart"},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_job_is_the_same_in_every_form(form: str) -> None:
    """What a document registers, all other forms register."""
    assert one(FORMS[form]()).leaves() == one(DOCUMENT).leaves()


def test_yaml_text_registers_what_its_document_does() -> None:
    """`from_yaml` is the constructor with a file."""

    def program() -> None:
        VolcanoJob.from_yaml("train", yaml.safe_dump(DOCUMENT), {"on_scale": "restart"})

    assert run(program).leaves() == one(DOCUMENT).leaves()


def test_a_key_that_is_repeated_with_one_value_is_a_warning() -> None:
    """Examples of Volcano's guides have `queue` twice, and Volcano accepts them."""
    text = yaml.safe_dump(DOCUMENT).replace("  queue: research\n", "  queue: research\n  queue: research\n")

    def program() -> None:
        VolcanoJob.from_yaml("train", text, {"unsupported": "ignore", "ignore_warnings": ["VJ103"]})

    (warning,) = run(program).warnings
    assert ": spec.queue: " in warning
    assert warning.endswith(" [VJ115]")


PLUGINS: tuple[Plugin, ...] = (PytorchPlugin(), KEYS, MpiPlugin(), TensorflowPlugin())


@pytest.mark.parametrize(
    "order", list(itertools.permutations(range(4)))[1:], ids=lambda order: "".join(map(str, order))
)
def test_the_order_of_plugins_changes_nothing(order: tuple[int, ...]) -> None:
    """Names, parents, manifests and digests are the same for every order of the list."""
    assert in_order(*order).leaves() == in_order(*range(4)).leaves()


@functools.cache
def in_order(*order: int) -> Result:
    """Run a program with a job whose plugins are listed in this order."""
    return one({"plugins": [PLUGINS[index] for index in order], "tasks": [task("master"), task("worker", 2)]})


def test_the_order_of_tasks_changes_no_name_and_no_parent() -> None:
    """A task that moves in the list keeps its resources and its Pods' digest."""
    tasks = [task("master"), task("worker", 2), task("watch")]
    first = one({"plugins": {"svc": ["--inject-hosts-env=false"]}, "tasks": tasks})

    for permuted in itertools.permutations(tasks):
        done = one({"plugins": {"svc": ["--inject-hosts-env=false"]}, "tasks": list(permuted)})
        assert done.tree() == first.tree()
        assert digests(done) == digests(first)


def clash(first: tuple[str, Wire], second: tuple[str, Wire]) -> Failure:
    """Return the failure of a program with two jobs that create one object."""

    def program() -> None:
        new_job(first[0], first[1])
        new_job(second[0], second[1])

    failure = failed(program)
    assert isinstance(failure.error, pulumi.RunError)
    assert set(typed(failure.problems)) == {("metadata.name", "Duplicate")}
    return failure


def test_two_jobs_with_a_pod_of_one_name_are_rejected(snapshot: SnapshotAssertion) -> None:
    """The message names both jobs, and the second one registers no resource."""
    failure = clash(
        ("train", {"tasks": [task("a-worker")]}),
        ("train-a", {"tasks": [task("worker")]}),
    )

    assert str(failure.error) == snapshot
    assert failure.result.names("VolcanoJob") == ["train"]
    assert failure.result.names("Pod") == ["train-a-worker-0"]


def test_two_jobs_with_a_service_of_one_name_are_rejected(snapshot: SnapshotAssertion) -> None:
    """The head's Service of one job may have the name of the other job."""
    head = {"plugins": [RayPlugin()], "tasks": [task("head", containers=[container("head")])]}

    failure = clash(("train", head), ("train-head-svc", {"plugins": [SvcPlugin()], "tasks": [task()]}))

    assert str(failure.error) == snapshot


def test_two_jobs_of_one_name_are_rejected(snapshot: SnapshotAssertion) -> None:
    """The message has each object that both would create."""
    failure = clash(("first", {"name": "train", "tasks": [task()]}), ("second", {"name": "train", "tasks": [task()]}))

    assert len(failure.problems) == 2
    assert pod_group("train") in str(failure.error)
    assert str(failure.error) == snapshot


def test_two_jobs_of_one_name_in_two_namespaces_are_fine() -> None:
    """They share nothing but the name."""

    def program() -> None:
        VolcanoJob("first", {"name": "train", "namespace": "a", "tasks": [task()]})
        VolcanoJob("second", {"name": "train", "namespace": "b", "tasks": [task()]})

    assert sorted(run(program).names("Pod")) == ["first-worker-0", "second-worker-0"]


def test_a_namespace_that_is_not_known_yet_is_compared_with_none() -> None:
    """Nobody can tell whether it is that of the other job."""

    def program() -> None:
        VolcanoJob("first", {"name": "train", "namespace": "a", "tasks": [task()]})
        VolcanoJob("second", {"name": "train", "namespace": computed("b"), "tasks": [task()]})

    assert sorted(run(program, preview=True).names("VolcanoJob")) == ["first", "second"]


class TokenPlugin(Plugin):
    """A plugin of a user's own: a ConfigMap with the audience, which Pods get as a variable."""

    name = "token"

    def on_job_add(self, ctx: JobContext) -> list[Wire]:
        """Return the ConfigMap."""
        metadata = {"name": f"{ctx.name}-token", "namespace": ctx.namespace}
        return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"audience": "training"}}]

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Set the variable."""
        for item in pod.all_containers:
            item.set_env_from("AUDIENCE", {"configMapKeyRef": {"name": f"{ctx.name}-token", "key": "audience"}})

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Give the ConfigMap's name."""
        return {"config_map_name": f"{ctx.name}-token"}


def test_a_plugin_of_the_user_s_own_is_a_component_like_the_others() -> None:
    """It parents what it adds, and carries its outputs."""

    def program() -> Wire:
        job = VolcanoJob("train", {"plugins": [TokenPlugin(), SvcPlugin()], "tasks": [task()]})
        (made,) = job.plugins["token"].objects
        return {"name": getattr(job.plugins["token"], "config_map_name"), "urn": made.urn}  # noqa: B009  # an attribute that checkers do not know

    done = run(program)

    assert done.resources["TokenPlugin train-token"].type == "volcano-jobs:index:TokenPlugin"
    assert done.tree()["TokenPlugin train-token"] == "VolcanoJob train"
    assert done.tree()["ConfigMap train-token"] == "TokenPlugin train-token"
    assert done.resources["TokenPlugin train-token"].outputs == {"config_map_name": "train-token"}
    assert done.outputs["name"] == "train-token"
    assert done.outputs["urn"].endswith("::train-token")
    assert variables(done, "Pod train-worker-0") >= {"AUDIENCE"}


def variables(done: Result, pod: str) -> set[str]:
    """Give the names of the variables of a Pod's first container."""
    return {entry["name"] for entry in done.manifests()[pod]["spec"]["containers"][0]["env"]}


class KeepingPlugin(TokenPlugin):
    """A plugin whose ConfigMap outlives the job."""

    name = "keeping"

    def on_job_delete(self, ctx: JobContext) -> frozenset[ObjectRef]:
        """Let the ConfigMap stay."""
        return super().on_job_delete(ctx) - {ObjectRef("ConfigMap", f"{ctx.name}-token")}


@pytest.mark.parametrize(("plugin", "kept"), [(TokenPlugin(), False), (KeepingPlugin(), True)], ids=["goes", "stays"])
def test_what_a_plugin_does_not_let_go_with_the_job_is_retained(plugin: TokenPlugin, *, kept: bool) -> None:
    """Only what `on_job_delete` names is deleted; what the other plugins made goes."""

    def program() -> None:
        new_job("train", {"plugins": [plugin, SvcPlugin()], "tasks": [task()]})

    done = run(program)

    retained = {name: item.request for name, item in done.resources.items() if item.request.HasField("retainOnDelete")}
    # An explicit False would override what the job's own option hands down.
    assert list(retained) == ([f"ConfigMap train-{plugin.name}-token"] if plugin.name == "keeping" else [])
    assert all(request.retainOnDelete for request in retained.values()) is True
    assert bool(retained) is kept
