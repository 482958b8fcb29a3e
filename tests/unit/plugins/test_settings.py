"""Options of plugins that Volcano has no argument for: declared, chosen, recommended, and kept from Volcano."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from syrupy.assertion import SnapshotAssertion

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
from pulumi_volcano_jobs.core.errors import RejectionStage, value_text
from pulumi_volcano_jobs.core.leaf import Leaf, Text
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, Pod, config_map
from pulumi_volcano_jobs.plugins.settings import flag, option
from tests.conftest import Wire, container, job, problems, refused, task, typed


class Tuned(Plugin):
    """A plugin with an argument and two options."""

    name = "test-tuned"
    level: int = flag("level", default=1, recommended=3)
    """Set by an argument."""
    mode: Literal["plain", "fancy"] = option(default="plain", recommended="fancy")
    """Set beside the arguments."""
    note: str | None = option(default=None, not_native="notes differ from Pod to Pod")
    """Volcano cannot do it."""
    secret: Text = option(default="", may_be_output=True)
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


WRONG: dict[str, tuple[Wire, str, str, RejectionStage]] = {
    "a plugin that the job has not": ({"test-tunde": {}}, "test-tunde", "Forbidden", RejectionStage.STRICT),
    "an option that there is not": (
        {"test-tuned": {"mod": "fancy"}},
        "test-tuned.mod",
        "Forbidden",
        RejectionStage.STRICT,
    ),
    "a value that there is not": (
        {"test-tuned": {"mode": "plane"}},
        "test-tuned.mode",
        "NotSupported",
        RejectionStage.STRICT,
    ),
    "a value of the wrong type": (
        {"test-tuned": {"note": 5}},
        "test-tuned.note",
        "TypeInvalid",
        RejectionStage.DECODE,
    ),
    "a truth value for a number": (
        {"test-tuned": {"level": True}},
        "test-tuned.level",
        "TypeInvalid",
        RejectionStage.DECODE,
    ),
    "a part of a number": (
        {"test-tuned": {"level": 2.5}},
        "test-tuned.level",
        "TypeInvalid",
        RejectionStage.DECODE,
    ),
    "an Output": (
        {"test-tuned": {"mode": Leaf("mode")}},
        "test-tuned.mode",
        "TypeInvalid",
        RejectionStage.DECODE,
    ),
}


@pytest.mark.parametrize(("chosen", "path", "error_type", "stage"), WRONG.values(), ids=WRONG)
def test_a_wrong_plugin_option_is_rejected(
    chosen: Wire, path: str, error_type: str, stage: RejectionStage, snapshot: SnapshotAssertion
) -> None:
    """The path has the names of the plugin and of the option."""
    found = problems(job(plugins=[Tuned()]), plugin_options=chosen)

    assert typed(found) == [(f"plugin_options.{path}", error_type)]
    assert found[0].stage is stage
    assert str(found[0]) == snapshot


def test_options_of_a_job_without_plugins_are_rejected(snapshot: SnapshotAssertion) -> None:
    """The fix is another one if no plugin has a similar name."""
    found = problems(job(), plugin_options={"svc": {}})

    assert typed(found) == [("plugin_options.svc", "Forbidden")]
    assert str(found[0]) == snapshot


def test_keys_are_rejected_as_plugin_options() -> None:
    """Plugin options are shown to users."""
    found = problems(job(plugins={"ssh": [], "svc": []}), plugin_options={"ssh": {"ssh_private_key": "s3cret"}})

    assert typed(found) == [("plugin_options.ssh.ssh_private_key", "Forbidden")]
    assert "s3cret" not in str(found[0])


def test_options_that_volcano_cannot_support_are_rejected_in_native_mode(snapshot: SnapshotAssertion) -> None:
    """A plugin that Volcano does not have is rejected also."""
    document = job(plugins=[Tuned(note="a")])

    found = problems(document, managed_by="volcano")

    assert typed(found) == [("spec.plugins.test-tuned", "Forbidden"), ("spec.plugins.test-tuned.note", "Forbidden")]
    assert list(map(str, found)) == snapshot
    assert render(document).pods


class Chatty(Plugin):
    """A plugin whose recommended option Volcano cannot have."""

    name = "test-chatty"
    level: int = flag("level", default=1, recommended=3)
    """An argument."""
    note: str = option(default="", recommended="hello", not_native="notes differ from Pod to Pod")
    """Volcano cannot do it."""


def test_what_volcano_cannot_do_is_not_recommended_in_the_native_mode() -> None:
    """The user did not set it, so it is not an error."""
    assert Chatty().recommended() == Chatty(level=3, note="hello")
    assert Chatty().recommended(native=True) == Chatty(level=3)
    document, native = job(plugins=[Chatty()]), {"managed_by": "volcano", "defaults": "recommended"}
    assert typed(problems(document, **native)) == [("spec.plugins.test-chatty", "Forbidden")]


def test_an_option_may_be_an_output_if_it_decides_nothing() -> None:
    """It differs from its default, whatever it is, and is compared with nothing."""
    name = Leaf("name")

    assert Tuned(secret=name).beyond() == {"secret": name}
    for given in (Tuned(secret=name), Tuned(secret="mine"), Tuned()):
        (made,) = render(job(plugins=[given]), plugin_options={"test-tuned": {"secret": name}}).plugins
        assert vars(made)["secret"] is name


def test_a_problem_of_an_option_has_the_path_of_the_option_also_beside_arguments() -> None:
    """The path of an argument is another one."""
    document = job(plugins={"svc": [], "ssh": ["--ssh-port=2222"]})

    found = problems(document, plugin_options={"ssh": {"key_secret": "No"}})

    assert typed(found) == [("plugin_options.ssh.key_secret", "Invalid")]
    assert found[0].value == '"No"'


def test_options_that_volcano_cannot_support_are_rejected_in_lenient_mode_also() -> None:
    """Lenient mode reproduces Volcano, and Volcano does not have these options."""
    document = job(task("master"), task("worker"), plugins=[PytorchPlugin(torchrun=True)])

    assert render(document, strict=False).pods
    assert typed(problems(document, strict=False, managed_by="volcano")) == [
        ("spec.plugins.pytorch.torchrun", "Forbidden")
    ]


def test_an_option_that_only_we_have_is_no_argument() -> None:
    """Volcano would drop it, and all behind it."""
    assert Tuned(mode="fancy", level=2).to_args() == ["--level=2"]
    assert Tuned(mode="fancy", level=2).beyond() == {"mode": "fancy"}


def test_a_variable_of_an_option_conflicts_with_one_of_the_template() -> None:
    """The message names the plugin, the variable and the container."""
    main = {"name": "main", "image": "i", "env": [{"name": "MODE", "value": "own"}]}
    (found,) = problems(job(task(containers=[main]), plugins=[Tuned(mode="fancy")]))

    assert typed([found]) == [("spec.tasks[0].template.spec.containers[0].env[0]", "Forbidden")]
    assert all(name in found.reason for name in ("spec.plugins.test-tuned", "MODE", "main"))


def test_settings_that_were_given_are_remembered() -> None:
    """Through copies, and not in comparisons."""
    assert SvcPlugin(inject_hosts_env=True).model_fields_set == {"inject_hosts_env"}
    assert SvcPlugin().with_(inject_hosts_env=True).model_fields_set == {"inject_hosts_env"}
    assert SvcPlugin(inject_hosts_env=True) == SvcPlugin()


CHOICES: dict[str, tuple[Wire, str, str]] = {
    "who makes the Pods": ({"managed_by": "volcan"}, "managed_by", "NotSupported"),
    "who counts": ({"on_conflict": True}, "on_conflict", "NotSupported"),
    "a set of defaults": ({"defaults": "best"}, "defaults", "NotSupported"),
    "options that are no mapping": ({"plugin_options": ["svc"]}, "plugin_options", "TypeInvalid"),
    "options of a plugin that are no mapping": ({"plugin_options": {"svc": True}}, "plugin_options.svc", "TypeInvalid"),
}


@pytest.mark.parametrize(("choices", "path", "error_type"), CHOICES.values(), ids=CHOICES)
def test_a_wrong_option_of_this_library_is_rejected(
    choices: Wire, path: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """Lenient mode rejects it also, because it is not part of the job."""
    found = problems(job(plugins={"svc": []}), **choices)

    assert typed(found) == [(path, error_type)]
    assert problems(job(plugins={"svc": []}), strict=False, **choices) == found
    assert str(found[0]) == snapshot


@pytest.mark.parametrize("strict", [True, False])
def test_a_name_that_is_not_a_string_makes_a_mapping_wrong(*, strict: bool) -> None:
    """The message is that of a value that is not a mapping."""

    def rejected(plugin_options: Any) -> list[Problem]:
        return problems(job(plugins={"svc": []}), strict=strict, plugin_options=plugin_options)

    assert rejected({1: {}}) == rejected(["svc"])
    assert rejected({"svc": {1: True}}) == rejected({"svc": True})


def test_a_version_of_kubernetes_without_a_schema_is_rejected(snapshot: SnapshotAssertion) -> None:
    """The message has the supported versions."""
    with pytest.raises(JobError) as refusal:
        ClusterFacts(kubernetes_version="1.99")

    assert typed(refusal.value.problems) == [("kubernetes_version", "NotSupported")]
    versions = ", ".join(map(value_text, schema.versions()))
    assert versions in str(refusal.value)
    assert str(refusal.value).replace(versions, "VERSIONS") == snapshot


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
        "spec.plugins.test-keyed.token: Invalid value: this has no dots: make another"
    )


def test_numbers_and_text_that_cannot_be_written_are_rejected(snapshot: SnapshotAssertion) -> None:
    """Python raises an error if a message shows thousands of digits."""
    error = refused(lambda: job(task("master"), plugins=[PytorchPlugin(max_nodes=10**5000, nproc_per_node="\ud800")]))

    assert typed(error.problems) == [
        ("spec.plugins.pytorch.nproc_per_node", "Invalid"),
        ("spec.plugins.pytorch.max_nodes", "Invalid"),
    ]
    assert str(error) == snapshot


ROLES = ("master", "worker")
COUNTING: dict[str, Plugin] = {
    "ray": RayPlugin(head="master", head_container="main", worker_container="main", requested_resources=True),
    "pytorch": PytorchPlugin(torchrun=True),
    "mpi": MpiPlugin(hostfile="openmpi", wait_for_workers=True),
}


@pytest.mark.parametrize("amount", ["two", "-1"])
@pytest.mark.parametrize("name", COUNTING)
def test_a_wrong_amount_has_only_the_problem_of_the_template(name: str, amount: str) -> None:
    """Options that read the amount ignore it. Some of them are recommended."""
    tasks = [task(role, containers=[container(resources={"limits": {"nvidia.com/gpu": amount}})]) for role in ROLES]

    assert typed(refused(job(*tasks, plugins=[COUNTING[name]])).problems) == [
        (f"spec.tasks[{index}].template.spec.containers[0].resources.limits.nvidia.com/gpu", "Invalid")
        for index in (0, 1)
    ]


@pytest.mark.parametrize("name", COUNTING)
def test_a_pod_without_containers_is_rejected(name: str) -> None:
    """Options that read the first container do not fail."""
    tasks = [task(role, containers=[]) for role in ROLES]

    found = typed(refused(job(*tasks, plugins=[COUNTING[name]])).problems)

    assert ("spec.tasks[0].template.spec.containers", "Required") in found
