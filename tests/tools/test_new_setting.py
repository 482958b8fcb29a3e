"""A setting is declared in one place: types, schema, reference, messages and defaults follow from it."""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
import tables

from pulumi_volcano_jobs import EnvPlugin, JobError, MpiPlugin, Plugin, PytorchPlugin, SshPlugin, Stage, SvcPlugin, flag
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.plugins.settings import option

DECLARED = '''
"""A plugin with one more setting."""

from __future__ import annotations

from typing import Literal

from pulumi_volcano_jobs import PytorchPlugin
from pulumi_volcano_jobs.plugins.settings import option


class LoudPlugin(PytorchPlugin):
    """Be loud."""

    name = "loud"
    volume: Literal["low", "high"] = option(default="low", recommended="high")
    """How loud the job is."""
'''
USED = 'reveal_type(LoudPlugin().volume)\nLoudPlugin(port=29500, volume="high")\nLoudPlugin(volume="loud")\n'


@pytest.fixture
def loud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Provide the class, from a module of its own."""
    path = tmp_path / "loud.py"
    path.write_text(DECLARED, "utf-8")
    spec = importlib.util.spec_from_file_location("loud", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "loud", module)
    spec.loader.exec_module(module)
    return module.LoudPlugin


def test_a_type_checker_knows_it(tmp_path: Path) -> None:
    """As every other setting, with its choices."""
    program = tmp_path / "program.py"
    program.write_text(f"{DECLARED}\n\n{USED}", "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(program)]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout.splitlines()

    assert [line.partition(": ")[2] for line in said[:-1]] == [
        "note: Revealed type is \"Literal['low'] | Literal['high']\"",
        (
            'error: Argument "volume" to "LoudPlugin" has incompatible type "Literal[\'loud\']"; expected'
            " \"Literal['low', 'high']\"  [arg-type]"
        ),
    ]


def test_the_schema_has_it(loud: type[Plugin]) -> None:
    """With the settings of the plugin that it extends."""
    properties = loud.model_json_schema()["properties"]  # type: ignore[attr-defined]

    assert properties["volume"] == {
        "default": "low",
        "enum": ["low", "high"],
        "recommended": "high",
        "title": "Volume",
        "type": "string",
    }
    assert properties["port"]["flag"] == "port"


def test_the_tables_of_the_documentation_have_it(loud: type[Plugin]) -> None:
    """With its docstring."""
    rows = [line for line in tables.settings(loud).splitlines() if line.startswith("| `")]

    assert rows[-1] == ('| `volume` | `"low"` or `"high"` | `"low"`; recommended: `"high"` |  | How loud the job is. |')
    assert rows[0].startswith('| `master` | a string | `"master"` | `--master` | ')


MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "none of its values": ({"volume": "hi"}, '.volume: Unsupported value: "hi": supported values: "low", "high"'),
    "misspelt": ({"volum": "high"}, ".volum: Forbidden: unknown setting: did you mean volume?"),
    "an Output": ({"volume": Leaf("volume")}, ".volume: Invalid value: must be a plain value, not an Output"),
}


@pytest.mark.parametrize(("settings", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages_know_it(loud: type[Plugin], settings: dict[str, Any], message: str) -> None:
    """As those of any other setting."""
    with pytest.raises(JobError) as refused:
        loud(**settings)

    assert str(refused.value) == f"spec.plugins.loud{message}"
    assert refused.value.__cause__ is None


def test_the_recommended_defaults_have_it(loud: Any) -> None:
    """Unless it is given."""
    assert loud().recommended().volume == "high"
    assert loud(volume="low").recommended().volume == "low"


WRONG: dict[str, tuple[type[Plugin], tuple[Any, ...], dict[str, Any], str]] = {
    "a misspelt setting": (PytorchPlugin, (), {"prot": 29500}, "pytorch.prot: Forbidden: {none}: did you mean port?"),
    "a setting of no plugin": (
        EnvPlugin,
        (),
        {"port": 1},
        "env.port: Forbidden: {none}: remove it",
    ),
    "another type": (
        PytorchPlugin,
        (),
        {"port": "29500"},
        (
            'pytorch.port: Invalid value: "29500": must be a whole number'
            ": pass an int; to read it from the configuration, use config.get_int"
        ),
    ),
    "none of several types": (
        PytorchPlugin,
        (),
        {"nproc_per_node": 2.5},
        "pytorch.nproc_per_node: Invalid value: 2.5: must be a whole number or a string",
    ),
    "a positional argument": (
        PytorchPlugin,
        (29500,),
        {},
        (
            "pytorch: Invalid value: settings must be keyword arguments: write PytorchPlugin(name=value), with the "
            f"names {', '.join(PytorchPlugin.model_fields)}"
        ),
    ),
    "a positional argument of a plugin without settings": (
        EnvPlugin,
        (29500,),
        {},
        "env: Invalid value: settings must be keyword arguments: remove them",
    ),
    "a key that is no text": (
        SshPlugin,
        (),
        {"ssh_private_key": 5},
        "ssh.ssh_private_key: Invalid value: must be a string: pass a str",
    ),
    "a misspelt key": (
        SshPlugin,
        (),
        {"ssh_privte_key": "s3cret"},
        "ssh.ssh_privte_key: Forbidden: {none}: did you mean ssh_private_key?",
    ),
    "a mapping that is a list": (
        SvcPlugin,
        (),
        {"service_ports": [29500]},
        "svc.service_ports: Invalid value: [29500]: must be a mapping or None",
    ),
    "a list that is text": (SvcPlugin, (), {"allow": "all"}, 'svc.allow: Invalid value: "all": must be a list'),
}


@pytest.mark.parametrize(("plugin", "values", "settings", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_setting_is_rejected_when_the_plugin_is_made(
    plugin: type[Plugin], values: tuple[Any, ...], settings: dict[str, Any], message: str
) -> None:
    """By the library's own error."""
    with pytest.raises(JobError) as refused:
        plugin(*values, **settings)

    assert str(refused.value) == "spec.plugins." + message.format(none="unknown setting")


def test_all_wrong_settings_are_in_one_error() -> None:
    """In their order."""
    with pytest.raises(JobError) as refused:
        PytorchPlugin(prot=1, port="a", master=2)  # type: ignore[call-arg, arg-type]

    assert [problem.path for problem in refused.value.problems] == [
        f"spec.plugins.pytorch.{setting}" for setting in ("master", "port", "prot")
    ]


class Special(Plugin):
    """A plugin with all sorts of attributes."""

    name: str = "special"  # type: ignore[misc]
    stage: ClassVar[Stage] = Stage.BASE
    WORDS = ("a", "b")
    _hidden: ClassVar[int] = 1
    _PRIVATE = ("a",)
    hosts: list[str] = option(default=[])
    when: Path | None = option(default=None)
    token: str = flag("token", default="", secret=True)
    plain: int = 3


def test_attributes_of_the_class_are_no_settings() -> None:
    """With an annotation or without one."""
    assert list(Special.model_fields) == ["hosts", "when", "token", "plain"]
    assert (Special.name, Special.stage, Special.WORDS, Special._hidden) == ("special", Stage.BASE, ("a", "b"), 1)
    assert Special()._PRIVATE == Special._PRIVATE == ("a",)


def test_a_setting_may_have_any_type() -> None:
    """What is inside of it is checked too."""
    with pytest.raises(JobError) as refused:
        Special(hosts=["a", 5], when="now", plain="3")  # type: ignore[arg-type]

    assert str(refused.value).splitlines() == [
        "spec.plugins.special.hosts[1]: Invalid value: 5: must be a string: pass a str",
        'spec.plugins.special.when: Invalid value: "now": must be a Path or None',
        (
            'spec.plugins.special.plain: Invalid value: "3": must be a whole number'
            ": pass an int; to read it from the configuration, use config.get_int"
        ),
    ]
    assert Special(when=Path("a")).beyond() == {"when": Path("a")}


def test_an_argument_has_the_type_of_its_setting() -> None:
    """Its choices too, which Go's flags have not."""

    class Chosen(Plugin):
        name = "chosen"
        mode: Literal["a", "b"] = flag("mode", default="a")

    assert [str(problem) for problem in Chosen.from_args(["--mode=c"]).malformed()] == [
        'spec.plugins.chosen.mode: Unsupported value: "c": supported values: "a", "b"'
    ]


def test_a_setting_needs_an_annotation() -> None:
    """It would be no setting."""
    with pytest.raises(TypeError, match="'audience' is a field but has no type annotation"):
        type("Bare", (Plugin,), {"name": "bare", "audience": flag("audience", default="a")})


@pytest.mark.parametrize("plugin", BUILT_IN, ids=lambda plugin: plugin.name)
def test_a_plugin_travels_between_processes(plugin: type[Plugin]) -> None:
    """With what was given."""
    made = plugin(**{name: field.default for name, field in list(plugin.model_fields.items())[:1]})
    copied = pickle.loads(pickle.dumps(made))  # noqa: S301

    assert copied == made
    assert hash(copied) == hash(made)
    assert copied.model_fields_set == made.model_fields_set


def test_keys_are_in_no_text() -> None:
    """Neither in repr nor in str."""
    plugin = SshPlugin(ssh_private_key="s3cret")

    assert "s3cret" not in f"{plugin!r} {plugin}"
    assert repr(MpiPlugin(port=1)).startswith("MpiPlugin(master='master', worker='worker', port=1, ")
    assert str(MpiPlugin(port=1)) == repr(MpiPlugin(port=1))
