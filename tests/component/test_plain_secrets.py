"""Plugins' components name the settings whose secrets were given in plain text; policies look at it."""

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
    """Give the ssh plugin a pair."""
    return [SshPlugin(ssh_private_key=private, ssh_public_key=public)]


def arguments(private: Any) -> dict[str, list[Any]]:
    """Give the ssh plugin a pair by Volcano's arguments."""
    return {"ssh": ["--ssh-private-key", private, f"--ssh-public-key={PAIR.public}"]}


def ssh(plugins: Any, **fields: Any) -> dict[str, Any]:
    """Result a program with such plugins, and give the inputs of the ssh plugin's component."""
    return _ssh(run(lambda: new_job("train", {"tasks": TASKS, "plugins": plugins(), **fields}) and None))


def _ssh(done: Result) -> dict[str, Any]:
    return {name: value for name, value in done.resources["SshPlugin train-ssh"].inputs.items() if value is not None}


@pytest.mark.parametrize("form", [plugin, arguments])
def test_text_is_told(form: Any) -> None:
    """In the plugin and in Volcano's arguments; the key itself is not there."""
    assert ssh(lambda: form(PAIR.private)) == NAMED


def test_one_argument_is_told() -> None:
    """Flag and value may be one."""
    argument = f"--ssh-private-key={PAIR.private}"

    assert ssh(lambda: {"ssh": [argument, f"--ssh-public-key={PAIR.public}"]}) == NAMED


@pytest.mark.parametrize("form", [plugin, arguments])
@pytest.mark.parametrize("is_secret", [False, True])
def test_an_output_is_told_unless_it_is_secret(form: Any, *, is_secret: bool) -> None:
    """It may come from the stack's settings in plain text."""
    wrap = pulumi.Output.secret if is_secret else pulumi.Output.from_input

    assert ssh(lambda: form(wrap(PAIR.private))) == ({} if is_secret else NAMED)


def test_an_output_that_is_not_known_is_told() -> None:
    """Whether it is secret is known in a preview, too."""
    done = run(
        lambda: new_job("train", {"tasks": TASKS, "plugins": plugin(computed(PAIR.private))}) and None,
        preview=True,
    )

    assert _ssh(done) == NAMED


@pytest.mark.parametrize("plugins", [[SshPlugin()], {"ssh": []}, [SshPlugin(key_secret="keys")]])
def test_without_a_key_nothing_is_told(plugins: Any) -> None:
    """The component has no inputs then."""
    assert ssh(lambda: plugins) == {}


def test_a_job_for_volcano_tells_it_itself() -> None:
    """Every given key is readable in it, so the component adds nothing."""
    assert ssh(lambda: plugin(PAIR.private), managed_by="volcano") == {}


def test_a_file_is_told() -> None:
    """A key in a job file is plain text."""
    spec = {"plugins": arguments(PAIR.private), "tasks": TASKS}
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "train"}, "spec": spec}

    assert _ssh(run(lambda: VolcanoJob.from_yaml("train", f"{json.dumps(job)}\n") and None)) == NAMED
