"""What both a template and a plugin set, or two plugins: who counts, and how it is told."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs import EnvPlugin, JobContext, Plugin, Pod, PytorchPlugin, SshPlugin, SvcPlugin, render
from pulumi_volcano_jobs.core.errors import Stage
from pulumi_volcano_jobs.spec.options import OnConflict
from tests.conftest import Wire, container, job, places, problems, refused, task

SPEC = "spec.tasks[0].template.spec"
MAIN = f"{SPEC}.containers[1]"
CHOICE = "remove it here, or say on_conflict: user keeps what stands here, plugin what the plugin sets"

# The plugin, the container that conflicts with it, its place, and what is told there.
CONFLICTS: dict[str, tuple[Plugin, Wire, str, str]] = {
    "a variable of svc": (
        SvcPlugin(),
        container(env=[{"name": "A", "value": "1"}, {"name": "VC_WORKER_NUM", "value": "9"}]),
        f"{MAIN}.env[1]",
        "the plugin svc (spec.plugins.svc) sets the variable VC_WORKER_NUM of the container main too",
    ),
    "a variable of env, equal by chance": (
        EnvPlugin(),
        container(env=[{"name": "VK_TASK_INDEX", "value": "0"}]),
        f"{MAIN}.env[0]",
        "the plugin env (spec.plugins.env) sets the variable VK_TASK_INDEX of the container main too",
    ),
    "a path of svc": (
        SvcPlugin(),
        container(volumeMounts=[{"name": "data", "mountPath": "/etc/volcano"}]),
        f"{MAIN}.volumeMounts[0]",
        "the plugin svc (spec.plugins.svc) sets the mount path /etc/volcano of the container main too",
    ),
    "a path of ssh": (
        SshPlugin(ssh_key_file_path="/keys"),
        container(volumeMounts=[{"name": "data", "mountPath": "/keys"}]),
        f"{MAIN}.volumeMounts[0]",
        "the plugin ssh (spec.plugins.ssh) sets the mount path /keys of the container main too",
    ),
    "a port's name of pytorch": (
        PytorchPlugin(master="worker", worker="other"),
        container(ports=[{"name": "pytorchjob-port", "containerPort": 1}]),
        f"{MAIN}.ports[0]",
        "the plugin pytorch (spec.plugins.pytorch) sets the port name pytorchjob-port of the container main too",
    ),
}


def conflicting(plugin: Plugin, main: Wire) -> Wire:
    """Give a job with a container beside the one that conflicts."""
    volumes = [{"name": "data", "emptyDir": {}}]
    return job(
        task("worker", 1, containers=[container("side"), main], volumes=volumes), task("other"), plugins=[plugin]
    )


@pytest.mark.parametrize(("plugin", "main", "place", "reason"), CONFLICTS.values(), ids=CONFLICTS)
def test_a_conflict_with_the_template_is_told_with_both_places(
    plugin: Plugin, main: Wire, place: str, reason: str
) -> None:
    """Server-side apply takes each key once."""
    error = refused(conflicting(plugin, main))

    assert str(error) == f"{place}: {reason}: {CHOICE}"
    assert error.stage is Stage.STRICT


def of(pod: Wire, kind: str) -> dict[str, Any]:
    """Give a list of the container main by the key that it is merged by."""
    (main,) = (item for item in pod["spec"]["containers"] if item["name"] == "main")
    key = "mountPath" if kind == "volumeMounts" else "name"
    return {entry[key]: entry for entry in main.get(kind, ())}


@pytest.mark.parametrize(("plugin", "main"), [row[:2] for row in CONFLICTS.values()], ids=CONFLICTS)
def test_the_template_counts_if_asked(plugin: Plugin, main: Wire) -> None:
    """What stands there is in the Pod; all else that the plugin sets is too."""
    (kind,) = main.keys() - {"name", "image"}
    pod = render(conflicting(plugin, main), on_conflict="user").pods[0]
    theirs = render(conflicting(plugin, main), on_conflict="plugin").pods[0]

    own = of({"spec": {"containers": [main]}}, kind)
    assert {name: {"protocol": "TCP", **of(pod, kind)[name]} for name in own} == {
        name: {"protocol": "TCP", **entry} for name, entry in own.items()
    }
    assert of(pod, kind).keys() == of(theirs, kind).keys()


@pytest.mark.parametrize(("plugin", "main"), [row[:2] for row in CONFLICTS.values()], ids=CONFLICTS)
def test_the_plugin_counts_if_asked(plugin: Plugin, main: Wire) -> None:
    """As with Volcano, and so in lenient mode: what it sets is as without the template's own."""
    bare = render(conflicting(plugin, container()), on_conflict="plugin").pods[0]
    (kind,) = main.keys() - {"name", "image"}
    (name,) = (name for name in of({"spec": {"containers": [main]}}, kind) if name != "A")

    for pod in (
        render(conflicting(plugin, main), on_conflict="plugin").pods[0],
        render(conflicting(plugin, main), strict=False).pods[0],
    ):
        assert of(pod, kind)[name] == of(bare, kind)[name]


def test_a_volume_of_the_template_conflicts_too() -> None:
    """It has no container."""
    document = job(task(volumes=[{"name": "train-ssh", "emptyDir": {}}]), plugins=[SshPlugin(), SvcPlugin()])

    assert str(refused(document)) == (
        f"{SPEC}.volumes[0]: the plugin ssh (spec.plugins.ssh) sets the volume train-ssh too: {CHOICE}"
    )
    kept = render(document, on_conflict="user").pods[0]["spec"]["volumes"]
    assert {"name": "train-ssh", "emptyDir": {}} in kept
    assert [volume["name"] for volume in kept].count("train-ssh") == 1


class First(Plugin):
    """Set a variable."""

    name = "test-first"

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Set it."""
        pod.containers[0].set_env("TOKEN", "first")


class Second(Plugin):
    """Set the same variable."""

    name = "test-second"

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Set it."""
        pod.containers[0].set_env("TOKEN", "second")


@pytest.mark.parametrize("on_conflict", ["error", "user"])
def test_two_plugins_that_set_the_same_are_told_with_both_names(on_conflict: OnConflict) -> None:
    """It is at the one that runs later; the template has no say in it."""
    error = refused(job(task("a"), plugins=[Second(), First()]), on_conflict=on_conflict)

    assert str(error) == (
        "spec.plugins.test-second: the plugins test-first (spec.plugins.test-first) and test-second both set the"
        " variable TOKEN of the container main in Pods of a: do without one of them, or let test-second, which runs"
        " later, have it: on_conflict plugin"
    )


def test_of_two_plugins_the_later_one_counts_if_asked() -> None:
    """The order is by stage and name."""
    pod = render(job(plugins=[Second(), First()]), on_conflict="plugin").pods[0]

    assert of(pod, "env")["TOKEN"]["value"] == "second"


def test_a_volume_of_the_job_and_a_mount_of_the_template_are_told() -> None:
    """Both are the user's, so nothing decides between them; the API server refuses the Pod."""
    mounted = container(volumeMounts=[{"name": "data", "mountPath": "/data"}])
    document = job(
        task(containers=[mounted], volumes=[{"name": "data", "emptyDir": {}}]),
        volumes=[{"mountPath": "/data", "volumeClaimName": "shared"}],
    )

    error = refused(document)

    assert str(error) == (
        f"{SPEC}.containers[0].volumeMounts[0]: the job's volumes (spec.volumes) bring a mount path /data of the"
        " container main too: keep one of them"
    )
    assert error.stage is Stage.API
    assert places(document, on_conflict="user") == places(document, on_conflict="plugin") == places(document)


def test_a_conflict_is_told_once_for_all_pods_of_a_task() -> None:
    """And once more for another task."""
    main = container(env=[{"name": "VC_TASK_INDEX", "value": "9"}])
    document = job(task("a", 3, containers=[main]), task("b", 2, containers=[main]), plugins={"env": []})

    assert places(document) == [
        "spec.tasks[0].template.spec.containers[0].env[0]",
        "spec.tasks[1].template.spec.containers[0].env[0]",
    ]


def test_a_conflict_in_an_init_container_is_told() -> None:
    """Base plugins write there too."""
    early = container("early", env=[{"name": "VC_TASK_INDEX", "value": "9"}])

    found = problems(job(task(initContainers=[early]), plugins={"env": []}))

    assert [problem.path for problem in found] == [f"{SPEC}.initContainers[0].env[0]"]


def test_conflicts_are_told_with_all_other_problems() -> None:
    """Unless the shape of the job or a plugin is wrong, when nobody can tell."""
    main = container(env=[{"name": "VC_TASK_INDEX", "value": "9"}])
    document = job(task("a", containers=[main]), plugins={"env": []}, minAvailable=5, queue="root")

    assert places(document) == ["spec.minAvailable", "spec.queue", f"{SPEC}.containers[0].env[0]"]
