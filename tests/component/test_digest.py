"""The restart digest of each Pod, which decides whether an update replaces the Pod."""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest

from pulumi_volcano_jobs import (
    Container,
    HcclrankPlugin,
    JobContext,
    JobUpdate,
    MpiPlugin,
    Plugin,
    Pod,
    PytorchPlugin,
    RayPlugin,
    SshPlugin,
    SvcPlugin,
    TensorflowPlugin,
)
from pulumi_volcano_jobs.testing import Resource, run
from tests.component.programs import new_job
from tests.conftest import OTHER_PAIR, Wire, container, ssh_plugin, task

ALL = {"train-master-0", "train-worker-0", "train-worker-1"}
WORKERS = {"train-worker-0", "train-worker-1"}
MASTER = {"train-master-0"}


def pods(arguments: Wire) -> dict[str, Resource]:
    """Return the Pods of a job."""

    def program() -> None:
        new_job("train", {"unsupported": "ignore", **arguments})

    found = {
        name.removeprefix("Pod "): item for name, item in run(program).resources.items() if name.startswith("Pod ")
    }
    assert found
    return found


def replaced(before: Wire, after: Wire) -> set[str]:
    """Return the earlier Pods that the change replaces, by digest or by a field that forces replacement."""
    return differing(pods(before), pods(after))


def differing(old: dict[str, Resource], new: dict[str, Resource]) -> set[str]:
    """Return the Pods that exist before and after the change and that an engine would replace."""
    return {name for name in old.keys() & new.keys() if is_replaced(old[name], new[name])}


def is_replaced(old: Resource, new: Resource) -> bool:
    """Return whether an engine would replace a Pod."""
    return old.replacement_trigger != new.replacement_trigger or any(
        at(old.inputs, path) != at(new.inputs, path) for path in new.replace_on_changes
    )


def at(tree: Any, path: str) -> Any:
    """Return the value at a path such as `metadata.annotations["a.b/c"]`."""
    for quoted, plain in re.findall(r'\["([^"]+)"\]|([^.\[]+)', path):
        tree = tree[quoted or plain]
    return tree


def job(master: Wire | None = None, worker: Wire | None = None, **fields: Any) -> Wire:
    """Return a PyTorch job with one master and two workers."""
    tasks = [master or task("master"), worker or task("worker", 2)]
    return {"plugins": [PytorchPlugin()], "tasks": tasks, **fields}


def workers(**spec: Any) -> Wire:
    """Return the job with additional fields in the Pod spec of its workers."""
    return job(worker=task("worker", 2, **spec))


def metadata(**fields: Any) -> Wire:
    """Return the job with additional metadata in the template of its workers."""
    worker = task("worker", 2)
    return job(worker={**worker, "template": {**worker["template"], "metadata": fields}})


# The edit, the Pods that restart with `restart="pod"`, and whether a gang restarts.
EDITS: dict[str, tuple[Wire, set[str]]] = {
    "an image": (workers(containers=[container(image="example.org/image:2")]), WORKERS),
    "a variable": (workers(containers=[container(env=[{"name": "LEVEL", "value": "2"}])]), WORKERS),
    "resources": (workers(containers=[container(resources={"limits": {"cpu": "1"}})]), WORKERS),
    "another container": (workers(containers=[container(), container("second")]), WORKERS),
    "an init container": (workers(initContainers=[container("before")]), WORKERS),
    "a toleration": (workers(tolerations=[{"operator": "Exists"}]), WORKERS),
    "the master's image": (job(master=task("master", containers=[container(image="example.org/image:2")])), MASTER),
    "a plugin's port": (job(plugins=[PytorchPlugin(port=29500)]), ALL),
    "another plugin": (job(plugins={"pytorch": [], "env": []}), ALL),
    "the scheduler": (job(scheduler_name="other"), ALL),
    "the priority class": (job(priority_class_name="high"), ALL),
    "a claim": (job(volumes=[{"mountPath": "/data", "volumeClaimName": "data"}]), ALL),
    "the run": (job(run="2"), ALL),
    "the keys' rotation": (job(key_rotation="2"), ALL),
    "a label of the template": (metadata(labels={"team": "a"}), set()),
    "an annotation of the template": (metadata(annotations={"note": "a"}), set()),
    "a label of the job": (job(labels={"team": "a"}), set()),
    "an annotation of the job": (job(annotations={"volcano.sh/preemptable": "true"}), set()),
    "the queue": (job(queue="research"), set()),
    "the size of the gang": (job(min_available=2), set()),
    "the least of a task": (job(worker={**task("worker", 2), "minAvailable": 1}), set()),
    "a policy": (job(policies=[{"event": "PodEvicted", "action": "RestartJob"}]), set()),
    "the time to live": (job(ttl_seconds_after_finished=60), set()),
    "what is not enacted": (job(unsupported="warn"), set()),
}


@functools.cache
def unedited(restart: str | None) -> dict[str, Resource]:
    """Return the Pods of the job before any edit."""
    return pods({**job(), "restart": restart} if restart else job())


@pytest.mark.parametrize("restart", ["gang", "pod", None])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_replaces_only_the_affected_pods(edit: str, restart: str | None) -> None:
    """With restart="gang", the default, one Pod replaces all Pods; with "pod" only its task restarts."""
    after, alone = EDITS[edit]

    found = differing(unedited(restart), pods({**after, "restart": restart} if restart else after))

    assert found == (alone if restart == "pod" else ALL if alone else set())


def test_equal_jobs_have_equal_digests() -> None:
    """Key order and field spelling do not change a digest."""
    (first,) = task(containers=[container(env=[{"name": "A", "value": "1"}])])["template"]["spec"]["containers"]
    turned = {
        "spec": {"restart_policy": "Never", "containers": [dict(reversed(first.items()))]},
    }

    assert replaced(job(worker={**task("worker", 2), "template": turned}), workers(containers=[first])) == set()


WORLDS: dict[str, tuple[Plugin, bool]] = {
    "pytorch": (PytorchPlugin(), True),
    "mpi": (MpiPlugin(), True),
    "tensorflow": (TensorflowPlugin(), True),
    "ray": (RayPlugin(head="master", head_container="main", worker_container="main"), False),
    "ssh": (ssh_plugin(), False),
    "ssh with its options": (SshPlugin(file_modes="by-user", address_aliases=True, key_secret="team"), False),
    "svc": (SvcPlugin(), False),
}


def scaled(plugin: Plugin, replicas: int, **options: Any) -> Wire:
    """Return a job with an init container and the given number of workers."""
    before = [container("before")]
    tasks = [task("master", initContainers=before), task("worker", replicas, initContainers=before)]
    return {"plugins": [plugin, SvcPlugin()] if plugin.name != "svc" else [plugin], "tasks": tasks, **options}


@pytest.mark.parametrize("restart", ["gang", "pod"])
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("replicas", [1, 3])
def test_scaling_replaces_pods_that_know_the_world_size(world: str, replicas: int, restart: str) -> None:
    """By default Pods with the world size in a variable restart, and other Pods keep running."""
    plugin, is_fixed = WORLDS[world]

    found = replaced(scaled(plugin, 2, restart=restart), scaled(plugin, replicas, restart=restart))

    assert found == (pods(scaled(plugin, min(2, replicas))).keys() if is_fixed else set())


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("on_scale", ["keep", "restart"])
def test_on_scale_overrides_the_default_of_the_plugin(world: str, on_scale: str) -> None:
    """For each plugin, `keep` replaces no Pod and `restart` replaces all Pods."""
    plugin, _ = WORLDS[world]

    found = replaced(scaled(plugin, 2, on_scale=on_scale), scaled(plugin, 3, on_scale=on_scale))

    assert found == (ALL if on_scale == "restart" else set())


def test_a_new_task_keeps_the_pods_of_other_tasks() -> None:
    """With `restart="pod"` and without host lists, nothing in the other Pods changes."""
    before = {"tasks": [task("master"), task("worker", 2)], "restart": "pod"}

    assert replaced(before, {**before, "tasks": [*before["tasks"], task("watch")]}) == set()


def test_changing_a_given_key_replaces_all_pods() -> None:
    """Keys are mounted by subPath, and running Pods do not see updates of such mounts."""
    before = job(plugins=[ssh_plugin(), SvcPlugin()])
    after = job(plugins=[ssh_plugin(OTHER_PAIR), SvcPlugin()])

    assert replaced(before, after) == ALL


SSH: dict[str, Wire] = {
    "another type of key": {"key_type": "ed25519"},
    "names of hosts": {"address_aliases": True},
    "a pair of a Secret": {"key_secret": "team"},
    "another user's path": {"ssh_key_file_path": "/home/me/.ssh"},
    "another port": {"ssh_port": 2222},
}


@pytest.mark.parametrize("restart", ["gang", "pod"])
@pytest.mark.parametrize("settings", SSH.values(), ids=SSH)
def test_changing_an_ssh_option_replaces_all_pods(settings: Wire, restart: str) -> None:
    """Running Pods would not see the change."""
    before, after = (job(plugins=[SshPlugin(**given), SvcPlugin()], restart=restart) for given in ({}, settings))

    assert replaced(before, after) == ALL


def roles(plugin: Plugin, **worker: Any) -> Wire:
    """Return a job with three tasks and additional Pod fields for the workers."""
    tasks = [task("master"), task("worker", 2, **worker), task("other", 2)]
    return {"plugins": [plugin], "tasks": tasks, "restart": "pod"}


EVERY = ALL | {"train-other-0", "train-other-1"}
# Values that are only part of a variable that depends on the replicas, or that running Pods do not see change.
INSIDE: dict[str, tuple[Wire, Wire, set[str]]] = {
    "tensorflow's port": (roles(TensorflowPlugin()), roles(TensorflowPlugin(port=3333)), EVERY),
    "a role of tensorflow": (roles(TensorflowPlugin(chief="master")), roles(TensorflowPlugin(ps="master")), EVERY),
    "who is told of the evaluator": (
        roles(TensorflowPlugin(evaluator="other")),
        roles(TensorflowPlugin(evaluator="other", evaluator_in_cluster="own")),
        ALL,
    ),
    "the domain of tensorflow's hosts": (
        roles(TensorflowPlugin()),
        roles(TensorflowPlugin(), subdomain="nodes"),
        EVERY,
    ),
    "a role of mpi": (roles(MpiPlugin()), roles(MpiPlugin(worker="other")), MASTER),
    "the domain of mpi's hosts": (roles(MpiPlugin()), roles(MpiPlugin(), subdomain="nodes"), ALL),
    "a role of hcclrank": (roles(HcclrankPlugin()), roles(HcclrankPlugin(worker="other")), EVERY),
}


@pytest.mark.parametrize(("before", "after", "expected"), INSIDE.values(), ids=INSIDE)
def test_a_value_beside_the_replicas_changes_the_digest(before: Wire, after: Wire, expected: set[str]) -> None:
    """The engine ignores spec changes of existing Pods, so only the digest replaces them."""
    assert replaced(before, after) == expected


def test_growing_from_one_pod_is_treated_as_scaling() -> None:
    """Volcano sets no TF_CONFIG in a job with one Pod; cluster values depend on the replicas."""
    before, after = (
        {"plugins": [TensorflowPlugin()], "tasks": [task("worker", n)], "on_scale": "keep"} for n in (1, 2)
    )

    assert replaced(before, after) == set()


class GrowingPlugin(Plugin):
    """A plugin that adds a container and a variable when the job has several Pods."""

    name = "growing"

    def extend_pod(self, pod: Pod, ctx: JobContext) -> None:
        """Add the container if the job has more than one Pod."""
        if len(ctx.addresses(ctx.tasks[0])) == 1:
            pod.init_containers.append(Container({**container("before"), "env": [{"name": "SIZE", "value": "1"}]}))

    def on_job_update(self, ctx: JobContext) -> JobUpdate:  # noqa: ARG002
        """Declare the variable."""
        return JobUpdate(scaled_env=frozenset({"SIZE"}))


def test_a_plugin_can_add_containers_depending_on_replicas() -> None:
    """A container that only the larger job has is not looked up in the smaller job."""
    alone = {"plugins": [GrowingPlugin()], "tasks": [task("worker")]}

    assert replaced(alone, alone) == set()


def test_generated_keys_are_not_in_the_digest() -> None:
    """Each run generates a key pair, but the state keeps the first one, so no Pod may restart."""
    assert replaced(job(plugins=[MpiPlugin()]), job(plugins=[MpiPlugin()])) == set()
