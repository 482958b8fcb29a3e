"""Conflicts of a plugin with a template or with another plugin."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    Container,
    EnvPlugin,
    JobContext,
    Plugin,
    Pod,
    PytorchPlugin,
    SshPlugin,
    SvcPlugin,
    render,
)
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.plugins.settings import option
from pulumi_volcano_jobs.spec.options import OnConflict
from tests.conftest import Wire, container, job, places, problems, refused, task, typed

SPEC = "spec.tasks[0].template.spec"
MAIN = f"{SPEC}.containers[1]"

# The plugin, the container that conflicts with it, and the path of the conflict.
CONFLICTS: dict[str, tuple[Plugin, Wire, str]] = {
    "a variable of svc": (
        SvcPlugin(),
        container(env=[{"name": "A", "value": "1"}, {"name": "VC_WORKER_NUM", "value": "9"}]),
        f"{MAIN}.env[1]",
    ),
    "a variable of env, equal by chance": (
        EnvPlugin(),
        container(env=[{"name": "VK_TASK_INDEX", "value": "0"}]),
        f"{MAIN}.env[0]",
    ),
    "a path of svc": (
        SvcPlugin(),
        container(volumeMounts=[{"name": "data", "mountPath": "/etc/volcano"}]),
        f"{MAIN}.volumeMounts[0]",
    ),
    "a path of ssh": (
        SshPlugin(ssh_key_file_path="/keys"),
        container(volumeMounts=[{"name": "data", "mountPath": "/keys"}]),
        f"{MAIN}.volumeMounts[0]",
    ),
    "a port's name of pytorch": (
        PytorchPlugin(master="worker", worker="other"),
        container(ports=[{"name": "pytorchjob-port", "containerPort": 1}]),
        f"{MAIN}.ports[0]",
    ),
}


def job_with_conflict(plugin: Plugin, main: Wire) -> Wire:
    """Build a job with a container, and the container that conflicts with it."""
    volumes = [{"name": "data", "emptyDir": {}}]
    return job(
        task("worker", 1, containers=[container("side"), main], volumes=volumes), task("other"), plugins=[plugin]
    )


@pytest.mark.parametrize(("plugin", "main", "path"), CONFLICTS.values(), ids=CONFLICTS)
def test_a_conflict_with_the_template_is_an_error_with_both_paths(
    plugin: Plugin, main: Wire, path: str, snapshot: SnapshotAssertion
) -> None:
    """Server-side apply accepts each key once."""
    error = refused(job_with_conflict(plugin, main))

    assert typed(error.problems) == [(path, "Forbidden")]
    assert error.stage is RejectionStage.STRICT
    assert str(error) == snapshot


def keys_of(pod: Wire, kind: str) -> dict[str, Any]:
    """Return the keys by which a list of the container main is merged."""
    (main,) = (item for item in pod["spec"]["containers"] if item["name"] == "main")
    key = "mountPath" if kind == "volumeMounts" else "name"
    return {entry[key]: entry for entry in main.get(kind, ())}


@pytest.mark.parametrize(("plugin", "main"), [row[:2] for row in CONFLICTS.values()], ids=CONFLICTS)
def test_the_template_takes_precedence_on_request(plugin: Plugin, main: Wire) -> None:
    """The Pod has its values, and all other values that the plugin sets."""
    (kind,) = main.keys() - {"name", "image"}
    pod = render(job_with_conflict(plugin, main), on_conflict="user").pods[0]
    theirs = render(job_with_conflict(plugin, main), on_conflict="plugin").pods[0]

    own = keys_of({"spec": {"containers": [main]}}, kind)
    assert {name: {"protocol": "TCP", **keys_of(pod, kind)[name]} for name in own} == {
        name: {"protocol": "TCP", **entry} for name, entry in own.items()
    }
    assert keys_of(pod, kind).keys() == keys_of(theirs, kind).keys()


@pytest.mark.parametrize(("plugin", "main"), [row[:2] for row in CONFLICTS.values()], ids=CONFLICTS)
def test_the_plugin_takes_precedence_on_request(plugin: Plugin, main: Wire) -> None:
    """As in Volcano and in lenient mode: the values of the template are removed."""
    bare = render(job_with_conflict(plugin, container()), on_conflict="plugin").pods[0]
    (kind,) = main.keys() - {"name", "image"}
    (name,) = (name for name in keys_of({"spec": {"containers": [main]}}, kind) if name != "A")

    for pod in (
        render(job_with_conflict(plugin, main), on_conflict="plugin").pods[0],
        render(job_with_conflict(plugin, main), strict=False).pods[0],
    ):
        assert keys_of(pod, kind)[name] == keys_of(bare, kind)[name]


def test_a_volume_of_the_template_can_conflict_with_a_plugin(snapshot: SnapshotAssertion) -> None:
    """A volume is not part of a container."""
    document = job(task(volumes=[{"name": "train-ssh", "emptyDir": {}}]), plugins=[SshPlugin(), SvcPlugin()])

    error = refused(document)

    assert typed(error.problems) == [(f"{SPEC}.volumes[0]", "Forbidden")]
    assert str(error) == snapshot
    kept = render(document, on_conflict="user").pods[0]["spec"]["volumes"]
    assert {"name": "train-ssh", "emptyDir": {}} in kept
    assert [volume["name"] for volume in kept].count("train-ssh") == 1


class First(Plugin):
    """A plugin that sets a variable."""

    name = "test-first"

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Set the variable."""
        pod.containers[0].set_env("TOKEN", "first")


class Second(Plugin):
    """A plugin that sets the same variable."""

    name = "test-second"

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Set the variable."""
        pod.containers[0].set_env("TOKEN", "second")


def test_two_plugins_that_set_the_same_variable_are_an_error(snapshot: SnapshotAssertion) -> None:
    """The later plugin has the error. A preference for the template does not resolve it."""
    document = job(task("a"), plugins=[Second(), First()])

    error = refused(document, on_conflict="error")

    assert typed(error.problems) == [("spec.plugins.test-second", "Forbidden")]
    assert refused(document, on_conflict="user").problems == error.problems
    assert str(error) == snapshot


def test_the_later_of_two_plugins_takes_precedence_on_request() -> None:
    """The order is by stage and name."""
    pod = render(job(plugins=[Second(), First()]), on_conflict="plugin").pods[0]

    assert keys_of(pod, "env")["TOKEN"]["value"] == "second"


def test_a_volume_of_the_job_that_conflicts_with_a_mount_of_the_template_is_an_error(
    snapshot: SnapshotAssertion,
) -> None:
    """Both are fields of the user, so no option resolves it; the API server rejects the Pod."""
    mounted = container(volumeMounts=[{"name": "data", "mountPath": "/data"}])
    document = job(
        task(containers=[mounted], volumes=[{"name": "data", "emptyDir": {}}]),
        volumes=[{"mountPath": "/data", "volumeClaimName": "shared"}],
    )

    error = refused(document)

    assert typed(error.problems) == [(f"{SPEC}.containers[0].volumeMounts[0]", "Duplicate")]
    assert str(error) == snapshot
    assert error.stage is RejectionStage.API
    assert places(document, on_conflict="user") == places(document, on_conflict="plugin") == places(document)


def test_a_conflict_is_reported_once_for_all_pods_of_a_task() -> None:
    """Another task has its own problem."""
    main = container(env=[{"name": "VC_TASK_INDEX", "value": "9"}])
    document = job(task("a", 3, containers=[main]), task("b", 2, containers=[main]), plugins={"env": []})

    assert places(document) == [
        "spec.tasks[0].template.spec.containers[0].env[0]",
        "spec.tasks[1].template.spec.containers[0].env[0]",
    ]


def test_a_conflict_in_an_init_container_is_reported() -> None:
    """Base plugins also edit init containers."""
    early = container("early", env=[{"name": "VC_TASK_INDEX", "value": "9"}])

    found = problems(job(task(initContainers=[early]), plugins={"env": []}))

    assert [problem.path for problem in found] == [f"{SPEC}.initContainers[0].env[0]"]


def test_conflicts_are_reported_with_all_other_problems() -> None:
    """They are not checked if the shape of the job or a plugin is wrong."""
    main = container(env=[{"name": "VC_TASK_INDEX", "value": "9"}])
    document = job(task("a", containers=[main]), plugins={"env": []}, minAvailable=5, queue="root")

    assert places(document) == ["spec.minAvailable", "spec.queue", f"{SPEC}.containers[0].env[0]"]


class Copying(Plugin):
    """A plugin that replaces the first container by a copy."""

    name = "test-copying"

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Edit the list of containers directly."""
        pod.containers[0] = Container(pod.containers[0].to_wire())


def test_a_plugin_that_replaces_a_container_conflicts_with_its_entries() -> None:
    """The methods of the Pod do not see such an edit."""
    main = container(env=[{"name": "A", "value": "1"}], volumeMounts=[{"name": "data", "mountPath": "/data"}])
    document = job(task(containers=[main], volumes=[{"name": "data", "emptyDir": {}}]), plugins=[Copying()])

    assert places(document) == [f"{SPEC}.containers[0].{place}" for place in ("env[0]", "volumeMounts[0]")]


class Counting(Plugin):
    """A plugin that counts the Pods."""

    name = "test-counting"
    pods: ClassVar[list[str]] = []

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Count a Pod."""
        self.pods.append(pod.name)


@pytest.mark.parametrize("on_conflict", ["error", "plugin", "user"])
def test_each_pod_is_rendered_once(on_conflict: OnConflict) -> None:
    """This includes the first Pod of a task, which is checked for conflicts."""
    Counting.pods.clear()
    render(job(task("a", 2), task("b", 0), plugins=[Counting()]), on_conflict=on_conflict)

    assert sorted(Counting.pods) == ["train-a-0", "train-a-1", "train-b-0"]


def test_two_plugins_that_set_a_variable_of_the_template_conflict_though_the_template_wins() -> None:
    """The Pod has the value of the template, and the plugins still contradict each other."""
    main = container(env=[{"name": "TOKEN", "value": "own"}])

    document = job(task("a", containers=[main]), plugins=[First(), Second()])

    assert places(document, on_conflict="user") == ["spec.plugins.test-second"]
    only = render(job(task("a", containers=[main]), plugins=[First()]), on_conflict="user").pods[0]
    assert keys_of(only, "env")["TOKEN"]["value"] == "own"


class Commanding(Plugin):
    """A plugin that sets the command of the first container."""

    name = "test-commanding"
    command: tuple[str, ...] = option(default=("serve",))

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Set the command."""
        pod.containers[0].fields["command"] = [*self.command]


def commanded(*command: str, plugin: tuple[str, ...] = ("serve",), **fields: Any) -> Wire:
    """Build a job whose plugin sets a command, by the command of the template."""
    own = {"command": [*command]} if command else {}
    return job(task(containers=[container(**own, **fields)]), plugins=[Commanding(command=plugin)])


REPLACED: dict[str, tuple[Wire, str]] = {
    "a command": (commanded("train", "--fast"), "command"),
    "args of the image's command": (commanded(args=["--fast"]), "args"),
    "a command and its args": (commanded("train", args=["--fast"]), "command"),
    "a command that is not known": (
        job(task(containers=[container(command=Leaf("command"))]), plugins=[Commanding()]),
        "command",
    ),
    "a command whose text is part of another word": (commanded("serve", plugin=("sh", "-c", "server")), "command"),
    "a part of a command": (commanded("train", "--fast", plugin=("train", "--slow")), "command"),
}


@pytest.mark.parametrize(("document", "field"), REPLACED.values(), ids=REPLACED)
def test_a_command_that_a_plugin_replaces_has_a_warning(
    document: Wire, field: str, snapshot: SnapshotAssertion
) -> None:
    """Volcano's own plugin replaces commands, so it is no error. The option decides without a warning."""
    template = document["spec"]["tasks"][0]["template"]["spec"]["containers"][0]

    rendered = render(document)
    kept = render(document, on_conflict="user")

    assert typed(rendered.warnings) == [(f"{SPEC}.containers[0].{field}", "VJ145")]
    assert str(rendered.warnings[0]) == snapshot
    assert render(document, on_conflict="plugin").pods == rendered.pods
    assert render(document, on_conflict="plugin").warnings == kept.warnings == ()
    main = kept.pods[0]["spec"]["containers"][0]
    assert [main.get("command"), main.get("args")] == [template.get("command"), template.get("args")]


RUN: dict[str, Wire] = {
    "no command": commanded(),
    "the same command": commanded("serve"),
    "a command behind another": commanded("train", "--fast", plugin=("nice", "train", "--fast")),
    "a command in a script": commanded("train", "--fast", plugin=("sh", "-c", "setup && exec train --fast")),
    "a quoted command in a script": commanded("echo", "a b", plugin=("sh", "-c", "exec echo 'a b'")),
}


@pytest.mark.parametrize("document", RUN.values(), ids=RUN)
def test_a_plugin_that_runs_the_command_does_not_replace_it(document: Wire) -> None:
    """The Pod has the command of the plugin, with every value of the option."""
    rendered = render(document)

    assert rendered.warnings == ()
    assert render(document, on_conflict="user").pods == render(document, on_conflict="plugin").pods == rendered.pods


def ray_head(script: str, **options: Any) -> list[Problem]:
    """Return the warnings about the command of a Ray head that has a script."""
    head = task("head", containers=[container("head", command=["sh", "-c", script])])
    document = job(head, task("worker", containers=[container("worker")]), plugins={"ray": []})
    return [warning for warning in render(document, **options).warnings if warning.code == "VJ145"]


def test_a_command_that_starts_ray_itself_is_kept_by_on_conflict() -> None:
    """keep_command would start Ray twice."""
    (warning,) = ray_head("ray start --head --num-gpus=0; python train.py")

    assert "keep_command" not in warning.hint
    assert 'on_conflict="user"' in warning.hint


def test_a_command_whose_program_the_plugin_also_runs_has_no_warning() -> None:
    """The plugin starts Ray with these arguments and more."""
    assert ray_head("ray start --head --block --port=6379") == []
    assert len(ray_head("ray start --head --block --num-gpus=0")) == 1


def test_two_plugins_that_set_a_command_are_an_error() -> None:
    """The later one has the error, as for a variable."""

    class Later(Commanding):
        name = "test-later"

    document = job(task(), plugins=[Commanding(), Later(command=("other",))])
    (problem,) = refused(document).problems

    assert (problem.path, problem.type) == ("spec.plugins.test-later", "Forbidden")
    assert render(document, on_conflict="plugin").pods[0]["spec"]["containers"][0]["command"] == ["other"]


class Opening(Plugin):
    """A plugin that declares a port, with the number of another one."""

    name = "test-opening"

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Declare the port."""
        pod.containers[0].set_port(80, "plugin")


def test_a_port_whose_number_a_plugin_takes_conflicts_with_it() -> None:
    """The name of the template's port would be lost."""
    document = job(task(containers=[container(ports=[{"name": "web", "containerPort": 80}])]), plugins=[Opening()])

    assert places(document) == [f"{SPEC}.containers[0].ports[0]"]
    assert keys_of(render(document, on_conflict="plugin").pods[0], "ports").keys() == {"plugin"}
    assert keys_of(render(document, on_conflict="user").pods[0], "ports").keys() == {"web"}


def test_lenient_mode_keeps_the_values_of_the_template_on_request() -> None:
    """Without the option, it uses the value of the plugin, as Volcano does."""
    document = job(task(containers=[container(env=[{"name": "VC_TASK_INDEX", "value": "7"}])]), plugins={"env": []})

    own = render(document, strict=False, on_conflict="user").pods[0]
    theirs = render(document, strict=False).pods[0]

    assert [keys_of(pod, "env")["VC_TASK_INDEX"]["value"] for pod in (own, theirs)] == ["7", "0"]


def test_volcanos_plugins_cannot_keep_the_values_of_the_template() -> None:
    """Their Pods would differ from the rendered ones. The hint of a conflict does not name the option."""
    main = container(env=[{"name": "VC_TASK_INDEX", "value": "7"}])
    document = job(task(containers=[main]), plugins={"env": []})

    assert places(document, managed_by="volcano", on_conflict="user") == ["on_conflict"]
    (problem,) = refused(document, managed_by="volcano").problems
    assert "user" not in problem.hint
    assert render(document, managed_by="volcano", on_conflict="plugin").warnings == ()
