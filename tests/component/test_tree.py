"""The resource tree of a job: children, names, parents and options."""

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
from pulumi_volcano_jobs.spec.naming import pod_group
from pulumi_volcano_jobs.testing import Failure, Result, computed, failed, run
from tests.component.programs import digests, new_job
from tests.conftest import CLAIM, Wire, container, ssh_plugin, task, typed

WAIT_FOR = "pulumi.com/waitFor"
MANAGED_BY, CREATED = "Stash train-managed-by", "Stash train-created"
CLAIM_NAME = "PersistentVolumeClaim train-pvc-data"
KEYS = ssh_plugin()


def run_job(arguments: Any, name: str = "train", **options: Any) -> Result:
    """Run a program with one job."""

    def program() -> None:
        VolcanoJob(name, arguments)

    return run(program, **options)


def everything() -> Wire:
    """Return a job that has objects of every kind."""
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
def test_each_child_has_the_expected_parent(*, preview: bool) -> None:
    """Plugins are parents of their objects, tasks of their Pods, and the job of all other objects."""
    assert run_job(everything(), preview=preview).tree() == {
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
    components = {item.type for item in run_job(everything()).resources.values() if item.is_component}

    assert components == {
        f"volcano-jobs:index:{kind}"
        for kind in ("VolcanoJob", "Task", "SshPlugin", "SvcPlugin", "PytorchPlugin", "RayPlugin")
    }


def test_pods_depend_on_all_other_objects() -> None:
    """A Pod depends on the last created object only, because objects are created in order."""
    done = run_job(everything())
    objects = {name for name in done.manifests() if not name.startswith("Pod ")}
    before = {name: set(map(str, done.resources[name].depends_on)) for name in done.resources}

    for name in done.names("Pod"):
        assert "PodGroup train" in before[f"Pod {name}"]
        assert len(before[f"Pod {name}"] & objects) == 1
    assert before["PodGroup train"] >= objects - {"PodGroup train"}


def test_only_a_digest_replaces_a_pod() -> None:
    """An update ignores what webhooks add to the spec of a live Pod."""
    done = run_job(everything())
    ignored = {"Pod": ["spec"], "Stash": ["input"], "PodGroup": ["spec.queue"]}
    resources = {name: item for name, item in done.resources.items() if name not in {MANAGED_BY, CREATED}}

    for name, item in resources.items():
        kind = name.partition(" ")[0]
        assert list(item.ignore_changes) == ignored.get(kind, [])
        assert (item.replacement_trigger is not None) is (kind in {"Pod", "PodGroup"})


def test_every_object_is_deleted_before_it_is_replaced() -> None:
    """Names are fixed: an object that is created first would collide with the old one."""
    done = run_job(everything())

    assert {name for name in done.manifests() if not done.resources[name].delete_before_replace} == set()


def test_the_name_of_every_child_starts_with_that_of_its_parent() -> None:
    """Only then an alias of a component covers its children; each name is still the only one of its type."""
    done = run_job(everything())

    for name, parent in done.tree().items():
        assert not parent or name.partition(" ")[2].startswith(parent.partition(" ")[2])


@pytest.mark.parametrize("queue", [None, "default", "research"])
def test_an_unset_queue_is_omitted(queue: str | None) -> None:
    """Volcano's webhook then sets the default queue of the namespace, and updates keep it."""
    group = run_job({"tasks": [task()], "queue": queue}).resources["PodGroup train"]
    is_set = queue == "research"

    assert group.inputs["spec"].get("queue") == (queue if is_set else None)
    assert list(group.ignore_changes) == ([] if is_set else ["spec.queue"])
    assert group.replacement_trigger == ("queue" if is_set else "no queue")


@pytest.mark.parametrize("claims", ["delete", "keep"])
def test_a_new_key_or_claim_replaces_all_pods(claims: str) -> None:
    """A replaced Stash generates a new key, and a claim can be deleted only after the Pods that mount it.

    A retained claim is not deleted, so Pods keep running if the provider fails to create it again.
    """
    done = run_job(everything() | {"claims": claims})
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


def test_changing_the_mode_replaces_the_resource_that_every_object_depends_on() -> None:
    """The engine deletes all objects of one mode, Pods first, before it creates those of the other mode.

    Claims are kept.
    """
    done = run_job(everything())
    stash = done.resources[MANAGED_BY]

    assert stash.inputs == {"input": "default"}
    assert (stash.replacement_trigger, stash.delete_before_replace) == ("pulumi", True)
    for name in done.manifests():
        assert (stash in done.resources[name].inputs_from["metadata"]) is (name != CLAIM_NAME)


def test_up_does_not_wait_for_readiness() -> None:
    """Running Pods, bound claims and Service endpoints are not awaited."""
    waiting = {
        name: manifest["metadata"]["annotations"]
        for name, manifest in run_job(everything()).manifests().items()
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
    """The default namespace of the provider is not used."""
    namespaces = {
        item["metadata"]["namespace"] for item in run_job({**everything(), "namespace": "ml"}).manifests().values()
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
def test_the_namespace_defaults_to_that_of_the_stack(own: Wire, config: Mapping[str, str], expected: str) -> None:
    """The order is the job, the stack configuration `volcano-jobs:namespace`, and `default`."""
    done = run_job({**everything(), **own}, config=config)

    assert {item["metadata"]["namespace"] for item in done.manifests().values()} == {expected}
    assert done.resources["VolcanoJob train"].outputs["namespace"] == expected


def test_every_object_uses_the_provider_of_the_job() -> None:
    """No child uses the default provider."""

    def program() -> None:
        provider = kubernetes.Provider("mine", render_yaml_to_directory="rendered", kubeconfig="")
        new_job("train", everything(), pulumi.ResourceOptions(provider=provider))

    done = run(program)

    for name in done.manifests():
        assert str(done.resources[name].provider) == "kubernetes mine"


def test_depends_on_of_a_job_applies_to_its_children() -> None:
    """Children are created after these resources and deleted before them."""

    def program() -> None:
        new_job("train", everything(), pulumi.ResourceOptions(depends_on=[kubernetes.core.v1.Namespace("first")]))

    (dependency,) = run(program).job("train").depends_on

    assert str(dependency) == "Namespace first"


def test_the_resource_name_can_differ_from_the_job_name() -> None:
    """Children use the resource name in the stack and the job name in the cluster."""
    done = run_job({**everything(), "name": "nightly"}, "train")

    assert done.tree() == run_job(everything(), "train").tree()
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
FORMS: dict[str, Callable[[], VolcanoJob]] = {
    "keyword arguments": lambda: VolcanoJob("train", **FLAT),
    "a dictionary": lambda: new_job("train", FLAT),
    "None for some arguments": lambda: VolcanoJob("train", None, None, **FLAT, min_success=None, wait_for=None),
    "a Job": lambda: VolcanoJob.from_job("train", Job.model_validate({**FLAT, "name": "train"})),
    "a Job of a document": lambda: VolcanoJob.from_job("train", Job.model_validate(DOCUMENT), on_scale="restart"),
    "a text": lambda: VolcanoJob.from_yaml("train", yaml.safe_dump(DOCUMENT), on_scale="restart"),
    "a document with Pulumi's own options": lambda: new_job("train", {**DOCUMENT, "restart": "gang"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_job_registers_the_same_resources(form: str) -> None:
    """Keyword arguments, dictionaries, a `Job` and a text are compared."""
    assert run(lambda: FORMS[form]() and None).leaves() == run_job(DOCUMENT).leaves()


def test_a_subclass_is_made_from_a_text() -> None:
    """The class methods return an instance of their class."""

    class OwnJob(VolcanoJob):
        pass

    made: list[VolcanoJob] = []
    run(lambda: made.append(OwnJob.from_yaml("train", yaml.safe_dump(DOCUMENT))))

    assert [type(job) for job in made] == [OwnJob]


def test_a_duplicate_key_with_the_same_value_is_a_warning() -> None:
    """Examples of Volcano's guides repeat `queue`, and Volcano accepts them."""
    text = yaml.safe_dump(DOCUMENT).replace("  queue: research\n", "  queue: research\n  queue: research\n")

    def program() -> None:
        VolcanoJob.from_yaml("train", text, unsupported="ignore", ignore_warnings=["VJ103"])

    (warning,) = run(program).warnings
    assert ": spec.queue: " in warning
    assert warning.endswith(" [VJ115]")


PLUGINS: tuple[Plugin, ...] = (PytorchPlugin(), KEYS, MpiPlugin(), TensorflowPlugin())


@pytest.mark.parametrize(
    "order", list(itertools.permutations(range(4)))[1:], ids=lambda order: "".join(map(str, order))
)
def test_the_order_of_plugins_does_not_matter(order: tuple[int, ...]) -> None:
    """Names, parents, manifests and digests are the same."""
    assert in_order(*order).leaves() == in_order(*range(4)).leaves()


@functools.cache
def in_order(*order: int) -> Result:
    """Run a program with a job whose plugins are listed in this order."""
    return run_job({"plugins": [PLUGINS[index] for index in order], "tasks": [task("master"), task("worker", 2)]})


def test_the_order_of_tasks_changes_no_name_and_no_parent() -> None:
    """A task that moves in the list keeps its resources and its Pods' digest."""
    tasks = [task("master"), task("worker", 2), task("watch")]
    first = run_job({"plugins": {"svc": ["--inject-hosts-env=false"]}, "tasks": tasks})

    for permuted in itertools.permutations(tasks):
        done = run_job({"plugins": {"svc": ["--inject-hosts-env=false"]}, "tasks": list(permuted)})
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


def test_two_jobs_can_have_the_same_name_in_different_namespaces() -> None:
    """Their objects do not collide."""

    def program() -> None:
        VolcanoJob("first", {"name": "train", "namespace": "a", "tasks": [task()]})
        VolcanoJob("second", {"name": "train", "namespace": "b", "tasks": [task()]})

    assert sorted(run(program).names("Pod")) == ["first-worker-0", "second-worker-0"]


def test_an_unknown_namespace_is_not_checked_for_collisions() -> None:
    """It may or may not be the namespace of the other job."""

    def program() -> None:
        VolcanoJob("first", {"name": "train", "namespace": "a", "tasks": [task()]})
        VolcanoJob("second", {"name": "train", "namespace": computed("b"), "tasks": [task()]})

    assert sorted(run(program, preview=True).names("VolcanoJob")) == ["first", "second"]


class TokenPlugin(Plugin):
    """A custom plugin that adds a ConfigMap and a variable with the audience."""

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
        """Return the name of the ConfigMap."""
        return {"config_map_name": f"{ctx.name}-token"}


def test_a_custom_plugin_is_a_component() -> None:
    """It is the parent of its objects and has outputs."""

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
    """Return the variable names of the first container of a Pod."""
    return {entry["name"] for entry in done.manifests()[pod]["spec"]["containers"][0]["env"]}


class KeepingPlugin(TokenPlugin):
    """A plugin that retains its ConfigMap."""

    name = "keeping"

    def on_job_delete(self, ctx: JobContext) -> frozenset[ObjectRef]:
        """Return no object, so that the ConfigMap is retained."""
        return super().on_job_delete(ctx) - {ObjectRef("ConfigMap", f"{ctx.name}-token")}


@pytest.mark.parametrize(("plugin", "kept"), [(TokenPlugin(), False), (KeepingPlugin(), True)], ids=["goes", "stays"])
def test_objects_missing_from_on_job_delete_are_retained(plugin: TokenPlugin, *, kept: bool) -> None:
    """Objects of other plugins are deleted."""

    def program() -> None:
        new_job("train", {"plugins": [plugin, SvcPlugin()], "tasks": [task()]})

    done = run(program)

    retained = {name: item.request for name, item in done.resources.items() if item.request.HasField("retainOnDelete")}
    # An explicit False would override the inherited option of the job.
    assert list(retained) == ([f"ConfigMap train-{plugin.name}-token"] if plugin.name == "keeping" else [])
    assert all(request.retainOnDelete for request in retained.values()) is True
    assert bool(retained) is kept
