"""Settings of plugins, as arguments and as options."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    HcclrankPlugin,
    MpiPlugin,
    Plugin,
    PytorchPlugin,
    RayPlugin,
    SshPlugin,
    SvcPlugin,
    TensorflowPlugin,
    render,
)
from pulumi_volcano_jobs.core.errors import RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, container, job, places, problems, refused, task, typed

TRAINING = (task("master"), task("worker", 2))
RAY = (
    task("head", containers=[container("head")]),
    task("worker", 2, containers=[container("worker")]),
)
HUGE = 2**31

# The plugin, the tasks, and the wrong settings with the types of their errors.
SETTINGS: dict[str, tuple[Plugin, tuple[Wire, ...], dict[str, str]]] = {
    "ssh: a port of 0": (SshPlugin(ssh_port=0), TRAINING, {"ssh_port": "Invalid"}),
    "ssh: a port beyond 16 bits": (SshPlugin(ssh_port=65536), TRAINING, {"ssh_port": "Invalid"}),
    "ssh: a relative path": (SshPlugin(ssh_key_file_path=".ssh"), TRAINING, {"ssh_key_file_path": "Invalid"}),
    "ssh: a path with a colon": (SshPlugin(ssh_key_file_path="/a:b"), TRAINING, {"ssh_key_file_path": "Invalid"}),
    "ssh: root's path in other words": (
        SshPlugin(ssh_key_file_path="/root/.ssh/"),
        TRAINING,
        {"ssh_key_file_path": "Invalid"},
    ),
    "ssh: an empty path": (SshPlugin(ssh_key_file_path=""), TRAINING, {"ssh_key_file_path": "Invalid"}),
    "ssh: a public key alone": (SshPlugin(ssh_public_key="ssh-rsa A"), TRAINING, {"ssh_public_key": "Required"}),
    "ssh: a private key alone": (SshPlugin(ssh_private_key="PEM"), TRAINING, {"ssh_private_key": "Required"}),
    "pytorch: no master's task": (PytorchPlugin(), (task("worker"),), {"master": "NotFound"}),
    "pytorch: a master name that is not a task": (PytorchPlugin(master="boss"), TRAINING, {"master": "NotFound"}),
    "pytorch: a worker name that is not a task": (PytorchPlugin(worker="node"), TRAINING, {"worker": "NotFound"}),
    "pytorch: two masters": (PytorchPlugin(), (task("master", 2), task("worker")), {"master": "TooMany"}),
    "pytorch: no master": (PytorchPlugin(), (task("master", 0), task("worker")), {"master": "Invalid"}),
    "pytorch: a master that is the worker": (PytorchPlugin(worker="master"), TRAINING, {"worker": "Duplicate"}),
    "pytorch: a negative port": (PytorchPlugin(port=-1), TRAINING, {"port": "Invalid"}),
    "pytorch: a port beyond 32 bits": (PytorchPlugin(port=HUGE), TRAINING, {"port": "Invalid"}),
    "pytorch: a negative timeout": (
        PytorchPlugin(wait_master_timeout=-1),
        TRAINING,
        {"wait_master_timeout": "Invalid"},
    ),
    "tensorflow: no role": (TensorflowPlugin(), (task("a"), task("b")), {"worker": "Required"}),
    "tensorflow: a role name that is not a task": (
        TensorflowPlugin(chief="boss", evaluator="judge"),
        TRAINING,
        {"chief": "NotFound", "evaluator": "NotFound"},
    ),
    "tensorflow: a task of two roles": (
        TensorflowPlugin(ps="master", chief="master"),
        TRAINING,
        {"chief": "Duplicate"},
    ),
    "tensorflow: a port of 0": (TensorflowPlugin(port=0), TRAINING, {"port": "Invalid"}),
    "mpi: no worker's task": (MpiPlugin(), (task("master"), task("helper")), {"worker": "NotFound"}),
    "mpi: a worker name that is not a task": (MpiPlugin(worker="node"), TRAINING, {"worker": "NotFound"}),
    "mpi: a port beyond 16 bits": (MpiPlugin(port=70000), TRAINING, {"port": "Invalid"}),
    "ray: no head's task": (RayPlugin(), (task("worker", containers=[container("worker")]),), {"head": "NotFound"}),
    "ray: a head name that is not a task": (RayPlugin(head="boss"), RAY, {"head": "NotFound"}),
    "ray: a worker name that is not a task": (RayPlugin(worker="node"), RAY, {"worker": "NotFound"}),
    "ray: two heads": (RayPlugin(), (task("head", 2, containers=[container("head")]), RAY[1]), {"head": "TooMany"}),
    "ray: containers of other names": (
        RayPlugin(),
        (task("head"), task("worker")),
        {"head_container": "NotFound", "worker_container": "NotFound"},
    ),
    "ray: a named container that is not there": (RayPlugin(head_container="ray"), RAY, {"head_container": "NotFound"}),
    "ray: ports of 0": (
        RayPlugin(port=0, dashboard_port=-5, client_port=70000),
        RAY,
        {"client_port": "Invalid", "dashboard_port": "Invalid", "port": "Invalid"},
    ),
    "ray: two equal ports": (RayPlugin(dashboard_port=6379), RAY, {"port": "Duplicate"}),
    "hcclrank: a master name that is not a task": (HcclrankPlugin(master="boss"), TRAINING, {"master": "NotFound"}),
    "hcclrank: a worker name that is not a task": (HcclrankPlugin(worker="node"), TRAINING, {"worker": "NotFound"}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_wrong_setting_of_a_plugin_is_an_error_at_its_name(name: str, snapshot: SnapshotAssertion) -> None:
    """Volcano accepts these settings."""
    plugin, tasks, settings = SETTINGS[name]

    found = problems(job(*tasks, plugins=[plugin]))

    assert typed(found) == [(f"spec.plugins.{plugin.name}.{key}", value) for key, value in settings.items()]
    assert {problem.stage for problem in found} == {RejectionStage.STRICT}
    assert list(map(str, found)) == snapshot


@pytest.mark.parametrize(
    ("plugin", "tasks", "number"),
    [(plugin, tasks, len(settings)) for plugin, tasks, settings in SETTINGS.values()],
    ids=SETTINGS,
)
def test_a_wrong_argument_is_an_error_at_its_position(plugin: Plugin, tasks: tuple[Wire, ...], number: int) -> None:
    """If the setting is a default, the path is the plugin. The reason begins with the argument."""
    args = plugin.to_args()
    at = f"spec.plugins.{plugin.name}"

    found = problems(job(*tasks, plugins={plugin.name: args}))

    assert len(found) == number
    for problem in found:
        flag = problem.reason.partition(":")[0]
        given = [f"{at}[{index}]" for index, arg in enumerate(args) if arg.partition("=")[0] == flag]
        assert problem.path == (given[-1] if given else at)


@pytest.mark.parametrize(
    ("plugin", "tasks"),
    [
        (plugin, tasks)
        for name, (plugin, tasks, _) in SETTINGS.items()
        if name not in {"ray: no head's task", "ray: a head name that is not a task"}
    ],
    ids=[name for name in SETTINGS if name not in {"ray: no head's task", "ray: a head name that is not a task"}],
)
def test_lenient_mode_uses_the_fallbacks_of_volcano(plugin: Plugin, tasks: tuple[Wire, ...]) -> None:
    """Each of these settings has one."""
    assert render(job(*tasks, plugins=[plugin]), strict=False).objects


@pytest.mark.parametrize("plugin", [RayPlugin(), RayPlugin(head="boss")], ids=["the default", "a name"])
def test_a_missing_head_is_an_error_in_lenient_mode(plugin: RayPlugin) -> None:
    """Volcano creates none of the job's Pods."""
    error = refused(job(task("worker"), plugins=[plugin]), strict=False)

    assert error.stage is RejectionStage.PLUGIN
    assert [problem.path for problem in error.problems] == ["spec.plugins.ray.head"]


WRONG_TYPES: dict[str, tuple[type[Plugin], Wire, str]] = {
    "text for a number": (PytorchPlugin, {"port": "29500"}, "port"),
    "a fraction for a number": (PytorchPlugin, {"wait_master_timeout": 1.5}, "wait_master_timeout"),
    "a truth value for a number": (PytorchPlugin, {"port": True}, "port"),
    "text for a truth value": (PytorchPlugin, {"wait_master_enabled": "true"}, "wait_master_enabled"),
    "a number for a truth value": (SvcPlugin, {"disable_network_policy": 1}, "disable_network_policy"),
    "a list for a name": (TensorflowPlugin, {"ps": ["ps"]}, "ps"),
    "a number for a key": (SshPlugin, {"ssh_private_key": 5, "ssh_public_key": "x"}, "ssh_private_key"),
    "an unknown number": (MpiPlugin, {"port": Leaf("port")}, "port"),
    "an unknown master": (MpiPlugin, {"master": Leaf("master")}, "master"),
    "an unknown head": (RayPlugin, {"head": Leaf("head")}, "head"),
    "an unknown port of sshd": (SshPlugin, {"ssh_port": Leaf("port")}, "ssh_port"),
}


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
@pytest.mark.parametrize(("plugin", "settings", "setting"), WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_a_setting_of_the_wrong_type_is_an_error_in_both_modes(
    plugin: type[Plugin],
    settings: Wire,
    setting: str,
    strict: bool,  # noqa: FBT001
) -> None:
    """The constructor rejects it: Volcano has no default to use instead."""
    found = problems(lambda: job(*TRAINING, plugins=[plugin(**settings)]), strict=strict)

    assert typed(found) == [(f"spec.plugins.{plugin.name}.{setting}", "TypeInvalid")]
    assert {problem.stage for problem in found} == {RejectionStage.DECODE}


def test_an_output_in_the_arguments_of_a_plugin_is_an_error_at_its_position() -> None:
    """Only a key can be an Output."""
    document = job(*TRAINING, plugins={"pytorch": ["--master=master", "--port", Leaf("port")]})

    (problem,) = problems(document)

    assert typed([problem]) == [("spec.plugins.pytorch[1]", "TypeInvalid")]
    assert "Output" in problem.reason


def test_a_typed_plugin_under_the_name_of_another_is_an_error() -> None:
    """A mapping of typed plugins has their own names."""
    assert places(job(*TRAINING, plugins={"ssh": PytorchPlugin()})) == ["spec.plugins.ssh"]


@pytest.mark.parametrize("managed_by", ["pulumi", "volcano"])
def test_a_plugin_without_a_value_is_not_used(managed_by: str) -> None:
    """`svc:` in YAML is a null, which the API server accepts and drops; `svc: []` has the plugin."""
    document = job(plugins={"svc": None})

    rendered = render(document, managed_by=managed_by)

    assert typed(rendered.warnings) == [("spec.plugins.svc", "VJ127")]
    assert rendered.plugins == render(document, strict=False).plugins == ()
    assert "svc" not in rendered.native_job.uses


def test_a_null_in_the_arguments_of_a_plugin_is_an_error() -> None:
    """Volcano's CRD rejects it."""
    assert places(job(plugins={"svc": [None]})) == ["spec.plugins.svc[0]"]


def test_an_empty_argument_has_its_reason_after_the_flag() -> None:
    """The setting has no reason of its own."""
    arguments = ["--wait-master-enabled=true", "--wait-master-image="]

    (problem,) = problems(job(task("master"), task(), plugins={"pytorch": arguments}))

    assert (problem.path, problem.reason) == ("spec.plugins.pytorch[1]", "--wait-master-image: may not be empty")


def test_a_wrong_value_of_a_flag_is_not_its_fix() -> None:
    """The flag has the right form."""
    (problem,) = problems(job(task("master"), task(), plugins={"pytorch": ["--port=abc"]}))

    assert (problem.path, problem.hint) == ("spec.plugins.pytorch[0]", "")
