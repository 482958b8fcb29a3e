"""The hooks for updates and deletion match Volcano's plugins (`meta.lifecycle` of the golden files)."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from pulumi_volcano_jobs import JobContext, JobUpdate, ObjectRef, Rendered, SshPlugin, Task, render
from pulumi_volcano_jobs.plugins import BUILT_IN
from tests.conftest import PAIR, Wire, job, ssh_plugin, task
from tests.golden.cases import CLUSTER, HERE, META, WRITTEN, expected, golden


@functools.cache
def rendered(name: str) -> Rendered:
    """Render a case in lenient mode."""
    document = golden(name)
    generated = META[name].get("generatedName")
    document["metadata"] |= {"name": generated} if generated else {}
    return render(document, strict=False, cluster=CLUSTER)


@functools.cache
def grown(name: str) -> Rendered:
    """Render a case whose first task has one replica more than when it was stored."""
    stored = rendered(name).job
    first, *others = stored.tasks or ()
    more: Task = first.with_(replicas=first.size + 1)
    return render(stored.with_(tasks=(more, *others)), strict=False)


CASES = [case.stem for case in WRITTEN if "lifecycle" in META[case.stem]]
# A partition policy does not allow one more replica.
GROWING = [name for name in CASES if not name.startswith("plain-partition")]


def keyed(items: Any) -> dict[ObjectRef, Wire]:
    """Return manifests by kind and name."""
    return {ObjectRef(item["kind"], item["metadata"]["name"]): item for item in items}


def refs(texts: list[str]) -> set[ObjectRef]:
    """Parse `Kind/name`."""
    return {ObjectRef(*text.split("/", 1)) for text in texts}


def changed(name: str) -> set[ObjectRef]:
    """Return the objects of plugins that differ after growth."""
    before, after = keyed(rendered(name).objects), keyed(grown(name).objects)
    assert before.keys() == after.keys()
    return {ref for ref in before if before[ref] != after[ref] and ref in rendered(name).made_by}


def updates(name: str) -> list[JobUpdate]:
    """Return the updates that the plugins of a case declare."""
    made = rendered(name)
    return [plugin.on_job_update(JobContext(made.job)) for plugin in made.plugins]


def ssh_config_grows(name: str) -> bool:
    """Check whether the ssh configuration gets another host."""
    made = rendered(name)
    first = (made.job.tasks or ())[0]
    fixed = bool(first.pod_spec.get("hostname")) and first.size > 0
    return any(plugin.name == "ssh" for plugin in made.plugins) and not fixed


@pytest.mark.parametrize("name", GROWING)
def test_growth_changes_the_same_objects_as_volcano_and_the_ssh_secret(name: str) -> None:
    """Volcano does not update its ssh configuration (volcano issue 1420)."""
    theirs = refs(META[name]["lifecycle"]["changedOnUpdate"])
    secret = {ObjectRef("Secret", f"{rendered(name).job.name}-ssh")} if ssh_config_grows(name) else set()

    assert changed(name) == theirs | secret
    assert not secret & theirs


@pytest.mark.parametrize("name", GROWING)
def test_changed_objects_are_declared_to_follow(name: str) -> None:
    """Pulumi would not update an undeclared object. Every declared object exists."""
    follows = frozenset[ObjectRef]().union(*(update.follows for update in updates(name)))

    assert changed(name) <= follows
    assert follows <= rendered(name).made_by.keys()


@pytest.mark.parametrize("name", GROWING)
def test_growth_changes_only_declared_variables_of_existing_pods(name: str) -> None:
    """The annotation of hcclrank, which counts the masters, also changes."""
    scaled = frozenset[str]().union(*(update.scaled_env for update in updates(name)))
    before, after = keyed(rendered(name).pods), keyed(grown(name).pods)
    assert before.keys() < after.keys()

    for ref, pod in before.items():
        assert without(pod, scaled) == without(after[ref], scaled)


def without(pod: Wire, variables: frozenset[str]) -> Wire:
    """Copy a Pod without some variables and without the annotation of hcclrank."""
    annotations = {k: v for k, v in pod["metadata"]["annotations"].items() if k != "hccl/rankIndex"}
    spec = {
        key: [
            {**item, "env": [entry for entry in item.get("env", []) if entry["name"] not in variables]}
            for item in value
        ]
        if key in {"containers", "initContainers"}
        else value
        for key, value in pod["spec"].items()
    }
    return {**pod, "metadata": {**pod["metadata"], "annotations": annotations}, "spec": spec}


@pytest.mark.parametrize("name", CASES)
def test_deletion_removes_the_objects_that_volcano_removes(name: str) -> None:
    """Plugins do not delete the PodGroup and claims. All other objects are deleted."""
    made = rendered(name)
    created = keyed(expected(HERE / "cases" / f"{name}.yaml")["objects"]).keys()
    remaining = refs(META[name]["lifecycle"]["remainingAfterDelete"])

    deleted = frozenset[ObjectRef]().union(*(plugin.on_job_delete(JobContext(made.job)) for plugin in made.plugins))

    assert deleted == created - remaining
    assert {ref.kind for ref in remaining} <= {"PodGroup", "PersistentVolumeClaim"}
    assert deleted == made.made_by.keys()


SCALED = {
    "env": (set(), set()),
    "hcclrank": (set(), set()),
    "mpi": (set(), {"MPI_HOST"}),
    "pytorch": (set(), {"WORLD_SIZE"}),
    "ray": (set(), set()),
    "ssh": ({ObjectRef("Secret", "train-ssh")}, set()),
    "svc": ({ObjectRef("ConfigMap", "train-svc")}, set()),
    "tensorflow": (set(), {"TF_CONFIG"}),
}


@pytest.mark.parametrize("plugin", BUILT_IN, ids=lambda plugin: plugin.name)
def test_each_plugin_declares_what_follows_the_replicas(plugin: Any) -> None:
    """Objects that are updated in place, and variables that running Pods keep."""
    stored = render(job(task("master"), task("worker"))).job

    update = plugin().on_job_update(JobContext(stored))

    assert (update.follows, update.scaled_env) == SCALED[plugin.name]
    assert update.restart_triggers == ()


@pytest.mark.parametrize(
    ("name", "grows"),
    [("mpi", "MPI_HOST"), ("pytorch", "WORLD_SIZE"), ("tensorflow", "TF_CONFIG")],
)
def test_a_declared_variable_changes(name: str, grows: str) -> None:
    """One more worker changes it in an existing Pod."""

    def value(workers: int) -> str:
        master, *_ = render(job(task("master"), task("worker", workers), plugins={name: []})).pods
        (found,) = (entry["value"] for entry in master["spec"]["containers"][0]["env"] if entry["name"] == grows)
        return str(found)

    assert value(2) != value(3)


def test_another_key_of_the_user_restarts_the_pods() -> None:
    """A mount with subPath does not follow its Secret. Generated keys stay, so Pods keep running."""
    context = JobContext(render(job()).job)
    given = ssh_plugin()

    assert given.on_job_update(context).restart_triggers == (PAIR.public,)
    assert SshPlugin().on_job_update(context).restart_triggers == ()
