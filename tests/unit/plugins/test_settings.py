"""Options of plugins that Volcano has no argument for: declared, chosen, recommended, and kept from Volcano."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pulumi_volcano_jobs import (
    ClusterFacts,
    Job,
    JobContext,
    JobError,
    MpiPlugin,
    Plugin,
    Problem,
    PytorchPlugin,
    RayPlugin,
    SvcPlugin,
    render,
)
from pulumi_volcano_jobs.core.errors import Stage
from pulumi_volcano_jobs.core.leaf import Leaf, Text
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, Pod, config_map
from pulumi_volcano_jobs.plugins.settings import flag, option
from tests.conftest import Wire, container, job, problems, refused, task


class Tuned(Plugin):
    """A plugin with an argument and two options."""

    name = "test-tuned"
    level: int = flag("level", default=1, recommended=3)
    """Set by an argument."""
    mode: str = option(default="plain", recommended="fancy", choices=("plain", "fancy"))
    """Set beside the arguments."""
    note: str | None = option(default=None, kinds=(str, type(None)), not_native="notes differ from Pod to Pod")
    """Volcano cannot do it."""
    secret: Text = option(default="", kinds=(str,), may_be_output=True)
    """It stands in Pods as it is."""

    def extend_objects(self, ctx: JobContext) -> list[Manifest]:
        """Make a ConfigMap."""
        return [config_map(f"{ctx.name}-tuned", ctx.namespace, {"mode": self.mode})] if self.beyond() else []

    def extend_pod(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Set a variable before those of all plugins."""
        if self.beyond():
            pod.containers[0].set_env("MODE", self.mode)

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Set a variable."""
        pod.containers[0].set_env("LEVEL", str(self.level))


def env(plugin: Plugin, **choices: Any) -> dict[str, str]:
    """Give the variables of a job's container."""
    (main,) = render(job(plugins=[plugin]), **choices).pods[0]["spec"]["containers"]
    return {entry["name"]: entry["value"] for entry in main["env"]}


def test_the_default_does_as_volcano_does() -> None:
    """Nothing is added."""
    assert env(Tuned()) == {"LEVEL": "1"}
    assert [item["kind"] for item in render(job(plugins=[Tuned()])).objects] == ["PodGroup"]


def test_the_recommended_set_is_chosen_for_the_whole_job() -> None:
    """Arguments are among it."""
    assert env(Tuned(), defaults="recommended") == {"MODE": "fancy", "LEVEL": "3"}
    assert env(Tuned(), defaults="volcano") == {"LEVEL": "1"}


def test_what_is_given_counts_even_if_it_is_volcano_s_default() -> None:
    """In every way of giving it."""
    assert env(Tuned(level=1, mode="plain"), defaults="recommended") == {"LEVEL": "1"}
    assert env(Tuned().with_(level=1), defaults="recommended")["LEVEL"] == "1"
    assert env(Tuned.from_args(["--level=1"]), defaults="recommended")["LEVEL"] == "1"


def test_options_are_chosen_by_the_plugin_s_name() -> None:
    """For jobs that come from YAML; what is chosen so is given."""
    chosen = {"test-tuned": {"mode": "fancy", "level": 1}}

    assert env(Tuned(level=2), plugin_options=chosen, defaults="recommended") == {"MODE": "fancy", "LEVEL": "1"}


def test_plugins_that_others_bring_in_have_options_too() -> None:
    """And Volcano is given those that are arguments of its own."""
    made = render(
        job(task("master"), task("worker"), plugins={"pytorch": []}),
        plugin_options={"svc": {"publish_not_ready_addresses": True}},
    )

    assert made.job.to_manifest()["spec"]["plugins"]["svc"] == ["--publish-not-ready-addresses=true"]
    (service,) = (item for item in made.objects if item["kind"] == "Service")
    assert service["spec"]["publishNotReadyAddresses"] is True


def test_whole_floats_are_whole_numbers() -> None:
    """That is how other languages of Pulumi's send them."""
    assert env(Tuned(), plugin_options={"test-tuned": {"level": 2.0}}) == {"LEVEL": "2"}


WRONG: dict[str, tuple[Wire, str, Stage]] = {
    "a plugin that the job has not": (
        {"test-tunde": {}},
        "plugin_options.test-tunde: the job does not use this plugin: did you mean test-tuned?",
        Stage.STRICT,
    ),
    "an option that there is not": (
        {"test-tuned": {"mod": "fancy"}},
        "plugin_options.test-tuned.mod: the plugin has no such option: did you mean mode?",
        Stage.STRICT,
    ),
    "a value that there is not": (
        {"test-tuned": {"mode": "plane"}},
        "plugin_options.test-tuned.mode: this must be one of plain, fancy (given: 'plane')",
        Stage.STRICT,
    ),
    "a value of the wrong type": (
        {"test-tuned": {"note": 5}},
        "plugin_options.test-tuned.note: this must be a string or None (given: 5)",
        Stage.DECODE,
    ),
    "a truth value for a number": (
        {"test-tuned": {"level": True}},
        "plugin_options.test-tuned.level: this must be a whole number (given: True)",
        Stage.DECODE,
    ),
    "a part of a number": (
        {"test-tuned": {"level": 2.5}},
        "plugin_options.test-tuned.level: this must be a whole number (given: 2.5)",
        Stage.DECODE,
    ),
    "an Output": (
        {"test-tuned": {"mode": Leaf("mode")}},
        "plugin_options.test-tuned.mode: this must be a plain value, not an Output",
        Stage.DECODE,
    ),
}


@pytest.mark.parametrize(("chosen", "message", "stage"), WRONG.values(), ids=WRONG)
def test_a_wrong_choice_is_told_in_full(chosen: Wire, message: str, stage: Stage) -> None:
    """With its place."""
    error = refused(job(plugins=[Tuned()]), plugin_options=chosen)

    assert str(error) == message
    assert error.stage is stage


def test_a_job_without_plugins_has_no_options() -> None:
    """The message says what to do."""
    assert str(refused(job(), plugin_options={"svc": {}})) == (
        "plugin_options.svc: the job does not use this plugin: add it to the job's plugins"
    )


def test_keys_are_no_options() -> None:
    """They would stand among things that are shown."""
    (problem,) = problems(job(plugins={"ssh": [], "svc": []}), plugin_options={"ssh": {"ssh_private_key": "s3cret"}})

    assert problem.path == "plugin_options.ssh.ssh_private_key"
    assert "s3cret" not in str(problem)


def test_what_volcano_cannot_do_is_told_in_the_native_mode() -> None:
    """Beside that it does not know the plugin."""
    document = job(plugins=[Tuned(note="a")])

    assert [str(problem) for problem in problems(document, managed_by="volcano")] == [
        (
            "spec.plugins.test-tuned: Volcano's controllers do not know this plugin, and would refuse the job: remove"
            ' it, or use managed_by="pulumi"'
        ),
        (
            'spec.plugins.test-tuned.note: with managed_by="volcano" this cannot be had: notes differ from Pod to Pod'
            " (given: 'a'): remove it, or use managed_by=\"pulumi\""
        ),
    ]
    assert render(document).pods


class Chatty(Plugin):
    """A plugin whose recommended option Volcano cannot have."""

    name = "test-chatty"
    level: int = flag("level", default=1, recommended=3)
    """An argument."""
    note: str = option(default="", recommended="hello", not_native="notes differ from Pod to Pod")
    """Volcano cannot do it."""


def test_what_volcano_cannot_do_is_not_recommended_in_the_native_mode() -> None:
    """Nobody asked for it by name, so nothing is refused for it."""
    assert Chatty().recommended() == Chatty(level=3, note="hello")
    assert Chatty().recommended(native=True) == Chatty(level=3)
    document, native = job(plugins=[Chatty()]), {"managed_by": "volcano", "defaults": "recommended"}
    assert [problem.path for problem in problems(document, **native)] == ["spec.plugins.test-chatty"]


def test_an_option_may_be_an_output_if_it_decides_nothing() -> None:
    """It differs from its default, whatever it is, and is compared with nothing."""
    name = Leaf("name")

    assert Tuned(secret=name).beyond() == {"secret": name}
    for given in (Tuned(secret=name), Tuned(secret="mine"), Tuned()):
        (made,) = render(job(plugins=[given]), plugin_options={"test-tuned": {"secret": name}}).plugins
        assert vars(made)["secret"] is name


def test_a_problem_of_an_option_has_the_option_s_place_beside_arguments_too() -> None:
    """The arguments have nothing to do with it."""
    document = job(plugins={"svc": [], "ssh": ["--ssh-port=2222"]})

    (problem,) = problems(document, plugin_options={"ssh": {"key_secret": "No"}})

    assert problem.path == "plugin_options.ssh.key_secret"
    assert problem.reason.startswith("a Secret's name is")


def test_what_volcano_cannot_do_is_told_without_strictness_too() -> None:
    """It is no mistake that Volcano has a way of its own with."""
    document = job(task("master"), task("worker"), plugins=[PytorchPlugin(torchrun=True)])

    assert render(document, strict=False).pods
    assert [item.path for item in problems(document, strict=False, managed_by="volcano")] == [
        "spec.plugins.pytorch.torchrun"
    ]


def test_an_option_that_only_we_have_is_no_argument() -> None:
    """Volcano would drop it, and all behind it."""
    assert Tuned(mode="fancy", level=2).to_args() == ["--level=2"]
    assert Tuned(mode="fancy", level=2).beyond() == {"mode": "fancy"}


def test_options_conflict_with_the_template_as_all_else_does() -> None:
    """The plugin is named."""
    main = {"name": "main", "image": "i", "env": [{"name": "MODE", "value": "own"}]}
    error = refused(job(task(containers=[main]), plugins=[Tuned(mode="fancy")]))

    assert str(error).startswith(
        "spec.tasks[0].template.spec.containers[0].env[0]: the plugin test-tuned (spec.plugins.test-tuned) sets the"
        " variable MODE of the container main too"
    )


def test_settings_that_were_given_are_remembered() -> None:
    """Through copies, and not in comparisons."""
    assert SvcPlugin(inject_hosts_env=True).given == {"inject_hosts_env"}
    assert SvcPlugin().with_(inject_hosts_env=True).given == {"inject_hosts_env"}
    assert SvcPlugin(inject_hosts_env=True) == SvcPlugin()


CHOICES: dict[str, tuple[Wire, str]] = {
    "who makes the Pods": (
        {"managed_by": "volcan"},
        "managed_by: this must be one of pulumi, volcano (given: 'volcan')",
    ),
    "who counts": ({"on_conflict": True}, "on_conflict: this must be one of error, plugin, user (given: True)"),
    "a set of defaults": (
        {"defaults": "best"},
        "defaults: this must be one of volcano, recommended (given: 'best')",
    ),
    "options that are no mapping": (
        {"plugin_options": ["svc"]},
        'plugin_options: this must be a mapping: for example {"pytorch": {"wait_master_enabled": True}}',
    ),
    "options of a plugin without a name": (
        {"plugin_options": {1: {}}},
        'plugin_options: this must be a mapping: for example {"pytorch": {"wait_master_enabled": True}}',
    ),
    "an option without a name": (
        {"plugin_options": {"svc": {1: True}}},
        'plugin_options.svc: this must be a mapping of options: for example {"port": 29500}',
    ),
    "options of a plugin that are no mapping": (
        {"plugin_options": {"svc": True}},
        'plugin_options.svc: this must be a mapping of options: for example {"port": 29500}',
    ),
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("choices", "message"), CHOICES.values(), ids=CHOICES)
def test_what_is_none_of_the_choices_is_refused(choices: Wire, message: str, *, strict: bool) -> None:
    """In lenient mode too: it is no mistake in the job."""
    assert str(refused(job(plugins={"svc": []}), strict=strict, **choices)) == message


def test_a_version_of_kubernetes_whose_fields_are_not_known_is_refused() -> None:
    """With those that are."""
    with pytest.raises(JobError) as refusal:
        ClusterFacts(kubernetes_version="1.99")

    assert str(refusal.value) == (
        f"kubernetes_version: this must be one of {', '.join(schema.versions())} (given: '1.99')"
    )


class Keyed(Plugin):
    """A plugin with a secret, which it finds wrong."""

    name = "test-keyed"
    token: str = flag("token", default="", secret=True)
    """The secret."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield a problem of the secret, as one forgets that it is one."""
        yield from super().validate(job)
        yield self.problem("token", "this has no dots", "make another")


def test_a_problem_of_a_secret_does_not_show_it() -> None:
    """Whoever writes the check need not think of it."""
    assert str(refused(job(plugins=[Keyed(token="hunter2")]))) == (
        "spec.plugins.test-keyed.token: this has no dots: make another"
    )


def test_numbers_and_text_that_cannot_be_written_are_refused() -> None:
    """Of options as of arguments: thousands of digits would end a message with a traceback."""
    found = refused(job(task("master"), plugins=[PytorchPlugin(max_nodes=10**5000, nproc_per_node="\ud800")]))

    assert str(found) == (
        "spec.plugins.pytorch.nproc_per_node: this holds half of a character, a surrogate, which cannot be written\n"
        "spec.plugins.pytorch.max_nodes: this does not fit into 64 bits (given: a number of thousands of digits)"
    )


ROLES = ("master", "worker")
COUNTING: dict[str, Plugin] = {
    "ray": RayPlugin(head="master", head_container="main", worker_container="main", requested_resources=True),
    "pytorch": PytorchPlugin(torchrun=True),
    "mpi": MpiPlugin(hostfile="openmpi", wait_for_workers=True),
}


@pytest.mark.parametrize("amount", ["two", "-1"])
@pytest.mark.parametrize("name", COUNTING)
def test_an_option_that_counts_leaves_a_wrong_amount_to_kubernetes_rule(name: str, amount: str) -> None:
    """Recommended ones are among them, so that a slip of the pen would else end with a traceback."""
    tasks = [task(role, containers=[container(resources={"limits": {"nvidia.com/gpu": amount}})]) for role in ROLES]

    assert [problem.path for problem in refused(job(*tasks, plugins=[COUNTING[name]])).problems] == [
        f"spec.tasks[{index}].template.spec.containers[0].resources.limits.nvidia.com/gpu" for index in (0, 1)
    ]


@pytest.mark.parametrize("name", COUNTING)
def test_a_pod_without_containers_is_refused(name: str) -> None:
    """And breaks no option that looks at the first of them."""
    tasks = [task(role, containers=[]) for role in ROLES]

    assert "spec.tasks[0].template.spec.containers: a Pod needs at least one container" in str(
        refused(job(*tasks, plugins=[COUNTING[name]]))
    )
