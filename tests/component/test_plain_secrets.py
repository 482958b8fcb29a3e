"""Plugin components list settings whose secrets were passed as plain text; policies check this list."""

from __future__ import annotations

import json
from typing import Any

import pulumi
import pytest

from pulumi_volcano_jobs import SshPlugin, VolcanoJob
from pulumi_volcano_jobs.component.plugin_components import PLAIN_SECRETS
from pulumi_volcano_jobs.plugins import ssh_keys
from pulumi_volcano_jobs.testing import Result, computed, run
from tests.component.programs import new_job

PAIR = ssh_keys.generate("ed25519")
POD = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.org/image:1"}]}}
TASKS = [{"name": "worker", "replicas": 1, "template": POD}]
NAMED = {PLAIN_SECRETS: ["ssh_private_key"]}


def plugin(private: Any, public: Any = PAIR.public) -> list[SshPlugin]:
    """Return the ssh plugin with a given pair."""
    return [SshPlugin(ssh_private_key=private, ssh_public_key=public)]


def arguments(private: Any) -> dict[str, list[Any]]:
    """Return the ssh plugin with a pair in Volcano's arguments."""
    return {"ssh": ["--ssh-private-key", private, f"--ssh-public-key={PAIR.public}"]}


def ssh(plugins: Any, **fields: Any) -> dict[str, Any]:
    """Run a program with such plugins, and return the inputs of the component of the ssh plugin."""
    return _ssh(run(lambda: new_job("train", {"tasks": TASKS, "plugins": plugins(), **fields}) and None))


def _ssh(done: Result) -> dict[str, Any]:
    return {name: value for name, value in done.resources["SshPlugin train-ssh"].inputs.items() if value is not None}


@pytest.mark.parametrize("form", [plugin, arguments])
def test_a_plain_key_is_listed(form: Any) -> None:
    """The list has the setting, both for the plugin and for Volcano's arguments, but not the key."""
    assert ssh(lambda: form(PAIR.private)) == NAMED


def test_a_key_in_a_single_argument_is_listed() -> None:
    """Flag and value can be one argument."""
    argument = f"--ssh-private-key={PAIR.private}"

    assert ssh(lambda: {"ssh": [argument, f"--ssh-public-key={PAIR.public}"]}) == NAMED


@pytest.mark.parametrize("form", [plugin, arguments])
@pytest.mark.parametrize("is_secret", [False, True])
def test_an_output_is_listed_unless_it_is_secret(form: Any, *, is_secret: bool) -> None:
    """It may come from plain text in the stack configuration."""
    wrap = pulumi.Output.secret if is_secret else pulumi.Output.from_input

    assert ssh(lambda: form(wrap(PAIR.private))) == ({} if is_secret else NAMED)


def test_an_unknown_output_is_listed() -> None:
    """A preview already knows whether it is a secret."""
    done = run(
        lambda: new_job("train", {"tasks": TASKS, "plugins": plugin(computed(PAIR.private))}) and None,
        preview=True,
    )

    assert _ssh(done) == NAMED


@pytest.mark.parametrize("plugins", [[SshPlugin()], {"ssh": []}, [SshPlugin(key_secret="keys")]])
def test_without_a_key_the_component_has_no_inputs(plugins: Any) -> None:
    """No key was passed, so there is nothing to list."""
    assert ssh(lambda: plugins) == {}


def test_native_mode_lists_nothing() -> None:
    """A policy can read each given key in the Job itself."""
    assert ssh(lambda: plugin(PAIR.private), managed_by="volcano") == {}


def test_a_key_in_a_job_file_is_listed() -> None:
    """A job file is plain text."""
    spec = {"plugins": arguments(PAIR.private), "tasks": TASKS}
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "train"}, "spec": spec}

    assert _ssh(run(lambda: VolcanoJob.from_yaml("train", f"{json.dumps(job)}\n") and None)) == NAMED
