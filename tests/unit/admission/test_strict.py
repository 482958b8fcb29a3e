"""What Volcano would take and do something else with is refused, with its place, in strict mode only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
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
from pulumi_volcano_jobs.core.errors import Stage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes.schema import nearest
from tests.conftest import CLAIM, Wire, container, job, places, problems, refused, task, typed
from tests.pod_rules import OF_CLAIM, claim

GOLDEN = Path(__file__).parents[2] / "golden"

TRAINING = (task("master"), task("worker", 2))
RAY = (
    task("head", containers=[container("head")]),
    task("worker", 2, containers=[container("worker")]),
)
HUGE = 2**31

# The plugin, the tasks, and the settings that are wrong with their types of error.
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
    "pytorch: a named master that is no task": (PytorchPlugin(master="boss"), TRAINING, {"master": "NotFound"}),
    "pytorch: a named worker that is no task": (PytorchPlugin(worker="node"), TRAINING, {"worker": "NotFound"}),
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
    "tensorflow: a named role that is no task": (
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
    "mpi: a named worker that is no task": (MpiPlugin(worker="node"), TRAINING, {"worker": "NotFound"}),
    "mpi: a port beyond 16 bits": (MpiPlugin(port=70000), TRAINING, {"port": "Invalid"}),
    "ray: no head's task": (RayPlugin(), (task("worker", containers=[container("worker")]),), {"head": "NotFound"}),
    "ray: a named head that is no task": (RayPlugin(head="boss"), RAY, {"head": "NotFound"}),
    "ray: a named worker that is no task": (RayPlugin(worker="node"), RAY, {"worker": "NotFound"}),
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
    "hcclrank: a named master that is no task": (HcclrankPlugin(master="boss"), TRAINING, {"master": "NotFound"}),
    "hcclrank: a named worker that is no task": (HcclrankPlugin(worker="node"), TRAINING, {"worker": "NotFound"}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_wrong_setting_of_a_plugin_is_an_error_at_its_name(name: str, snapshot: SnapshotAssertion) -> None:
    """Only this library rejects it."""
    plugin, tasks, settings = SETTINGS[name]

    found = problems(job(*tasks, plugins=[plugin]))

    assert typed(found) == [(f"spec.plugins.{plugin.name}.{key}", value) for key, value in settings.items()]
    assert {problem.stage for problem in found} == {Stage.STRICT}
    assert list(map(str, found)) == snapshot


@pytest.mark.parametrize(
    ("plugin", "tasks", "number"),
    [(plugin, tasks, len(settings)) for plugin, tasks, settings in SETTINGS.values()],
    ids=SETTINGS,
)
def test_a_wrong_argument_is_told_by_its_position(plugin: Plugin, tasks: tuple[Wire, ...], number: int) -> None:
    """Or by its plugin, if the setting is a default; the reason begins with the argument."""
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
        if name not in {"ray: no head's task", "ray: a named head that is no task"}
    ],
    ids=[name for name in SETTINGS if name not in {"ray: no head's task", "ray: a named head that is no task"}],
)
def test_lenient_mode_goes_on_as_volcano_does(plugin: Plugin, tasks: tuple[Wire, ...]) -> None:
    """All of these are Volcano's fall-backs."""
    assert render(job(*tasks, plugins=[plugin]), strict=False).objects


@pytest.mark.parametrize("plugin", [RayPlugin(), RayPlugin(head="boss")], ids=["the default", "a name"])
def test_a_missing_head_is_an_error_of_the_plugin_in_lenient_mode(plugin: RayPlugin) -> None:
    """Volcano makes none of the job's Pods then."""
    error = refused(job(task("worker"), plugins=[plugin]), strict=False)

    assert error.stage is Stage.PLUGIN
    assert [problem.path for problem in error.problems] == ["spec.plugins.ray.head"]


WRONG_TYPES: dict[str, tuple[Plugin, str]] = {
    "text for a number": (PytorchPlugin(port="29500"), "port"),  # type: ignore[arg-type]
    "a fraction for a number": (PytorchPlugin(wait_master_timeout=1.5), "wait_master_timeout"),  # type: ignore[arg-type]
    "a truth value for a number": (PytorchPlugin(port=True), "port"),
    "text for a truth value": (PytorchPlugin(wait_master_enabled="true"), "wait_master_enabled"),  # type: ignore[arg-type]
    "a number for a truth value": (SvcPlugin(disable_network_policy=1), "disable_network_policy"),  # type: ignore[arg-type]
    "nothing for a name": (TensorflowPlugin(ps=None), "ps"),  # type: ignore[arg-type]
    "a number for a key": (SshPlugin(ssh_private_key=5, ssh_public_key="x"), "ssh_private_key"),  # type: ignore[arg-type]
    "an unknown number": (MpiPlugin(port=Leaf("port")), "port"),  # type: ignore[arg-type]
    "an unknown master": (MpiPlugin(master=Leaf("master")), "master"),  # type: ignore[arg-type]
    "an unknown head": (RayPlugin(head=Leaf("head")), "head"),  # type: ignore[arg-type]
    "an unknown port of sshd": (SshPlugin(ssh_port=Leaf("port")), "ssh_port"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
@pytest.mark.parametrize(("plugin", "setting"), WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_a_setting_of_the_wrong_type_is_told_and_nothing_breaks(plugin: Plugin, setting: str, strict: bool) -> None:  # noqa: FBT001
    """Python does not check the types of a plugin's settings, and Volcano has nothing to fall back to."""
    found = problems(job(*TRAINING, plugins=[plugin]), strict=strict)

    assert typed(found) == [(f"spec.plugins.{plugin.name}.{setting}", "TypeInvalid")]
    assert {problem.stage for problem in found} == {Stage.DECODE}


def test_an_output_in_the_arguments_of_a_plugin_is_an_error_at_its_position() -> None:
    """Only a key can be an Output."""
    document = job(*TRAINING, plugins={"pytorch": ["--master=master", "--port", Leaf("port")]})

    (problem,) = problems(document)

    assert typed([problem]) == [("spec.plugins.pytorch[1]", "TypeInvalid")]
    assert "Output" in problem.reason


def test_a_plugin_under_another_s_name_is_told() -> None:
    """A mapping of typed plugins has their own names."""
    assert places(job(*TRAINING, plugins={"ssh": PytorchPlugin()})) == ["spec.plugins.ssh"]


MISREAD: dict[str, list[str]] = {
    "env-args": ["env[0]", "env[1]"],
    "hcclrank-bad-flag": ["hcclrank[0]"],
    "mpi-port-text": ["mpi[0]"],
    "pytorch-one-string": ["pytorch[0]"],
    "pytorch-port-int32": ["pytorch[0]"],
    "pytorch-port-quoted": ["pytorch[0]"],
    "pytorch-port-space": ["pytorch[0]"],
    "pytorch-port-text": ["pytorch[0]", "pytorch[1]"],
    "pytorch-wait-two-words": ["pytorch[1]"],
    "ray-kebab-flag": ["ray[0]"],
    "ray-port-text": ["ray[0]"],
    "ray-port-too-big": ["ray[0]"],
    "ray-ports-equal": ["ray[0]"],
    "ssh-double-dash": ["ssh[0]"],
    "ssh-empty-argument": ["ssh[0]"],
    "ssh-help": ["ssh[0]"],
    "ssh-missing-value": ["ssh[1]"],
    "ssh-no-dashes": ["ssh[0]"],
    "ssh-port-negative": ["ssh[0]"],
    "ssh-port-overflow": ["ssh[0]"],
    "ssh-port-too-big": ["ssh[0]"],
    "ssh-public-only": ["ssh[0]"],
    "ssh-spaces-argument": ["ssh[0]"],
    "ssh-triple-dash": ["ssh[0]"],
    "ssh-unknown-flag-first": ["ssh[0]"],
    "svc-no-dashes": ["svc[0]"],
    "svc-publish-two-words": ["svc[1]"],
    "svc-unknown-flag": ["svc[0]"],
    "svc-unknown-flag-last": ["svc[1]"],
    "tensorflow-port-text": ["tensorflow[0]"],
}
OTHER: dict[str, list[str]] = {
    "env-clash": ["tasks[0].template.spec.containers[0].env[0]"],
    "mpi-no-worker": ["plugins.mpi"],
    "mpi-port-declared": ["tasks[0].template.spec.containers[0].env[0]"],
    "mpi-port-name-clash": ["tasks[1].template.spec.containers[0].ports[0]"],
    "multi-pytorch-hcclrank-masters": ["plugins.pytorch"],
    "plain-name-long-index": ["tasks[0].name"],
    "pytorch-env-clash": ["tasks[1].template.spec.containers[0].env[0]", "tasks[1].template.spec.containers[0].env[1]"],
    "pytorch-names-mismatch": ["plugins.pytorch"],
    "pytorch-no-master": ["plugins.pytorch"],
    "pytorch-two-masters": ["plugins.pytorch"],
    "ray-ports-declared": [
        "tasks[0].template.spec.containers[0].ports[0]",
        "tasks[0].template.spec.containers[0].ports[1]",
    ],
    "ssh-keys-given": ["plugins.ssh[0]"],
    "ssh-keys-multiline": ["plugins.ssh[0]"],
    "ssh-keys-equals": ["plugins.ssh[0]"],
    "ssh-path-trailing-slash": ["plugins.ssh[0]"],
    "ray-port-name-clash": ["tasks[0].template.spec.containers[0].ports[0]"],
    "ssh-mount-clash": ["tasks[0].template.spec.containers[0].volumeMounts[0]"],
    "ssh-volume-clash": ["tasks[0].template.spec.volumes[0]"],
    "svc-env-clash": ["tasks[0].template.spec.containers[0].env[0]"],
    "tensorflow-init": ["tasks[1].template.spec.containers[0].env[0]"],
    "tensorflow-no-roles": ["plugins.tensorflow"],
    "tensorflow-same-names": ["plugins.tensorflow"],
}


def golden(name: str) -> Wire:
    """Read a case that Volcano took."""
    document: Wire = yaml.safe_load((GOLDEN / "cases" / f"{name}.yaml").read_text("utf-8"))
    return document


CREATED = sorted(
    path.stem
    for path in (GOLDEN / "expected").glob("*.json")
    if json.loads(path.read_text("utf-8"))["meta"]["stage"] == "created"
)
# Its name comes from the server, or has a dot that no Service takes.
SPECIAL = {"plain-generate-name", "plain-job-name-dot"}


@pytest.mark.parametrize("name", MISREAD)
def test_an_argument_that_volcano_misreads_is_told_by_its_position(name: str) -> None:
    """Every golden case of the sort: Volcano says nothing, and goes on without it."""
    assert places(golden(name)) == [f"spec.plugins.{place}" for place in MISREAD[name]]


@pytest.mark.parametrize("name", OTHER)
def test_what_volcano_takes_and_breaks_is_told(name: str) -> None:
    """Every other golden case that was not meant so: roles that no task has, clashes with the template."""
    assert places(golden(name)) == [f"spec.{place}" for place in OTHER[name]]


@pytest.mark.parametrize("name", [name for name in CREATED if name not in MISREAD.keys() | OTHER.keys() | SPECIAL])
def test_all_other_jobs_that_volcano_takes_are_taken(name: str) -> None:
    """Strictness refuses nothing that works."""
    document = golden(name)

    strict, lenient = render(document), render(document, strict=False)

    assert (strict.objects, strict.pods, strict.plugins) == (lenient.objects, lenient.pods, lenient.plugins)


def test_a_job_s_name_must_be_a_service_s_name_where_one_is_made() -> None:
    """Volcano takes dots, and the API server then refuses the Service."""
    assert places(golden("plain-job-name-dot")) == ["metadata.name"]
    assert render(job(name="my.job")).pods


SHORT = (task("h", containers=[container("head")]),)
NAMES: dict[str, tuple[Wire, list[str]]] = {
    "the last Pod's name": (job(task("w" * 55, 11)), ["spec.tasks[0].name"]),
    "the last Pod's name that just fits": (job(task("w" * 55, 10)), []),
    "the head's Service": (job(*SHORT, name="r" * 55, plugins=[RayPlugin(head="h")]), ["metadata.name"]),
    "the head's Service that just fits": (job(*SHORT, name="r" * 54, plugins=[RayPlugin(head="h")]), []),
}


@pytest.mark.parametrize(("document", "told"), NAMES.values(), ids=NAMES)
def test_a_name_that_grows_too_long_is_told(document: Wire, told: list[str]) -> None:
    """63 characters: the webhook only looks at Volcano's positions, and the API server refuses the rest."""
    if not told:
        assert render(document).pods
        return
    found = problems(document)

    assert typed(found) == [(path, "TooLong") for path in told]
    assert {problem.stage for problem in found} == {Stage.API}
    assert render(document, strict=False).pods


def test_ssh_without_svc_is_odd() -> None:
    """The names in its configuration do not resolve: a warning, and the job is made."""
    assert typed(render(job(plugins={"ssh": []})).warnings) == [("spec.plugins.ssh", "VJ110")]
    assert render(job(plugins={"ssh": [], "svc": []})).warnings == ()
    assert render(job(plugins={"ssh": []}), strict=False).warnings == ()


@pytest.mark.parametrize("managed_by", ["pulumi", "volcano"])
def test_a_plugin_without_a_value_is_not_used(managed_by: str) -> None:
    """`svc:` in YAML is a null, which the API server accepts and drops; `svc: []` has the plugin."""
    document = job(plugins={"svc": None})

    rendered = render(document, managed_by=managed_by)

    assert typed(rendered.warnings) == [("spec.plugins.svc", "VJ127")]
    assert rendered.plugins == render(document, strict=False).plugins == ()
    assert "svc" not in rendered.handed_over.uses


UNSET = {"event": "", "events": ["PodFailed"], "action": "RestartJob"}


@pytest.mark.parametrize("managed_by", ["pulumi", "volcano"])
@pytest.mark.parametrize(
    "document",
    [
        job({**task(), "topologyPolicy": ""}),
        job(policies=[UNSET]),
        job({**task(), "policies": [UNSET]}),
        job(plugins=[]),
        job(plugins=None),
    ],
    ids=["topologyPolicy", "event", "event of a task", "a list of no plugins", "no plugins"],
)
def test_an_empty_optional_value_is_accepted(document: Wire, managed_by: str) -> None:
    """Volcano reads it as a missing one."""
    rendered = render(document, managed_by=managed_by)

    assert (rendered.warnings, rendered.plugins, len(rendered.pods)) == ((), (), 1)


def test_a_null_in_the_arguments_of_a_plugin_is_an_error() -> None:
    """Volcano's resource definition rejects it."""
    assert places(job(plugins={"svc": [None]})) == ["spec.plugins.svc[0]"]


def test_a_data_source_that_the_api_server_ignores_is_an_error(snapshot: SnapshotAssertion) -> None:
    """The claim would be accepted, and its volume empty."""
    sources = ({"kind": "VolumeSnapshot", "name": "a"}, {"apiGroup": "A", "kind": "B", "name": ""})
    first, second = (
        problems(job(volumes=[{"mountPath": "/data", "volumeClaim": CLAIM | {"dataSource": source}}]))
        for source in sources
    )

    assert typed(first) == [("spec.volumes[0].volumeClaim.dataSource", "Invalid")]
    assert second == first
    assert str(first[0]) == snapshot


def test_a_data_source_that_the_api_server_ignores_in_an_ephemeral_volume_is_an_error() -> None:
    """The API server accepts the Pod, and ignores the source in the claim that comes with it."""
    spec = claim(dataSource={"apiGroup": "example.org", "kind": "Backup", "name": "a"})
    document = job({"name": "worker", "replicas": 1, "template": {"spec": spec}})

    assert [(problem.path, problem.stage) for problem in problems(document)] == [
        (f"spec.tasks[0].template.{OF_CLAIM}.dataSource", Stage.STRICT)
    ]
    assert render(document, strict=False).pods


UNKNOWN: dict[str, tuple[Wire, str, str]] = {
    "of the spec": (job(minAvaliable=1), "spec.minAvaliable", "minAvailable"),
    "of a task": (job({**task(), "replica": 1}), "spec.tasks[0].replica", "replicas"),
    "of a policy": (
        job(policies=[{"event": "PodFailed", "action": "AbortJob", "exitcode": 1}]),
        "spec.policies[0].exitcode",
        "exitCode",
    ),
    "of a task's policy": (
        job({**task(), "policies": [{"event": "PodFailed", "action": "AbortJob", "timeOut": "1s"}]}),
        "spec.tasks[0].policies[0].timeOut",
        "timeout",
    ),
    "of a volume": (
        job(volumes=[{"mountPath": "/a", "volumeClaimName": "x", "volumeclaim": {}}]),
        "spec.volumes[0].volumeclaim",
        "volumeClaim",
    ),
    "of a template": (job(task(restartPolcy="Never")), "spec.tasks[0].template.spec.restartPolcy", "restartPolicy"),
    "of a claim": (
        job(volumes=[{"mountPath": "/a", "volumeClaim": {**CLAIM, "accessMode": ["x"]}}]),
        "spec.volumes[0].volumeClaim.accessMode",
        "accessModes",
    ),
    "of the network topology": (job(networkTopology={"Mode": "hard"}), "spec.networkTopology.Mode", "mode"),
    "of the document": ({**job(), "specs": {}}, "specs", ""),
    "of the metadata": (
        {**job(), "metadata": {"name": "train", "label": {}}},
        "metadata.label",
        "labels",
    ),
    "of the metadata in the spec": (job(labels={"a": "b"}), "spec.labels", ""),
}


@pytest.mark.parametrize(("document", "path", "right"), UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_field_is_told_with_the_nearest_name(document: Wire, path: str, right: str) -> None:
    """Volcano drops it."""
    (problem,) = problems(document)

    assert typed([problem]) == [(path, "Forbidden")]
    assert problem.stage is Stage.STRICT
    assert not right or problem.hint == nearest(right, [right])
    assert render(document, strict=False).pods


def test_problems_of_all_kinds_arrive_at_once() -> None:
    """Types, the schema, arguments and plugins' names: one run shows them all, but for what needs the whole job."""
    document = job(
        task("boss", "2", containers=[container(image=5)]),  # type: ignore[arg-type]
        task("Worker"),
        plugins={"pytorch": ["--port=x", "--nope"], "torch": [], "ssh": "--ssh-port=22"},
        queue="root",
        minAvaliable=1,
    )

    assert places(document) == [
        "spec.minAvaliable",
        "spec.plugins.pytorch[0]",
        "spec.plugins.pytorch[1]",
        "spec.plugins.ssh",
        "spec.plugins.torch",
        "spec.tasks[0].replicas",
        "spec.tasks[0].template.spec.containers[0].image",
        "spec.tasks[1].name",
    ]


def test_sound_shapes_with_several_mistakes_are_told_at_once() -> None:
    """What needs the whole job is looked at when its shape is right."""
    document = job(
        task("boss", containers=[container("side"), container("side")]),
        {**task("worker", 2), "minAvailable": 3},
        plugins={"pytorch": ["--port=70000"], "mpi": [], "nope": []},
        queue="root",
    )

    assert places(document) == [
        "spec.minAvailable",
        "spec.plugins.mpi",
        "spec.plugins.nope",
        "spec.plugins.pytorch",
        "spec.plugins.pytorch[0]",
        "spec.queue",
        "spec.tasks[0].template.spec.containers[1].name",
        "spec.tasks[1].minAvailable",
    ]


def test_a_mistake_is_told_once() -> None:
    """That `x` is no number, and not also that 0 is no port."""
    assert len(problems(job(*TRAINING, plugins={"pytorch": ["--port=x"]}))) == 1


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
def test_keys_are_never_in_a_message(strict: bool) -> None:  # noqa: FBT001
    """Neither given ones nor those in arguments that are misread."""
    secret = "-----BEGIN-SECRET"  # that is what is tested
    document = job(
        task(containers=[container(image="")]),
        plugins={"ssh": [f"--ssh-private-key={secret}", f"--ssh-privat-key={secret}", secret]},
    )

    error = refused(document, strict=strict)

    assert secret not in str(error)
    assert secret not in repr(error.problems)


def test_a_typed_plugin_s_key_is_never_in_a_message_or_its_repr() -> None:
    """Whatever is wrong with it."""
    plugin = SshPlugin(ssh_private_key="s3cret", ssh_port=0)

    found = problems(job(plugins=[plugin]))

    assert "s3cret" not in repr(found) + repr(plugin) + str(found)


def test_what_the_api_server_would_refuse_of_what_is_made_is_among_what_is_told() -> None:
    """Volcano takes each of these jobs, and then stands before half of its Pods."""
    refused_later = {
        path.stem
        for path in (GOLDEN / "expected").glob("*.json")
        if json.loads(path.read_text("utf-8"))["meta"].get("apiRejects")
    }

    assert len(refused_later) > 10
    assert refused_later <= MISREAD.keys() | OTHER.keys() | {"plain-job-name-dot"}


@pytest.mark.parametrize("second", ["/data/", "//data", "/data/."])
def test_one_mount_path_in_two_spellings_is_an_error(second: str) -> None:
    """The second volume would hide the first; Volcano compares the texts."""
    volumes = [{"mountPath": path, "volumeClaim": CLAIM} for path in ("/data", second)]

    found = problems(job(task(), volumes=volumes))

    assert typed(found) == [("spec.volumes[1].mountPath", "Duplicate")]
    assert found[0].value == repr(second)


def test_the_error_of_a_mount_path_in_two_spellings_has_a_fix(snapshot: SnapshotAssertion) -> None:
    """The fix is to remove one of the volumes."""
    volumes = [{"mountPath": path, "volumeClaim": CLAIM} for path in ("/data", "/data/")]

    (problem,) = problems(job(task(), volumes=volumes))

    assert str(problem) == snapshot


def test_what_is_made_of_one_path_in_two_spellings_is_made_once() -> None:
    """In lenient mode: two claims of one name would be one object twice."""
    volumes = [{"mountPath": path, "volumeClaim": CLAIM} for path in ("/data", "/data/")]
    rendered = render(job(task(), volumes=volumes), strict=False)

    claims = [item["metadata"]["name"] for item in rendered.objects if item["kind"] == "PersistentVolumeClaim"]
    assert claims == ["train-pvc-data"]


def test_a_pod_without_containers_is_told_whatever_the_plugins_add_to_it() -> None:
    """The plugins are not asked for Pods: each may rely on a container."""
    document = job(task("master", containers=[]), task("worker"), plugins={"mpi": []})

    assert typed(problems(document, defaults="recommended")) == [("spec.tasks[0].template.spec.containers", "Required")]
