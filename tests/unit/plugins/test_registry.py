"""Plugins of the user: declared as classes, checked when they are registered, used like the built-in ones."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    Job,
    JobContext,
    JobError,
    JobUpdate,
    ObjectRef,
    Plugin,
    Pod,
    Problem,
    PytorchPlugin,
    Stage,
    flag,
    plugins,
    register,
    render,
)
from pulumi_volcano_jobs.admission import plugin_paths, plugin_settings
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.plugins import BUILT_IN, Registry
from tests.conftest import Wire, job, problems, task, typed


class TokenPlugin(Plugin):
    """Set the audience of a token in each container, and add an object to the job."""

    name = "token"
    stage = Stage.OBSERVE
    requires = frozenset({"env"})
    audience: str = flag("audience", default="training")
    times: int = flag("times", default=1)
    loud: bool = flag("loud", default=False)

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield a problem."""
        yield from super().validate(job)
        if self.times < 1:
            yield self.problem("times", "at least once")

    def on_job_add(self, ctx: JobContext) -> list[Wire]:
        """Return an object."""
        return [
            {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": f"{ctx.name}-token", "namespace": ctx.namespace},
            },
        ]

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Set a variable. Values that all Pods share are computed once."""
        value = ctx.once("token", lambda: self.audience * self.times)
        for container in pod.containers:
            container.set_env("TOKEN_AUDIENCE", value.upper() if self.loud else value)

    def on_job_update(self, ctx: JobContext) -> JobUpdate:
        """Update its object."""
        return JobUpdate(follows=frozenset({ObjectRef("ServiceAccount", f"{ctx.name}-token")}))


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """Use a fresh registry, so that no test changes the plugins of another test."""
    fresh = Registry()
    for module in (plugins, plugin_paths, plugin_settings):
        monkeypatch.setattr(f"{module.__name__}.registry", fresh)
    monkeypatch.setattr(plugins, "entry_points", lambda **_: ())
    return fresh


def audiences(document: Wire) -> list[str]:
    """Render a job, and return TOKEN_AUDIENCE of each Pod."""
    return [
        entry["value"]
        for pod in render(document).pods
        for entry in pod["spec"]["containers"][0]["env"]
        if entry["name"] == "TOKEN_AUDIENCE"
    ]


def test_a_plugin_in_the_list_needs_no_registration() -> None:
    """The job has the class itself."""
    assert audiences(job(task("worker", 2), plugins=[TokenPlugin(audience="me", times=2)])) == ["meme", "meme"]


def test_a_registered_plugin_is_read_from_arguments(own_registry: Registry) -> None:
    """In Volcano's syntax, with all three types of flags."""
    own_registry.register(TokenPlugin)

    assert audiences(job(plugins={"token": ["--audience=me", "--times", "3", "--loud"]})) == ["MEMEME"]


def test_an_unregistered_plugin_is_rejected_by_name() -> None:
    """Volcano rejects it also."""
    assert typed(problems(job(plugins={"token": []}))) == [("spec.plugins.token", "NotSupported")]


def test_wrong_arguments_of_a_user_s_plugin_are_rejected(own_registry: Registry) -> None:
    """The checks of the plugin itself run also."""
    own_registry.register(TokenPlugin)

    assert typed(problems(job(plugins={"token": ["--audence=me", "--times=0"]}))) == [
        ("spec.plugins.token[0]", "NotSupported"),
        ("spec.plugins.token[1]", "Invalid"),
    ]


def test_required_plugins_are_added() -> None:
    """They have default settings, and run in the order of stages."""
    made = render(job(task("master"), task("worker"), plugins=[TokenPlugin(), PytorchPlugin()]))

    assert [plugin.name for plugin in made.plugins] == ["env", "svc", "pytorch", "token"]


def test_the_job_has_the_objects_of_a_plugin() -> None:
    """By kind and name, with the plugin."""
    made = render(job(plugins=[TokenPlugin()]))

    assert [item["kind"] for item in made.objects] == ["PodGroup", "ServiceAccount"]
    assert made.made_by["ServiceAccount", "train-token"] == "token"


def test_a_plugin_declares_what_updates_and_deletes_its_objects() -> None:
    """By default all its objects are deleted with the job."""
    context = JobContext(Job(name="train"))

    assert TokenPlugin().on_job_delete(context) == {ObjectRef("ServiceAccount", "train-token")}
    assert TokenPlugin().on_job_update(context).follows == {ObjectRef("ServiceAccount", "train-token")}


def test_native_mode_sends_the_settings_as_arguments() -> None:
    """Only settings that differ from the defaults are sent."""
    plugin = TokenPlugin(audience="me", loud=True)

    wire = render(job(plugins=[plugin])).job.to_manifest()

    assert wire["spec"]["plugins"] == {"env": [], "token": ["--audience=me", "--loud=true"]}
    assert TokenPlugin.from_args(plugin.to_args()) == plugin


def test_settings_are_frozen_keyword_arguments() -> None:
    """Hooks cannot keep state in them."""
    plugin = TokenPlugin()

    with pytest.raises(JobError, match="with_"):
        plugin.audience = "other"  # type: ignore[misc]
    with pytest.raises(JobError):
        TokenPlugin("me")  # type: ignore[call-arg]
    assert plugin.with_(audience="me") == TokenPlugin(audience="me")


def test_a_secret_setting_is_hidden() -> None:
    """The repr and redacted manifests do not have it."""

    class KeyPlugin(Plugin):
        name = "key"
        key: str = flag("key", default="", placeholder="<key>", secret=True)

        def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
            """Use it."""
            pod.annotations["key"] = self.key

    document = job(plugins=[KeyPlugin(key="s3cret")])

    assert "s3cret" not in repr(KeyPlugin(key="s3cret"))
    assert render(document, redact=True).pods[0]["metadata"]["annotations"]["key"] == "<key>"
    assert "s3cret" in job_file.dump(render(document).pods)


def test_register_is_a_decorator(own_registry: Registry) -> None:
    """It returns the class. Registering the same class again is valid."""
    assert own_registry.register(TokenPlugin) is TokenPlugin
    assert own_registry.register(TokenPlugin) is TokenPlugin
    assert own_registry.find("token") is TokenPlugin


def test_the_public_register_uses_the_default_registry() -> None:
    """Jobs are read with it."""
    assert register.__func__ is Registry.register  # type: ignore[attr-defined]
    assert isinstance(register.__self__, Registry)  # type: ignore[attr-defined]


def test_all_eight_built_in_plugins_are_registered(own_registry: Registry) -> None:
    """The names are sorted."""
    assert own_registry.names() == ["env", "hcclrank", "mpi", "pytorch", "ray", "ssh", "svc", "tensorflow"]
    assert [own_registry.find(plugin.name) for plugin in BUILT_IN] == list(BUILT_IN)


def definitions() -> dict[str, Any]:
    """Return plugin definitions that cannot work."""

    class Nameless(Plugin):
        pass

    class Shouting(Plugin):
        name = "TOKEN"

    class Numbered(Plugin):
        name = 5  # type: ignore[assignment]

    class Stageless(Plugin):
        name = "stageless"
        stage = 2  # type: ignore[assignment]

    class Listed(Plugin):
        name = "listed"
        hosts: Any = flag("hosts", default=None)

    class Twice(Plugin):
        name = "Twice"
        stage = "late"  # type: ignore[assignment]

    return {
        "no class": TokenPlugin(),
        "another class": dict,
        "a function": len,
        "no name": Nameless,
        "a name in capitals": Shouting,
        "a name that is not a string": Numbered,
        "a stage that is a number": Stageless,
        "a flag of no type": Listed,
        "several faults at once": Twice,
    }


@pytest.mark.parametrize("definition", definitions().values(), ids=definitions())
def test_a_definition_that_cannot_work_is_rejected_when_it_is_registered(
    own_registry: Registry, definition: Any, snapshot: SnapshotAssertion
) -> None:
    """The message has the class and all problems. The registry stays the same."""
    before = own_registry.names()

    with pytest.raises(TypeError) as rejection:
        own_registry.register(definition)

    assert str(rejection.value).replace(__name__, "MODULE") == snapshot
    assert own_registry.names() == before


def test_two_plugins_of_one_name_are_rejected(own_registry: Registry, snapshot: SnapshotAssertion) -> None:
    """The message names both classes. The first one stays."""

    class Mine(Plugin):
        name = "ssh"

    with pytest.raises(TypeError) as rejection:
        own_registry.register(Mine)

    assert str(rejection.value).replace(__name__, "MODULE") == snapshot
    assert own_registry.find("ssh") is not Mine


class TestEntryPoints:
    """Plugins of installed packages."""

    @pytest.fixture
    def installed(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """Install a package with a plugin, and return the entry point groups that were read."""
        asked: list[str] = []

        class Entry:
            name = "token"

            @staticmethod
            def load() -> type[Plugin]:
                return TokenPlugin

        def entry_points(*, group: str) -> list[type[Entry]]:
            asked.append(group)
            return [Entry]

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
        monkeypatch.setattr(plugins, "entry_points", importlib.metadata.entry_points)
        return asked

    @pytest.mark.usefixtures("installed")
    def test_plugins_of_packages_are_added_to_the_built_in_ones(self) -> None:
        """They are also read from arguments."""
        assert audiences(job(plugins={"token": ["--audience=me"], "ssh": [], "svc": []})) == ["me"]

    def test_packages_are_read_once_and_only_for_unknown_names(
        self,
        own_registry: Registry,
        installed: list[str],
    ) -> None:
        """Reading them takes time."""
        own_registry.find("ssh")
        assert installed == []

        found = [own_registry.find(name) for name in ("token", "token", "nope")]

        assert found == [TokenPlugin, TokenPlugin, None]
        assert installed == ["pulumi_volcano_jobs.plugins"]

    @pytest.mark.usefixtures("installed")
    def test_a_similar_name_is_suggested(self) -> None:
        """As with built-in plugins."""
        (found,) = problems(job(plugins={"tokn": []}))

        assert typed([found]) == [("spec.plugins.tokn", "NotSupported")]
        assert "token" in found.hint

    @pytest.mark.usefixtures("installed")
    def test_a_plugin_can_be_registered_in_a_package_and_by_hand(self, own_registry: Registry) -> None:
        """The class is the same, so it is not a duplicate."""
        own_registry.register(TokenPlugin)

        assert "token" in own_registry.names()
