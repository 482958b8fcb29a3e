"""None as an argument means "not set", so that a wrapper can pass its optional arguments on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_args

import pulumi
import pytest

from pulumi_volcano_jobs import (
    Allow,
    DependsOn,
    Job,
    JobDefaults,
    JobError,
    NetworkTopology,
    PartitionPolicy,
    Plugin,
    Policy,
    SshPlugin,
    SvcPlugin,
    Task,
    VolcanoJob,
    VolcanoJobArgs,
    VolcanoQueue,
    VolcanoQueueArgs,
    Volume,
    presets,
    render,
)
from pulumi_volcano_jobs.component import queue_args
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.plugins.settings import option
from pulumi_volcano_jobs.spec.model import Model
from pulumi_volcano_jobs.spec.options import RenderOptions
from pulumi_volcano_jobs.testing import Result, Surroundings, failed, run
from tests.component.programs import new_job
from tests.conftest import Wire, job, task, typed

CONFIG = {"volcano-jobs:queue": "batch", "volcano-jobs:managedBy": "volcano", "volcano-jobs:imageRegistry": "ghcr.io/a"}
REQUIRED: Mapping[type[Model], Wire] = {
    DependsOn: {},
    Job: {"name": "train"},
    NetworkTopology: {},
    PartitionPolicy: {"total_partitions": 2, "partition_size": 1},
    Policy: {},
    Task: {},
    Volume: {"mount_path": "/data"},
}
YAML = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  tasks:
    - {name: worker, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}
"""
SETTINGS = [(plugin, name) for plugin in BUILT_IN for name in plugin.model_fields]
FIELDS = [(model, name) for model, required in REQUIRED.items() for name in model.model_fields if name not in required]
QUEUE_PARTS: Mapping[str, Callable[[Any], Wire]] = {
    "label": lambda value: {"labels": {"a": "b", "team": value}},
    "annotation": lambda value: {"annotations": {"a": "b", "note": value}},
    "amount": lambda value: {"capability": {"memory": "1Gi", "cpu": value}},
    "guarantee": lambda value: {"guarantee": {"resource": value}},
    "affinity": lambda value: {"affinity": {"node_group_affinity": value}},
    "cluster": lambda value: {"extend_clusters": [{"name": "other", "weight": value}]},
}
PRESETS: Mapping[str, Wire] = {
    "shm": {"size": "8Gi"},
    "nccl": {"variables": {"NCCL_IB_HCA": "mlx5"}, "debug": "WARN"},
    "rdma": {"resource": "rdma/a"},
    "efa": {},
    "topology_spread": {"job": "train", "key": "zone"},
    "pod_affinity": {"job": "train", "key": "zone"},
}
PRESET_ARGUMENTS = [
    (preset, name)
    for preset, required in PRESETS.items()
    for name in inspect.signature(getattr(presets, preset)).parameters
    if name not in required
]
NOTHING: Any = None


def seen(result: Result) -> tuple[Wire, list[str]]:
    """Return everything that a program registered and logged."""
    return {**result.leaves(), "manifests": result.manifests()}, result.warnings


def of_job(arguments: Mapping[str, Any], config: Mapping[str, str] | None = None) -> tuple[Wire, list[str]]:
    """Return what a program with one job registers."""
    return seen(run(lambda: new_job("train", {"tasks": [task()], **arguments}) and None, config=config))


@pytest.mark.parametrize("name", sorted(VolcanoJobArgs.__annotations__.keys() - {"tasks"}))
@pytest.mark.parametrize("config", [None, CONFIG], ids=["alone", "with defaults of the stack"])
def test_an_argument_of_a_job_that_is_none_is_not_set(name: str, config: Mapping[str, str] | None) -> None:
    """It also keeps the default that the configuration of the stack sets."""
    assert of_job({name: None}, config) == of_job({}, config)


def test_tasks_that_are_none_are_missing_tasks() -> None:
    """The error is that of a job without tasks."""
    assert typed(failed(lambda: new_job("train", {"tasks": None})).problems) == [("spec.tasks", "Required")]


@pytest.mark.parametrize("name", sorted(JobDefaults.__annotations__))
def test_a_shared_default_that_is_none_is_not_set(name: str) -> None:
    """The configuration of the stack still applies."""
    assert of_job({"job_defaults": {name: None}}, CONFIG) == of_job({}, CONFIG)


@pytest.mark.parametrize("name", ["labels", "annotations"])
def test_a_label_that_is_none_is_not_set(name: str) -> None:
    """The other labels remain, in arguments, in a Job and in shared defaults."""
    assert of_job({name: {"team": "ml", "other": None}}) == of_job({name: {"team": "ml"}})
    assert Job(name="a", **{name: {"team": "ml", "other": None}}) == Job(name="a", **{name: {"team": "ml"}})


@pytest.mark.parametrize("name", ["labels", "node_selector"])
def test_an_entry_of_a_shared_default_that_is_none_is_not_set(name: str) -> None:
    """The other entries remain."""
    assert of_job({"job_defaults": {name: {"a": "b", "other": None}}}) == of_job({"job_defaults": {name: {"a": "b"}}})


@pytest.mark.parametrize(("model", "name"), FIELDS, ids=lambda value: getattr(value, "__name__", value))
def test_a_field_that_is_none_is_not_set(model: type[Model], name: str) -> None:
    """Every field of every model, in both spellings."""
    expected, alias = model(**REQUIRED[model]), model.model_fields[name].alias
    for key in (name, str(alias)):
        given = model(**REQUIRED[model], **{key: None})
        assert given == expected
        assert given.model_fields_set == expected.model_fields_set


@pytest.mark.parametrize(("plugin", "name"), SETTINGS, ids=lambda value: getattr(value, "__name__", value))
def test_a_setting_that_is_none_has_its_default(plugin: type[Plugin], name: str) -> None:
    """It remains unset, so that the recommended value also applies."""
    given = plugin(**{name: None})
    assert given == plugin()
    if type(None) not in get_args(plugin.model_fields[name].annotation):
        assert name not in given.model_fields_set
    assert given.recommended() == plugin().recommended()


def test_a_change_that_is_none_keeps_the_setting() -> None:
    """`with_` replaces only settings that are not None."""
    assert SshPlugin(ssh_port=2222).with_(ssh_port=None, key_type="ed25519").ssh_port == 2222


def test_none_is_a_value_of_a_setting_that_says_so() -> None:
    """A plugin of a user can distinguish None from the default."""

    class Limited(Plugin):
        """A plugin with a limit."""

        name = "limited"
        limit: int | None = option(default=5)

    assert Limited(limit=None).limit is None
    assert Limited().limit == 5


def test_none_in_an_allow_list_does_not_open_the_ports_to_everybody() -> None:
    """An entry whose keys are all None is an empty entry, and a label that is None selects nothing."""
    found = failed(lambda: new_job("train", {"tasks": [task()], "plugins": [SvcPlugin(allow=[Allow(ports=None)])]}))
    assert typed(found.problems) == [("spec.plugins.svc.allow[0]", "Required")]
    allow = Allow(ports=[80], namespaces=None, pods={"app": "a", "tier": None}, cidrs=None, task=None)
    assert SvcPlugin(allow=[allow]) == SvcPlugin(allow=[Allow(ports=[80], pods={"app": "a"})])


def test_options_of_plugins_that_are_none_are_not_set() -> None:
    """One setting, and all settings of a plugin."""
    svc = {"plugins": {"svc": []}}
    assert of_job({**svc, "plugin_options": {"svc": {"own_address": None}}}) == of_job(svc)
    assert of_job({**svc, "plugin_options": {"svc": None, "mpi": None}}) == of_job(svc)


def test_a_plugin_whose_arguments_are_none_is_not_used() -> None:
    """A warning says so, because YAML of Volcano often has a plugin without arguments in this form."""
    resources, warnings = of_job({"plugins": {"ssh": None}})
    assert resources == of_job({})[0]
    assert [text.rpartition("[")[2] for text in warnings] == ["VJ127]"]


@pytest.mark.parametrize("name", sorted(VolcanoQueueArgs.__annotations__))
def test_an_argument_of_a_queue_that_is_none_is_not_set(name: str) -> None:
    """Every argument."""
    arguments: Any = {name: None}
    assert seen(run(lambda: VolcanoQueue("q", arguments) and None)) == seen(run(lambda: VolcanoQueue("q") and None))


@pytest.mark.parametrize("part", QUEUE_PARTS.values(), ids=QUEUE_PARTS)
def test_a_part_of_a_queue_that_is_none_is_not_set(part: Callable[[Any], Any]) -> None:
    """The manifest is that of a queue without it."""
    with_none, without = part(None), _without_none(part(None))
    expected = run(lambda: VolcanoQueue("q", without) and None).manifests()
    assert run(lambda: VolcanoQueue("q", with_none) and None).manifests() == expected


@pytest.mark.parametrize("name", sorted(VolcanoJobArgs.__annotations__.keys() & {*RenderOptions.__annotations__}))
def test_an_option_of_a_file_that_is_none_is_not_set(name: str) -> None:
    """`from_yaml` and `render` treat None alike."""
    options: Any = {name: None}
    expected = seen(run(lambda: VolcanoJob.from_yaml("train", YAML) and None))
    assert seen(run(lambda: VolcanoJob.from_yaml("train", YAML, **options) and None)) == expected
    assert render(job(), **options) == render(job())


def test_facts_of_a_cluster_that_are_none_are_not_set() -> None:
    """The namespace is the default one."""
    assert render(job(), cluster=None, namespace=None) == render(job())


@pytest.mark.parametrize(("preset", "name"), PRESET_ARGUMENTS)
def test_an_argument_of_a_preset_that_is_none_is_not_set(preset: str, name: str) -> None:
    """Every optional argument of every preset."""
    build, template = getattr(presets, preset), task()["template"]
    expected = presets.apply(template, build(**PRESETS[preset]))
    assert presets.apply(template, build(**PRESETS[preset], **{name: None}), None) == expected


def test_values_of_presets_that_are_none_are_not_set() -> None:
    """Keys of taints, and variables."""
    template = task()["template"]
    tolerations = presets.apply(template, presets.gpu_tolerations(None))
    assert tolerations == presets.apply(template, presets.gpu_tolerations())
    variables = presets.nccl(debug="WARN", variables={"NCCL_IB_HCA": None})
    assert presets.apply(template, variables) == presets.apply(template, presets.nccl(debug="WARN"))


@pytest.mark.parametrize("preset", ["shm", "rdma", "topology_spread", "pod_affinity"])
def test_a_required_argument_of_a_preset_may_not_be_none(preset: str) -> None:
    """The error names each of them."""
    with pytest.raises(JobError) as caught:
        getattr(presets, preset)(**dict.fromkeys(PRESETS[preset]))
    assert typed(caught.value.problems) == [(f"presets.{preset}.{name}", "Required") for name in PRESETS[preset]]


@pytest.mark.parametrize("name", sorted(Surroundings.__annotations__))
def test_an_argument_of_run_that_is_none_is_not_set(name: str) -> None:
    """Every argument, and a value of the configuration."""
    surroundings: Any = {name: None}
    assert seen(run(lambda: None, **surroundings)) == seen(run(lambda: None))


def test_a_value_of_the_configuration_that_is_none_is_not_set() -> None:
    """Plain and secret ones."""

    def program() -> Mapping[str, Any]:
        config = pulumi.Config()
        return {name: config.get(name) is None for name in ("plain", "secret")}

    assert run(program, config={"plain": None}, secrets={"secret": None}).outputs == {"plain": True, "secret": True}


@pytest.mark.parametrize(
    ("program", "place"),
    [
        (lambda: new_job("train", {"tasks": [task()], "quue": None}), "spec.quue"),
        (lambda: new_job("train", {"tasks": [{**task(), "minAvalable": None}]}), "spec.tasks[0].minAvalable"),
        (lambda: new_job("train", {"tasks": [task()], "job_defaults": {"quue": None}}), "job_defaults.quue"),
        (lambda: SshPlugin(ssh_prot=None), "spec.plugins.ssh.ssh_prot"),
        (lambda: VolcanoQueue("q", {"wieght": NOTHING}), "spec.wieght"),  # type: ignore[typeddict-unknown-key]
        (lambda: presets.efa(devces=NOTHING), "presets.efa.devces"),
    ],
)
def test_an_unknown_name_is_an_error_even_if_its_value_is_none(program: Callable[[], object], place: str) -> None:
    """The value may be set in another stack."""
    assert typed(failed(program).problems) == [(place, "Forbidden")]


@pytest.mark.parametrize(
    "kind",
    [
        Allow,
        JobDefaults,
        Surroundings,
        VolcanoJobArgs,
        VolcanoQueueArgs,
        queue_args.QueueAffinityArgs,
        queue_args.QueueClusterArgs,
        queue_args.QueueGuaranteeArgs,
        queue_args.QueueNodeGroupsArgs,
    ],
)
def test_the_type_of_every_argument_includes_none(kind: type) -> None:
    """Type checkers accept what the library accepts."""
    hints = {name: hint.__forward_arg__ for name, hint in kind.__annotations__.items()}
    assert [name for name, hint in hints.items() if not hint.endswith(" | None")] == []


@pytest.mark.parametrize("plugin", BUILT_IN)
def test_the_type_of_every_setting_includes_none(plugin: type[Plugin]) -> None:
    """`Setting` accepts None in the constructor only."""
    assert all(text.startswith("Setting[") for text in vars(plugin).get("__annotations__", {}).values())


def _without_none(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {key: _without_none(value) for key, value in tree.items() if value is not None}
    return [_without_none(item) for item in tree] if isinstance(tree, list) else tree
